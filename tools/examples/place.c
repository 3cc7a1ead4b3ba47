// SPDX-License-Identifier: GPL-2.0
/*
 * Direct data placement: a server offers memory, a client writes into it.
 *
 *	place ADDRESS		serves one client at this address
 *	place ADDRESS TEXT	places TEXT in the memory of the server there
 *
 * Either end may be place.py instead.
 *
 * In this folder:
 *	cc -o place -I ../../include/uapi -I ../librsock place.c ../librsock/librsock.c
 */
#include <arpa/inet.h>
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "rsock.h"

/* What the two ends have agreed on */
#define PORT	7471
#define OFFSET	4096	/* what the client knows the memory by */
#define SIZE	4096	/* how much there is */
#define AT	100	/* where in it the text goes */

static void serve(int fd)
{
	char *memory = calloc(1, SIZE);
	unsigned char len;

	/* Any memory that is not a file's, from any byte to any other */
	if (riomap(fd, memory, SIZE, PROT_WRITE, 0, OFFSET) < 0)
		err(1, "riomap");
	if (send(fd, "m", 1, 0) != 1)		/* it is mapped */
		err(1, "send");
	/* What was placed before this byte was sent is there when it arrives */
	if (recv(fd, &len, 1, 0) != 1)
		errx(1, "the client has gone");
	if (riounmap(fd, memory, SIZE))
		err(1, "riounmap");
	/* Nobody writes there any more */
	printf("%zu bytes, announced as %u: %s\n", strlen(memory + AT), len,
	       memory + AT);
	free(memory);
}

static void place(int fd, const char *text)
{
	unsigned char len = strlen(text);
	char byte;

	if (recv(fd, &byte, 1, 0) != 1)
		errx(1, "the server has gone");
	if (riowrite(fd, text, len, OFFSET + AT, 0) != len)
		err(1, "riowrite");
	if (send(fd, &len, 1, 0) != 1)		/* it is placed */
		err(1, "send");
	recv(fd, &byte, 1, 0);			/* until the server has seen it */
}

int main(int argc, char **argv)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(PORT) };
	int fd = socket(AF_RSOCK, SOCK_STREAM, 0);

	if (fd < 0)
		err(1, "socket (is the module loaded?)");
	if (argc < 2 || argc > 3 || !inet_pton(AF_INET, argv[1], &a.sin_addr))
		errx(2, "usage: place ADDRESS [TEXT]");
	if (argc == 3) {
		if (connect(fd, (struct sockaddr *)&a, sizeof(a)))
			err(1, "connect");
		place(fd, argv[2]);
		return 0;
	}
	if (bind(fd, (struct sockaddr *)&a, sizeof(a)) || listen(fd, 1))
		err(1, "listen");
	fd = accept(fd, NULL, NULL);
	if (fd < 0)
		err(1, "accept");
	serve(fd);
	return 0;
}

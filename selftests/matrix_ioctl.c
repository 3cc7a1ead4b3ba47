// SPDX-License-Identifier: GPL-2.0
/*
 * ioctl()s: those of any descriptor and of any socket, and those that ask a
 * socket of IP about devices, as programs do with whatever socket they have.
 */
#include <fcntl.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <net/route.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <linux/sockios.h>

#include "matrix.h"

static const struct {
	const char *name;
	unsigned long cmd;
} device_rows[] = {
	{ "SIOCGIFNAME", SIOCGIFNAME }, { "SIOCGIFINDEX", SIOCGIFINDEX },
	{ "SIOCGIFFLAGS", SIOCGIFFLAGS }, { "SIOCGIFADDR", SIOCGIFADDR },
	{ "SIOCGIFNETMASK", SIOCGIFNETMASK }, { "SIOCGIFBRDADDR", SIOCGIFBRDADDR },
	{ "SIOCGIFDSTADDR", SIOCGIFDSTADDR }, { "SIOCGIFMTU", SIOCGIFMTU },
	{ "SIOCGIFHWADDR", SIOCGIFHWADDR }, { "SIOCGIFMETRIC", SIOCGIFMETRIC },
	{ "SIOCGIFTXQLEN", SIOCGIFTXQLEN }, { "SIOCGIFMAP", SIOCGIFMAP },
	{ "SIOCGIFSLAVE", SIOCGIFSLAVE }, { "SIOCGIFMEM", SIOCGIFMEM },
	{ "SIOCGIFPFLAGS", SIOCGIFPFLAGS }, { "SIOCGIFENCAP", SIOCGIFENCAP },
	{ "SIOCSIFENCAP", SIOCSIFENCAP }, { "SIOCDIFADDR", SIOCDIFADDR },
};

static void device(void)
{
	int fd = make_state("unbound").fd;
	struct ifreq req;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(device_rows); i++) {
		memset(&req, 0, sizeof(req));
		strcpy(req.ifr_name, "lo");
		if (device_rows[i].cmd == SIOCGIFNAME)
			req.ifr_ifindex = 1;
		TRY(device_rows[i].name, ioctl(fd, device_rows[i].cmd, &req));
		rec("answer", "%s, %d, %08x", req.ifr_name, req.ifr_addr.sa_family,
		    *(uint32_t *)&req.ifr_addr.sa_data[2]);
	}
}

/* Not more of them: each looks for a module that may have such a device. */
static void no_device(void)
{
	struct ifreq req = { .ifr_name = "none" };
	int fd = make_state("unbound").fd;

	TRY("SIOCGIFFLAGS", ioctl(fd, SIOCGIFFLAGS, &req));
	TRY("SIOCGIFADDR", ioctl(fd, SIOCGIFADDR, &req));
}

static void configuration(void)
{
	char buf[1000];
	struct ifconf conf = { .ifc_len = sizeof(buf), .ifc_buf = buf };
	int fd = make_state("unbound").fd;

	TRY("SIOCGIFCONF", ioctl(fd, SIOCGIFCONF, &conf));
	rec("length", "%d", conf.ifc_len);
	conf.ifc_len = 0;
	conf.ifc_buf = NULL;
	TRY("SIOCGIFCONF, size", ioctl(fd, SIOCGIFCONF, &conf));
	rec("length", "%d", conf.ifc_len);
	TRY("SIOCGIFCONF, bad", ioctl(fd, SIOCGIFCONF, (void *)8));
}

static void tables(void)
{
	int fd = make_state("unbound").fd;
	struct rtentry route = { };
	struct arpreq arp = { };

	arp.arp_pa.sa_family = AF_INET;
	strcpy(arp.arp_dev, "lo");
	TRY("SIOCGARP", ioctl(fd, SIOCGARP, &arp));
	TRY("SIOCADDRT", ioctl(fd, SIOCADDRT, &route));
	TRY("SIOCDELRT", ioctl(fd, SIOCDELRT, &route));
	TRY("SIOCRTMSG", ioctl(fd, SIOCRTMSG, &route));
}

static void of_socket(const char *state)
{
	struct place p = make_state(state);
	struct ifreq req = { .ifr_name = "lo" };
	struct timeval tv;
	int value = 0;

	TRY("SIOCGSTAMP", ioctl(p.fd, SIOCGSTAMP, &tv));
	TRY("SIOCGSTAMPNS", ioctl(p.fd, SIOCGSTAMPNS, &tv));
	TRY("FIOQSIZE", ioctl(p.fd, FIOQSIZE, &value));
	TRY("FIOCLEX", ioctl(p.fd, FIOCLEX));
	rec("FD_CLOEXEC", "%d", fcntl(p.fd, F_GETFD));
	TRY("FIONCLEX", ioctl(p.fd, FIONCLEX));
	TRY("FIONBIO, bad", ioctl(p.fd, FIONBIO, (void *)8));
	TRY("FIONREAD, bad", ioctl(p.fd, FIONREAD, (void *)8));
	TRY("SIOCOUTQ, bad", ioctl(p.fd, SIOCOUTQ, (void *)8));
	TRY("TCGETS", ioctl(p.fd, TCGETS, &value));
	TRY("TIOCGWINSZ", ioctl(p.fd, TIOCGWINSZ, &value));
	TRY("isatty", isatty(p.fd) ? 1 : -1);
	TRY("SIOCPROTOPRIVATE", ioctl(p.fd, SIOCPROTOPRIVATE, &value));
	TRY("SIOCDEVPRIVATE", ioctl(p.fd, SIOCDEVPRIVATE, &req));
	TRY("0", ioctl(p.fd, 0, &value));
	TRY("-1", ioctl(p.fd, -1UL, &value));
}

static void unbound(void)
{
	of_socket("unbound");
}

static void connected(void)
{
	of_socket("connected");
}

static void file_flags(void)
{
	struct place p = make_state("connected");
	struct flock lock = { .l_type = F_WRLCK };

	TRY("F_SETFL O_APPEND", fcntl(p.fd, F_SETFL, O_APPEND));
	TRY("F_SETFL O_DIRECT", fcntl(p.fd, F_SETFL, O_DIRECT));
	TRY("F_SETFL 0", fcntl(p.fd, F_SETFL, 0));
	rec("flags", "%#o", fcntl(p.fd, F_GETFL));
	TRY("F_SETLK", fcntl(p.fd, F_SETLK, &lock));
	TRY("F_GETPIPE_SZ", fcntl(p.fd, F_GETPIPE_SZ));
	TRY("F_SETLEASE", fcntl(p.fd, F_SETLEASE, F_RDLCK));
	TRY("posix_fadvise", posix_fadvise(p.fd, 0, 1, POSIX_FADV_NORMAL));
	TRY("sync_file_range", sync_file_range(p.fd, 0, 1, 0));
	TRY("fchmod", fchmod(p.fd, 0600));
	TRY("fchown", fchown(p.fd, 65534, 65534));
}

const struct script ioctl_scripts[] = {
	{ "device", device },
	{ "no device", no_device },
	{ "SIOCGIFCONF", configuration },
	{ "routes and neighbours", tables },
	{ "unbound", unbound },
	{ "connected", connected },
	{ "fcntl", file_flags },
};

const int nr_ioctl_scripts = ARRAY_SIZE(ioctl_scripts);

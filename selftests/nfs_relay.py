#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Stand between an NFS client and its server, both over AF_RSOCK, or TCP.

usage: FAMILY=NUMBER nfs_relay.py MODE LISTEN:PORT SERVER:PORT FROM

hide   neither learns that the other can place, as if it were of before that
twist  what the client offers is changed to what makes no sense
forge  the first reply to an offer is changed, for each connection in another
       way, until all were tried; says how the connections ended

claim  the second long call of each connection says that its data was placed, in
       ways that are wrong, until all were tried; then in a right one, though it
       was not, and with the end of the data in the stream. Says how the
       connections ended

What is mapped is not passed on, so that neither ever finds a place.
"""

import ctypes
import errno
import os
import random
import select
import socket
import struct
import sys
import time

FAMILY = int(os.environ["FAMILY"])
LAST, PLACED, OFFER = 1 << 31, 1 << 30, 1 << 29
SOL_RSOCK, RSOCK_CMSG_OFFSET, MSG_RIOWRITE = 0x10000, 1, 0x10000000
HELLO = struct.pack(">III", LAST | 8, 0x72736f63, 1)
libc = ctypes.CDLL(None)

# What becomes of a reply, given its message, and offset, position, size of the offer
def forged(flags, size, offset, pos, placed, message):
    return struct.pack(">IQII", LAST | flags | size, offset, pos, placed) + message


FORGERIES = {
    "not where it was offered": lambda m, at, pos, size:
        forged(PLACED, pos + 4, at, pos + 4, 4096, m[:8] + bytes(pos - 4)),
    "more than was offered": lambda m, at, pos, size:
        forged(PLACED, pos, at, pos, size + 1, m[:8] + bytes(pos - 8)),
    "more than there can be": lambda m, at, pos, size:
        forged(PLACED, pos, at, pos, 0xffffffff, m[:8] + bytes(pos - 8)),
    "behind its own end": lambda m, at, pos, size:
        forged(PLACED, 24, at, pos, size, m[:24]),
    "in a call": lambda m, at, pos, size:
        forged(PLACED, 64, at, pos, size, m[:4] + bytes(60)),
    "too long a record": lambda m, at, pos, size:
        forged(PLACED, 1 << 21, at, pos, size, m[:8]),
    "what only clients do": lambda m, at, pos, size:
        forged(OFFER, pos, at, pos, size, m[:8] + bytes(pos - 8)),
}
# What becomes of a call with @size bytes of data, from @pos on
CLAIMS = {
    "where no window is": lambda m, pos, size:
        forged(PLACED, pos, 1 << 40, pos, size, m[:pos]),
    "within a window": lambda m, pos, size:
        forged(PLACED, pos, 4096, pos, size, m[:pos]),
    "more than a window has": lambda m, pos, size:
        forged(PLACED, pos, 0, pos, (1 << 20) + 1, m[:pos]),
    "nothing": lambda m, pos, size:
        forged(PLACED, pos, 0, pos, 0, m[:pos]),
    "behind the end of the call": lambda m, pos, size:
        forged(PLACED, pos, 0, pos + 4, size, m[:pos]),
    "before the call says what it is": lambda m, pos, size:
        forged(PLACED, pos, 0, 4, size, m[:pos]),
    "with much besides": lambda m, pos, size:
        forged(PLACED, len(m), 0, pos, size, m),
    "in a fragment that is not the last": lambda m, pos, size:
        struct.pack(">IQII", PLACED | pos, 0, pos, size) + m[:pos],
    "in a reply": lambda m, pos, size:
        forged(PLACED, pos, 0, pos, size, m[:4] + struct.pack(">I", 1) + m[8:pos]),
    "by Kerberos": lambda m, pos, size:
        forged(PLACED, pos, 0, pos, size, m[:24] + struct.pack(">I", 6) + m[28:pos]),
    "with the credential": lambda m, pos, size:
        forged(PLACED, 32, 0, 32, size, m[:32]),
    "with the verifier": lambda m, pos, size:
        forged(PLACED, 36, 0, 36, size, m[:28] + bytes(8)),
    "with a credential that is too long": lambda m, pos, size:
        forged(PLACED, pos, 0, pos, size, m[:28] + struct.pack(">I", 0xfffffffc) + m[32:pos]),
    "at an odd place": lambda m, pos, size:
        forged(PLACED, pos - 1, 0, pos - 1, size, m[:pos - 1]),
    "without padding": lambda m, pos, size:
        forged(PLACED, pos, 0, pos, size - 1, m[:pos]),
}
TWISTS = [(0, 0, 0xffffffff), (1 << 63, 7, 1 << 31), (0, 0xffffffff, 1), ((1 << 64) - 1, 100, 0xffffffff)]


def new_socket():
    return socket.socket(socket.AF_INET, socket.SOCK_STREAM, fileno=libc.socket(FAMILY, 1, 0))


def connect(address, source):
    while True:
        s = new_socket()
        try:
            s.bind((source, random.randint(600, 1000)))
            s.connect(address)
            return s
        except OSError:
            s.close()


class Side:
    """One direction: records of one end, for the other"""

    def __init__(self, source, to):
        self.source, self.to, self.data = source, to, b""

    def records(self):
        got = self.source.recv(1 << 18)
        if not got:
            raise EOFError
        self.data += got
        while len(self.data) >= 4:
            marker = struct.unpack(">I", self.data[:4])[0]
            size = 4 + (marker & (OFFER - 1)) + 16 * bool(marker & PLACED) + 16 * bool(marker & OFFER)
            if len(self.data) < size:
                break
            record, self.data = self.data[:size], self.data[size:]
            yield marker, record


def has_window(server):
    """Does what is placed find one? It is a zero, as there is already."""
    try:
        server.sendmsg([b"\0"], [(SOL_RSOCK, RSOCK_CMSG_OFFSET, struct.pack("=Q", 0))], MSG_RIOWRITE)
    except OSError as e:
        if e.errno != errno.ENXIO:
            raise
        return False
    return True


class Claim:
    """Forge the second long call of a connection"""

    SIZE = 32768
    STREAMED = 2048

    def __init__(self, name, forge):
        self.name, self.forge, self.seen = name, forge, 0

    def __call__(self, record, server):
        self.seen += len(record) > self.SIZE
        if self.seen != 2 or len(record) <= self.SIZE:
            return record
        # The first had the server map windows
        while not has_window(server):
            time.sleep(0.01)
        pos = len(record) - 4 - self.SIZE
        if not self.forge:
            return forged(PLACED, pos + self.STREAMED, 0, pos, self.SIZE - self.STREAMED,
                          record[4:4 + pos] + record[-self.STREAMED:])
        server.sendall(self.forge(record[4:], pos, self.SIZE))
        server.settimeout(30)
        try:
            while server.recv(1 << 18):
                pass
        except TimeoutError:
            print(f"{self.name}: the server did not mind", flush=True)
            raise EOFError from None
        except OSError:
            pass
        print(f"{self.name}: the server hung up", flush=True)
        raise EOFError


def relay(mode, client, server, forge, claim):
    offers = {}
    calls, replies = Side(client, server), Side(server, client)
    while True:
        ready = select.select([client, server], [], [])[0]
        if client in ready:
            for marker, record in calls.records():
                if record == HELLO and mode == "hide":
                    continue
                if marker & OFFER:
                    offers[record[20:24]] = struct.unpack(">QII", record[4:20])
                    if mode == "twist":
                        record = record[:4] + struct.pack(">QII", *random.choice(TWISTS)) + record[20:]
                server.sendall(claim(record, server) if claim else record)
        if server in ready:
            for marker, record in replies.records():
                offer = offers.pop(record[4:8], None)
                if forge and offer:
                    client.sendall(forge(record[4:], *offer))
                    # It has to hang up
                    client.settimeout(30)
                    while client.recv(1 << 18):
                        pass
                    raise EOFError
                client.sendall(record)


def main():
    mode, listen, to, source = sys.argv[1:]
    listener = new_socket()
    host, port = listen.split(":")
    listener.bind((host, int(port)))
    listener.listen()
    host, port = to.split(":")
    left = list(FORGERIES.items()) if mode == "forge" else []
    claims = list(CLAIMS.items()) + [("", None)] if mode == "claim" else []
    while True:
        client = listener.accept()[0]
        server = connect((host, int(port)), source)
        name, forge = left.pop(0) if left else ("", None)
        try:
            relay(mode, client, server, forge, Claim(*claims.pop(0)) if claims else None)
        except TimeoutError:
            print(f"{name}: the client did not mind", flush=True)
        except (EOFError, OSError):
            print(f"{name}: the client hung up", flush=True)
        client.close()
        server.close()


main()

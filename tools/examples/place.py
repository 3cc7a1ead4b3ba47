#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Direct data placement: a server offers memory, a client writes into it.

    place.py ADDRESS            serves one client at this address
    place.py ADDRESS TEXT       places TEXT in the memory of the server there

Either end may be place.c instead. Nothing but the standard library is needed:
the server's memory comes from mmap() of its socket.
"""
import argparse
import mmap
import socket
import struct

AF_RSOCK = 22
SOL_RSOCK = 0x10000
RSOCK_CMSG_OFFSET = 1
MSG_RIOWRITE = 0x10000000

# What the two ends have agreed on
PORT = 7471
OFFSET = 4096       # what the client knows the memory by
SIZE = 4096         # how much there is
AT = 100            # where in it the text goes


def rsock():
    """Python knows no addresses of this family: they are those of AF_INET."""
    fd = socket.socket(AF_RSOCK, socket.SOCK_STREAM).detach()
    return socket.socket(socket.AF_INET, socket.SOCK_STREAM, fileno=fd)


def riowrite(sock, data, offset):
    """Place data at an offset of the peer's."""
    to = [(SOL_RSOCK, RSOCK_CMSG_OFFSET, struct.pack("=Q", offset))]
    return sock.sendmsg([data], to, MSG_RIOWRITE)


def serve(address):
    with rsock() as listener:
        listener.bind((address, PORT))
        listener.listen()
        sock, _ = listener.accept()
    # From here on the client may write there. (The object has a duplicate of
    # the descriptor: the socket is open until both are closed.)
    with sock, mmap.mmap(sock.fileno(), SIZE, offset=OFFSET) as memory:
        sock.sendall(b"m")
        # What was placed before this byte was sent is there when it arrives
        length = sock.recv(1)[0]
        text = memory[AT:memory.find(b"\0", AT)]
        print(f"{len(text)} bytes, announced as {length}: {text.decode()}")


def place(address, text):
    data = text.encode()
    with rsock() as sock:
        sock.connect((address, PORT))
        sock.recv(1)                    # it is mapped
        riowrite(sock, data, OFFSET + AT)
        sock.sendall(bytes([len(data)]))
        sock.recv(1)                    # until the server has seen it


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("address")
parser.add_argument("text", nargs="?")
args = parser.parse_args()
if args.text is None:
    serve(args.address)
else:
    place(args.address, args.text)

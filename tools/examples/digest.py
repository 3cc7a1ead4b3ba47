#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""A client sends all of its standard input, and is told the SHA-256 of it.

    digest.py serve ADDRESS PORT        serves clients at this address
    digest.py ADDRESS PORT <FILE        is a client

Python lets a program name the protocol: with addresses of AF_INET or AF_INET6
nothing else differs from TCP. The other end may be one of the other languages.
"""
import argparse
import hashlib
import socket
import sys

IPPROTO_RSOCK = 260


def rsock(address):
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    return socket.socket(family, socket.SOCK_STREAM, IPPROTO_RSOCK)


def serve(address, port):
    with rsock(address) as listener:
        listener.bind((address, port))
        listener.listen()
        while True:
            sock, _ = listener.accept()
            with sock:
                digest = hashlib.sha256()
                while data := sock.recv(65536):
                    digest.update(data)
                sock.sendall(digest.hexdigest().encode() + b"\n")


def ask(address, port):
    with rsock(address) as sock:
        sock.connect((address, port))
        with sock.makefile("r") as answer:
            sock.sendall(sys.stdin.buffer.read())
            sock.shutdown(socket.SHUT_WR)
            print(answer.readline(), end="")


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("serve", nargs="?", choices=["serve"])
parser.add_argument("address")
parser.add_argument("port", type=int)
args = parser.parse_args()
(serve if args.serve else ask)(args.address, args.port)

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""A folder of another machine, mounted over AF_RSOCK by the kernel's 9P client.

    mount9p.py serve ADDRESS FOLDER             serve one client, by diod
    mount9p.py ADDRESS FOLDER WHERE [OPTIONS]   mount it; options of mount -t 9p

Either end connects its socket and hands it over: to diod, or to the kernel,
which has the connection until it is unmounted.
"""
import os
import socket
import subprocess
import sys

AF_RSOCK = 22
PORT = 564


def rsock():
    """Python knows no addresses of this family: they are those of AF_INET."""
    fd = socket.socket(AF_RSOCK, socket.SOCK_STREAM).detach()
    return socket.socket(socket.AF_INET, socket.SOCK_STREAM, fileno=fd)


def serve(address, folder):
    with rsock() as listener:
        listener.bind((address, PORT))
        listener.listen()
        sock, _ = listener.accept()
    fd = str(sock.fileno())
    sock.set_inheritable(True)
    os.execlp("diod", "diod", "-f", "-n", "-e", folder, "-r", fd, "-w", fd)


def mount(address, folder, where, options="version=9p2000.L"):
    with rsock() as sock:
        sock.connect((address, PORT))
        fd = sock.fileno()
        options += f",trans=fd,rfdno={fd},wfdno={fd},aname={folder}"
        command = ["mount", "-t", "9p", "-o", options, address, where]
        return subprocess.run(command, pass_fds=[fd]).returncode


if len(sys.argv) == 4 and sys.argv[1] == "serve":
    serve(*sys.argv[2:])
elif len(sys.argv) in (4, 5):
    sys.exit(mount(*sys.argv[1:]))
else:
    sys.exit(__doc__)

# SPDX-License-Identifier: GPL-2.0
"""What a memory cgroup is charged for rings: those of connections that its process
accepted, and of those that it made. At their end they are given back, though the
sockets stay open.

usage: memcg.py CGROUP ADDRESS. TAP on standard output.
"""
import os
import socket
import sys
import time

IPPROTO_RSOCK = 260
CGROUP, ADDRESS = sys.argv[1:]
PATIENCE = 60
CONNECTIONS = 16
RCVBUF = 200000		# twice that, rounded down to a power of two, is a ring
RING = 256 * 1024
LEN = 16 * 1024		# more than the first ring takes
SLACK = 4 * RING	# what the kernel charges in advance: up to 64 pages a processor


def rsock():
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_RSOCK)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RCVBUF)
    return sock


def listener():
    sock = rsock()
    sock.bind((ADDRESS, 0))
    sock.listen(CONNECTIONS)
    return sock


def accept(lsn):
    return [lsn.accept()[0] for _ in range(CONNECTIONS)]


def connect(port):
    socks = [rsock() for _ in range(CONNECTIONS)]
    for sock in socks:
        sock.connect((ADDRESS, port))
    return socks


def member(talk, accepts):
    """The process in the cgroup: says what it did, and goes on when told so."""
    with open(f"{CGROUP}/cgroup.procs", "w") as file:
        file.write("0")
    if accepts:
        lsn = listener()
        talk.send(b"%d" % lsn.getsockname()[1])
        socks = accept(lsn)
    else:
        socks = connect(int(talk.recv(8)))
    talk.send(b"open")
    talk.recv(8)
    for sock in socks:
        assert len(sock.recv(LEN, socket.MSG_WAITALL)) == LEN
    talk.send(b"read")
    talk.recv(8)


def charged():
    with open(f"{CGROUP}/memory.current") as file:
        return int(file.read())


def becomes(condition):
    end = time.monotonic() + PATIENCE
    while not condition(charged()) and time.monotonic() < end:
        time.sleep(0.02)
    return condition(charged())


def result(good, number, name):
    print("ok" if good else "not ok", number, "-", name, flush=True)


def run(number, accepts, what):
    talk, other = socket.socketpair()
    pid = os.fork()
    if not pid:
        talk.close()
        member(other, accepts)
        os._exit(0)
    other.close()
    if accepts:
        socks = connect(int(talk.recv(8)))
    else:
        lsn = listener()
        talk.send(b"%d" % lsn.getsockname()[1])
        socks = accept(lsn)
    talk.recv(8)
    before = charged()
    for sock in socks:
        sock.sendall(bytes(LEN))
    result(becomes(lambda now: now >= before + CONNECTIONS * RING - SLACK), number,
           f"rings of connections that were {what} are charged")
    talk.send(b"read")
    talk.recv(8)
    for sock in socks:
        sock.close()
    result(becomes(lambda now: now < before + CONNECTIONS * RING // 2), number + 1,
           "and given back when these end")
    talk.send(b"end")
    os.waitpid(pid, 0)


run(1, True, "accepted")
run(3, False, "made")

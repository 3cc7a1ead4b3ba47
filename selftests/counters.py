#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Each failure that one host can provoke moves its counter, and no other.

Both ends are in this namespace, so that what either counts is expected. TAP on
standard output. Environment: A4, B4 (addresses at the two ends of a wire), ANET
(the network device of A), BDEV (the RDMA device of B, which is removed).
"""
import ctypes
import errno
import mmap
import os
import resource
import select
import socket
import struct
import subprocess
import sys
import threading
import time

IPPROTO_RSOCK = 260
SOL_RSOCK = 0x10000
RDMA_IOMAPSIZE = 3
RSOCK_IOMAP = 64
RSOCK_IOUNMAP = 65
RSOCK_CMSG_OFFSET = 1
MSG_RIOWRITE = 0x10000000
TCP_USER_TIMEOUT = 18
PAGE = mmap.PAGESIZE
PATIENCE = 30
MEMLOCK = 64 * 1024

A4, B4 = os.environ["A4"], os.environ["B4"]
SUCCESSES = {"ActiveOpens", "PassiveOpens", "Iomaps", "UnmapsPlain", "InPlace"}
cases = []


# --- counters -----------------------------------------------------------------

def counters():
    with open("/proc/net/rsock_stat") as file:
        names, values = (line.split()[1:] for line in file)
    return dict(zip(names, map(int, values), strict=True))


def more(before):
    """What has been counted since, without what is 0."""
    now = counters()
    return {name: now[name] - before[name] for name in now if now[name] != before[name]}


def case(**expected):
    """A function that makes this happen: so much more of each failure."""
    def add(function):
        cases.append((function, expected))
        return function
    return add


# --- sockets ------------------------------------------------------------------

def rsock():
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_RSOCK)
    sock.settimeout(PATIENCE)
    return sock


def listener(backlog=8, device=None, address=B4):
    sock = rsock()
    if device:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, device.encode())
    sock.bind((address, 0))
    sock.listen(backlog)
    return sock


def pair(**options):
    """A client and what was accepted of it."""
    client = rsock()
    for name, value in options.items():
        client.setsockopt(SOL_RSOCK, globals()[name], value)
    client.bind((A4, 0))
    with listener() as lsn:
        client.connect(lsn.getsockname())
        return client, lsn.accept()[0]


def connect_fails(error, address):
    with rsock() as sock:
        try:
            sock.connect(address)
        except OSError as e:
            assert e.errno == error, e
            return
    raise AssertionError("connected")


def fill(sock):
    """Until neither the peer, who does not read, nor the send buffer has room."""
    sock.setblocking(False)
    sent, quiet = 0, 0
    while quiet < 5:
        try:
            sent += sock.send(bytes(65536))
            quiet = 0
        except BlockingIOError:
            quiet += 1
            time.sleep(0.02)
    sock.settimeout(PATIENCE)
    return sent


def drain(sock, length):
    while length:
        length -= len(sock.recv(65536))


def ended(sock, error):
    """The connection ends with this error; what it brought is not read."""
    poll = select.poll()
    poll.register(sock, 0)
    assert poll.poll(PATIENCE * 1000), "it has not ended"
    got = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
    assert got == error, (got, error)


def sysctl(name, value):
    with open(f"/proc/sys/net/rsock/{name}", "r+") as file:
        old = file.read().strip()
        file.seek(0)
        file.write(str(value))
    return old


# --- memory -------------------------------------------------------------------

libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p] + [ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]


def memory(length, prot=mmap.PROT_READ | mmap.PROT_WRITE,
           flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, fd=-1):
    address = libc.mmap(None, length, prot, flags, fd, 0)
    assert address != ctypes.c_void_p(-1).value, os.strerror(ctypes.get_errno())
    return address


def iomap(sock, address, length, offset, option=RSOCK_IOMAP):
    sock.setsockopt(SOL_RSOCK, option,
                    struct.pack("=QQqQII", address, length, offset, 0, mmap.PROT_WRITE, 0))


def iomap_fails(error, sock, *args):
    try:
        iomap(sock, *args)
    except OSError as e:
        assert e.errno == error, e
        return
    raise AssertionError("mapped")


def place(sock, data, offset):
    return sock.sendmsg([data], [(SOL_RSOCK, RSOCK_CMSG_OFFSET, struct.pack("=Q", offset))],
                        MSG_RIOWRITE)


# --- cases: nothing fails --------------------------------------------------------

@case()
def good():
    before = counters()
    client, server = pair()
    reader = threading.Thread(target=drain, args=(server, 1 << 20))
    reader.start()
    client.setblocking(True)
    client.sendall(bytes(1 << 20))
    reader.join()
    iomap(server, memory(PAGE), PAGE, 0)
    client.close()
    assert not server.recv(1)
    server.close()
    done = more(before)
    assert [done.get(name) for name in ("ActiveOpens", "PassiveOpens", "Iomaps")] == [1] * 3, done
    assert done.get("InPlace", 0) >= 1, done


# --- cases: no connection ----------------------------------------------------------

@case(AttemptFails=1, Refused=1)
def nobody_listens():
    connect_fails(errno.ECONNREFUSED, (B4, 9))


@case(AttemptFails=1, NoDevice=1)
def loopback():
    connect_fails(errno.ENETUNREACH, ("127.0.0.1", 9))


@case(AttemptFails=1, NoRoute=1)
def no_route():
    connect_fails(errno.ENETUNREACH, ("192.0.2.1", 9))


@case(AttemptFails=1, NoHost=1)
def no_such_host():
    connect_fails(errno.EHOSTUNREACH, (A4.rsplit(".", 1)[0] + ".77", 9))


@case(AttemptFails=1, Refused=1, ListenOverflows=1)
def backlog_full():
    with listener(backlog=1) as lsn:
        clients = [rsock() for _ in range(2)]
        for client in clients:
            client.connect(lsn.getsockname())
        connect_fails(errno.ECONNREFUSED, lsn.getsockname())
        for _ in clients:
            lsn.accept()[0].close()


@case(AttemptFails=1, Refused=1, ListenOtherDevice=1)
def listens_elsewhere():
    with listener(device=os.environ["ANET"], address="0.0.0.0") as lsn:
        connect_fails(errno.ECONNREFUSED, (B4, lsn.getsockname()[1]))


def max_connections(limit):
    """Until the ones before have given back what they had."""
    end = time.monotonic() + PATIENCE
    while len(open("/proc/net/rsock").readlines()) > 1 and time.monotonic() < end:
        time.sleep(0.02)
    return sysctl("max_connections", limit)


@case(AttemptFails=1, MaxConnections=1)
def too_many():
    old = max_connections(0)
    with listener() as lsn:
        connect_fails(errno.ENOBUFS, lsn.getsockname())
    sysctl("max_connections", old)


@case(AttemptFails=1, Refused=1, MaxConnections=1, PassiveFails=1)
def too_many_there():
    old = max_connections(1)
    with listener() as lsn:
        connect_fails(errno.ECONNREFUSED, lsn.getsockname())
    sysctl("max_connections", old)


@case(AttemptFails=1, Aborts=1)
def given_up():
    with rsock() as sock:
        sock.setblocking(False)
        assert sock.connect_ex((A4.rsplit(".", 1)[0] + ".78", 9)) == errno.EINPROGRESS


# --- cases: a connection ends -------------------------------------------------------

@case(Aborts=1, Resets=1, PeerResets=1)
def reset():
    client, server = pair()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.close()
    ended(server, errno.ECONNRESET)


@case(Resets=1, PeerCloses=1)
def peer_closes():
    client, server = pair()
    fill(client)
    server.close()
    ended(client, errno.EPIPE)


@case(LingerTimeouts=1, Resets=1, PeerResets=1)
def linger_timeout():
    client, server = pair()
    fill(client)
    old = sysctl("fin_timeout", 1)
    client.close()
    ended(server, errno.ECONNRESET)
    sysctl("fin_timeout", old)


@case(UserTimeouts=1, Resets=2, PeerResets=1)
def user_timeout():
    client, server = pair()
    fill(client)
    client.setsockopt(socket.IPPROTO_TCP, TCP_USER_TIMEOUT, 300)
    ended(client, errno.ETIMEDOUT)
    ended(server, errno.ECONNRESET)


# --- cases: mappings and placements ---------------------------------------------------

@case(IomapOverlaps=1)
def overlap():
    client, server = pair()
    at = memory(PAGE)
    iomap(server, at, PAGE, 0)
    iomap_fails(errno.EEXIST, server, at, PAGE, 1)


@case(IomapFull=1)
def table_full():
    client, server = pair(RDMA_IOMAPSIZE=0)
    iomap_fails(errno.ENOMEM, server, memory(PAGE), PAGE, 0)


@case(IomapFiles=1)
def file():
    client, server = pair()
    with open("/proc/self/exe", "rb") as shared:
        at = memory(PAGE, mmap.PROT_READ, mmap.MAP_SHARED, shared.fileno())
    iomap_fails(errno.EOPNOTSUPP, server, at, PAGE, 0)


@case(IomapBadMemory=1)
def bad_memory():
    client, server = pair()
    iomap_fails(errno.EFAULT, server, PAGE, PAGE, 0)


@case(IomapNoMemory=1)
def memlock():
    client, server = pair()
    old = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    resource.setrlimit(resource.RLIMIT_MEMLOCK, (MEMLOCK, old[1]))
    os.seteuid(65534)
    try:
        iomap_fails(errno.ENOMEM, server, memory(2 * MEMLOCK), 2 * MEMLOCK, 0)
    finally:
        os.seteuid(0)
        resource.setrlimit(resource.RLIMIT_MEMLOCK, old)


@case(WritesNoTarget=1)
def no_target():
    client, server = pair()
    try:
        place(client, b"x", 0)
    except OSError as e:
        assert e.errno == errno.ENXIO, e
    else:
        raise AssertionError("placed")


@case(WritesLost=1)
def lost():
    """It is queued behind the stream, and the peer unmaps before it reads that."""
    client, server = pair()
    at = memory(PAGE)
    iomap(server, at, PAGE, 0)
    server.send(b"m")
    client.recv(1)
    client.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
    sent = 0
    while True:     # the stream is stuck, and there is room to queue more
        sent += client.send(bytes(PAGE))
        if sent > server.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF) + 4 * PAGE:
            break
    place(client, b"x", 0)
    iomap(server, at, PAGE, 0, RSOCK_IOUNMAP)
    drain(server, sent)


# --- cases: the last one ---------------------------------------------------------------

@case(DeviceRemovals=1, Resets=2, PeerResets=1)
def device_removed():
    client, server = pair()
    subprocess.run(["rdma", "link", "del", os.environ["BDEV"]], check=True)
    ended(server, errno.ENETDOWN)
    ended(client, errno.ECONNRESET)


def main():
    start, total, failed = counters(), {}, 0
    for n, (function, expected) in enumerate(cases, 1):
        why = None
        try:
            function()
        except (AssertionError, OSError) as e:
            why = repr(e)
        for name, value in expected.items():
            total[name] = total.get(name, 0) + value
        end = time.monotonic() + PATIENCE
        while True:     # since ends are counted when they have been seen to
            got = {k: v for k, v in more(start).items() if k not in SUCCESSES}
            if got == total or why or time.monotonic() > end:
                break
            time.sleep(0.02)
        if got != total or why:
            failed += 1
            print(f"# {why or ''} counted {got}, expected {total}")
            start, total = counters(), {}
            print("not ", end="")
        print(f"ok {n} - {function.__name__}", flush=True)
    print(f"1..{len(cases)}")
    return failed != 0


sys.exit(main())

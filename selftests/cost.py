#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What a message costs, by counting what does not depend on the clock.

    cost.py RSOCKPERF OUT [RECORD]

Loads of rsockperf run from A4 to B4 (environment) in two lengths, so that the
difference is that of the messages alone. Histograms of the kernel's trace
events count both ends. OUT receives load,figure,value as CSV, a value for each
message; RECORD is such a file to compare with. TAP on standard output.
"""
import collections
import csv
import os
import re
import subprocess
import sys
import time

TRACING = "/sys/kernel/tracing"
SIGNALED = 2
PORT = 7600
# What is more than this is worse than the record says. Only these are compared:
# the others depend on who runs when.
SLACK, LEAST = 1.3, 0.1
COMPARED = {"work requests for data", "signalled", "completions", "allocations", "locks taken",
            "bytes copied by the sender", "bytes copied by the receiver"}

# Messages of the shorter run and how many more the longer one has, and options
LOADS = {
    "ping 64 B":             (200, 1000, ["-s", "64", "-l"]),
    "stream 64 B":           (1000, 8000, ["-s", "64"]),
    "stream 4 KiB":          (200, 2000, ["-s", "4K"]),
    "stream 64 KiB":         (50, 400, ["-s", "64K"]),
    "stream 1 MiB":          (8, 40, ["-s", "1M"]),
    "zerocopy 64 KiB":       (50, 400, ["-s", "64K", "-z"]),
    "riowrite 64 B":         (200, 2000, ["-s", "64", "-P"]),
    "riowrite 64 KiB":       (50, 400, ["-s", "64K", "-P"]),
    "zerocopy riowrite 64 KiB": (50, 400, ["-s", "64K", "-P", "-z"]),
    "io_uring riowrite 64 KiB": (50, 400, ["-s", "64K", "-P", "-u"]),
}

PROBES = {
    "rsock_lock": "p:rsock_lock _raw_spin_lock_bh caller=+0(%sp):x64",
    "rsock_out": "p:rsock_out rsock_buf_to_iter bytes=%dx:u64",
    "rsock_in": "p:rsock_in rsock_tx_append bytes=%cx:u32",
}

OURS = 'comm == "rsockperf"'
# Event, key (with what it is shown as), value, filter
HISTOGRAMS = {
    "posts": ("rsock/rsock_post", "flags", None, None),
    "sends done": ("rsock/rsock_send_done", "status", None, None),
    "receives done": ("rsock/rsock_recv_done", "status", None, None),
    "credits": ("rsock/rsock_credit_give", "common_cpu", None, None),
    "stalls": ("rsock/rsock_stall", "common_cpu", None, None),
    "wake-ups": ("sched/sched_waking", "common_cpu", None, OURS),
    "switches": ("sched/sched_switch", "prev_state", None, 'prev_comm == "rsockperf"'),
    "softirqs": ("irq/softirq_entry", "vec", None, None),
    "kmalloc": ("kmem/kmalloc", "call_site.sym", None, None),
    "caches": ("kmem/kmem_cache_alloc", "call_site.sym", None, None),
    "locks": ("kprobes/rsock_lock", "caller.sym", None, None),
    "copied out": ("kprobes/rsock_out", "common_cpu", "bytes", OURS),
    "copied in": ("kprobes/rsock_in", "common_cpu", "bytes", OURS),
}


def write(path, text):
    """Add a line, without seeking, which these files do not know."""
    fd = os.open(f"{TRACING}/{path}", os.O_WRONLY | os.O_APPEND)
    try:
        os.write(fd, text.encode())
    except OSError as error:
        with open(f"{TRACING}/error_log") as file:
            sys.exit(f"{path}: {text}{error}\n{file.read()}")
    finally:
        os.close(fd)


def trigger(name):
    """What makes an event's histogram."""
    _, key, value, condition = HISTOGRAMS[name]
    return (f"hist:keys={key}" + (f":vals={value}" if value else "") +
            (f" if {condition}" if condition else "") + "\n")


def set_up():
    if not os.path.exists(f"{TRACING}/events"):
        subprocess.run(["mount", "-t", "tracefs", "tracefs", TRACING], check=True)
    for probe in PROBES.values():
        write("kprobe_events", probe + "\n")
    for name in HISTOGRAMS:
        write(f"events/{HISTOGRAMS[name][0]}/trigger", trigger(name))


def tear_down():
    """Before the module is unloaded, which the kernel warns of otherwise."""
    for name in HISTOGRAMS:
        write(f"events/{HISTOGRAMS[name][0]}/trigger", "!" + trigger(name))
    for name in PROBES:
        write("kprobe_events", f"-:{name}\n")


def histogram(name):
    """Values by key."""
    event, key, value, _ = HISTOGRAMS[name]
    found = {}
    with open(f"{TRACING}/events/{event}/hist") as file:
        for line in file:
            entry = re.match(r"{ [^:]+: *(.*?) *} hitcount: +(\d+)", line)
            if entry:
                field = value and re.search(rf" {value}: +(\d+)", line)
                found[entry[1]] = int(field[1] if field else entry[2])
    return found


def total(name, want=lambda key: True):
    return sum(n for key, n in histogram(name).items() if want(key))


def is_ours(symbol):
    return "[rsock]" in symbol


def counts():
    """All figures, since counting began."""
    posts = total("posts")
    credits = total("credits")
    return {
        "work requests for data": posts - credits,
        "work requests for credit": credits,
        "signalled": total("posts", lambda flags: int(flags) & SIGNALED),
        "completions": total("sends done") + total("receives done"),
        "stalls": total("stalls"),
        "wake-ups": total("wake-ups"),
        "sleeps": total("switches", lambda state: int(state) & 0xff),
        "context switches": total("switches"),
        "softirqs": total("softirqs"),
        "allocations": total("kmalloc", is_ours) + total("caches", is_ours),
        "locks taken": total("locks", is_ours),
        "bytes copied by the sender": total("copied in"),
        "bytes copied by the receiver": total("copied out"),
    }


def listens(port):
    shown = subprocess.run(["rdma", "resource", "show", "cm_id"], capture_output=True, text=True)
    return re.search(rf"state LISTEN.*src-addr \S+:{port} ", shown.stdout)


def run(perf, port, options):
    there, here = os.environ["B4"], os.environ["A4"]
    server = subprocess.Popen([perf, "-p", str(port), there], stdout=subprocess.DEVNULL)
    while not listens(port) and server.poll() is None:
        time.sleep(0.02)
    subprocess.run([perf, "-p", str(port), "-b", here, *options, "-c", there],
                   stdout=subprocess.DEVNULL, check=True, timeout=120)
    server.wait(30)


def length(options, messages):
    if options[-1] == "-l":
        return [*options, str(messages)]
    return [*options, "-n", str(messages * size(options))]


def size(options):
    text = options[1]
    return int(text.rstrip("KM")) << {"K": 10, "M": 20}.get(text[-1], 0)


def measure(perf, ports, few, more, options):
    """Figures for each message."""
    at = [counts()]
    for messages in few, few + more:
        run(perf, next(ports), length(options, messages))
        at.append(counts())
    return {name: (at[2][name] - 2 * at[1][name] + at[0][name]) / more for name in at[0]}


def read_record(path):
    record = collections.defaultdict(dict)
    with open(path) as file:
        for load, figure, value in csv.reader(file):
            record[load][figure] = float(value)
    return record


class Tap:
    number = failed = 0

    def result(self, name, wrong):
        self.number += 1
        self.failed += bool(wrong)
        if wrong:
            print(f"# {wrong}")
        print(f"{'not ' if wrong else ''}ok {self.number} - {name}", flush=True)


def worse(now, then):
    """What has become more."""
    return {name: (then[name], round(value, 3)) for name, value in now.items()
            if name in COMPARED & then.keys() and value > then[name] * SLACK + LEAST}


def beyond(load, figures):
    """What is more than was promised, for any load."""
    length = size(LOADS[load][2])
    sent = 0 if load.startswith(("zerocopy", "io_uring")) else length
    read = 0 if "riowrite" in load else length
    ends = 2 if load.startswith("ping") else 1
    most = {
        "wake-ups": figures["sleeps"] + LEAST,
        "bytes copied by the sender": ends * sent + 16,
        "bytes copied by the receiver": ends * read + 16,
    }
    return {name: (limit, figures[name]) for name, limit in most.items() if figures[name] > limit}


def main():
    perf, out, *record = sys.argv[1:]
    record = read_record(record[0]) if record else {}
    tap = Tap()
    set_up()
    ports = iter(range(PORT, PORT + 1000))
    with open(out, "w") as file:
        for load, (few, more, options) in LOADS.items():
            figures = measure(perf, ports, few, more, options)
            for name, value in figures.items():
                print(f"{load},{name},{value:.3f}", file=file)
            tap.result(f"{load}: no more than was promised", beyond(load, figures))
            if load in record:
                tap.result(f"{load}: no worse than the record", worse(figures, record[load]))
    tear_down()
    print(f"1..{tap.number}")
    return tap.failed != 0


if __name__ == "__main__":
    sys.exit(main())

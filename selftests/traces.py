#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What the trace events said while counters.py ran fits together.

    traces.py TRACE         as /sys/kernel/tracing/trace has it

TAP on standard output.
"""
import collections
import os
import re
import sys

# These need a peer that breaks the protocol, or a device that does
UNSEEN = {"rsock_fault", "rsock_qp_event"}
EVENTS = "/sys/kernel/tracing/events/rsock"

events = []
with open(sys.argv[1]) as file:
    for line in file:
        found = re.search(r": (rsock_\w+): (.*)", line)
        if found:
            fields = dict(word.split("=", 1) for word in found[2].split() if "=" in word)
            events.append((found[1], fields, found[2]))


def of(*names):
    return [event for event in events if event[0] in names]


def all_seen():
    """Each event that there is has happened."""
    there = {name for name in os.listdir(EVENTS) if name.startswith("rsock_")}
    seen = {name for name, _, _ in events}
    return there - UNSEEN - seen, seen - there


def completions():
    """Each is that of a work request that asked for one, in their order."""
    asked, wrong = collections.defaultdict(collections.deque), []
    for name, f, text in of("rsock_post", "rsock_send_done", "rsock_end"):
        if name == "rsock_end":         # the next one may have its address
            asked[f["ep"]].clear()
        elif name == "rsock_post":
            if text.endswith("signaled"):
                asked[f["ep"]].append(f["seq"])
        elif f["status"] == "0" and (not asked[f["ep"]] or
                                     asked[f["ep"]].popleft() != f["seq"]):
            wrong.append(text)
    return wrong, () if asked else "none"


def reasons():
    """Connections end for the reasons that are counted."""
    with open("/proc/net/rsock_stat") as file:
        names, values = (line.split()[1:] for line in file)
    counted = dict(zip(names, map(int, values), strict=True))
    ends = collections.Counter(text.split()[-1] for _, f, text in of("rsock_end")
                               if not text.split()[-1].startswith("err="))
    return ({why: (n, counted[why]) for why, n in ends.items() if n != counted[why]},
            () if ends else "none")


def lives():
    """What was open has ended, once, and named the same two ends."""
    opened = {f["ep"]: text.split()[2:5] for _, f, text in of("rsock_open")}
    ended = collections.Counter(f["ep"] for _, f, _ in of("rsock_end"))
    return [(ep, ends) for ep, ends in opened.items() if not ended[ep]], () if opened else "none"


def mappings():
    """What was mapped is out of reach in the end."""
    at = collections.Counter()
    for name, f, _ in of("rsock_map", "rsock_map_gone"):
        at[f["ep"], f["offset"]] += 1 if name == "rsock_map" else -1
    return [key for key, n in at.items() if n > 0], () if at else "none"


checks = [all_seen, completions, reasons, lives, mappings]
failed = 0
for n, check in enumerate(checks, 1):
    wrong = [w for w in check() if w]
    if wrong:
        failed += 1
        print(f"# {wrong}")
    print(f"{'not ' if wrong else ''}ok {n} - {check.__doc__}")
print(f"1..{len(checks)}")
sys.exit(failed != 0)

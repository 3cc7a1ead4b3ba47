#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Compare two runs of run.py, and say what should not be.

    judge.py EXPECTED TCP RSOCK MODULE...

EXPECTED has a line for each test that is allowed to fail (see there); one that
does not, although it should, is as bad as one that is not in it.
"""
import sys

from expected import read_expected

GOOD = ("ok", "skip")


def outcomes(path):
    with open(path) as file:
        return dict(line.split() for line in file)


def complaint(name, tcp, rsock, how):
    if tcp is None or rsock is None:
        return "only one of the runs has it"
    if tcp not in GOOD:
        return None if how == "both" else f"{tcp} with TCP"
    if how == "both":
        return "passes with TCP, and should not"
    if rsock == tcp:
        return "passes, and should not" if how == "always" else None
    return None if how in ("always", "race") and rsock not in GOOD else f"{rsock}, with TCP {tcp}"


def judge(expected, tcp, rsock, modules):
    names = sorted(tcp.keys() | rsock.keys())
    complaints = {name: complaint(name, tcp.get(name), rsock.get(name), expected.get(name))
                  for name in names}
    for name, how in expected.items():
        if name not in complaints and how != "never" and name.startswith(modules):
            complaints[name] = "is expected to fail, and was not run"
    return {name: text for name, text in complaints.items() if text}


bad = judge(read_expected(sys.argv[1]), outcomes(sys.argv[2]), outcomes(sys.argv[3]),
            tuple(f"test.{module}." for module in sys.argv[4:]))
for name, text in bad.items():
    print(f"{name}: {text}")
sys.exit(bool(bad))

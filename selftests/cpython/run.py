#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Run tests of CPython's, each with a time limit, and write down how each went.

    run.py EXPECTED FILE MODULE...

EXPECTED tells what not to run. A line of FILE is a test's name, or that of a class whose fixture failed, and
ok, skip, FAIL, ERROR or HANG. Whoever hangs ends the process; the rest is run
by another one.
"""
import faulthandler
import subprocess
import sys
import unittest

from test import support

from expected import read_expected

LIMIT = 120     # seconds for a test


class Result(unittest.TestResult):
    """A test has ended when its line has a second word."""

    def __init__(self, file):
        super().__init__()
        self.file = file
        self.begun = self.outcome = None

    def write(self, text):
        self.file.write(text)
        self.file.flush()

    def note(self, test, outcome, err=None):
        if err:
            print(f"{outcome}: {test.id()}\n{self._exc_info_to_string(err, test)}", file=sys.stderr)
        if test is self.begun:
            self.outcome = outcome if self.outcome in (None, "ok", "skip") else self.outcome
        else:
            self.write(f"{test.id().replace(' ', '')} {outcome}\n")

    def startTest(self, test):
        super().startTest(test)
        faulthandler.dump_traceback_later(LIMIT, exit=True)
        self.begun, self.outcome = test, None
        self.write(test.id())

    def stopTest(self, test):
        super().stopTest(test)
        faulthandler.cancel_dump_traceback_later()
        self.write(f" {self.outcome or 'ok'}\n")
        self.begun = None

    def addFailure(self, test, err):
        self.note(test, "FAIL", err)

    def addError(self, test, err):
        self.note(test, "ERROR", err)

    def addSubTest(self, test, subtest, err):
        if err:
            self.note(test, "FAIL" if issubclass(err[0], test.failureException) else "ERROR", err)

    def addSkip(self, test, reason):
        self.note(test, "skip")

    def addExpectedFailure(self, test, err):
        self.note(test, "ok")

    def addUnexpectedSuccess(self, test):
        self.note(test, "FAIL")


def flat(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from flat(test)
        else:
            yield test


def all_tests(expected, modules):
    never = tuple(name for name, how in read_expected(expected).items() if how == "never")
    suite = unittest.defaultTestLoader.loadTestsFromNames(modules)
    return [test for test in flat(suite) if not test.id().startswith(never)]


def run_from(start, expected, path, modules):
    """All from a number on, in this process."""
    support.use_resources = ["cpu"]
    tests = all_tests(expected, modules)[start:]
    with open(path, "a") as file:
        unittest.TestSuite(tests).run(Result(file))


def is_test(line):
    return not line.startswith(("setUp", "tearDown"))


def run(expected, path, modules):
    open(path, "w").close()
    while True:
        with open(path) as file:
            done = sum(map(is_test, file))
        child = subprocess.run([sys.executable, __file__, "--from", str(done),
                                expected, path, *modules])
        with open(path, "r+") as file:
            if child.returncode == 0 and not unfinished(file.read()):
                return
            if not unfinished_at_end(file):
                sys.exit(f"the tests ended by status {child.returncode}")


def unfinished(text):
    return bool(text) and not text.endswith("\n")


def unfinished_at_end(file):
    """Complete the line of a test that hung; False if there is none."""
    file.seek(0)
    if not unfinished(file.read()):
        return False
    file.write(" HANG\n")
    return True


if sys.argv[1] == "--from":
    run_from(int(sys.argv[2]), sys.argv[3], sys.argv[4], sys.argv[5:])
else:
    run(sys.argv[1], sys.argv[2], sys.argv[3:])

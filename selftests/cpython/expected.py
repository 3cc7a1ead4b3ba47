# SPDX-License-Identifier: GPL-2.0
"""The file "expected"."""


def read_expected(path):
    """What is to become of tests: {name: word}."""
    with open(path) as file:
        lines = [line.split() for line in file if line[0] not in " \t#\n"]
    return {name: how for how, name in lines}

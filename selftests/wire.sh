#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The wire protocol's code in user space: unit tests, and fuzzers for a while.
#
# Kernels: host
# Guest: t=300
FUZZ_SECONDS=${FUZZ_SECONDS:-${FULL:+60}} exec "$(dirname "$0")/wire/run.sh"

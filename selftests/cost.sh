#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What a message costs: work requests, completions, wake-ups, copies, and more that
# does not depend on how fast the machine is (cost.py). No more than was promised,
# and, of what does not depend on who runs when, not more than cost/VERSION.csv has,
# which is such a result: to keep another one, copy build/results/KERNEL/cost/cost.csv
# there.
#
# Kernels: stock
# Guest: m=1024 t=400
# When: full
# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/topo.sh
. "$(dirname "$0")/topo.sh"

record=$TREE/selftests/cost/$(cut -d . -f 1-2 <<<"$KVER").csv
[ -e "$record" ] || record=

load_rsock
topo_wire 9000
take_over cost < <(python3 "$TREE/selftests/cost.py" "$TREE/build/tools/rsockperf" "$OUT/cost.csv" ${record:+"$record"} 2>&1)
topo_down
unload_rsock
finish

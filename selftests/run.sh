#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# rsock-run: a program that knows of TCP only, on AF_RSOCK. See run_host.sh for
# what needs no module, programs.sh for programs of others.
#
# Guest: m=1024 t=240
# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/topo.sh
. "$(dirname "$0")/topo.sh"
# shellcheck source=selftests/sock_lib.sh
. "$(dirname "$0")/sock_lib.sh"

RUN=$TREE/build/rsock-run/rsock-run
cat >"$OUT/rules" <<'EOF'
any  any  7600-7619  rsock
any  any  7620-7639  tcp
EOF

load_rsock
topo_wire
sock_env
export RSOCK_TEST_FAMILY=tcp RSOCK_RUN_LOG=$OUT/log
run_check "$RUN" -c "$OUT/rules" "$PROGRAMS/run_test"
topo_down
unload_rsock
finish

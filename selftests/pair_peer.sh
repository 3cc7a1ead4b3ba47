# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The other guest of two (pair_lib.sh)
# shellcheck source=selftests/programs.sh
. "$(dirname "$0")/programs.sh"
# shellcheck source=selftests/sock_lib.sh
. "$(dirname "$0")/sock_lib.sh"
# shellcheck source=selftests/pair_lib.sh
. "$(dirname "$0")/pair_lib.sh"

pair_obey

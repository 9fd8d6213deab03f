#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# programs.sh - generated programs, as core/test/programs prints them when they
# fail, are programs in C: the compiler accepts them.
#
# Needs BUILD_DIR, INCLUDES, CC. Exits with 77 if the generator is not built.
set -eu
. "$(dirname "$0")/../script.sh"

programs=${BUILD_DIR:?}/test/programs
[ -x "$programs" ] || skip "$programs is not built"
seed=1
while [ "$seed" -le 60 ]; do
	"$programs" --print --seed "$seed" >"$scratch/$seed.c"
	# shellcheck disable=SC2086 # several words
	quietly "${CC:-cc}" $INCLUDES -std=gnu11 -Wall -Wextra -Werror \
		-Wno-unused-parameter -Wno-unused-result -Wno-unused-variable \
		-fsyntax-only "$scratch/$seed.c"
	seed=$((seed + 1))
done
echo "$((seed - 1)) programs compile"

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# helgrind.sh - with a library built with SENNIT_SANITIZE=helgrind, helgrind reports a
# race in a task. It reports nothing in tasks without races, nor in programs
# that use the library's primitives.
set -eu

source=${SOURCE_DIR:-$(cd "$(dirname "$0")/../.." && pwd)}
: "${CC:=cc}"

skip()
{
	echo "skipped: $*"
	exit 77
}

command -v valgrind >/dev/null || skip 'no valgrind'
case $("$CC" --version) in
*clang*) skip "valgrind does not understand clang's debug information" ;;
esac
echo '#include <valgrind/helgrind.h>' | "$CC" -fsyntax-only -xc - \
	2>/dev/null || skip 'no headers of valgrind'
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cmake -S "$source" -B "$work" -DCMAKE_C_COMPILER="$CC" \
	-DCMAKE_BUILD_TYPE=Debug -DSENNIT_SANITIZE=helgrind \
	-DSENNIT_BUILD=tests,examples >"$work/log" 2>&1 &&
	cmake --build "$work" -j "$(nproc)" --target test_os_planted_bugs \
		example_dag example_pipeline example_queens \
		>>"$work/log" 2>&1 || {
	cat "$work/log"
	exit 1
}
"$work/test/os/planted_bugs"
for example in dag pipeline queens; do
	valgrind --tool=helgrind -q --fair-sched=yes --error-exitcode=99 \
		"$work/examples/$example" >"$work/log" 2>&1 || {
		echo "FAILED: $example, which has no race:"
		cat "$work/log"
		exit 1
	}
done
echo 'helgrind finds the race, and no other'

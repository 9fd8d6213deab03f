#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# plain.sh - a build without options, as a user types it, is the optimised one,
# and has every test of CI's release build.
#
# Environment: CC (cc), CXX, SOURCE_DIR (.), BUILD_DIR (a build).
set -eu
. "$(dirname "$0")/../script.sh"

: "${CC:=cc}" "${CXX:=}" "${SOURCE_DIR:=.}"

grep -q 'CMAKE_BUILD_TYPE:[A-Z]*=Release' "$BUILD_DIR/CMakeCache.txt" ||
	skip "this is no release build"
for option in ARCH=auto SANITIZE=; do
	grep -q "^SENNIT_${option%%=*}:[A-Z]*=${option#*=}" "$BUILD_DIR/CMakeCache.txt" ||
		skip "this is another build: not $option"
done

tests() {
	ctest --test-dir "$1" -N | sed -n 's/^ *Test *#[0-9]*: //p' |
		grep -v -- '-shared$' | sort
}

env CC="$CC" CXX="$CXX" cmake -S "$SOURCE_DIR" -B "$scratch/build" \
	>"$scratch/log" 2>&1 || {
	cat "$scratch/log"
	exit 1
}
grep '"command":.*/src/api/task\.c' "$scratch/build/compile_commands.json" |
	grep -q -e ' -O2 .*-DNDEBUG' || {
	echo "it is not optimised"
	exit 1
}
tests "$scratch/build" >"$scratch/plain"
tests "$BUILD_DIR" >"$scratch/release"
missing=$(comm -13 "$scratch/plain" "$scratch/release")
[ -z "$missing" ] || fail "a plain build lacks: $missing"
echo "$(wc -l <"$scratch/plain") tests in a plain build"

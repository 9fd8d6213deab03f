#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# races.sh - a library built with SENNIT_SANITIZE=race has ThreadSanitizer report
# the races that test/os/races.c plants, and none where there is none: nor in the
# tests of the public calls, test/api and test/io, with clang, which is far
# faster with many tasks.
#
# Environment: SOURCE_DIR (.).
set -eu
. "$(dirname "$0")/../script.sh"

: "${SOURCE_DIR:=.}"

needs cmake gcc
for cc in gcc clang; do
	command -v "$cc" >/dev/null || continue
	build=$scratch/$cc
	target=test_os_races
	[ "$cc" = gcc ] || target=all
	cmake -S "$SOURCE_DIR" -B "$build" -DCMAKE_C_COMPILER="$cc" \
		-DCMAKE_BUILD_TYPE=Debug -DSENNIT_SANITIZE=race \
		-DSENNIT_BUILD=tests -DSENNIT_COMPONENTS=io \
		>"$scratch/log" 2>&1 &&
		cmake --build "$build" -j "$(nproc)" --target "$target" \
			>>"$scratch/log" 2>&1 || {
		cat "$scratch/log"
		exit 1
	}
	"$build/test/os/races"
	[ "$cc" = gcc ] ||
		ctest --test-dir "$build" -j "$(nproc)" -L 'api|io' \
			--output-on-failure
done

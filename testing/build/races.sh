#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# races.sh - a library built with SENNIT_SANITIZE=race has ThreadSanitizer report
# the races that core/test/os/races.c plants, and none where there is none: nor in the
# tests of five folders, with clang, which is far faster with many tasks. Tests
# that use internal names are not built (cmake/tests.cmake). Left out are two
# that take too long with a context for each task; those that replace
# pthread_create(), which the library calls in a context that is ordered with
# nothing; and two of diag, because ThreadSanitizer puts off the signal that asks
# a thread inside the library for its stack.
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
		-DSENNIT_BUILD=tests -DSENNIT_COMPONENTS=io,tls,diag \
		>"$scratch/log" 2>&1 &&
		cmake --build "$build" -j "$(nproc)" --target "$target" \
			>>"$scratch/log" 2>&1 || {
		cat "$scratch/log"
		exit 1
	}
	"$build/test/os/races"
	[ "$cc" = gcc ] ||
		ctest --test-dir "$build" -j "$(nproc)" \
			-L '^(api|io|tls|diag|stress)$' \
			-E '^(api/parallel|stress/(batches|fail_each.*)|diag/(stacks|sites))$' \
			--output-on-failure
done

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# exceptions.sh - C++ in tasks: exceptions are thrown and caught across waits,
# each fiber has its own handled exceptions, and an exception that leaves a task
# ends the program with a message that names the worker and the fiber.
#
# Environment: LIB_STATIC (libsennit.a), CXX (c++; empty: skipped), CXXFLAGS,
# SOURCE_DIR (.), SENNIT_ARCH (portable: no barriers). For a system that is
# emulated: RUNNER, LIBRARIES (more to link with), ABORTED (the status of
# abort()), STANDARDS.
set -eu
. "$(dirname "$0")/../script.sh"

: "${CXX:=}" "${CXXFLAGS:=}" "${SOURCE_DIR:=.}" "${RUNNER:=}" "${LIBRARIES:=}"

[ -n "$CXX" ] || skip "no C++ compiler"

for standard in ${STANDARDS:-c++11 c++17}; do
	# shellcheck disable=SC2086 # flags are words
	"$CXX" $CXXFLAGS -std=$standard -g -Wall -Wextra -Werror \
		-I"$SOURCE_DIR/include" \
		"$SOURCE_DIR/test/build/exceptions.cpp" "$LIB_STATIC" \
		$LIBRARIES -lpthread -o "$scratch/tasks.out"
	for workers in 0 1 2 8; do
		$RUNNER "$scratch/tasks.out" $workers ||
			{ echo "failed: $standard, $workers workers"; exit 1; }
	done
done

[ "${SENNIT_ARCH:-}" != portable ] || exit 0
ulimit -c 0
for run in '0 out' '1 out' '0 member' '1 member' \
	'0 tied' '1 tied'; do
	status=0
	# shellcheck disable=SC2086 # two words
	$RUNNER "$scratch/tasks.out" $run >"$scratch/said" 2>&1 || status=$?
	[ $status = "${ABORTED:-134}" ] || # SIGABRT
		{ cat "$scratch/said"; echo "ended with $status"; exit 1; }
	grep -q '^sennit: an exception leaves a task \[.*fiber' "$scratch/said" ||
		{ cat "$scratch/said"; echo "the task is not named"; exit 1; }
	grep -q 'std::runtime_error' "$scratch/said" ||
		{ cat "$scratch/said"; echo "no std::terminate"; exit 1; }
done

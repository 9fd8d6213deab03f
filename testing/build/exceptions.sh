#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# exceptions.sh - C++ in tasks: exceptions are thrown and caught across waits,
# each fiber has its own handled exceptions, and an exception that leaves a task,
# or a function that a call of the library calls, ends the program with a message
# that names the worker and the fiber.
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
		$INCLUDES \
		"$SOURCE_DIR/testing/build/exceptions.cpp" "$LIB_STATIC" \
		$LIBRARIES -lpthread -o "$scratch/tasks.out"
	for workers in 0 1 2 8; do
		$RUNNER "$scratch/tasks.out" $workers ||
			{ echo "failed: $standard, $workers workers"; exit 1; }
	done
done

[ "${SENNIT_ARCH:-}" != portable ] || exit 0
ulimit -c 0
refuse()
{
	cat "$scratch/said"
	echo "$1"
	exit 1
}

# Tasks; then functions that a call of the library calls on its caller's stack.
for run in out member tied once attempt continuation pool domain end; do
	for workers in 0 1; do
		status=0
		$RUNNER "$scratch/tasks.out" $workers $run \
			>"$scratch/said" 2>&1 || status=$?
		[ $status = "${ABORTED:-134}" ] || # SIGABRT
			refuse "$run ended with $status"
		grep -q '^sennit: an exception leaves a task or call.*fiber' \
			"$scratch/said" || refuse "$run: the task is not named"
		grep -q 'std::runtime_error' "$scratch/said" ||
			refuse "$run: no std::terminate"
	done
done

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# bystanders.sh - checks that no call costs more beside 10,000 fibers that have
# nothing to do with it than beside 10.
#
# Counts instructions with callgrind, and fails if a call needs more than half
# as many again. Calls whose name has a "*" may: the reason is behind it. Prints
# "call few many ok|FAIL" per line. Exit status: 0; 1 if a call costs too much;
# 77 if callgrind or its header is missing.
#
# Needs BYSTANDERS, the program.
set -eu
export LC_ALL=C

few=10
many=10000
# For what happens at times, such as an upkeep.
slack=200

command -v valgrind >/dev/null || {
	echo 'bystanders: skipped, there is no valgrind'
	exit 77
}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# counts COUNT: a line for each call: its name, a tab, its instructions.
counts()
{
	valgrind -q --tool=callgrind --callgrind-out-file="$dir/$1" \
		"${BYSTANDERS:?}" "$1" >&2
	for file in "$dir/$1".*; do
		sed -n -e 's/^desc: Trigger: Client Request: //p' \
			-e 's/^summary: //p' "$file" | paste -s -
	done | sort
}

counts $few >"$dir/few"
counts $many >"$dir/many"
grep -q . "$dir/few" || {
	echo 'bystanders: skipped, built without valgrind/callgrind.h'
	exit 77
}
tab=$(printf '\t')
join -t "$tab" "$dir/few" "$dir/many" | awk -F "$tab" -v slack=$slack '
{
	times = 61
	few = $2 / times
	many = $3 / times
	ok = many <= few * 1.5 + slack || index($1, "*")
	printf "%-60s %9.0f %9.0f %s\n", $1, few, many, ok ? "ok" : "FAIL"
	failures += !ok
}
END {
	if (failures)
		printf "bystanders: %d calls cost more beside many\n", failures
	exit !!failures
}'

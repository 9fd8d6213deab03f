#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# spent.sh PROGRAM OPERATION - shows where an operation's instructions go, by
# function and by source file, as inlining leaves them.
#
# PROGRAM: core/test/budget/operations of a release build. OPERATION: a line of
# core/bench/budget.tsv.
set -eu

room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
less=9860
more=108460
for times in $less $more; do
	valgrind -q --tool=callgrind --callgrind-out-file="$room/out" \
		"$1" "$2" $times >"$room/log" 2>&1 || {
		cat "$room/log"
		exit 1
	}
	callgrind_annotate --auto=no --threshold=100 "$room/out" |
		sed -n "s|^ *\([0-9,]*\) (.*)  *\([^ ]*:[^ ]*\).*|$times \1 \2|p" \
			>>"$room/all"
done

# callgrind reports a recursion of x as 'x'2, because fibers leave and enter x
# in its middle.
awk -v less=$less -v more=$more '
{
	gsub(",", "", $2)
	sub("\x27[0-9]*$", "", $3)
	split($3, part, ":")
	sub(".*/", "", part[1])
	spent = ($1 == more ? $2 : -$2) / (more - less)
	total += spent
	file[part[1]] += spent
	place[part[2] "\t" part[1]] += spent
}
END {
	for (f in file)
		if (file[f] >= 0.5)
			printf "file\t%6.1f\t%s\n", file[f], f
	for (p in place)
		if (place[p] >= 0.5)
			printf "function\t%6.1f\t%s\n", place[p], p
	printf "all\t%6.1f\n", total
}' "$room/all" | sort -t '	' -k 1,1 -k 2,2rn

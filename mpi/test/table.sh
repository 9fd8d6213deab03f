#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# table.sh FOLDER LATE_O OBJECT... - compares the table of mpi/docs/mpi.md with an
# installed MPI. Each call that FOLDER/mpi.h declares must be in one row of it,
# so that a call of a later MPI fails here until the table has it, too.
# A call that suspends, or runs on a helper thread, must be defined in an OBJECT
# of the library and called by LATE_O, the object file of late.c; so must its
# form with large counts. The library defines no other call of MPI.
#
# The names of a row stand without MPI_. Whole names come before those with *.
set -eu

header=$1/mpi.h
top=$(cd "$(dirname "$0")/../.." && pwd)
. "$top/testing/script.sh"

# Conversions of handles are macros in one MPI and functions in another.
"${CC:-cc}" -E -I"$1" "$header" | tr -c 'A-Za-z0-9_' '\n' |
	sed -n 's/^PMPI_//p' | grep -vE '_(f|c|f08)2(f|c|f08)$' |
	sort -u >"$scratch/declared"
shift
nm -u "$1" | sed -n 's/^ *U MPI_//p' | sort -u >"$scratch/called"
shift
nm --defined-only -g "$@" | sed -n 's/^[0-9a-f]* T MPI_//p' |
	sort -u >"$scratch/defined"

awk -F'|' '/^\| call/ { table = 1; next }
	table && !/^\|/ { exit }
	table && !/^\|-/ { gsub(/[ ,]+/, " ", $2); sub(/^ +/, "", $3)
		n = split($2, name, " ")
		kind = $3 ~ /^suspends/ ? "suspends" : \
			$3 ~ /^helper thread/ ? "helped" : \
			$3 ~ /^misuse/ ? "refused" : \
			$3 ~ /^does not wait/ ? "own" : "?"
		for (i = 1; i <= n; i++) print kind, name[i] }' \
	"$top/mpi/docs/mpi.md" >"$scratch/table"
[ -s "$scratch/table" ] || fail "no table in mpi/docs/mpi.md"
[ "$(wc -l <"$scratch/declared")" -gt 300 ] || fail "$header declares little"

awk -v mpi="$header" '
	function say(what) { print mpi ": MPI_" name ": " what; bad = 1 }
	function kind_of(name, at, best) {
		if (name in kind)
			return kind[name]
		for (at in pattern)
			if (name ~ at && length(at) > length(best))
				best = at
		return best == "" ? "" : pattern[best]
	}
	FILENAME ~ /table$/ {
		if ($1 == "?")
			{ name = $2; say("what is its kind?") }
		if ($2 in kind)
			{ name = $2; say("is in two rows") }
		if ($2 ~ /\*$/) {
			at = $2
			sub(/\*$/, "", at)
			pattern["^" at] = $1
		} else
			kind[$2] = $1
		next
	}
	FILENAME ~ /defined$/ { defined[$1]; next }
	FILENAME ~ /called$/ { called[$1]; next }
	{
		name = plain = $1
		there[name]
		sub(/_c$/, "", plain)
		of = kind_of(plain)
		if (of == "")
			say("is not in the table of mpi/docs/mpi.md")
		if ((of != "own") != (name in defined))
			say((name in defined) ? "is defined, and is one that" \
				" does not wait" : "is not defined: " of)
		if ((of == "suspends" || of == "helped") && !(name in called))
			say("is not called by late.c")
	}
	END {
		for (name in defined)
			if (!(name in there))
				say("is defined, and not declared")
		exit bad
	}' "$scratch/table" "$scratch/defined" "$scratch/called" "$scratch/declared"

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# execstack.sh - no file of the build, and no program linked with it, asks for
# an executable stack or for memory that is both writable and executable.
#
# Environment: CC (cc), SOURCE_DIR (.), LIB_STATIC and LIB_SHARED, each skipped
# when empty; READELF (readelf).
set -eu
. "$(dirname "$0")/../script.sh"

: "${CC:=cc}" "${READELF:=readelf}" "${SOURCE_DIR:=.}"
: "${LIB_STATIC:=}" "${LIB_SHARED:=}"

needs "$READELF"
[ -n "$LIB_STATIC$LIB_SHARED" ] ||
	skip "neither LIB_STATIC nor LIB_SHARED is set"

check() {
	"$READELF" -lW "$1" >"$scratch/segments"
	awk -v file="$1" '
	# Flags lie between the sizes and the alignment: "R E", "RW ", "RWE".
	/^  [A-Z_]+ +0x/ {
		flags = ""
		for (i = 7; i < NF; i++)
			flags = flags $i
		if (flags ~ /W/ && flags ~ /E/) {
			print file ": " $1 " is " flags
			bad = 1
		}
	}
	$1 == "GNU_STACK" { stack = flags }
	END {
		if (stack != "RW") {
			print file ": GNU_STACK is \"" stack "\", not RW"
			bad = 1
		}
		exit bad
	}' "$scratch/segments"
	echo "$1: ok"
}

if [ -n "$LIB_SHARED" ]; then
	check "$LIB_SHARED"
fi

if [ -n "$LIB_STATIC" ]; then
	# Pulls in every member of the archive.
	echo 'int main(void) { return 0; }' >"$scratch/main.c"
	"$CC" -o "$scratch/main" "$scratch/main.c" \
		-Wl,--whole-archive "$LIB_STATIC" -Wl,--no-whole-archive \
		-pthread -lm
	check "$scratch/main"
fi

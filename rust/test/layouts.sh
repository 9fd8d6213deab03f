#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# layouts.sh - each struct of sennit-sys has C's size, alignment, fields and
# offsets, and each constant has C's value.
#
# Environment: CC, SOURCE_DIR, LAYOUTS (the program of
# sennit-sys/examples/layouts.rs).
set -eu

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$LAYOUTS" >"$scratch/rust"

{
	printf '#define _GNU_SOURCE\n#include <sennit.h>\n#include <sennit/address.h>\n'
	printf '#include <sennit/listen.h>\n#include <sennit/tls.h>\n'
	printf '#include <signal.h>\n'
	printf '#include <stdio.h>\n'
	printf 'int main(void)\n{\n'
	while read -r kind name field rest; do
		case $kind in
		struct)
			printf '\tprintf("struct %s %%zu %%zu\\n", ' "$name"
			printf 'sizeof(struct %s), ' "$name"
			printf '_Alignof(struct %s));\n' "$name"
			;;
		field)
			printf '\tprintf("field %s %s %%zu\\n", ' "$name" "$field"
			printf 'offsetof(struct %s, %s));\n' "$name" "$field"
			;;
		constant)
			printf '\tprintf("constant %s %%llu\\n", ' "$name"
			printf '(unsigned long long)%s);\n' "$name"
			;;
		esac
	done <"$scratch/rust"
	printf '\treturn 0;\n}\n'
} >"$scratch/print.c"
"$CC" -std=c11 $INCLUDES -o "$scratch/print" "$scratch/print.c"
"$scratch/print" >"$scratch/c"
diff "$scratch/c" "$scratch/rust"

lines=$(wc -l <"$scratch/rust")
[ "$lines" -gt 100 ] || { echo "only $lines lines"; exit 1; }
echo "$lines sizes, places and values are the same"

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# refused.sh - the compiler refuses each program in test/fail, with the error
# that its line "// error:" names. It takes the one that says "none".
#
# Environment: RUSTC, SOURCE_DIR, TARGET_DIR (of cargo).
set -eu

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
library=$TARGET_DIR/debug/libsennit.rlib
seen=0

for file in "$SOURCE_DIR"/rust/test/fail/*.rs; do
	expected=$(sed -n 's|^// error: ||p' "$file")
	status=0
	"$RUSTC" --edition 2021 --emit metadata --crate-type bin -A warnings \
		--extern sennit="$library" -L "$TARGET_DIR/debug/deps" \
		-o "$scratch/out" "$file" 2>"$scratch/said" || status=$?
	codes=$(grep -o '^error\[E[0-9]*\]' "$scratch/said" | sort -u |
		tr -cd 'E0-9\n' | paste -sd ' ' || true)
	[ "$status" != 0 ] || codes=none
	if [ "$codes" != "$expected" ]; then
		echo "${file##*/}: $codes instead of $expected"
		cat "$scratch/said"
		exit 1
	fi
	seen=$((seen + 1))
done
[ "$seen" -ge 10 ] || { echo "only $seen programs"; exit 1; }
echo "$seen programs"

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# help.sh - each program of tools/ says what it is for when it gets --help, and
# does nothing else.
#
# Environment: SOURCE_DIR (.).
set -eu
. "$(dirname "$0")/../script.sh"

: "${SOURCE_DIR:=.}"

needs python3
tools=$(cd "$SOURCE_DIR/tools" && pwd)
count=0
for tool in "$tools"/*; do
	[ -f "$tool" ] && read -r first <"$tool" || continue
	case $first in
	'#!/bin/sh') shell=sh ;;
	'#!'*python3) shell=python3 ;;
	*) continue ;; # is read by others
	esac
	count=$((count + 1))
	name=${tool##*/}
	for option in --help -h; do
		timeout 60 "$shell" "$tool" "$option" >"$scratch/out" 2>&1 ||
			fail "$name $option: status $?"
		[ "$(head -c "$((${#name} + 1))" "$scratch/out")" = "$name " ] ||
			fail "$name $option begins with other words"
		[ "$(wc -l <"$scratch/out")" -le 60 ] ||
			fail "$name $option is long: it has done something"
	done
done
[ "$count" -gt 20 ] || fail "only $count programs in $tools"

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# abi.sh - a change of the headers that breaks programs which are linked to the
# library is found, unless the SONAME and the record change with it. A new call
# must be recorded. Each change is made in a copy of three headers.
#
# Environment: CC (cc), SOURCE_DIR (.).
set -u

: "${SOURCE_DIR:=.}"

command -v abidiff >/dev/null || {
	echo "skipped: no abidiff (package abigail-tools)"
	exit 77
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

fresh()
{
	rm -rf "$work/tree"
	mkdir -p "$work/tree/include/sennit"
	cp -R "$SOURCE_DIR/tools" "$work/tree/"
	for header in base event io; do
		cp "$SOURCE_DIR/include/sennit/$header.h" \
			"$work/tree/include/sennit/"
	done
	if [ -d "$work/record" ]; then
		cp -R "$work/record" "$work/tree/abi"
	fi
}

# abi STATUS WORD ARGUMENT...: tools/abi must end so, and say the word.
abi()
{
	status=$1 word=$2
	shift 2
	rc=0
	sh "$work/tree/tools/abi" "$@" >"$work/said" 2>&1 || rc=$?
	[ "$rc" = "$status" ] && grep -q -e "$word" "$work/said" && return
	echo "FAILED: after $change: abi $* ended with $rc, having said:"
	head -20 "$work/said"
	failures=$((failures + 1))
}

# change WHAT SED HEADER: in a fresh copy.
change()
{
	change=$1
	fresh
	header=$work/tree/include/$3
	cp "$header" "$work/before"
	sed "$2" "$work/before" >"$header"
	! cmp -s "$work/before" "$header" || {
		echo "FAILED: $change changes nothing in $3"
		failures=$((failures + 1))
	}
}

change='no change'
fresh
abi 0 recorded update
cp -R "$work/tree/abi" "$work/record"
abi 0 'as recorded' check

argument='s/sennit_after(uint64_t/sennit_after(uint32_t/'
change 'a narrower argument' "$argument" sennit/base.h
abi 1 'would break' check
abi 1 'would break' update
abi 0 recorded update --unreleased
abi 0 'as recorded' check
change 'a narrower argument and a SONAME' "$argument
	s/\(VERSION_MINOR\) .*/\1 999/" sennit/base.h
abi 1 'out of date' check
abi 0 recorded update
abi 0 'as recorded' check
change 'a result that went' 's/^SENNIT_API sennit_time sennit_now/SENNIT_API void sennit_now/' \
	sennit/base.h
abi 1 'would break' check
change 'a call that went' '/^SENNIT_API sennit_time sennit_now/d' sennit/base.h
abi 1 'would break' check
change 'a larger struct' 's/^typedef struct sennit_event {/&\n\tint more_;/' \
	sennit/event.h
abi 1 'would break' check
change 'a new call' 's/^SENNIT_API sennit_time sennit_now/SENNIT_API int sennit_new(void);\n&/' \
	sennit/base.h
abi 1 'out of date' check
abi 0 recorded update
abi 0 'as recorded' check
change='a library that went'
fresh
rm "$work/tree/include/sennit/io.h"
abi 1 'no header declares it' check

[ "$failures" = 0 ] && echo "each change was found"

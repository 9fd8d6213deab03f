#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# abi.sh - a change of the headers that breaks programs is found, whatever it is,
# unless the SONAME and the record change with it. What programs may gain must be
# recorded. See abi.py. tools/abi says so, on a copy of the tree.
#
# Environment: CC (cc), SOURCE_DIR (.).
set -eu
. "$(dirname "$0")/../script.sh"

: "${SOURCE_DIR:=.}"
needs python3 readelf
tree=$scratch/tree

# fresh: a tree with the record of its interface.
fresh()
{
	rm -rf "$tree"
	mkdir "$tree"
	cp -R "$SOURCE_DIR/tools" "$SOURCE_DIR/include" "$tree"
	rm "$tree/include/sennit/mpi.h"
	[ ! -d "$scratch/record" ] || cp -R "$scratch/record" "$tree/abi"
}

# abi STATUS WORDS ARGUMENT...: tools/abi must end so, and say the words.
abi()
{
	status=$1 words=$2
	shift 2
	rc=0
	sh "$tree/tools/abi" "$@" >"$scratch/said" 2>&1 || rc=$?
	[ "$rc" = "$status" ] && grep -q -e "$words" "$scratch/said" ||
		fail "abi $* ended with $rc: $(head -20 "$scratch/said")"
}

fresh
abi 0 'recorded (new)' update
cp -R "$tree/abi" "$scratch/record"
abi 0 'as recorded' check
python3 -B "$SOURCE_DIR/test/build/abi.py" "$tree"

narrower='s/sennit_after(uint64_t/sennit_after(uint32_t/'
fresh
sed -i "$narrower" "$tree/include/sennit/base.h"
abi 1 'would break' check
abi 1 'would break' update
abi 0 'recorded (breaks)' update --unreleased
abi 0 'as recorded' check

fresh
sed -i "$narrower; s/\(VERSION_MINOR\) .*/\1 999/" "$tree/include/sennit/base.h"
abi 1 'out of date' check
abi 0 'recorded (other-soname)' update
abi 0 'as recorded' check

fresh
sed -i 's/^SENNIT_API sennit_time sennit_now/SENNIT_API int sennit_new(void);\n&/' \
	"$tree/include/sennit/base.h"
abi 1 'out of date' check
abi 0 'recorded (more)' update
abi 0 'as recorded' check

fresh
sed -i 's/\(VERSION_PATCH\) .*/\1 9/' "$tree/include/sennit/base.h"
abi 0 'as recorded' check

fresh
for header in $(sh "$tree/tools/list-calls" --headers libsennit-io "$tree"); do
	rm "$tree/$header"
done
abi 1 'no header declares it' check
echo 'each change was found'

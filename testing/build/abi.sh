#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# abi.sh - tools/abi lets an interface follow that of the newest release only as
# the versions of both allow it. It sees each change of the headers that breaks
# programs (abi.py), a change that an option of the compiler makes, and a record
# that was changed after its release. On a copy of the tree.
#
# Environment: CC (cc), SOURCE_DIR (.).
set -eu
. "$(dirname "$0")/../script.sh"

: "${SOURCE_DIR:=.}"
needs python3 readelf git
tree=$scratch/tree
base=core/include/sennit/base.h
event=core/include/sennit/event.h

# fresh [PRODUCT...]: a tree with these headers, and the records that were made.
fresh()
{
	rm -rf "$tree"
	mkdir "$tree"
	cp -R "$SOURCE_DIR/tools" "$tree"
	for product; do
		mkdir "$tree/$product"
		cp -R "$SOURCE_DIR/$product/include" "$tree/$product"
	done
	[ ! -d "$scratch/abi" ] || cp -R "$scratch/abi" "$tree"
}

# version MAJOR.MINOR.PATCH
version()
{
	for part in MAJOR=${1%%.*} PATCH=${1##*.} \
		"MINOR=$(echo "$1" | cut -d. -f2)"; do
		sed -i "s/^\(#define SENNIT_VERSION_${part%=*}\) .*/\1 ${part#*=}/" \
			"$tree/$base"
	done
}

# edit FILE SED: which must change the file.
edit()
{
	cp "$tree/$1" "$scratch/before"
	sed -i "$2" "$tree/$1"
	! cmp -s "$tree/$1" "$scratch/before" || fail "$1 is as before: $2"
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

narrower='s/sennit_after(uint64_t/sennit_after(uint32_t/'
more='s/^SENNIT_API sennit_time sennit_now/SENNIT_API int sennit_new(void);\n&/'

fresh core cpp diag io
python3 -B "$SOURCE_DIR/testing/build/abi.py" "$tree"

# Before the first release.
fresh core
version 0.9.0
abi 0 'no release to compare with' check
edit $event 's/^typedef struct sennit_event {/&\n#ifdef NDEBUG\nint odd_;\n#endif/'
abi 1 'another one for .* -DNDEBUG' check

fresh core diag
version 0.9.0
abi 0 'recorded' record
abi 1 'recorded already' record
cp -R "$tree/abi" "$scratch"

# judged STATUS WORDS VERSION SED: what follows 0.9.0 is judged so.
judged()
{
	fresh core diag
	[ -z "$4" ] || edit $base "$4"
	version "$3"
	abi "$1" "$2" compare
}

judged 0 '0.9.1 may follow 0.9.0' 0.9.1 ''
judged 1 'would break' 0.9.1 "$narrower"
judged 0 'may follow' 0.10.0 "$narrower"
judged 1 'has more' 0.9.1 "$more"
judged 0 'may follow' 0.10.0 "$more"
judged 0 'may follow' 1.0.0 "$narrower"

fresh core diag
version 0.9.1
mv "$tree/core/include/sennit/fiber.h" "$tree/core/include/sennit/fibre.h"
sed -i 's,sennit/fiber\.h,sennit/fibre.h,' "$tree"/*/include/*.h \
	"$tree"/*/include/sennit/*.h
abi 1 '^- header <sennit/fiber.h>' compare

fresh core
version 0.9.1
abi 1 'no header declares libsennit-diag of 0.9.0' compare
version 0.10.0
abi 0 'may follow' compare

# From 1.0 on, a minor version may add calls and a major one may break them.
rm -r "$scratch/abi"
fresh core diag
version 1.0.0
abi 0 'recorded' record
cp -R "$tree/abi" "$scratch"
judged 1 'has more' 1.0.1 "$more"
judged 0 'may follow' 1.1.0 "$more"
judged 1 'would break' 1.1.0 "$narrower"
judged 0 'may follow' 2.0.0 "$narrower"

# A record is written once.
fresh core diag
version 1.0.1
git -C "$tree" init -q
commit()
{
	git -C "$tree" add -A
	git -C "$tree" -c user.name=a -c user.email=a@b commit -qm "$1"
}
commit release
abi 0 'may follow' compare
edit "abi/1.0.0/$(uname -m)/libsennit.txt" '$d'
abi 1 'changed after the release' compare
commit change
abi 1 'changed after the release' compare
echo 'each change was found'

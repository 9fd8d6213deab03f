#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tools.sh - each check of tools/ accepts a small tree without faults, and
# rejects it for every fault that it must find.
set -u

source=${SOURCE_DIR:-$(cd "$(dirname "$0")/../.." && pwd)}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree=$work/tree
failures=0

# A library of three modules, with one edge.
make_tree()
{
	rm -rf "$tree"
	mkdir -p "$tree/src/base" "$tree/src/core" "$tree/include/sennit" \
		"$tree/docs" "$tree/test" "$tree/examples" "$tree/bench" \
		"$tree/cmake" "$tree/.ci"
	cp -R "$source/tools" "$tree/tools"
	cp "$source/src/base/compiler.h" "$source/src/base/deterministic.h" \
		"$tree/src/base/"
	sed 's|os_[a-z_]*()|barrier|' "$source/src/base/atomic.h" \
		>"$tree/src/base/atomic.h"
	for header in cas_order fetch_own pause; do
		for file in "$source"/src/arch/*/processor/$header.h; do
			folder=$tree/${file#"$source/"}
			mkdir -p "${folder%/*}"
			cp "$file" "$folder"
		done
	done
	cp "$source/src/arch/PROCESSORS" "$tree/src/arch/"
	cp "$source/include/sennit/base.h" "$tree/include/sennit/"
	printf '%s\n' processor/cas_order processor/fetch_own \
		processor/pause base/compiler base/deterministic base/atomic \
		core/door \
		>"$tree/src/LAYERS"
	for list in CMakeLists.txt Makefile; do
		echo '# SPDX-License-Identifier: Apache-2.0' >"$tree/$list"
	done
	cat >"$tree/include/sennit.h" <<'EOF'
/* SPDX-License-Identifier: Apache-2.0 */
/* Example:
 *	sennit_time start = sennit_now();
 *
 *	(void)start;
 */
#ifndef SENNIT_H
#define SENNIT_H

#include "sennit/base.h"

#endif
EOF
	cat >"$tree/src/core/door.h" <<'EOF'
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SN_DOOR_H
#define SN_DOOR_H

#include "base/atomic.h"

/* Opened by sn_door_open(). */
struct door {
	a_u32 open;
};

void     sn_door_open(struct door *d);
uint32_t sn_door_look(struct door *d);

#endif
EOF
	cat >"$tree/src/core/door.c" <<'EOF'
/* SPDX-License-Identifier: Apache-2.0 */
#include "core/door.h"

#include "sennit/base.h"

void sn_door_open(struct door *d)
{
	a_store_rel(&d->open, 1); /* -> door.open: what lies behind it */
}

uint32_t sn_door_look(struct door *d)
{
	/* <- door.open */
	return a_load_acq(&d->open);
}

sennit_time sennit_now(void)
{
	return 0;
}

sennit_time sennit_after(uint64_t nanoseconds)
{
	return nanoseconds;
}
EOF
	sh "$tree/tools/check-edges" --table >"$tree/docs/memory-order.md"
	sh "$tree/tools/draw-layers" >"$tree/docs/layers.svg"
}

check()
{
	LIB_SHARED=$tree/door.so LIB_STATIC=$tree/door.a BUILD_DIR=$tree/build \
		sh "$tree/tools/check-$1" >"$work/output" 2>&1
}

accepts()
{
	make_tree
	if ! check "$1"; then
		echo "FAILED: check-$1 rejects a tree without faults:"
		cat "$work/output"
		failures=$((failures + 1))
	fi
}

# rejects CHECK WHAT: the fault has been planted. Any result except status 1
# with a message of the check is a failure of the check.
rejects()
{
	check "$1"
	rc=$?
	if [ "$rc" != 1 ] || ! grep -q "check-$1: " "$work/output"; then
		echo "FAILED: check-$1 lets through: $2 (exit $rc)"
		cat "$work/output"
		failures=$((failures + 1))
	fi
	make_tree
}

# Edits the tree: a sed expression, then the file.
edit()
{
	sed "$1" "$tree/$2" >"$work/edited" && cp "$work/edited" "$tree/$2"
}

# Builds the archive and the shared library. Environment: SONAME, MAP.
build()
{
	version=$(sh "$tree/tools/abi" version)
	search=
	for folder in $(sh "$tree/tools/processor-folders" "${CC:-cc}"); do
		search="$search -I$tree/$folder"
	done
	sed "s|@abi_version@|$version|" "$source/cmake/symbols.map.in" \
		>"$tree/symbols.map"
	${CC:-cc} -std=gnu11 -fPIC -fvisibility=hidden -I"$tree/include" \
		-I"$tree/src" $search -c "$tree/src/core/door.c" \
		-o "$tree/door.o" &&
		${CC:-cc} -shared "$tree/door.o" -o "$tree/door.so" \
			-Wl,-soname,"${SONAME:-libsennit.so.$version}" \
			-Wl,--version-script="$tree/${MAP:-symbols.map}" &&
		${1-objcopy --localize-hidden} "$tree/door.o" &&
		rm -f "$tree/door.a" &&
		ar rc "$tree/door.a" "$tree/door.o"
}

accepts layers
edit 's|base/atomic.h|core/door.h|' src/base/compiler.h
edit 's|#include <stddef.h>|#include "base/atomic.h"|' src/base/compiler.h
rejects layers 'an include of a module below'
edit 's|base/atomic.h|base/other.h|' src/core/door.h
rejects layers 'an include of no module'
echo '/* */' >"$tree/src/core/extra.c"
rejects layers 'a file in no line of LAYERS'
echo core/ghost >>"$tree/src/LAYERS"
rejects layers 'a line of LAYERS without a file'
edit 's|"sennit/base.h"|"core/door.h"|' include/sennit.h
rejects layers 'a public header that shows an internal one'
objects=$tree/build/CMakeFiles/sennit_objects.dir/src
mkdir -p "$objects/base" "$objects/core"
echo 'void sn_door_open(void); void sn_up(void); void sn_up(void)
{ sn_door_open(); }' >"$work/up.c"
${CC:-cc} -c "$work/up.c" -o "$objects/base/atomic.c.o"
build :
cp "$tree/door.o" "$objects/core/door.c.o"
if ! check layers; then
	echo "FAILED: check-layers rejects an object of an earlier tree"
	failures=$((failures + 1))
fi
cp "$work/up.c" "$tree/src/base/atomic.c"
rejects layers 'a call of a module below'

accepts picture
echo core/window >>"$tree/src/LAYERS"
rejects picture 'a picture of another order'

accepts words
edit 's|what lies behind it|what the crew did|' src/core/door.c
rejects words 'a retired word'
edit 's|what lies behind it|teh door|' src/core/door.c
if command -v codespell >/dev/null; then
	rejects words 'a misspelt word'
fi

accepts edges
edit 's|; /\* -> door.open.*|;|' src/core/door.c
rejects edges 'a release without an edge'
edit 's|<- door.open|some other text|' src/core/door.c
rejects edges 'an acquire without an edge'
edit 's|<- door.open|<- door.look|' src/core/door.c
rejects edges 'edges with one end'
edit 's|-> door.open|<- door.open|' src/core/door.c
rejects edges 'an edge that points the other way'
edit 's|return a_load_acq.*|a_fence(); /* <-> door.half */|' src/core/door.c
rejects edges 'one half of a pair'
edit 's|return a_load_acq|a_fence();\n\treturn a_load_acq|' src/core/door.c
edit 's|/\* <- door.open \*/|/* why */|' src/core/door.c
rejects edges 'a fence without an edge'
edit 's|sn_door_look|sn_door_peek|' src/core/door.c
rejects edges 'a page that is out of date'

accepts refs
edit 's|sn_door_open()\.|sn_door_close().|' src/core/door.h
rejects refs 'a function that exists nowhere'
edit 's|Opened by|Opened by sennit_key and|' src/core/door.h
rejects refs 'a public name that exists nowhere'
edit 's|Opened by|As docs/doors.md says, opened by|' src/core/door.h
rejects refs 'a page that exists nowhere'
edit 's|return 0;|return getenv("SENNIT_DOOR") != NULL;|' src/core/door.c
rejects refs 'a variable of the environment that SECURITY.md does not name'
printf '| a | b |\n|---|---|\n| 1 | 2 |\n| 1 | 2 |\n' >"$tree/docs/doors.md"
rejects refs 'a row of a table twice'

make_tree
build
if ! check names; then
	echo "FAILED: check-names rejects a library without faults:"
	cat "$work/output"
	failures=$((failures + 1))
fi
build :
rejects names 'an internal name that a program sees in the archive'
edit 's|^sennit_time sennit_now|int door_count;\n&|' src/core/door.c
build :
LOCALISED=OFF
export LOCALISED
rejects names 'a name outside the prefixes'
unset LOCALISED
edit 's|^void sn_door_open|SENNIT_API &|' src/core/door.c
build
rejects names 'an internal name that is exported'
edit 's|^sennit_time sennit_after|sennit_time sennit_later|' src/core/door.c
build
rejects names 'a declared call that is not there'
SONAME=libsennit.so build
rejects names 'a SONAME without the version'
echo '{ global: sennit_*; local: *; };' >"$tree/bare.map"
MAP=bare.map build
rejects names 'calls without a version'

accepts headers
edit 's|#include <stdint.h>||' include/sennit/base.h
edit 's|#include <stddef.h>||' include/sennit/base.h
edit 's|#include <stdatomic.h>||' include/sennit/base.h
rejects headers 'a public header that does not compile alone'
edit 's|^SENNIT_END|int sennit_bad(int new);\n&|' include/sennit/base.h
rejects headers 'a public header that C++ does not take'
edit 's|^struct door {|extern struct chair c[2];\n&|' src/core/door.h
rejects headers 'an internal header that does not compile alone'
edit 's|sennit_now();|sennit_then();|' include/sennit.h
rejects headers 'an example that does not compile'

accepts style
edit 's|^sennit_time sennit_now|/* 80 columns, but for the tabs: \t\t\t\t\t\t*/\n&|' \
	src/core/door.c
rejects style 'a long line'
edit 1d src/core/door.c
rejects style 'a missing licence line'
edit 's|^}$|} |' src/core/door.c
rejects style 'blanks at the end of a line'
edit 's|^sennit_time sennit_now|#ifdef __x86_64__\n#endif\n&|' src/core/door.c
rejects style 'a choice of processor'
edit 's|^sennit_time sennit_now|#if defined(__linux__)\n#endif\n&|' \
	src/core/door.c
rejects style 'a choice of system'
echo 'if(name STREQUAL mpi)' >>"$tree/CMakeLists.txt"
rejects style 'a word of CMake that may be a variable'
mkdir -p "$tree/src/os"
printf '%s\n#if __BYTE_ORDER__ == 1\n#endif\n' \
	'/* SPDX-License-Identifier: Apache-2.0 */' >"$tree/src/os/order.h"
rejects style 'a choice of byte order below the system'
cp "$tree/src/core/door.c" "$tree/src/base/door.c"
rejects style 'two files of one name'

[ "$failures" = 0 ] && echo "all checks find what they are for"
exit "$failures"

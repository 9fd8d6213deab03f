#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# single_file.sh - tools/amalgamate writes sennit.c and sennit.h, which a
# program needs nothing but: they compile as C11 without a warning, with gcc and
# clang, for this processor, by ucontext and for aarch64, the program in
# README.md runs with them, and C++ may include sennit.h. They export what the
# library exports. libsennit-io has the same form, and links: what it takes of
# libc is not hidden. Names that two files have, and that the tree may have at any
# time, do not collide. package/clean_room has the other parts, and all examples.
#
# Environment: CC (cc), CXX (empty: no C++), SOURCE_DIR (.).
set -eu
. "$(dirname "$0")/../script.sh"

: "${CC:=cc}" "${CXX:=}" "${SOURCE_DIR:=.}"
SOURCE_DIR=$(cd "$SOURCE_DIR" && pwd)

needs python3
strict='-Wall -Wextra -Werror'

# works PROGRAM...: it greets, in either order.
works()
{
	"$@" | sort >"$scratch/said"
	printf 'hello, warp\nhello, weft\n' | cmp -s - "$scratch/said" ||
		fail "$* says: $(cat "$scratch/said")"
}

# shellcheck disable=SC2086 # flags are words
compile()
{
	"$@" $strict -pthread || fail "$* does not compile"
}

python3 "$SOURCE_DIR/tools/amalgamate" "$scratch"
python3 "$SOURCE_DIR/tools/amalgamate" "$scratch" libsennit-io
cp "$SOURCE_DIR/examples/hello.c" "$scratch"
cd "$scratch"
sed -i 's/<sennit.h>/"sennit.h"/' hello.c # no option for a folder

compile "$CC" -std=c11 -c sennit.c
compile "$CC" -std=c11 -c sennit_io.c
"$CC" hello.c sennit.o -pthread -o hello
works ./hello
printf '#include "sennit_io.h"\nint main(void)\n{\n\t%s\n}\n' \
	'return sennit_shutdown(-1, 0) != -9;' >io.c # -EBADF
compile "$CC" -std=c11 io.c sennit_io.o sennit.o -o io
./io || fail "a program with the single file of libsennit-io ended with $?"
python3 "$SOURCE_DIR/tools/amalgamate" --help >said
grep -q '^amalgamate FOLDER' said || fail "amalgamate --help: $(cat said)"
rc=0
python3 "$SOURCE_DIR/tools/amalgamate" . libsennit-oi >said 2>&1 || rc=$?
grep -q '^amalgamate: libsennit-oi: not one of' said && [ $rc = 1 ] ||
	fail "amalgamate . libsennit-oi ended with $rc: $(cat said)"
for cc in gcc clang; do
	if ! command -v $cc >/dev/null || # or it is $CC by another name
		[ "$($cc --version | sed 's/^[^ ]*//')" = \
			"$("$CC" --version | sed 's/^[^ ]*//')" ]; then
		continue
	fi
	compile $cc -std=c11 -DSENNIT_PORTABLE -fsyntax-only sennit.c
	$cc hello.c sennit.c -pthread -o hello # as a user types it
	works ./hello
done
if command -v aarch64-linux-gnu-gcc >/dev/null; then
	compile aarch64-linux-gnu-gcc -static hello.c sennit.c -o hello-arm
	if command -v qemu-aarch64 >/dev/null; then
		works qemu-aarch64 ./hello-arm
	fi
fi
if [ "$CXX" ]; then
	printf '#include "%s"\nint main() { return !sennit_now(); }\n' \
		sennit.h >now.cpp
	compile "$CXX" -c now.cpp
	"$CC" now.o sennit.o -pthread -o now
	./now || fail "a program in C++ ended with $?"
fi

# exported FILE: its names that are visible outside a program.
exported()
{
	readelf -sW "$1" | awk '
		$5 == "GLOBAL" && $6 == "DEFAULT" && $7 != "UND" { print $8 }
	' | grep '^sennit_' | sort
}
sh "$SOURCE_DIR/tools/list-calls" libsennit "$SOURCE_DIR" >calls
exported sennit.o >visible
missing=$(comm -23 calls visible)
[ -z "$missing" ] || fail "not exported: $missing"
if readelf -sW sennit.o | awk '
	$5 == "GLOBAL" && $6 == "DEFAULT" && $7 != "UND" &&
	$8 !~ /^sennit_/ { print; bad = 1 } END { exit !bad }'; then
	fail "exports names of its own"
fi

# A tree in which two files, and two headers, have the same names.
mkdir -p tree/src/one tree/src/two tree/tools tree/include/sennit
cp "$SOURCE_DIR"/tools/amalgamate "$SOURCE_DIR"/tools/private_names.py \
	"$SOURCE_DIR"/tools/list-calls "$SOURCE_DIR"/tools/help.sh \
	"$SOURCE_DIR"/tools/*.awk tree/tools
for file in sennit.h sennit/base.h; do
	printf '/* licence */\n#define SENNIT_VERSION_MAJOR 9\n' \
		>tree/include/$file
done
printf 'one\ntwo\n' >tree/src/LAYERS
for room in one two; do
	cat >tree/src/$room/a.h <<-END
		/* licence */
		#ifndef SN_${room}_A_H
		#define SN_${room}_A_H
		#include <stddef.h>
		struct both { int $room; };
		int sn_$room(void);
		#endif
	END
	cat >tree/src/$room/a.c <<-END
		/* licence */
		#include "$room/a.h"
		#define LIMIT (sizeof(table) / sizeof(table[0]))
		#define FIELD(name) sizeof(((struct pair *)0)->name)
		#define SELF(name) static int get_##name(void) { return 1; }
		enum { FIRST, SECOND };
		typedef int visit(int);
		struct pair { int take; visit *step; };
		static int table[] = { FIRST, [SECOND] = SECOND }, spare = 1;
		static int (*hook)(int step);
		static int take(int step) { return step + SECOND; }
		static struct pair pair = { .take = 1, .step = take };
		SELF($room)
		int sn_$room(void)
		{
			struct both both = { .$room = pair.take };
			hook = take;
			return hook(pair.step(both.$room)) + (int)LIMIT +
			       spare + $room + (int)FIELD(take) + get_$room();
		}
	END
	sed -i "s/^SELF.*/static int $room = SECOND;\nSELF($room)/" \
		tree/src/$room/a.c
done
mkdir out
python3 tree/tools/amalgamate out
compile "$CC" -std=c11 -c out/sennit.c -o out/sennit.o

# What a macro of a header would change elsewhere is refused.
echo '#define spare 7' >>tree/src/one/a.h
if python3 tree/tools/amalgamate out 2>said; then
	fail "a macro of one header reaches another file unnoticed"
fi
grep -q 'two/a.c: spare is a macro of src/one/a.h' said || fail "$(cat said)"
echo "sennit.c: $(wc -l <sennit.c) lines, with $(wc -l <calls) calls"

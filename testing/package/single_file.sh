#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# single_file.sh - tools/amalgamate writes sennit.c and sennit.h, which a
# program needs nothing but: they compile as C11 without a warning, with gcc and
# clang, for this processor, by ucontext and for aarch64, the program in
# README.md runs with them, and C++ may include sennit.h. They export what the
# library exports. libsennit-io has the same form, and links: what it takes of
# libc is not hidden. A private name that two files of a library have is refused.
# package/clean_room has the other parts, and all examples.
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
cp "$SOURCE_DIR/core/examples/hello.c" "$scratch"
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

# A small tree, in which each kind of private name is unique.
mkdir -p tree/core/src/one tree/core/src/two tree/tools \
	tree/core/include/sennit
cp "$SOURCE_DIR"/tools/amalgamate "$SOURCE_DIR"/tools/list-calls \
	"$SOURCE_DIR"/tools/help.sh "$SOURCE_DIR"/tools/*.awk tree/tools
for file in sennit.h sennit/base.h; do
	printf '/* licence */\n#define SENNIT_VERSION_MAJOR 9\n' \
		>tree/core/include/$file
done
printf 'one\ntwo\n' >tree/core/src/LAYERS
for room in one two; do
	cat >tree/core/src/$room/$room.h <<-END
		/* licence */
		#ifndef SN_${room}_H
		#define SN_${room}_H
		#include <stddef.h>
		struct both_$room { int take, step; };
		int sn_$room(void);
		#endif
	END
done
cat >tree/core/src/one/one.c <<-END
	/* licence */
	#include "one/one.h"
	#define LIMIT(size) ((size) - 1)
	enum { FIRST, SECOND = sizeof(int), THIRD };
	typedef int visit(int);
	struct pair { int take; visit *step; };
	static int table[] = { FIRST, [1] = SECOND }, spare = LIMIT(THIRD);
	static int (*hook)(int step);
	static void (*hooks[2])(int (*)(int), struct pair *);
	__attribute__((noinline)) static int take(int step,
						  int (*more)(int))
	{
		static int count;
		return more ? more(step) : step + SECOND + count++;
	}
	static int pass(int step) { return take(step, hook); }
	int sn_one(void)
	{
		struct pair pair = { .take = 1, .step = pass };
		struct both_one both = { .take = table[0] };
		hooks[0] = NULL;
		return pair.step(both.take) + spare;
	}
END
# Members, variables of functions, and words have no scope that is shared.
cat >tree/core/src/two/two.c <<-END
	/* licence: take, struct pair { FIRST } */
	#include "two/two.h"
	static const char *const words[] = { "static int take;", "(" };
	int sn_two(void)
	{
		struct both_two hook = { .take = 1 };
		int table = hook.take, more = 1, step = 0, count = 0;
		for (int spare = 0; spare < table; spare++)
			step += more + count;
		return step + words[0][0];
	}
END
cp tree/core/src/two/two.c two.c
mkdir out
python3 tree/tools/amalgamate out
compile "$CC" -std=c11 -c out/sennit.c -o out/sennit.o

# refuses NAME LINE: a second file may not contain LINE, which defines NAME.
refuses()
{
	{ cat two.c && echo "$2"; } >tree/core/src/two/two.c
	if python3 tree/tools/amalgamate out 2>said; then
		fail "two files define $1: unnoticed"
	fi
	echo "amalgamate: $1 is defined in ${3:-core/src/one/one.c}" \
		"and core/src/two/two.c" | cmp -s - said ||
		fail "two files define $1: $(cat said)"
	if python3 tree/tools/amalgamate --check 2>/dev/null; then
		fail "--check does not notice that two files define $1"
	fi
}
refuses take 'static void take(int (*a)(int), int b) { b = a(b); }'
refuses pass 'static long pass(void);'
refuses spare 'static long other = 2, *spare;'
refuses table 'static const struct { int a; } table[] = { { 1 } };'
refuses hook 'static int (*hook)(void);'
refuses hooks 'static char hooks[sizeof(int)];'
refuses visit 'typedef struct { int a; } visit;'
refuses 'struct pair' 'union pair { int a; };'
refuses THIRD 'enum more { OTHER = sizeof(int), THIRD };'
refuses LIMIT '#define LIMIT 2'
refuses 'struct both_one' 'enum both_one { OTHER };' core/src/one/one.h

# What a macro of a header would change elsewhere is refused.
cp two.c tree/core/src/two
echo '#define more 7' >>tree/core/src/one/one.h
if python3 tree/tools/amalgamate out 2>said; then
	fail "a macro of one header reaches another file unnoticed"
fi
grep -q 'two/two.c: more is a macro of core/src/one/one.h' said ||
	fail "$(cat said)"
echo "sennit.c: $(wc -l <sennit.c) lines, with $(wc -l <calls) calls"

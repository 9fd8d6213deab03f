#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# newcomer.sh - what README.md tells somebody to type on the first day: `make
# install` writes the licence, the documentation and the examples too, the
# example compiles against the prefix and runs with an rpath, the commands of
# README.md and docs/tutorial.md work as they are printed, and `make uninstall`
# leaves no file. Scripts say what they would install and what for;
# none of it is a cross compiler for `make test`.
#
# Environment: CC (cc), SOURCE_DIR (.), BUILD_DIR (a build).
set -eu
. "$(dirname "$0")/../script.sh"

: "${CC:=cc}" "${SOURCE_DIR:=.}" "${BUILD_DIR:=build/dev}"

prefix=$scratch/opt/sennit

# As `make install`, from a build that is there.
installed "$prefix"
doc=$prefix/share/doc/sennit
for file in LICENSE NOTICE README.md CHANGELOG.md docs/choosing.md \
	examples/hello.c; do
	[ -s "$doc/$file" ] || fail "not installed: $file"
done

PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name sennit.pc)")
export PKG_CONFIG_PATH
libdir=$(pkg-config --variable=libdir sennit)
# shellcheck disable=SC2046 # flags are words
"$CC" -o "$scratch/hello" "$doc/examples/hello.c" \
	$(pkg-config --cflags --libs sennit) -Wl,-rpath,"$libdir"
"$scratch/hello" >"$scratch/said" || fail "hello with an rpath ended with $?"

libraries=${PKG_CONFIG_PATH%/pkgconfig}

# printed PAGE WORD: the first block of commands of the page that contains the
# word, for this prefix, whose libraries may be in lib64 or lib/<triplet>.
printed()
{
	awk -v word="$2" '
	/^```sh/ { inside = 1; text = ""; next }
	/^```/ { if (inside && index(text, word)) { printf "%s", text; exit }
		inside = 0 }
	inside { text = text $0 "\n" }' "$doc/$1" |
		sed "s,/opt/sennit/lib,@,g; s,/opt/sennit,$prefix,g; s,@,$libraries,g"
}

# typed PAGE WORD: in a folder with the program, in a shell that knows nothing.
typed()
{
	printed "$1" 'make install' | grep '^export' >"$scratch/commands" || :
	printed "$1" "$2" >>"$scratch/commands"
	grep -q "$2" "$scratch/commands" || fail "$1 has no commands with $2"
	(cd "$scratch" && env -i PATH="$PATH" sh -eu commands >said 2>&1) ||
		fail "as $1 says: $(cat "$scratch/commands" "$scratch/said")"
}

cp "$doc/examples/tutorial/01_hello.c" "$doc/examples/hello.c" "$scratch"
typed docs/tutorial.md 01_hello.c
[ "$(cat "$scratch/said")" = 'hello: 4 9 16' ] ||
	fail "the tutorial's first program says $(cat "$scratch/said")"
typed README.md hello.c
[ "$(grep -c '^hello, we\|^hello, warp' "$scratch/said")" = 2 ] ||
	fail "hello says $(cat "$scratch/said")"

# The words of the documentation, counted on all CPUs and one after the other.
# shellcheck disable=SC2046 # flags are words
"$CC" -O2 -o "$scratch/word_count" "$doc/examples/word_count.c" \
	$(pkg-config --cflags --libs sennit) -Wl,-rpath,"$libdir"
for _ in 1 2 3 4; do
	cat "$doc"/*.md "$doc"/docs/*.md "$prefix"/include/sennit/*.h
done >"$scratch/text"
tr -s '[:space:]' '\n' <"$scratch/text" | LC_ALL=C sort | uniq -c |
	awk 'NF == 2 { print $1, $2 }' | LC_ALL=C sort >"$scratch/serial"
"$scratch/word_count" <"$scratch/text" | LC_ALL=C sort >"$scratch/parallel"
cmp "$scratch/serial" "$scratch/parallel" || fail "word_count counts otherwise"
[ "$(wc -l <"$scratch/serial")" -gt 5000 ] || fail "too few words"
lines=$(wc -l <"$doc/examples/word_count.c")
[ "$lines" -le 95 ] || fail "word_count.c has $lines lines"

: >"$prefix/lib/mine"
quietly cmake -DMANIFEST="$scratch/installed" \
	-P "$SOURCE_DIR/cmake/uninstall.cmake"
left=$(find "$prefix" ! -type d)
[ "$left" = "$prefix/lib/mine" ] || fail "uninstall leaves or takes: $left"
left=$(find "$prefix" -mindepth 2 -type d -name '*sennit*')
[ -z "$left" ] || fail "uninstall leaves empty folders: $left"

sh "$SOURCE_DIR/tools/install-deps" --list tests >"$scratch/list"
awk 'NF < 2 { print "no purpose: " $0; bad = 1 } END { exit bad }' \
	"$scratch/list"
if grep -e aarch64 -e arm64 "$scratch/list"; then
	fail "make test would install a cross compiler"
fi
echo "installed, used, removed"

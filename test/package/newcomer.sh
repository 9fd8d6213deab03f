#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# newcomer.sh - what README.md tells somebody to type on the first day: `make
# install` writes the licence, the documentation and the examples too, the
# example compiles against the prefix and runs with an rpath, and `make
# uninstall` leaves no file. Scripts say what they would install and what for;
# none of it is a cross compiler for `make test`.
#
# Environment: CC (cc), SOURCE_DIR (.), BUILD_DIR (a build).
set -eu
. "$(dirname "$0")/../script.sh"

: "${CC:=cc}" "${SOURCE_DIR:=.}" "${BUILD_DIR:=build/dev}"

prefix=$scratch/opt/sennit

# As `make install`, from a build that is there.
quietly cmake --install "$BUILD_DIR" --prefix "$prefix"
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

: >"$prefix/lib/mine"
quietly cmake -DMANIFEST="$BUILD_DIR/install_manifest.txt" \
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

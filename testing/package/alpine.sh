#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# alpine.sh - what can be said of the APKBUILD without Alpine, whose abuild
# Debian does not have: the shell reads it, its functions build and install the
# libraries from a source tarball into $pkgdir, by whatever libc is here, and
# the program in README.md compiles and runs against them.
#
# Environment: CC (cc), SOURCE_DIR (.).
# shellcheck disable=SC2034,SC2154 # APKBUILD sets and reads variables
set -eu
. "$(dirname "$0")/../script.sh"

: "${CC:=cc}" "${SOURCE_DIR:=.}"
export CC
SOURCE_DIR=$(cd "$SOURCE_DIR" && pwd)

needs cmake git pkg-config
unset CXX LDFLAGS MAKEFLAGS DESTDIR
recipe=$SOURCE_DIR/packaging/alpine/APKBUILD

sh -n "$recipe"
if command -v shellcheck >/dev/null; then
	shellcheck "$recipe" || fail "shellcheck objects"
fi

# As abuild does. Not optimised, because this takes a third of the time.
srcdir=$scratch/src
pkgdir=$scratch/pkg
CFLAGS=-O0
CMAKE_BUILD_PARALLEL_LEVEL=2
export CFLAGS CMAKE_BUILD_PARALLEL_LEVEL
# shellcheck disable=SC1090,SC1091
. "$recipe"
mkdir -p "$builddir" "$pkgdir"
(cd "$SOURCE_DIR" && git ls-files -co --exclude-standard CMakeLists.txt \
	'*.md' LICENSE NOTICE cmake core cpp diag docs http io marl mpi rust tls \
	tools |
	tar -cf - -T -) | tar -C "$builddir" -xf -
for step in build package; do
	quietly $step
done

PKG_CONFIG_PATH=$pkgdir/usr/lib/pkgconfig
export PKG_CONFIG_PATH
hello=$pkgdir/usr/share/doc/sennit/examples/hello.c
# shellcheck disable=SC2046 # flags are words
"$CC" -o "$scratch/hello" "$hello" $(pkg-config --cflags --libs sennit) ||
	fail "README's program does not compile"
LD_LIBRARY_PATH=$pkgdir/usr/lib "$scratch/hello" >"$scratch/said" ||
	fail "README's program ended with $?"
[ -e "$pkgdir/usr/include/sennit/io.h" ] || fail "no headers of libsennit-io"
echo "$pkgname $pkgver: built and used"

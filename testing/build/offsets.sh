#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# offsets.sh - no public header has an off_t: with 32 bits its size is the
# program's choice, and the library has made another one. So each header of io
# compiles with 32-bit offsets, and the packages define nothing. The files that
# tools/amalgamate writes need nothing, either.
#
# Environment: SOURCE_DIR (.), BUILD_DIR.
set -eu
. "$(dirname "$0")/../script.sh"

: "${SOURCE_DIR:=.}"
! (cd "$SOURCE_DIR" && grep -rnwE '(off|ino|blkcnt)_t' ./*/include/sennit) ||
	fail "a public header has a type whose size depends on a macro"
! grep -rq '_FILE_OFFSET_BITS' "${BUILD_DIR:-/nowhere}"/package/*.pc \
	"${BUILD_DIR:-/nowhere}/CMakeFiles/Export" 2>/dev/null ||
	fail "a package defines _FILE_OFFSET_BITS"

for triplet in i686-linux-gnu arm-linux-gnueabihf none; do
	! command -v $triplet-gcc >/dev/null || break
done
needs $triplet-gcc python3

# compiles COMPILER HEADER OPTION...
compiles()
{
	compiler=$1 header=$2
	shift 2
	echo "#include <$header>" >"$scratch/program.c"
	$triplet-$compiler -fsyntax-only $INCLUDES "$@" \
		"$scratch/program.c" 2>"$scratch/said" || {
		cat "$scratch/said"
		fail "$header does not compile with 32-bit offsets ($compiler)"
	}
}

count=0
compiles gcc sennit.h -std=gnu11
for path in "$SOURCE_DIR"/io/include/sennit/*.h; do
	compiles gcc "sennit/${path##*/}" -std=gnu11
	count=$((count + 1))
done
! command -v $triplet-g++ >/dev/null ||
	compiles g++ sennit/cpp/io.hpp -xc++ -std=c++17

for library in libsennit libsennit-io; do
	quietly python3 "$SOURCE_DIR/tools/amalgamate" "$scratch" $library
done
for file in sennit sennit_io; do
	quietly $triplet-gcc -w -fsyntax-only "$scratch/$file.c"
done
echo "$count headers with any offsets"

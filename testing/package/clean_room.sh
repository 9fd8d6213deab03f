#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# clean_room.sh - what a user has is enough: the installed files, or the single
# file. See clean_room.py.
#
# Environment: CC (cc), CXX (empty: no C++), SOURCE_DIR (.), BUILD_DIR (a
# build).
set -eu
. "$(dirname "$0")/../script.sh"

: "${CC:=cc}" "${CXX:=}" "${SOURCE_DIR:=.}" "${BUILD_DIR:=build/dev}"
needs python3 pkg-config cmake
unset LD_LIBRARY_PATH PKG_CONFIG_PATH CPATH LIBRARY_PATH CMAKE_PREFIX_PATH
export CC CXX
installed "$scratch/prefix"
python3 -B "$SOURCE_DIR/testing/package/clean_room.py" \
	"$(cd "$SOURCE_DIR" && pwd -P)" "$(cd "$BUILD_DIR" && pwd -P)" \
	"$scratch"

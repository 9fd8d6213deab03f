#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# embedded.sh - a project that contains sennit by FetchContent installs nothing
# of it. With SENNIT_INSTALL it does. With SENNIT_LIBRARIES=static no shared library
# is built or installed, and programs find the static one by the usual names, by
# CMake and by pkg-config without --static.
#
# Environment: CC (cc), SOURCE_DIR (.).
set -eu
. "$(dirname "$0")/../script.sh"

: "${CC:=cc}" "${SOURCE_DIR:=.}"

mkdir "$scratch/project" "$scratch/user"

tar -C "$SOURCE_DIR" -czf "$scratch/sennit.tar.gz" CMakeLists.txt LICENSE \
	NOTICE README.md ARCHITECTURE.md CHANGELOG.md SECURITY.md \
	cmake docs examples include src tools
cp "$SOURCE_DIR/examples/hello.c" "$scratch/project"
cat >"$scratch/project/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.16)
project(embedding C)
include(FetchContent)
set(SENNIT_COMPONENTS "" CACHE STRING "" FORCE)
FetchContent_Declare(sennit URL ${ARCHIVE})
FetchContent_MakeAvailable(sennit)
add_executable(hello hello.c)
target_link_libraries(hello PRIVATE sennit::sennit)
install(TARGETS hello)
END
cat >"$scratch/user/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.16)
project(user C)
find_package(sennit $(sh "$SOURCE_DIR/tools/abi" version) REQUIRED)
add_executable(hello ../project/hello.c)
target_link_libraries(hello PRIVATE sennit::sennit)
END

quietly cmake -S "$scratch/project" -B "$scratch/build" -DSENNIT_LIBRARIES=static \
	-DCMAKE_C_COMPILER="$CC" -DARCHIVE="$scratch/sennit.tar.gz"
quietly cmake --build "$scratch/build" -j 2
quietly "$scratch/build/hello"
quietly cmake --install "$scratch/build" --prefix "$scratch/alone"
[ "$(find "$scratch/alone" -type f)" = "$scratch/alone/bin/hello" ] ||
	fail "the project installs sennit too: $(find "$scratch/alone")"

quietly cmake -DSENNIT_INSTALL=ON "$scratch/build"
quietly cmake --build "$scratch/build" -j 2
quietly cmake --install "$scratch/build" --prefix "$scratch/prefix"
shared=$(find "$scratch/prefix" "$scratch/build" -name '*.so' -o -name '*.so.*')
[ -z "$shared" ] || fail "shared libraries: $shared"
quietly cmake -S "$scratch/user" -B "$scratch/user/build" \
	-DCMAKE_C_COMPILER="$CC" -DCMAKE_PREFIX_PATH="$scratch/prefix"
quietly cmake --build "$scratch/user/build"
quietly "$scratch/user/build/hello"
if command -v pkg-config >/dev/null; then
	PKG_CONFIG_PATH=$(dirname "$(find "$scratch/prefix" -name sennit.pc)")
	export PKG_CONFIG_PATH
	# shellcheck disable=SC2046 # flags are words
	quietly "$CC" -o "$scratch/hello" "$scratch/project/hello.c" \
		$(pkg-config --cflags --libs sennit)
	quietly "$scratch/hello"
fi
echo "embedded, and installed when asked"

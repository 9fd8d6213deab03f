#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# embedded.sh - a project that contains sennit by FetchContent builds what it
# links to, whatever it sets for its own sources, and installs nothing of it: its
# own program runs where it is installed. With SENNIT_INSTALL all is installed.
# No shared library is built unless BUILD_SHARED_LIBS is on, and programs find
# the static one by the usual names, by CMake and by pkg-config without --static.
#
# Environment: CC (cc), SOURCE_DIR (.).
set -eu
. "$(dirname "$0")/../script.sh"

: "${CC:=cc}" "${SOURCE_DIR:=.}"

mkdir "$scratch/project" "$scratch/user"

tar -C "$SOURCE_DIR" -czf "$scratch/sennit.tar.gz" CMakeLists.txt LICENSE \
	NOTICE README.md ARCHITECTURE.md CHANGELOG.md SECURITY.md \
	cmake core cpp diag docs http io marl mpi tls tools
cp "$SOURCE_DIR/core/examples/hello.c" "$scratch/project"
cat >"$scratch/project/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.16)
project(embedding C)
include(FetchContent)
set(CMAKE_C_STANDARD 99)
set(CMAKE_UNITY_BUILD ON)
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

quietly cmake -S "$scratch/project" -B "$scratch/build" \
	-DCMAKE_C_COMPILER="$CC" -DARCHIVE="$scratch/sennit.tar.gz"
quietly cmake --build "$scratch/build" -j 2
quietly "$scratch/build/hello"
quietly cmake --install "$scratch/build" --prefix "$scratch/alone"
[ "$(find "$scratch/alone" -type f)" = "$scratch/alone/bin/hello" ] ||
	fail "the project installs sennit too: $(find "$scratch/alone")"
quietly "$scratch/alone/bin/hello"
built=$(find "$scratch/build" -name '*.o' | grep -E '/(io|tls|http|diag|mpi)/' |
	grep -v '/core/') || :
[ -z "$built" ] || fail "built though nothing links to it: $built"
shared=$(cmake -S "$scratch/project" -B "$scratch/shared" \
	-DCMAKE_C_COMPILER="$CC" -DARCHIVE="$scratch/sennit.tar.gz" \
	-DBUILD_SHARED_LIBS=ON >"$scratch/said" 2>&1 &&
	sed -n 's/^SENNIT_LIBRARIES:STRING=//p' "$scratch/shared/CMakeCache.txt")
[ "$shared" = shared ] || fail "BUILD_SHARED_LIBS: $shared, $(cat "$scratch/said")"

quietly cmake -DSENNIT_INSTALL=ON -DSENNIT_COMPONENTS=io "$scratch/build"
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

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# programs.sh - the project in programs/ builds with the installed package, as
# any program does: its servers and tools work.
#
# Environment: CC (cc), SOURCE_DIR (.), BUILD_DIR (build/dev).
set -eu
. "$(dirname "$0")/../script.sh"

: "${CC:=cc}" "${SOURCE_DIR:=.}" "${BUILD_DIR:=build/dev}"
SOURCE_DIR=$(cd "$SOURCE_DIR" && pwd)

needs cmake
needs curl
grep -q 'SENNIT_INSTALL:BOOL=ON' "$BUILD_DIR/CMakeCache.txt" ||
	skip "$BUILD_DIR installs nothing"
installed "$scratch/prefix"
# Not within the tree, where files of the tree could be found.
mkdir "$scratch/tree"
cp -r "$SOURCE_DIR/programs" "$scratch/tree/"
quietly cmake -S "$scratch/tree/programs" -B "$scratch/build" \
	-DCMAKE_C_COMPILER="$CC" -DCMAKE_PREFIX_PATH="$scratch/prefix"
quietly cmake --build "$scratch/build" -j "$(nproc)"

cd "$scratch"
ran=0
if [ -x build/sennit-pig ]; then
	seq 1 20000 >numbers
	build/sennit-pig <numbers | gzip -d | cmp - numbers ||
		fail 'sennit-pig: gzip reads something else'
	ran=1
fi
if [ -x build/sennit-grep ]; then
	[ "$(printf 'warp\nweft\n' | build/sennit-grep ef)" = weft ] ||
		fail 'sennit-grep finds something else'
	ran=1
fi
if [ -x build/sennit-httpd ]; then
	mkdir www
	echo 'hello, weft' >www/hello
	build/sennit-httpd --listen 127.0.0.1:0 www >said 2>&1 &
	server=$!
	clean_up()
	{
		kill $server 2>/dev/null || :
		rm -rf "$scratch"
	}
	port=
	for _ in $(seq 100); do
		port=$(sed -n 's/.*127\.0\.0\.1:\([0-9]*\).*/\1/p' said |
			head -n 1)
		[ -z "$port" ] || break
		sleep 0.1
	done
	[ -n "$port" ] || fail "sennit-httpd says no port: $(cat said)"
	[ "$(curl -s "http://127.0.0.1:$port/hello")" = 'hello, weft' ] ||
		fail 'sennit-httpd answers something else'
	kill $server
	clean_up()
	{
		rm -rf "$scratch"
	}
	wait $server || fail "sennit-httpd ended with $?"
	ran=1
fi
[ $ran = 1 ] || skip 'no library of any of the programs'
echo 'as in the tree'

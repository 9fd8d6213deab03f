#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# installed.sh BUILD - installs what is in that folder. Then a project without
# the source tree finds it by CMake, as docs/platforms.md says, and node runs
# its programs.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export NODE_PATH="/usr/share/nodejs${NODE_PATH:+:$NODE_PATH}"

cmake --install "$1" --prefix "$scratch/installed" >/dev/null
cp -r "$here/installed" "$scratch/project"
emcmake cmake -S "$scratch/project" -B "$scratch/build" -G Ninja \
	-DCMAKE_BUILD_TYPE=Release \
	-DCMAKE_FIND_ROOT_PATH="$scratch/installed" >"$scratch/log" 2>&1 &&
	cmake --build "$scratch/build" >>"$scratch/log" 2>&1 || {
	cat "$scratch/log"
	exit 1
}
cd "$scratch/build"
# Its two tasks may run in either order.
said=$(node --no-experimental-fetch hello.js | sort)
[ "$said" = "hello, warp
hello, weft" ] || {
	echo "hello.js: $said"
	exit 1
}
node --no-experimental-fetch pingpong.js

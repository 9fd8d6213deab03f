#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# libuv.sh PROGRAM - io/examples/libuv.c: server, timer and async handle of a
# libuv loop that a fiber runs, which goes round for events only.
set -eu

libuv=$1
. "$(dirname "$0")/room.sh"
cd "$room"

for backend in epoll uring; do
	SENNIT_IO=$backend $TOOL "$libuv" >out 2>err ||
		fail "with $backend" out err
	cat out
done

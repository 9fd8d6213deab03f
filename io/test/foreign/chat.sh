#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# chat.sh PROGRAM - io/examples/chat.c or cpp/examples/chat.cpp with 2,000
# clients, with each backend: chat.py says what must hold.
set -eu

chat=$1
script=$(cd "$(dirname "$0")" && pwd)/chat.py
. "$(dirname "$0")/room.sh"
needs python3
cd "$room"

# Both ends have a descriptor for each.
ulimit -n 2200 2>/dev/null || {
	echo "skipped: no process may have 2200 descriptors here"
	exit 77
}
for backend in epoll uring; do
	rm -f chat-socket
	SENNIT_IO=$backend python3 -B "$script" $TOOL "$chat" 2000 >out 2>&1 ||
		fail "with $backend" out
	echo "$backend: $(cat out)"
done

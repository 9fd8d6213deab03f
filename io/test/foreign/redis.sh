#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# redis.sh PROGRAM - io/examples/redis.c against a real redis-server on a socket
# in a temporary folder: every fiber gets the reply to its own request, requests
# go out together, a late reply goes to nobody, a lost connection is told to all.
set -eu

redis=$1
. "$(dirname "$0")/room.sh"
needs redis-server redis-cli
cd "$room"

serve server.log redis-server --port 0 --unixsocket "$room/socket" \
	--save '' --appendonly no --dir "$room" --loglevel warning
ask_server() {
	redis-cli -s "$room/socket" "$@"
}
await redis-server ask_server ping

for backend in epoll uring; do
	ask_server del total >/dev/null
	SENNIT_IO=$backend $TOOL "$redis" "$room/socket" >out 2>err ||
		fail "with $backend" out err
	cat out
	[ "$(ask_server get total)" = 10002 ] ||
		fail "$backend: the server has counted otherwise" out
	# A call for each request would be as many sends.
	sends=$(sed -n 's/^20000 requests, \([0-9]*\) sends$/\1/p' out)
	[ "${sends:-20000}" -lt 10000 ] || fail "$backend: no pipelining" out
	grep -q '^a request after 20 ms: the deadline has passed$' out ||
		fail "$backend: no deadline" out
done

if $TOOL "$redis" "$room/none" >out 2>err; then
	fail 'no server, no error' out err
fi
grep -q 'no such file' err || fail 'no reason is given' err

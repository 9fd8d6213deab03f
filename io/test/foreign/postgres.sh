#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# postgres.sh PROGRAM - io/examples/postgres.c against a real PostgreSQL, in a
# cluster of its own: a thousand queries, no more than twenty backends,
# deadlines and cancelling that end queries at the server too.
set -eu

postgres=$1
. "$(dirname "$0")/room.sh"
bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1)
[ -z "$bin" ] || PATH=$bin:$PATH
needs initdb postgres psql

# PostgreSQL refuses to run as root.
as=
if [ "$(id -u)" = 0 ]; then
	needs setpriv
	user=nobody
	! getent passwd postgres >/dev/null || user=postgres
	chown "$user" "$room"
	as="setpriv --reuid $user --regid $(id -g "$user") --clear-groups
		--pdeathsig INT"
fi
cd "$room"
$as env HOME="$room" LC_ALL=C initdb --no-sync -A trust -U owner -E UTF8 \
	-D "$room/data" >initdb.log 2>&1 || fail initdb initdb.log

# At SIGTERM the server would wait for clients, and for queries of lost ones.
stop_by=INT
# The socket is in the folder: no port that somebody else might have.
serve server.log $as env LC_ALL=C postgres -D "$room/data" -k "$room" -F \
	-c listen_addresses= -c max_connections=40 -c shared_buffers=16MB
owner() {
	psql -X -q -A -t -h "$room" -U owner -d postgres "$@"
}
await PostgreSQL owner -c 'select 1'

# The server refuses this role's 21st connection.
owner -c 'create role fan login connection limit 20'
conninfo="host=$room user=fan dbname=postgres"

# A backend ends some time after its client, and counts until then.
none_is_left() {
	[ "$(owner -c "select count(*) from pg_stat_activity
		where usename = 'fan'")" = 0 ]
}

for backend in epoll uring; do
	await 'the end of backends' none_is_left
	SENNIT_IO=$backend $TOOL "$postgres" "$conninfo" >out 2>err ||
		fail "with $backend" out err
	[ "$(grep -c '^1000 queries, sum 332833500, ' out)" = 2 ] ||
		fail "$backend: the sum is wrong" out err
	grep -q 'relation "nowhere" does not exist' err ||
		fail "$backend: the server's message is lost" out err
	tail -n 1 out
done

# Twenty-one connections do not pass unnoticed.
await 'the end of backends' none_is_left
if $TOOL "$postgres" "$conninfo" 1000 30 >out 2>err; then
	fail 'thirty connections where twenty may be' out err
fi
grep -q 'too many connections for role' err ||
	fail 'the refusal is not reported' out err

# A server that is not there is an error, soon.
if $TOOL "$postgres" "host=$room/none user=fan" 1 5 >out 2>err; then
	fail 'no server, no error' out err
fi
grep -q '^connect: ' err || fail 'no reason is given' out err
await 'the end of backends' none_is_left

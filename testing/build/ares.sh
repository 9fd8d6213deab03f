#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# ares.sh - io/examples/ares.c against a real name server, dnsmasq on loopback,
# with each backend: all names get their answers, and the fiber waits for a
# server that is silent without asking again and again.
#
# Environment: BUILD_DIR (a build), CC (cc).
set -eu
. "$(dirname "$0")/../script.sh"

: "${CC:=cc}" "${BUILD_DIR:=build/dev}"
program=$BUILD_DIR/examples/example_io_ares

[ -x "$program" ] || skip 'io/examples/ares.c is not built'
PATH=$PATH:/usr/sbin
needs dnsmasq

server= silent=
clean_up() {
	for pid in $server $silent; do
		kill -9 "$pid" 2>/dev/null || :
		wait "$pid" 2>/dev/null || :
	done
	rm -rf "$scratch"
}

# Prints a free port of UDP and TCP; with an argument, keeps it and is silent.
cat >"$scratch/port.c" <<'END'
#include <arpa/inet.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

static int bind_both(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	socklen_t          size = sizeof(a);
	int                udp = socket(AF_INET, SOCK_DGRAM, 0);
	int                tcp = socket(AF_INET, SOCK_STREAM, 0);

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (!bind(udp, (struct sockaddr *)&a, size) &&
	    !getsockname(udp, (struct sockaddr *)&a, &size) &&
	    !bind(tcp, (struct sockaddr *)&a, size))
		return ntohs(a.sin_port);
	close(udp);
	close(tcp);
	return 0;
}

int main(int argc, char **argv)
{
	int port = 0;

	(void)argv;
	for (int i = 0; i < 100 && !port; i++)
		port = bind_both();
	printf("%d\n", port);
	fflush(stdout);
	if (argc > 1)
		sleep(60);
	return !port;
}
END
$CC -o "$scratch/port" "$scratch/port.c"

# Another program may take the port in between: try again.
start_server() {
	for attempt in 1 2 3 4 5; do
		port=$("$scratch/port") || continue
		dnsmasq --keep-in-foreground --conf-file=/dev/null \
			--no-resolv --no-hosts --no-poll --user=root \
			--pid-file= --listen-address=127.0.0.1 \
			--bind-interfaces --port="$port" --no-daemon \
			--address=/x.test/10.1.2.3 --local=/test/ \
			>"$scratch/dnsmasq.log" 2>&1 &
		server=$!
		for look in $(seq 50); do
			timeout 20 "$program" -s "127.0.0.1:$port" -t 200 a.x.test \
				>/dev/null && return 0
			kill -0 $server 2>/dev/null || break
			sleep 0.1
		done
		kill $server 2>/dev/null || :
	done
	cat "$scratch/dnsmasq.log"
	skip 'dnsmasq does not start here'
}

fail() {
	echo "ares.sh: $1 ($SENNIT_IO)"
	cat "$scratch/out"
	exit 1
}

# The number before the word.
number() {
	sed -n "s/.*[, ]\([0-9]*\) $1,.*/\1/p; s/^\([0-9]*\) $1,.*/\1/p" \
		"$scratch/out"
}

NAMES=200
start_server
"$scratch/port" silent >"$scratch/silent" &
silent=$!
for look in $(seq 100); do
	[ ! -s "$scratch/silent" ] || break
	sleep 0.1
done

for SENNIT_IO in epoll uring; do
	export SENNIT_IO
	timeout 60 "$program" -s "127.0.0.1:$port" $(seq -f 'h%g.x.test' $NAMES) \
		>"$scratch/out" || fail 'not all names have an address'
	[ "$(grep -c '^h[0-9]*.x.test 10.1.2.3$' "$scratch/out")" = $NAMES ] ||
		fail 'wrong addresses'
	polls=$(number polls)
	# A poll for each answer, at most, and a few for sockets and timeouts.
	[ "$polls" -le $((NAMES + 20)) ] ||
		fail "$polls polls for $NAMES answers"

	timeout 60 "$program" -s "127.0.0.1:$port" nobody.test >"$scratch/out" &&
		fail 'a name that is not there has an address'
	grep -q 'nobody.test: ' "$scratch/out" || fail 'no reason given'

	timeout 60 "$program" -s "127.0.0.1:$(cat "$scratch/silent")" -t 300 a.x.test \
		>"$scratch/out" && fail 'an answer from nobody'
	polls=$(number polls)
	# Two tries, each until its timeout.
	[ "$polls" -le 10 ] || fail "$polls polls while nobody answered"
done

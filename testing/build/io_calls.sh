#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# io_calls.sh - how many system calls a request costs a server whose worker has
# nothing else to do, counted by strace: no more than the backend needs. By a
# pair of sockets, and by a connection that the library has accepted.
#
# Environment: BUILD_DIR (a build), CC (cc).
set -eu
. "$(dirname "$0")/../script.sh"

: "${CC:=cc}" "${BUILD_DIR:=build/dev}" "${SOURCE_DIR:=.}"

[ -e "$BUILD_DIR/libsennit-io.a" ] || skip 'libsennit-io is not built'
needs strace
strace -o /dev/null true 2>/dev/null || skip 'strace may not trace here'

cat >"$scratch/program.c" <<'END'
#define _GNU_SOURCE
#include <sennit.h>
#include <sennit/io.h>
#include <sennit/net.h>

#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <stdbool.h>
#include <unistd.h>

static int  fds[2]; /* the server's: accepted first, if it listens */
static bool listens;
static long rounds;

static void serve(void *unused)
{
	char      b[64];
	ptrdiff_t n;

	(void)unused;
	if (listens)
		fds[0] = sennit_accept(fds[0], NULL, NULL, 0, SENNIT_NEVER);
	while ((n = sennit_recv(fds[0], b, sizeof(b), 0, SENNIT_NEVER)) > 0)
		if (sennit_send(fds[0], b, (size_t)n, 0, SENNIT_NEVER) != n)
			_exit(4);
}

/* Its calls are made by names that the server does not use. */
static void *ask(void *unused)
{
	char b[2];

	(void)unused;
	for (long i = 0; i < rounds; i++)
		if (write(fds[1], "ab", 2) != 2 || read(fds[1], b, 2) != 2)
			_exit(5);
	shutdown(fds[1], SHUT_WR);
	return NULL;
}

/* Nobody has accepted yet: that is for the server. */
static int begin_connection(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	socklen_t          size = sizeof(a);

	listens = true;
	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	fds[0] = socket(AF_INET, SOCK_STREAM, 0);
	fds[1] = socket(AF_INET, SOCK_STREAM, 0);
	return bind(fds[0], (struct sockaddr *)&a, size) ||
	       listen(fds[0], 1) ||
	       getsockname(fds[0], (struct sockaddr *)&a, &size) ||
	       connect(fds[1], (struct sockaddr *)&a, size);
}

int main(int argc, char **argv)
{
	sennit_scheduler *s;
	pthread_t         t;

	rounds = argc > 1 ? atol(argv[1]) : 1;
	if ((argc > 2 ? begin_connection()
		      : socketpair(AF_UNIX, SOCK_STREAM, 0, fds)) ||
	    sennit_scheduler_create(
		    &s, SENNIT_CONFIG(.workers = 1, .spin_ns = SENNIT_SPIN_NONE)) ||
	    sennit_thread_bind(s) || sennit_schedule(serve, NULL) ||
	    pthread_create(&t, NULL, ask, NULL))
		return 1;
	pthread_join(t, NULL);
	sennit_thread_unbind();
	return sennit_scheduler_shutdown(s, SENNIT_NEVER) ? 1 : 0;
}
END
uring=
ldd "$BUILD_DIR/libsennit-io.so" 2>/dev/null | grep -q liburing && uring=-luring
# shellcheck disable=SC2086
"$CC" -O2 $INCLUDES -o "$scratch/program" \
	"$scratch/program.c" "$BUILD_DIR/libsennit-io.a" \
	"$BUILD_DIR/libsennit.a" $uring -lpthread -lm -ldl

# Those that the server makes per request, and wakes.
names=epoll_ctl,epoll_wait,epoll_pwait2,recvfrom,sendto,io_uring_enter,poll,futex

# calls BACKEND ROUNDS [tcp]: all of them.
calls() {
	SENNIT_IO=$1 strace -f -c -o "$scratch/counts" -e "trace=$names" \
		"$scratch/program" "$2" ${3:+"$3"}
	awk '$NF == "total" { print $4 }' "$scratch/counts"
}

bad=0
# gate BACKEND MOST MOST_REFUSED [tcp]
gate() {
	few=$(calls "$1" 100 "${4:-}")
	many=$(calls "$1" 1100 "${4:-}")
	each=$(awk -v n=$((many - few)) 'BEGIN { printf "%.2f", n / 1000 }')
	most=$2
	[ "$1" = epoll ] || grep -q io_uring_enter "$scratch/counts" || most=$3
	echo "$1 ${4:-pair}: $each system calls per request, at most $most"
	awk -v each="$each" -v most="$most" 'BEGIN { exit !(each > most) }' &&
		bad=1
	return 0
}

# A connection that is accepted stays registered with epoll: three and not four.
gate epoll 4.6 4.6
gate epoll 3.5 3.5 tcp
if [ -n "$uring" ]; then
	gate uring 2.4 4.6
	gate uring 2.4 3.5 tcp
fi
exit $bad

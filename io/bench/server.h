/* SPDX-License-Identifier: Apache-2.0 */
/* server.h - what the servers that sennit-bench-io measures have in common.
 *
 *	SERVER http WORKERS            answers each request with ANSWER
 *	SERVER fan-out WORKERS PORT    asks the http server at PORT FAN_OUT
 *	                               times, all at once, then answers
 *	SERVER read WORKERS FILE       reads blocks of FILE, prints ns per read
 *
 * A server listens on a port of the kernel's choice, prints it, and serves
 * until it is killed, or for SERVER_SECONDS. A request ends with an empty line;
 * what else is in it does not matter. Requests are short: one that does not fit
 * into REQUEST bytes ends its connection.
 */
#ifndef SN_BENCH_IO_SERVER_H
#define SN_BENCH_IO_SERVER_H

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#define SERVER_SECONDS 120
#define SERVER_BACKLOG 4096
#define REQUEST        1024u
#define FAN_OUT        100u

/* Of the `read` mode: blocks of this size, in a file of so many. */
#define BLOCK       4096u
#define FILE_BLOCKS 4096u
#define READS       100000u
#define READERS     64u

#define ANSWER                                                            \
	"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: " \
	"13\r\n\r\nHello, world\n"
#define ANSWER_SIZE (sizeof(ANSWER) - 1)

#define ASK      "GET /hello HTTP/1.1\r\nHost: localhost\r\n\r\n"
#define ASK_SIZE (sizeof(ASK) - 1)

static inline void server_check(bool ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	_exit(2);
}

/* First in main(): the server ends with its parent, or in time. */
static inline void server_begin(void)
{
	struct rlimit files;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(SERVER_SECONDS);
	signal(SIGPIPE, SIG_IGN);
	if (!getrlimit(RLIMIT_NOFILE, &files)) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
}

/* A listener on the loopback; *port 0: becomes one of the kernel's choice.
 * Several may have the same port. */
static inline int server_listen(uint16_t *port)
{
	struct sockaddr_in a = { .sin_family = AF_INET,
				 .sin_port = htons(*port) };
	socklen_t          size = sizeof(a);
	int                one = 1;
	int                fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &one, sizeof(one));
	server_check(!bind(fd, (struct sockaddr *)&a, sizeof(a)) &&
			     !listen(fd, SERVER_BACKLOG) &&
			     !getsockname(fd, (struct sockaddr *)&a, &size),
		     "listen");
	*port = ntohs(a.sin_port);
	return fd;
}

static inline void server_print_port(uint16_t port)
{
	printf("%u\n", port);
	fflush(stdout);
}

static inline int server_connect(uint16_t port)
{
	struct sockaddr_in a = { .sin_family = AF_INET,
				 .sin_port = htons(port) };
	int                one = 1;
	int                fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	server_check(!connect(fd, (struct sockaddr *)&a, sizeof(a)), "connect");
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	return fd;
}

static inline void server_no_delay(int fd)
{
	int one = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
}

/* The size of the first whole request in the bytes; 0: there is none yet. */
static inline size_t server_request(const char *bytes, size_t size)
{
	const char *end = (const char *)memmem(bytes, size, "\r\n\r\n", 4);

	return end ? (size_t)(end - bytes) + 4 : 0;
}

/* CPU time of all threads of this process, in ns. */
static inline double server_cpu(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* The block that the i-th read is of: all of them, in no order. */
static inline int64_t server_block(unsigned i)
{
	return (int64_t)(i * 1103u % FILE_BLOCKS) * BLOCK;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* load.h - the one client of all servers: connections that each send a request,
 * await the answer, and send the next. One thread, level-triggered epoll.
 */
#ifndef SN_BENCH_IO_LOAD_H
#define SN_BENCH_IO_LOAD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* A server that runs. */
struct target {
	pid_t    pid;
	uint16_t port;
	int      out; /* what it prints */
};

struct load {
	unsigned connections;
	unsigned ms;        /* how long, after a fifth of it to warm up */
	bool     reconnect; /* each request by a connection of its own */
	/* out */
	uint64_t requests;
	double   cpu_ns; /* of the server, per request */
	double   per_second;
	double   p50_ns, p99_ns;
};

void load_run(const struct target *t, struct load *l);

/* Open this many connections, each of which makes one request, and call idle()
 * while they are idle. */
void load_idle(const struct target *t, unsigned connections,
	       void (*idle)(const struct target *t, void *context),
	       void *context);

/* CPU time of all threads of the server, in ns. */
double load_cpu(const struct target *t);

/* Resident bytes of the server, page tables included. */
double load_resident(const struct target *t);

#endif

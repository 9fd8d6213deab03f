/* SPDX-License-Identifier: Apache-2.0 */
/* network.h - the simulated network. */
#ifndef SN_TEST_EXPLORE_NETWORK_H
#define SN_TEST_EXPLORE_NETWORK_H

#include "../../../core/test/explore/explore.h"
#include "sennit/io.h"
#include "sennit/net.h"
#include "sennit/simulation.h"
#include "../operations.h"

#include <netinet/in.h>

/* --- network ----------------------------------------------------------- */

/* Sockets in the simulated network, made as any program makes them. */

/* No deadlines: the seed lets them come early. */
#define PATIENCE SENNIT_NEVER

static inline int new_socket(void)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	REQUIRE(fd >= 0);
	return fd;
}

/* *address becomes its own. */
static inline int listen_somewhere(struct sockaddr_in *address)
{
	int       fd = new_socket();
	socklen_t size = sizeof(*address);

	*address = (struct sockaddr_in){ .sin_family = AF_INET };
	address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	REQUIRE(!bind(fd, (struct sockaddr *)address, size));
	REQUIRE(!listen(fd, 64));
	REQUIRE(!getsockname(fd, (struct sockaddr *)address, &size));
	return fd;
}

static inline int connect_to(int fd, const struct sockaddr_in *address)
{
	return sennit_connect(fd, (const struct sockaddr *)address,
			      sizeof(*address), sennit_after(PATIENCE));
}

/* 0, or a negative errno. */
static inline int send_all(int fd, const char *bytes, size_t size)
{
	while (size) {
		ptrdiff_t n = sennit_send(fd, bytes, size, 0,
					  sennit_after(PATIENCE));

		if (n < 0)
			return (int)n;
		REQUIRE(n > 0 && (size_t)n <= size);
		bytes += n;
		size -= (size_t)n;
	}
	return 0;
}

/* How many bytes came before the end or an error. */
static inline size_t receive_all(int fd, char *bytes, size_t size)
{
	size_t    have = 0;
	ptrdiff_t n = 1;

	while (have < size && n > 0) {
		n = sennit_recv(fd, bytes + have, size - have, 0,
				sennit_after(PATIENCE));
		REQUIRE(n <= (ptrdiff_t)(size - have));
		have += n > 0 ? (size_t)n : 0;
	}
	return have;
}

static inline void count_wait(void *waits, const sennit_report_entry *e)
{
	*(bool *)waits |= e->state == SENNIT_REPORT_BLOCKED &&
			  e->waits_for == SENNIT_WAITS_FOR_IO;
}

static inline bool somebody_waits(void)
{
	bool waits = false;

	sennit_report_visit(sennit_scheduler_current(), count_wait, &waits);
	return waits;
}

/* --- network ends ------------------------------------------------------ */

/* The operations of io/test/operations.h, with ends of the
 * simulated network. */

enum { SMALL = 64 };

#define SETTLING SENNIT_SECOND /* longer than anything takes to arrive */

/* --- other ends --------------------------------------------------------- */

static inline void pair_up(int fds[2])
{
	REQUIRE(!sennit_simulation_pair(fds));
}

/* No room at fds[0]; nothing is on its way any more. */
static inline void pair_up_full(int fds[2])
{
	const char bytes[SMALL] = "";

	pair_up(fds);
	while (sennit_send(fds[0], bytes, sizeof(bytes), MSG_DONTWAIT,
			   SENNIT_NEVER) > 0)
		;
}

static inline void listen_and_make_socket(int fds[2])
{
	struct sockaddr_in address;

	fds[0] = listen_somewhere(&address);
	fds[1] = new_socket();
}

static inline void send_two_bytes(int fds[2])
{
	static const char ab[] = "ab";

	for (size_t sent = 0; sent < 2;) {
		ptrdiff_t n = sennit_send(fds[1], ab + sent, 2 - sent, 0,
					  SENNIT_UNCANCELLED);

		REQUIRE(n > 0);
		sent += (size_t)n;
	}
}

static inline void receive_what_is_there(int fds[2])
{
	char bytes[SMALL];

	while (sennit_recv(fds[1], bytes, sizeof(bytes), 0,
			   sennit_after(SETTLING)) > 0)
		;
}

static inline void connect_it(int fds[2])
{
	struct sockaddr_in a;
	socklen_t          size = sizeof(a);

	REQUIRE(!getsockname(fds[0], (struct sockaddr *)&a, &size));
	REQUIRE(!sennit_connect(fds[1], (struct sockaddr *)&a, size,
				SENNIT_UNCANCELLED));
}

/* Times come early here. */
static inline ptrdiff_t select_alone(int fd, sennit_time deadline)
{
	return select_among(-1, fd, SENNIT_NEVER, deadline);
}

/* Those of operations.h with pipes have none here, and the others have ends of
 * the network. */
static inline bool in_network(struct operation *o)
{
	if (o->call == call_splice_in || o->call == call_splice_out)
		return false;
	if (o->open == open_sockets)
		o->open = pair_up;
	else if (o->open == open_full_sockets)
		o->open = pair_up_full;
	else if (o->open == open_listener)
		o->open = listen_and_make_socket;
	else
		return false;
	if (o->make_ready == give_two_bytes)
		o->make_ready = send_two_bytes;
	else if (o->make_ready == drain)
		o->make_ready = receive_what_is_there;
	else
		o->make_ready = connect_it;
	if (o->call == call_select_among) /* it has a pipe */
		o->call = select_alone;
	return o->call != call_poll_many; /* so has this one: see below */
}

static inline ptrdiff_t poll_all(int fd, sennit_time deadline)
{
	int       fds[2];
	ptrdiff_t result;

	pair_up(fds);
	result = poll_among(fds[0], fd, deadline);
	sennit_close(fds[0]);
	sennit_close(fds[1]);
	return result;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* network.h - sockets in the simulated network, made as any program makes them.
 */
#ifndef SN_TEST_EXPLORE_NETWORK_H
#define SN_TEST_EXPLORE_NETWORK_H

#include "explore.h"

#include "sennit/io.h"
#include "sennit/net.h"
#include "sennit/simulation.h"

#include <netinet/in.h>

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

	sennit_scheduler_report(sennit_current(), count_wait, &waits);
	return waits;
}

#endif

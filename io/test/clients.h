/* SPDX-License-Identifier: Apache-2.0 */
/* clients.h - clients of acceptors: each connection gets one byte. */
#ifndef SN_TEST_IO_CLIENTS_H
#define SN_TEST_IO_CLIENTS_H

#include "operations.h"

#include "sennit/net.h"

/* More than there are acceptors: accepts that already wait in the ring keep the
 * descriptor limit with which they began. */
enum { CLIENTS = 12 };

static atomic_uint served;

static void serve(void *unused, int fd)
{
	(void)unused;
	EXPECT(sennit_send(fd, "x", 1, 0, SENNIT_NEVER) == 1);
	EXPECT(sennit_close(fd) == 0);
	atomic_fetch_add(&served, 1);
}

static void begin_clients(int clients[CLIENTS][2], int listener)
{
	for (int i = 0; i < CLIENTS; i++) {
		clients[i][0] = listener;
		clients[i][1] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		must(clients[i][1] >= 0, "socket");
	}
}

static void end_clients(int clients[CLIENTS][2])
{
	char byte;

	for (int i = 0; i < CLIENTS; i++) {
		EXPECT(sennit_read(clients[i][1], &byte, 1, in_ms(100000)) ==
		       1);
		close(clients[i][1]);
	}
}

#endif

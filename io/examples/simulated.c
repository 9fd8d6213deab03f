/* SPDX-License-Identifier: Apache-2.0 */
/* simulated.c - two sockets of a simulated network, and a connection that is
 * reset. The network is part of a library that is built with
 * -DSENNIT_DETERMINISTIC=ON; in an ordinary one the calls return -ENOSYS.
 */
#include "../calls/calls.h"

#include <sennit/io.h>
#include <sennit/net.h>
#include <sennit/simulation.h>

static void show(sennit_scheduler *s)
{
	char byte = 0;
	int  fds[2];

	(void)s;
	if (sennit_simulation_begin(NULL) == -ENOSYS) {
		CHECK(sennit_simulation_pair(fds) == -ENOSYS);
		CHECK(sennit_simulation_digest() == 0);
		return;
	}
	CHECK(sennit_simulation_pair(fds) == 0);
	CHECK(sennit_send(fds[0], "x", 1, 0, SENNIT_NEVER) == 1);
	CHECK(sennit_recv(fds[1], &byte, 1, 0, SENNIT_NEVER) == 1);
	CHECK(byte == 'x');
	CHECK(sennit_simulation_reset(fds[0]) == 0);
	CHECK(sennit_recv(fds[1], &byte, 1, 0, SENNIT_NEVER) == -ECONNRESET);
	(void)sennit_close(fds[0]);
	(void)sennit_close(fds[1]);

	/* The same in each run with the same SENNIT_SEED. */
	printf("%llx\n", (unsigned long long)sennit_simulation_digest());
}

int main(void)
{
	return run(show);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* simulation.c - the calls of simulation.h in an ordinary library.
 * test/explore/network*.c test them in one that is built with
 * SENNIT_DETERMINISTIC. */
#include "operations.h"

#include "sennit/simulation.h"

static void call_each(void *unused)
{
	int fds[2] = { -2, -3 };

	(void)unused;
	EXPECT(sennit_simulation_begin(NULL) == -ENOSYS);
	EXPECT(sennit_simulation_pair(fds) == -ENOSYS);
	EXPECT(fds[0] == -2 && fds[1] == -3);
	EXPECT(sennit_simulation_reset(0) == -ENOSYS);
	EXPECT(sennit_simulation_digest() == 0);
}

TEST_WITH_WORKERS(an_ordinary_library_simulates_nothing)
{
	in_each_place(call_each, NULL);
}

USES_BACKEND;

/* SPDX-License-Identifier: Apache-2.0 */
/* fork_across.c - functions of two files spawn each other. fork_join_turns.c
 * has the other half. */
#include "fork_across.h"

SENNIT_FORK_DEFINE(unsigned, climb_here, unsigned, n, atomic_uint *, visited)
{
	unsigned one, two;

	SENNIT_FORK_CALL(visit, visited);
	if (n < 2)
		return 1;
	SENNIT_FORK_SPAWN(climb_there, other, n - 1, visited);
	two = SENNIT_FORK_CALL(climb_here, n - 2, visited);
	one = SENNIT_FORK_SYNC(climb_there, other);
	return one + two;
}

static void climb(void *unused)
{
	atomic_uint visited = 0;

	EXPECT(SENNIT_FORK_RUN(climb_here, 14, &visited) == 610);
	EXPECT(atomic_load(&visited) == 1219);
	EXPECT(SENNIT_FORK_RUN(climb_there, 3, &visited) == 3);
	EXPECT(atomic_load(&visited) == 1224);
}

TEST_WITH_WORKERS(functions_of_two_files_spawn_each_other)
{
	everywhere(climb);
}

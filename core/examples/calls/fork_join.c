/* SPDX-License-Identifier: Apache-2.0 */
/* fork_join.c - two functions that call each other try all ways to play a game
 * to its end: of a heap of stones each player takes 1 to 3 in turn, and the one
 * that takes the last stone wins.
 */
#include <sennit.h>
#include <sennit/fork_join.h>

#include <stdio.h>

SENNIT_FORK_DECLARE(static, int, theirs, int, stones);

/* It is our turn. Return whether we can win. */
SENNIT_FORK(int, ours, int, stones)
{
	SENNIT_FORK_RECORD(theirs) moves[3];
	int wins = 0, count = stones < 3 ? stones : 3;

	for (int i = 0; i < count; i++)
		SENNIT_FORK_SPAWN_TO(theirs, moves[i], stones - i - 1);
	while (count-- > 0) /* the last spawn first is fast */
		wins |= SENNIT_FORK_SYNC(theirs, moves[count]);
	return wins;
}

/* It is the other's turn. Return whether we win whatever is taken. */
SENNIT_FORK_DEFINE(int, theirs, int, stones)
{
	SENNIT_FORK_RECORD(ours) moves[3];
	int wins = 1, count = stones < 3 ? stones : 3;

	for (int i = 0; i < count; i++)
		SENNIT_FORK_SPAWN_TO(ours, moves[i], stones - i - 1);
	while (count-- > 0)
		wins &= SENNIT_FORK_SYNC(ours, moves[count]);
	return wins;
}

static int program(void *unused)
{
	(void)unused;
	for (int stones = 0; stones <= 13; stones++)
		if (SENNIT_FORK_RUN(ours, stones) != (stones % 4 != 0))
			return 1;
	printf("lost with 4, 8 and 12 stones\n");
	return 0;
}

int main(void)
{
	int result;

	return sennit_run(program, NULL, NULL, &result) || result;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* queens.c - counts the ways to place n queens on a board so that none attacks
 * another. Each placement is a call that may be stolen. fork_join.h compiles
 * the spawn and the join into the program, so that even short calls gain from
 * it.
 */
#include "sennit.h"
#include "sennit/fork_join.h"

#include <stdio.h>
#include <stdlib.h>

/* free: columns without a queen; left, right: squares of this row that are
 * attacked on a diagonal; open: squares of this row that are still to be
 * tried. */
SENNIT_FORK(unsigned, place, unsigned, free, unsigned, left, unsigned, right,
	    unsigned, open)
{
	const unsigned here = open & -open; /* the first square */
	const unsigned below = free & ~here;
	const unsigned l = (left | here) << 1, r = (right | here) >> 1;
	unsigned       others;

	if (!free)
		return 1;
	if (!open)
		return 0;
	if (open == here)
		return SENNIT_FORK_CALL(place, below, l, r, below & ~(l | r));
	/* Another worker may try a queen here, while this one tries the other
	 * squares. */
	SENNIT_FORK_SPAWN(place, first, below, l, r, below & ~(l | r));
	others = SENNIT_FORK_CALL(place, free, left, right, open & ~here);
	return others + SENNIT_FORK_SYNC(place, first);
}

struct board {
	unsigned size, ways;
};

static void count(void *argument)
{
	struct board  *b = argument;
	const unsigned all = (1u << b->size) - 1;

	b->ways = SENNIT_FORK_RUN(place, all, 0, 0, all);
}

int main(int argc, char **argv)
{
	static const unsigned known[] = { 1, 1,  0,  0,   2,   10,
					  4, 40, 92, 352, 724, 2680 };
	struct board          b = { .size = 10 };
	sennit_scheduler     *s;
	sennit_task           t = { .run = count, .argument = &b };

	if (argc > 1)
		b.size = (unsigned)atoi(argv[1]);
	if (b.size > 20 || sennit_scheduler_create(&s, NULL))
		return 1;
	if (sennit_schedule_task_on(s, &t) ||
	    sennit_scheduler_shutdown(s, SENNIT_NEVER))
		return 1;
	printf("%u queens stand in %u ways\n", b.size, b.ways);
	return b.size < sizeof(known) / sizeof(known[0]) &&
	       b.ways != known[b.size];
}

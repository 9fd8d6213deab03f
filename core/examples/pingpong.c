/* SPDX-License-Identifier: Apache-2.0 */
/* pingpong.c - two fibers take turns with sennit_fiber_wait and
 * sennit_fiber_notify.
 *
 * A fiber waits for a condition over data that a mutex protects. The fiber that
 * changes the data notifies it to test the condition again.
 */
#include <sennit.h>

#include <stdio.h>

#define ROUNDS 1000

struct table {
	sennit_mutex      lock;
	sennit_wait_group players;
	sennit_fiber     *fibers[2]; /* under lock */
	uint32_t          hits;      /* under lock; even: player 0 is next */
};

struct player {
	struct table *table;
	uint32_t      side;
};

static bool is_my_turn(void *argument)
{
	const struct player *p = argument;

	return p->table->hits % 2 == p->side;
}

static void play(void *argument)
{
	struct player *p = argument;
	struct table  *t = p->table;

	sennit_mutex_lock(&t->lock);
	t->fibers[p->side] = sennit_fiber_current();
	for (int i = 0; i < ROUNDS; i++) {
		if (sennit_fiber_wait(&t->lock, is_my_turn, p, SENNIT_NEVER))
			t->hits++;
		if (t->fibers[!p->side])
			sennit_fiber_notify(t->fibers[!p->side]);
	}
	sennit_mutex_unlock(&t->lock);
	(void)sennit_wait_group_done(&t->players);
}

static int program(void *unused)
{
	(void)unused;
	static struct table table; /* all bytes zero is ready for use */
	struct player       players[2] = { { &table, 0 }, { &table, 1 } };

	sennit_wait_group_init(&table.players, 2);
	for (int i = 0; i < 2; i++)
		if (sennit_schedule(play, &players[i]))
			return 1;
	sennit_wait_group_wait(&table.players);
	printf("%u hits\n", (unsigned int)table.hits);
	return table.hits == 2 * ROUNDS ? 0 : 1;
}

int main(void)
{
	int result;

	return sennit_run(program, NULL, NULL, &result) || result;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* hedge.c - asks a second mirror when the first is slow, takes the first
 * answer, and cancels the other. */
#include <sennit.h>

#include <errno.h>
#include <stdio.h>

#define PATIENCE (5 * SENNIT_MILLISECOND)

struct mirror {
	const char    *name;
	bool           answers; /* or it hangs */
	sennit_future *answer;
	int            ended; /* what its member returned */
};

static int ask(void *argument)
{
	struct mirror *m = argument;

	if (!m->answers) /* stands for a receive that gets nothing */
		m->ended = sennit_sleep_until(SENNIT_NEVER);
	else if (sennit_future_try_set(m->answer, m))
		m->ended = -EALREADY; /* the other was first */
	return 0;
}

/* The mirror that has answered, or NULL. */
static struct mirror *ask_both(struct mirror *first, struct mirror *second)
{
	sennit_future answer = SENNIT_FUTURE_INIT;
	sennit_group  g;
	void         *winner = NULL;
	int           err;

	first->answer = second->answer = &answer;
	sennit_group_init(&g, SENNIT_NEVER, 0);
	err = sennit_group_spawn(&g, ask, first);
	if (!err && sennit_future_wait_until(&answer, sennit_after(PATIENCE)))
		err = sennit_group_spawn(&g, ask, second);
	if (!err)
		err = sennit_future_get_until(&answer, &winner, SENNIT_NEVER);
	sennit_group_cancel(&g);
	sennit_group_wait(&g); /* -ECANCELED */
	return winner;
}

static int program(void *unused)
{
	struct mirror  near = { "near", true, NULL, 0 };
	struct mirror  far = { "far", true, NULL, 0 };
	struct mirror  dead = { "dead", false, NULL, 0 };
	struct mirror *a, *b;

	(void)unused;
	a = ask_both(&near, &dead);
	b = ask_both(&dead, &far);
	if (!a || !b)
		return 1;
	printf("near or dead: %s\n", a->name);
	printf("dead, then far: %s; dead: %s\n", b->name,
	       sennit_strerror(dead.ended));
	return a == &near && b == &far && dead.ended == -ECANCELED ? 0 : 1;
}

int main(void)
{
	int result;

	return sennit_run(program, NULL, NULL, &result) || result;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* rate_limit.c - requests of all tasks go out one by one, a period apart. */
#include <sennit.h>

#include <errno.h>
#include <stdio.h>

enum { REQUESTS = 20 };

struct limiter {
	sennit_mutex lock;
	uint64_t     period;
	sennit_time  next; /* under lock: when the next may go */
};

/* Wait for a turn. A caller whose turn comes after its deadline is refused at
 * once and takes none. */
static int admit(struct limiter *l, sennit_time deadline)
{
	sennit_time now = sennit_now(), turn;

	sennit_mutex_lock(&l->lock);
	turn = l->next > now ? l->next : now;
	if (turn <= deadline)
		l->next = turn + l->period;
	sennit_mutex_unlock(&l->lock);
	return turn <= deadline ? sennit_sleep_until(turn) : -ETIMEDOUT;
}

static int request(void *limiter)
{
	return admit(limiter, SENNIT_NEVER);
}

/* Whether the requests took as long as they must. */
static int send_all(void)
{
	struct limiter l = { .period = SENNIT_MILLISECOND };
	sennit_time    begun = sennit_now();
	sennit_group   g;
	int            err = 0, ended;

	sennit_group_init(&g, SENNIT_NEVER, 0);
	for (int i = 0; i < REQUESTS && !err; i++)
		err = sennit_group_spawn(&g, request, &l);
	ended = sennit_group_wait(&g);
	return !err && !ended &&
	       sennit_now() - begun >= (REQUESTS - 1) * l.period;
}

static int program(void *unused)
{
	struct limiter hourly = { .period = 3600 * SENNIT_SECOND };
	int            slow, first, second;

	(void)unused;
	slow = send_all();
	first = admit(&hourly, SENNIT_NEVER);
	second = admit(&hourly, sennit_after(SENNIT_SECOND));
	printf("%d requests, a millisecond apart: %s\n", REQUESTS,
	       slow ? "yes" : "no");
	printf("one an hour: %s, then %s\n", sennit_strerror(first),
	       sennit_strerror(second));
	return slow && !first && second == -ETIMEDOUT ? 0 : 1;
}

int main(void)
{
	int result;

	return sennit_run(program, NULL, NULL, &result) || result;
}

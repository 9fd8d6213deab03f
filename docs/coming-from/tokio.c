/* SPDX-License-Identifier: Apache-2.0 */
/* tokio.c - requests with a deadline each, two at a time. */
#include <sennit.h>

#include <errno.h>
#include <stdio.h>

struct requests {
	sennit_semaphore few;
	sennit_channel   results;
};

struct request {
	struct requests *all;
	long             n;
};

struct result {
	long square;
	int  err;
};

static int fetch(void *argument)
{
	const long n = *(long *)argument;
	const long ms = n == 3 ? 60000 : n;

	*(long *)argument = n * n;
	return sennit_sleep_until(
		sennit_after((uint64_t)ms * SENNIT_MILLISECOND));
}

static int request(void *argument)
{
	struct request *r = argument;
	struct result   result = { .square = r->n };
	sennit_group    limit;
	int             err;

	if ((err = sennit_semaphore_acquire(&r->all->few, 1)))
		return err;
	sennit_group_init(&limit, sennit_after(200 * SENNIT_MILLISECOND), 0);
	result.err = sennit_group_spawn(&limit, fetch, &result.square);
	if (!result.err)
		result.err = sennit_group_wait(&limit);
	sennit_semaphore_release(&r->all->few, 1);
	return sennit_channel_send_until(&r->all->results, &result,
					 SENNIT_NEVER);
}

static int program(void *unused)
{
	struct requests all = { .results = SENNIT_CHANNEL_INIT(
					sizeof(struct result)) };
	struct result   result;
	sennit_group    g;
	long            sum = 0, late = 0;
	int             err = 0;

	(void)unused;
	sennit_semaphore_init(&all.few, 2);
	sennit_group_init(&g, SENNIT_NEVER, 0);
	for (long n = 0; n < 5 && !err; n++)
		err = sennit_group_spawn_copy(&g, request,
					      &(struct request){ &all, n },
					      sizeof(struct request));
	for (long n = 0; n < 5 && !err; n++) {
		err = sennit_channel_receive_until(&all.results, &result,
						   SENNIT_NEVER);
		sum += result.err ? 0 : result.square;
		late += result.err == -ETIMEDOUT;
	}
	err = sennit_group_wait(&g);
	printf("sum %ld, %ld too late\n", sum, late);
	return err;
}

int main(void)
{
	int result;

	return sennit_run(program, NULL, NULL, &result) || result;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* hooks.c - a worker that sleeps in a poller calls its hooks in time, and hooks
 * delay no event. */
#include "testing/device.h"
#include "operations.h"

struct both {
	sennit_scheduler *s;
	struct device     d;
	struct job        j;
	int               fds[2];
	sennit_wait_group done;
};

static void read_from_other(void *argument)
{
	struct both *b = argument;

	EXPECT(call_read(b->fds[0], SENNIT_NEVER) == 2);
	sennit_wait_group_done(&b->done);
}

static void wait_for_job(void *argument)
{
	struct both *b = argument;

	do_job(&b->j);
	sennit_wait_group_done(&b->done);
}

/* When both wait: whichever comes first. */
static void *complete_both(void *argument)
{
	struct both *b = argument;

	while (!atomic_load(&b->j.submitted) || io_waits(b->s) != 1)
		usleep(100);
	finish(&b->j);
	if (!b->d.patience) /* otherwise only the hook ends the sleep */
		give_two_bytes(b->fds);
	return NULL;
}

static void wait_for_both(void *argument)
{
	struct both *b = argument;
	pthread_t    t = must_start_thread(complete_both, b);

	open_device(&b->d, b->d.patience);
	sennit_wait_group_init(&b->done, 2);
	must_schedule_here(read_from_other, b);
	must_schedule_here(wait_for_job, b);
	EXPECT(!sennit_event_wait(&b->j.done));
	if (b->d.patience)
		give_two_bytes(b->fds);
	sennit_wait_group_wait(&b->done);
	pthread_join(t, NULL);
	close_device(&b->d);
}

TEST_WITH_WORKERS(events_and_completions_end_one_sleep)
{
	for (int i = 0; i < 10; i++) {
		struct both b = { .s = w->s };

		b.j.of = &b.d;
		b.d.patience = (uint64_t)(i % 2) * SENNIT_MILLISECOND;
		open_sockets(b.fds);
		in_a_task(wait_for_both, &b);
		close(b.fds[0]);
		close(b.fds[1]);
	}
}

USES_BACKEND;

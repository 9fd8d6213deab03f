/* SPDX-License-Identifier: Apache-2.0 */
/* shared.c - objects that live as long as their last user. */
#include "calls.h"

/* A user with its own reference, which it releases. */
static void answer(void *future)
{
	sennit_future_set(future, NULL);
	sennit_shared_release(future);
}

static void ask(void)
{
	sennit_future *f = sennit_shared_create(sizeof(*f), NULL, NULL);

	CHECK(f);
	CHECK(sennit_schedule(answer, sennit_shared_retain(f)) == 0);
	CHECK(!sennit_future_wait(f));
	sennit_shared_release(f); /* or the task's release is the last */
}

/* A struct of the program: what the last release does with it. */
struct job {
	sennit_mutex   lock;
	sennit_channel parts;
};

static void end_job(void *object)
{
	struct job *j = object;

	sennit_mutex_destroy(&j->lock);
	sennit_channel_destroy(&j->parts);
}

static void pass_on(void)
{
	struct job *j = sennit_shared_create(sizeof(*j), end_job, NULL);
	int         sent = 7, received = 0;

	CHECK(j);
	sennit_mutex_init(&j->lock);
	CHECK(sennit_channel_init(&j->parts, 1, sizeof(int), NULL) == 0);
	CHECK(sennit_channel_send(&j->parts, &sent) == 0);
	CHECK(sennit_channel_receive(&j->parts, &received) == 0);
	CHECK(received == 7);
	sennit_shared_release(j);
}

static void show(sennit_scheduler *s)
{
	(void)s;
	ask();
	pass_on();
}

int main(void)
{
	return run(show);
}

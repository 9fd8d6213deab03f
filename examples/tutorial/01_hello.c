/* SPDX-License-Identifier: Apache-2.0 */
/* 01_hello.c - three tasks run, and main waits for them. */
#include <sennit.h>

#include <stdio.h>

struct job {
	int in, out;
};

static sennit_wait_group left;

static void square(void *argument)
{
	struct job *j = argument;

	j->out = j->in * j->in;
	sennit_wait_group_done(&left);
}

int main(void)
{
	struct job        jobs[] = { { 2, 0 }, { 3, 0 }, { 4, 0 } };
	sennit_scheduler *s;

	if (sennit_scheduler_create(&s, NULL) || sennit_bind(s))
		return 1;
	sennit_wait_group_init(&left, 3);
	for (int i = 0; i < 3; i++)
		if (sennit_schedule(square, &jobs[i]))
			return 1; /* -ENOMEM */
	sennit_wait_group_wait(&left);
	sennit_unbind();
	if (sennit_scheduler_shutdown(s, SENNIT_NEVER))
		return 1;
	printf("hello: %d %d %d\n", jobs[0].out, jobs[1].out, jobs[2].out);
	return jobs[2].out == 16 ? 0 : 1;
}

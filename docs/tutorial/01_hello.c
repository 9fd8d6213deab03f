/* SPDX-License-Identifier: Apache-2.0 */
/* 01_hello.c - three tasks run, and the program waits for them. */
#include <sennit.h>

#include <stdio.h>

struct job {
	int in, out;
};

static void square(void *argument)
{
	struct job *j = argument;

	j->out = j->in * j->in;
}

static int program(void *unused)
{
	struct job        jobs[] = { { 2, 0 }, { 3, 0 }, { 4, 0 } };
	sennit_wait_group left = SENNIT_WAIT_GROUP_INIT;
	int               err = 0;

	(void)unused;
	for (int i = 0; i < 3 && !err; i++)
		err = sennit_wait_group_spawn(&left, square, &jobs[i]);
	sennit_wait_group_wait(&left);
	if (err)
		return err; /* -ENOMEM */
	printf("hello: %d %d %d\n", jobs[0].out, jobs[1].out, jobs[2].out);
	return jobs[2].out == 16 ? 0 : 1;
}

int main(void)
{
	int result;

	return sennit_run(program, NULL, NULL, &result) || result;
}

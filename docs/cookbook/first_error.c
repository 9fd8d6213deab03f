/* SPDX-License-Identifier: Apache-2.0 */
/* first_error.c - work on all parts at once, collect the results; the first
 * error ends the rest. */
#include <sennit.h>

#include <errno.h>
#include <stdio.h>

enum { PARTS = 10 };

struct part {
	int in, out;
};

/* A part below 0 is bad. A part of 100 or more takes an hour. */
static int work(void *argument)
{
	struct part *p = argument;

	if (p->in < 0)
		return -EBADMSG;
	p->out = p->in * p->in;
	return p->in < 100
		       ? 0
		       : sennit_sleep_until(sennit_after(3600 * SENNIT_SECOND));
}

static int work_on_all(struct part *parts, int count)
{
	sennit_group g;
	int          err = 0, ended;

	sennit_group_init(&g, SENNIT_NEVER, 0);
	for (int i = 0; i < count && !err; i++)
		err = sennit_group_spawn(&g, work, &parts[i]);
	if (err)
		sennit_group_cancel(&g);
	ended = sennit_group_wait(&g);
	return ended == -ECANCELED && err ? err : ended;
}

static int program(void *unused)
{
	struct part good[PARTS], bad[PARTS];
	int         sum = 0, errs[2];

	(void)unused;
	for (int i = 0; i < PARTS; i++) {
		good[i] = (struct part){ .in = i };
		bad[i] = (struct part){ .in = i == 7 ? -1 : 100 };
	}
	errs[0] = work_on_all(good, PARTS);
	errs[1] = work_on_all(bad, PARTS);
	for (int i = 0; i < PARTS; i++)
		sum += good[i].out;
	printf("good parts: %s, sum %d\n", sennit_strerror(errs[0]), sum);
	printf("a bad part: %s\n", sennit_strerror(errs[1]));
	return !errs[0] && sum == 285 && errs[1] == -EBADMSG ? 0 : 1;
}

int main(void)
{
	int result;

	return sennit_run(program, NULL, NULL, &result) || result;
}

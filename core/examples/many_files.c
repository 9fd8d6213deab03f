/* SPDX-License-Identifier: Apache-2.0 */
/* many_files.c [FILE...] - asks for the sizes of many files at once.
 *
 * stat() blocks its thread, for long on a slow disk or a network file system.
 * As a blocking call it blocks a helper thread instead, and the fibers of the
 * one worker run on: a clock ticks meanwhile.
 */
#include <sennit.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

struct question {
	const char *path;
	struct stat answer;
};

static sennit_wait_group left, ticking;
static sennit_event      over = SENNIT_EVENT_INIT(SENNIT_EVENT_MANUAL);

/* Runs on a helper thread. The caller gets its result and its errno. */
static void *ask(void *argument)
{
	struct question *q = argument;

	return stat(q->path, &q->answer) ? NULL : q;
}

static void show_size(void *path)
{
	struct question q = { .path = path };

	if (sennit_blocking_call(ask, &q))
		printf("%12lld %s\n", (long long)q.answer.st_size, q.path);
	else
		printf("%12s %s: %s\n", "-", q.path, strerror(errno));
	sennit_wait_group_done(&left);
}

static void tick(void *ticks)
{
	do
		++*(unsigned *)ticks;
	while (sennit_event_wait_until(&over,
				       sennit_after(SENNIT_MILLISECOND)));
	sennit_wait_group_done(&ticking);
}

/* Called on a bound thread. Returns false if there was no memory for all. */
static bool ask_for_all(char *paths[], unsigned count)
{
	unsigned asked = 0;

	sennit_wait_group_init(&left, count);
	while (asked < count && !sennit_schedule(show_size, paths[asked]))
		asked++;
	for (unsigned i = asked; i < count; i++)
		sennit_wait_group_done(&left);
	sennit_wait_group_wait(&left);
	return asked == count;
}

int main(int argc, char *argv[])
{
	static char       here[] = ".", root[] = "/", nowhere[] = "/nowhere";
	char             *some[] = { here, root, nowhere };
	bool              given = argc > 1;
	unsigned          ticks = 0;
	sennit_scheduler *s;
	bool              all;

	if (sennit_scheduler_create(&s, SENNIT_CONFIG(.workers = 1)) ||
	    sennit_thread_bind(s))
		return 1;
	sennit_wait_group_init(&ticking, 1);
	if (sennit_schedule(tick, &ticks))
		return 1;
	all = ask_for_all(given ? argv + 1 : some,
			  given ? (unsigned)argc - 1 : 3);
	sennit_event_set(&over);
	sennit_wait_group_wait(&ticking);
	sennit_thread_unbind();
	if (sennit_scheduler_shutdown(s, SENNIT_NEVER))
		return 1;
	printf("the clock ticked %u times meanwhile\n", ticks);
	return all && ticks ? 0 : 1;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* first_found.c - a search by many tasks. The task that finds the number
 * cancels the others, and the wait returns when all of them have ended.
 *
 * Cancellation wakes members that wait, here the two that ask slow archives.
 * Members that compute check for it from time to time. One archive gets 5 ms: a
 * group inside the group has a deadline of its own.
 */
#include <sennit.h>

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>

#define SECRET UINT64_C(6123457)
#define LIMIT  UINT64_C(10000000)
#define STEP   UINT64_C(10000)

static sennit_group      search;
static _Atomic(uint64_t) found;

static uint64_t scramble(uint64_t n)
{
	n = (n ^ n >> 33) * UINT64_C(0xff51afd7ed558ccd);
	return n ^ n >> 29;
}

/* Check STEP numbers. */
static int look(void *from)
{
	const uint64_t wanted = scramble(SECRET);
	uint64_t       n = *(uint64_t *)from;
	uint64_t       end = n + STEP;

	if (sennit_check_cancelled())
		return -ECANCELED;
	for (; n < end; n++) {
		if (scramble(n) != wanted)
			continue;
		atomic_store(&found, n);
		sennit_group_cancel(&search);
	}
	return 0;
}

/* An archive that takes an hour to answer. */
static int ask_archive(void *argument)
{
	(void)argument;
	return sennit_sleep_until(sennit_after(3600 * SENNIT_SECOND));
}

/* If the archive does not answer in time, the search does not fail. */
static int ask_in_time(void *late)
{
	sennit_group g;
	int          err;

	sennit_group_init(&g, sennit_after(5 * SENNIT_MILLISECOND), 0);
	err = sennit_group_spawn(&g, ask_archive, NULL);
	if (!err)
		err = sennit_group_wait(&g);
	*(int *)late = err;
	return err == -ETIMEDOUT ? 0 : err;
}

static int find(int *late)
{
	int err;

	sennit_group_init(&search, SENNIT_NEVER, 0);
	err = sennit_group_spawn(&search, ask_archive, NULL);
	if (!err)
		err = sennit_group_spawn(&search, ask_in_time, late);
	for (uint64_t n = 0; n < LIMIT && !err; n += STEP)
		err = sennit_group_spawn_copy(&search, look, &n, sizeof(n));
	/* -ECANCELED from a spawn: already found. */
	return sennit_group_wait(&search);
}

static int program(void *unused)
{
	int late = 0;
	int err;

	(void)unused;
	err = find(&late);
	printf("found %llu; the second archive %s\n",
	       (unsigned long long)atomic_load(&found),
	       late == -ETIMEDOUT ? "was too slow" : "was no longer needed");
	return err == -ECANCELED && atomic_load(&found) == SECRET ? 0 : 1;
}

int main(void)
{
	int result;

	return sennit_run(program, NULL, NULL, &result) || result;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* single_flight.c - many ask for the same few keys: the first to ask for a key
 * loads it, and the others wait for that. */
#include <sennit.h>

#include <stdatomic.h>
#include <stdio.h>

enum { KEYS = 4, CALLERS = 100 };

static sennit_future cache[KEYS]; /* all bytes zero: not set */
static sennit_mutex  lock;
static bool          asked[KEYS]; /* under lock */
static atomic_int    loads, wrong;

static intptr_t load(int key)
{
	atomic_fetch_add(&loads, 1);
	sennit_sleep(SENNIT_MILLISECOND); /* stands for a database */
	return 1000 + key;
}

static int look_up(int key, void **value)
{
	bool mine;

	sennit_mutex_lock(&lock);
	mine = !asked[key];
	asked[key] = true;
	sennit_mutex_unlock(&lock);
	if (mine)
		sennit_future_set(&cache[key], (void *)load(key));
	return sennit_future_get_until(&cache[key], value, SENNIT_NEVER);
}

static int caller(void *argument)
{
	int   key = *(const int *)argument % KEYS;
	void *value;
	int   err = look_up(key, &value);

	if (!err && (intptr_t)value != 1000 + key)
		atomic_fetch_add(&wrong, 1);
	return err;
}

static int run(void)
{
	sennit_group g;
	int          err = 0, ended;

	sennit_group_init(&g, SENNIT_NEVER, 0);
	for (int i = 0; i < CALLERS && !err; i++)
		err = sennit_group_spawn_copy(&g, caller, &i, sizeof(i));
	ended = sennit_group_wait(&g);
	return ended ? ended : err;
}

static int program(void *unused)
{
	int err;

	(void)unused;
	err = run();
	if (err)
		return 1;
	printf("%d callers, %d loads, %d wrong\n", CALLERS, loads, wrong);
	return loads == KEYS && !wrong ? 0 : 1;
}

int main(void)
{
	int result;

	return sennit_run(program, NULL, NULL, &result) || result;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* watchdog.c - limits for waits: a lock is not held for long, an order may wait
 * for its customer, and no blocking call takes a minute. */
#include "calls.h"

#include <sennit/watchdog.h>

static sennit_mutex lock;
static sennit_event found;

static void note(void *unused, const char *text)
{
	(void)unused;
	printf("%s\n", text); /* "... waits for 60 ms for mutex ..." */
	sennit_event_set(&found);
}

static int wait_for_lock(void *unused)
{
	(void)unused;
	sennit_mutex_lock(&lock);
	sennit_mutex_unlock(&lock);
	return 0;
}

static void show(sennit_scheduler *s)
{
	const sennit_watchdog_wait limits[] = {
		{ .size = sizeof(sennit_watchdog_wait),
		  .name = "order" }, /* none */
		{ .size = sizeof(sennit_watchdog_wait),
		  .kinds = SENNIT_WATCHDOG_LOCKS,
		  .ms = 50 },
		{ .size = sizeof(sennit_watchdog_wait),
		  .kinds = SENNIT_WATCHDOG_KIND(SENNIT_WAITS_FOR_CALL),
		  .ms = 60000 },
	};
	sennit_watchdog *w;
	sennit_group     g;

	CHECK(sennit_watchdog_start(
		      &w, s,
		      &(sennit_watchdog_options){
			      .size = sizeof(sennit_watchdog_options),
			      .standstill_ms = 60000,
			      .deadlock_ms = 60000,
			      .waits = limits,
			      .wait_count = 3,
			      .line = note }) == 0);
	sennit_mutex_lock(&lock);
	sennit_group_init(&g, SENNIT_NEVER, 0);
	CHECK(sennit_group_spawn(&g, wait_for_lock, NULL) == 0);
	CHECK(sennit_event_wait(&found) == 0); /* this task holds it too long */
	sennit_mutex_unlock(&lock);
	CHECK(sennit_group_wait(&g) == 0);
	sennit_watchdog_stop(w);
}

int main(void)
{
	return run(show);
}

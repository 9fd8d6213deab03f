/* SPDX-License-Identifier: Apache-2.0 */
/* blocking.c - a function that blocks its thread, unless it begins too late. */
#include "calls.h"

#include <time.h>

/* A call of the system that would hold up a worker. */
static void *sleep_in_the_system(void *milliseconds)
{
	struct timespec t = { 0, *(const long *)milliseconds * 1000000 };

	nanosleep(&t, NULL);
	return milliseconds;
}

static void show(sennit_scheduler *s)
{
	long  milliseconds = 5;
	void *result = NULL;

	(void)s;
	CHECK(sennit_blocking_call_until(sleep_in_the_system, &milliseconds,
					 &result, soon()) == 0);
	CHECK(result == &milliseconds);
}

int main(void)
{
	return run(show);
}

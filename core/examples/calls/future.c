/* SPDX-License-Identifier: Apache-2.0 */
/* future.c - the first of two producers sets a future, and a consumer waits for
 * any or all of several.
 */
#include "calls.h"

static sennit_future  fast, slow;
static sennit_future *both[] = { &fast, &slow };

static int answer(void *text)
{
	/* A mirror that answers later finds the future set. */
	return sennit_future_try_set(&slow, text);
}

static int compute(void *unused, void **value)
{
	(void)unused;
	*value = &slow;
	return 0;
}

static void show(sennit_scheduler *s)
{
	size_t       which = 2;
	void        *value = NULL;
	sennit_group g;

	sennit_future_init(&fast);
	sennit_future_init(&slow);
	CHECK(sennit_future_try_set_error(&fast, -EPIPE) == 0);
	CHECK(sennit_future_try_set(&fast, NULL) == -EALREADY);
	CHECK(sennit_future_wait_any_until(both, 2, &which, soon()) == 0);
	CHECK(which == 0);
	CHECK(sennit_future_wait_all_until(both, 2, 0) == -ETIMEDOUT);

	sennit_group_init(&g, SENNIT_NEVER, 0);
	CHECK(sennit_group_spawn(&g, answer, "hello") == 0);
	CHECK(!sennit_future_wait_all(both, 2));
	CHECK(sennit_group_wait(&g) == 0);
	CHECK(sennit_future_get(&fast, &value) == -EPIPE);
	CHECK(sennit_future_get(&slow, &value) == 0);
	printf("%s\n", (const char *)value);

	/* A task of any scheduler sets it. */
	sennit_future_init(&fast);
	CHECK(sennit_future_spawn_on(&fast, s, compute, NULL) == 0);
	CHECK(sennit_future_get(&fast, &value) == 0);
	sennit_future_destroy(&fast);
	sennit_future_destroy(&slow);
}

int main(void)
{
	return run(show);
}

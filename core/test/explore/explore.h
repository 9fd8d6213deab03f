/* SPDX-License-Identifier: Apache-2.0 */
/* explore.h - scenarios, and what is found in them. */
#ifndef SN_TEST_EXPLORE_H
#define SN_TEST_EXPLORE_H

#include "testing/test.h"

#include "base/torture.h"
#include "testing/require.h"
#include "sennit.h"
#include "sennit/deterministic.h"
#include "testing/child.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- explore ----------------------------------------------------------- */

/* Scenarios: short programs that run under many seeds.
 *
 * A scenario that fails aborts and prints the seed. SENNIT_TEST_SEED runs one
 * seed alone. SENNIT_TEST_FIRST sets the first seed, 1 by default.
 * SENNIT_TEST_TIME multiplies the number of seeds. */

/* Seeds per scenario. Sanitizers make thread creation slow. */
#if defined(SN_TSAN) || defined(SN_ASAN)
#define SCHEDULES 500
#else
#define SCHEDULES 3000
#endif

/* Run the scenario under `count` seeds, or as the environment says. */
static inline void explore_some(void (*scenario)(void *context), void *context,
				unsigned schedules)
{
	const char *seed = getenv("SENNIT_TEST_SEED");
	const char *time = getenv("SENNIT_TEST_TIME");
	const char *from = seed ? seed : getenv("SENNIT_TEST_FIRST");
	uint64_t    first = from ? strtoull(from, NULL, 0) : 1;
	double      times = time ? strtod(time, NULL) : 1;
	uint64_t    count = seed ? 1 : (uint64_t)(schedules * times) + 1;

	assert_int_equal(sennit_explore(first, count, scenario, context), 0);
}

static inline void explore(void (*scenario)(void *context), void *context)
{
	explore_some(scenario, context, SCHEDULES);
}

/* A case whose body is a scenario. */
#define TEST_EXPLORED(f)                        \
	static void f##_scenario(void *unused); \
	TEST(f)                                 \
	{                                       \
		explore(f##_scenario, NULL);    \
	}                                       \
	static void f##_scenario(__attribute__((unused)) void *unused)

static inline sennit_scheduler *begin_with(const sennit_config *config)
{
	sennit_scheduler *s = NULL;

	REQUIRE(!sennit_scheduler_create(&s, config));
	REQUIRE(!sennit_thread_bind(s));
	return s;
}

static inline void end(sennit_scheduler *s)
{
	sennit_thread_unbind();
	REQUIRE(!sennit_scheduler_shutdown(s, SENNIT_NEVER));
}

static inline void spawn(sennit_task_fn *run, void *argument)
{
	REQUIRE(!sennit_schedule(run, argument));
}

/* --- found ------------------------------------------------------------- */

/* Scenarios that fail under some seed: exploring finds one, and it
 * fails again in the same way. */

enum { ENOUGH = 5000 };

struct outcome {
	bool aborted;
	char text[4096];
};

static inline struct outcome explore_in_child(void (*scenario)(void *),
					      void *context, uint64_t first,
					      uint64_t count)
{
	struct outcome o = { .aborted = false };
	int            words, status;
	const pid_t    child = begin_heard_child(&words);

	if (!child)
		_exit(sennit_explore(first, count, scenario, context) ? 2 : 0);
	status = await_words(child, words, o.text, sizeof(o.text));
	o.aborted = WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
	if (!o.aborted && status)
		fail_msg("ended with %#x: %s", (unsigned)status, o.text);
	return o;
}

static inline uint64_t seed_in(const char *text)
{
	const char *at = strstr(text, "SENNIT_SEED=");

	if (!at)
		fail_msg("no seed in \"%s\"", text);
	return strtoull(at + strlen("SENNIT_SEED="), NULL, 10);
}

static inline void assert_found(void (*scenario)(void *), void *context,
				const char *symptom)
{
	struct outcome found = explore_in_child(scenario, context, 1, ENOUGH);
	struct outcome again;

	assert_true(found.aborted);
	if (!strstr(found.text, symptom))
		fail_msg("not \"%s\": %s", symptom, found.text);
	again = explore_in_child(scenario, context, seed_in(found.text), 1);
	assert_true(again.aborted);
	assert_non_null(strstr(again.text, symptom));
	assert_int_equal(seed_in(again.text), seed_in(found.text));
}

#endif

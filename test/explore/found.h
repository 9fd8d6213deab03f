/* SPDX-License-Identifier: Apache-2.0 */
/* found.h - scenarios that fail under some seed: exploring finds one, and it
 * fails again in the same way. */
#ifndef SN_TEST_EXPLORE_FOUND_H
#define SN_TEST_EXPLORE_FOUND_H

#include "../child.h"
#include "explore.h"

enum { ENOUGH = 5000 };

struct outcome {
	bool aborted;
	char text[4096];
};

static inline struct outcome run(void (*scenario)(void *), void *context,
				 uint64_t first, uint64_t count)
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
	struct outcome found = run(scenario, context, 1, ENOUGH);
	struct outcome again;

	assert_true(found.aborted);
	if (!strstr(found.text, symptom))
		fail_msg("not \"%s\": %s", symptom, found.text);
	again = run(scenario, context, seed_in(found.text), 1);
	assert_true(again.aborted);
	assert_non_null(strstr(again.text, symptom));
	assert_int_equal(seed_in(again.text), seed_in(found.text));
}

#endif

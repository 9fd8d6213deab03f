/* SPDX-License-Identifier: Apache-2.0 */
/* offence.h - a misuse of the library, which a process of its own commits, and
 * the line that it must print. */
#ifndef SN_TEST_OFFENCE_H
#define SN_TEST_OFFENCE_H

#include "with_workers.h"

#include <signal.h>
#include <unistd.h>

struct offence {
	uint32_t workers;
	void (*commit)(const struct offence *o);
	sennit_scheduler *s; /* for commit: a scheduler to which the caller is
			      * bound */
};

_Noreturn static inline void die_of(const struct offence *o)
{
	struct offence mine = *o;

	if (sennit_scheduler_create(&mine.s,
				    SENNIT_CONFIG(.workers = o->workers)) ||
	    sennit_thread_bind(mine.s))
		_exit(4);
	mine.commit(&mine);
	_exit(0);
}

static inline void assert_says(const char *text, const char *call)
{
	char expected[128];

	snprintf(expected, sizeof(expected), "sennit: misuse of %s: ", call);
	if (strncmp(text, expected, strlen(expected)) != 0)
		fail_msg("expected \"%s...\", got \"%s\"", expected, text);
	if (strchr(text, '\n') != text + strlen(text) - 1)
		fail_msg("not one line: \"%s\"", text);
	if (!strstr(text, "thread") && !strstr(text, "fiber"))
		fail_msg("does not say who: \"%s\"", text);
}

/* --- tests ---------------------------------------------------------------- */

/* A test of one misuse, and what commits it:
 *
 *	MISUSE_TEST(claim, call)
 *	{
 *		sennit_scheduler_release(o->s);
 *		...
 *	}
 *	MISUSE_BY(claim, call, expression, expression...);
 *
 * It is a TEST_WITH_COUNTS. MISUSE_ALONE is a TEST_ALONE, and MISUSE_IN is of
 * the kind that it is given. call may go on with the start of the message, as
 * in "sennit_group_wait: the group has ended". */
#define MISUSE_IN(kind, claim, call)                         \
	static void claim##_commit(const struct offence *o); \
	kind(claim)                                          \
	{                                                    \
		assert_misuse(w, call, claim##_commit);      \
	}                                                    \
	static void claim##_commit(__attribute__((unused))   \
				   const struct offence *o)
#define MISUSE_IN_BY(kind, claim, call, ...) \
	MISUSE_IN(kind, claim, call)         \
	{                                    \
		__VA_ARGS__;                 \
	}                                    \
	struct offence

#define MISUSE_TEST(claim, call) MISUSE_IN(TEST_WITH_COUNTS, claim, call)
#define MISUSE_BY(claim, call, ...) \
	MISUSE_IN_BY(TEST_WITH_COUNTS, claim, call, __VA_ARGS__)
#define MISUSE_ALONE(claim, call) MISUSE_IN(TEST_ALONE, claim, call)
#define MISUSE_ALONE_BY(claim, call, ...) \
	MISUSE_IN_BY(TEST_ALONE, claim, call, __VA_ARGS__)

/* A kind for misuse that needs a scheduler without workers. */
#define TEST_WITHOUT_COUNT(f) \
	TEST_IN_WORLDS(f, WITHOUT(f, open_count, close_count))

/* Schedule run(object), and return when it waits. */
static inline void let_wait(const struct offence *o, sennit_task_fn *run,
			    void *object)
{
	must_schedule(run, object);
	EXPECT_SOON(fibers_of(o->s) == 1);
}

#endif

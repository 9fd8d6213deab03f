/* SPDX-License-Identifier: Apache-2.0 */
/* misuse.h - takes the place of test/api/misuse.h. Windows does not fork, so
 * the program runs itself again for each offence. The variable OFFENCE tells it
 * which: the number of the case, and that of the offence within the case. The
 * new process runs this case alone, passes over the offences before, and
 * commits this one.
 */
#ifndef SN_TEST_MISUSE_H
#define SN_TEST_MISUSE_H

#include "posix/posix.h"

#include "../api/with_workers.h"
#include "posix/again.h"

#include <signal.h>

#define OFFENCE "SENNIT_TEST_OFFENCE"

struct offence {
	uint32_t workers;
	void (*commit)(const struct offence *o);
	sennit_scheduler *s; /* for commit: a scheduler to which the caller is
			      * bound */
};

/* --- which case runs ----------------------------------------------------- */

static const struct CMUnitTest *all_cases;
static unsigned                 case_now;  /* counted from 1 */
static unsigned                 offences;  /* begun in this case */
static unsigned                 committed; /* here; 0: each in a process */

static void run_case(void **state)
{
	case_now++;
	offences = 0;
	all_cases[case_now - 1].test_func(state);
}

static inline int run_cases(const char *name, const struct CMUnitTest *cases,
			    size_t count)
{
	struct CMUnitTest counted[200];
	const char       *told = getenv(OFFENCE);
	unsigned          only = 0;

	if (count > 200 ||
	    (told && sscanf(told, "%u %u", &only, &committed) != 2) ||
	    only > count)
		return 1;
	all_cases = cases;
	for (size_t i = 0; i < count; i++) {
		counted[i] = cases[i];
		counted[i].test_func = run_case;
	}
	case_now = only ? only - 1 : 0;
	return _cmocka_run_group_tests(name, counted + case_now,
				       only ? 1 : count, NULL, NULL);
}

#undef cmocka_run_group_tests_name
#define cmocka_run_group_tests_name(name, cases, setup, teardown) \
	run_cases(name, cases, sizeof(cases) / sizeof((cases)[0]))
#undef cmocka_run_group_tests
#define cmocka_run_group_tests(cases, setup, teardown) \
	cmocka_run_group_tests_name(#cases, cases, setup, teardown)

/* --- offences ------------------------------------------------------------ */

_Noreturn static inline void die_of(const struct offence *o)
{
	struct offence mine = *o;

	signal(SIGABRT, SIG_DFL);
	if (sennit_scheduler_create(&mine.s,
				    SENNIT_CONFIG(.workers = o->workers)) ||
	    sennit_bind(mine.s))
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

/* The C library writes a carriage return before each end of a line, and words
 * of its own when it aborts. */
static inline void drop_tools_words(char *text)
{
	char *end = strstr(text, "\nThis application has requested");
	char *to = text;

	if (end)
		end[0] = '\0';
	for (const char *from = text; *from; from++)
		if (*from != '\r')
			*to++ = *from;
	*to = '\0';
}

static inline void assert_misuse(void **state, const char *call,
				 void (*commit)(const struct offence *o))
{
	const struct world  *w = *state;
	const struct offence o = { .workers = w->workers, .commit = commit };
	const uint32_t       aborted = 3;
	char                 text[2048], which[64];
	uint32_t             status;

	offences++;
	if (committed == offences)
		die_of(&o);
	if (committed)
		return;
	snprintf(which, sizeof(which), OFFENCE "=%u %u", case_now, offences);
	putenv(which);
	status = run_program_again("", text, sizeof(text));
	putenv(OFFENCE "=");
	drop_tools_words(text);
	if (status != aborted)
		fail_msg("the process ended with %#x, not by abort(), saying "
			 "\"%s\"",
			 status, text);
	assert_says(text, call);
}

#endif

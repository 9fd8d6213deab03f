/* SPDX-License-Identifier: Apache-2.0 */
/* misuse.h - takes the place of test/api/misuse.h where there is no fork(): the
 * program runs itself again for each offence. The variable OFFENCE tells it
 * which: the number of the case, and that of the offence within the case. The
 * new process runs this case alone, passes over the offences before, and
 * commits this one.
 *
 * again.h is that of the system: Windows or WebAssembly.
 */
#ifndef SN_TEST_MISUSE_H
#define SN_TEST_MISUSE_H

#include "again.h" /* first: it declares what the C library lacks */

#include "../api/offence.h"

#define OFFENCE "SENNIT_TEST_OFFENCE"

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

static inline void assert_misuse(void **state, const char *call,
				 void (*commit)(const struct offence *o))
{
	const struct world  *w = *state;
	const struct offence o = { .workers = w->workers, .commit = commit };
	char                 text[2048], which[64];
	uint32_t             status;

	offences++;
	if (committed == offences) {
		signal(SIGABRT, SIG_DFL);
		die_of(&o);
	}
	if (committed)
		return;
	snprintf(which, sizeof(which), OFFENCE "=%u %u", case_now, offences);
	putenv(which);
	status = run_program_again("", text, sizeof(text));
	putenv(OFFENCE "=");
	drop_system_words(text);
	if (status != ABORTED)
		fail_msg("the process ended with %#x, not by abort(), saying "
			 "\"%s\"",
			 status, text);
	assert_says(text, call);
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* misuse.h - takes the place of testing/misuse.h where there is no fork(): the
 * program runs itself again for each offence, with the names of the test and
 * the case and the number of the offence within the case. The new process runs
 * this case alone, passes over the offences before, and commits this one.
 *
 * again.h is that of the system: Windows or WebAssembly.
 */
#ifndef SN_TEST_MISUSE_H
#define SN_TEST_MISUSE_H

#include "again.h" /* first: it declares what the C library lacks */

#include "../offence.h"

static char     begun[256]; /* the case */
static unsigned offences;   /* begun in it */

static inline void assert_misuse(const struct world *w, const char *call,
				 void (*commit)(const struct offence *o))
{
	const struct offence o = { .workers = w->workers, .commit = commit };
	const char          *told = test_argc > 3 ? test_argv[3] : NULL;
	char                 text[2048], words[300];
	uint32_t             status;

	if (strcmp(begun, test_now()) != 0)
		offences = 0;
	snprintf(begun, sizeof(begun), "%s", test_now());
	offences++;
	if (told && (unsigned)atoi(told) == offences) {
		signal(SIGABRT, SIG_DFL);
		die_of(&o);
	}
	if (told)
		return;
	snprintf(words, sizeof(words), "%s %u", begun, offences);
	status = run_program_again(words, text, sizeof(text));
	drop_system_words(text);
	if (status != ABORTED)
		fail_msg("the process ended with %#x, not by abort(), saying "
			 "\"%s\"",
			 status, text);
	assert_says(text, call);
}

#endif

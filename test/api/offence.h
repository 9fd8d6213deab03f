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

#endif

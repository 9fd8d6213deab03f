/* SPDX-License-Identifier: Apache-2.0 */
/* child.h - runs this program again, with the name of what it is to do, and
 * reads what that prints on standard error.
 */
#ifndef SN_TEST_WINDOWS_CHILD_H
#define SN_TEST_WINDOWS_CHILD_H

#include "../test.h"

#include "posix/again.h"
#include "sennit.h"

#include <string.h>
#include <windows.h>

struct fate {
	uint32_t status;
	char     text[8192];
};

static inline void run_again(const char *what, struct fate *f)
{
	f->status = run_program_again(what, f->text, sizeof(f->text));
}

/* Run one task in a scheduler of this configuration, until it has ended. */
static inline int run_task(const sennit_config *config, sennit_task_fn *task)
{
	sennit_scheduler *s;

	SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX);
	if (sennit_scheduler_create(&s, config) ||
	    sennit_enqueue(s, &(const sennit_task){ .run = task }))
		return 1;
	return sennit_scheduler_shutdown(s, SENNIT_NEVER) ? 1 : 0;
}

#endif

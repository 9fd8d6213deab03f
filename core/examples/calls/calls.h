/* SPDX-License-Identifier: Apache-2.0 */
/* calls.h - what the programs in this folder share. Each shows the calls of one
 * header in a few lines, those that larger examples do not need.
 */
#ifndef CALLS_H
#define CALLS_H

#include <sennit.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* End the program unless the condition holds. */
#define CHECK(condition) \
	((condition) ? (void)0 : failed(__FILE__, __LINE__, #condition))

static inline void failed(const char *file, int line, const char *condition)
{
	fprintf(stderr, "%s:%d: %s\n", file, line, condition);
	exit(1);
}

/* Call body(s) on a thread that is bound to a scheduler with two workers. */
static inline int run(void (*body)(sennit_scheduler *s))
{
	sennit_scheduler *s;

	if (sennit_scheduler_create(&s, SENNIT_CONFIG(.workers = 2)) ||
	    sennit_thread_bind(s))
		return 1;
	body(s);
	sennit_thread_unbind();
	return sennit_scheduler_shutdown(s, SENNIT_NEVER) ? 1 : 0;
}

/* A deadline that is not reached. */
static inline sennit_time soon(void)
{
	return sennit_after(60 * SENNIT_SECOND);
}

#endif

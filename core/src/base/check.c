/* SPDX-License-Identifier: Apache-2.0 */
/* check.c - the text of panics and misuse lines, and of errors. */
#include "base/compiler.h"

#include "base/atomic.h"
#include "base/torture.h"
#include "sennit/base.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static a_u32  panics;    /* any */
static a_word dumper;    /* a void (*)(void), or 0 */
static a_word describer; /* a sn_describe_fn; 0 before the first scheduler */

void sn_check_describe(sn_describe_fn *describe)
{
	a_store_rlx(&describer, (uintptr_t)describe);
}

void sn_check_on_panic(void (*dump)(void))
{
	a_store_rlx(&dumper, (uintptr_t)dump);
}

static void call_dumper(void)
{
	void (*dump)(void) = (void (*)(void))a_load_rlx(&dumper);

	if (dump)
		dump();
}

void sn_check_who(char *text, size_t size)
{
	sn_describe_fn *describe = (sn_describe_fn *)a_load_rlx(&describer);

	text[0] = '\0';
	if (describe)
		describe(text, size);
}

void sn_panic(const char *file, int line, const char *format, ...)
{
	char    who[256] = "";
	char    text[832];
	char    what[384];
	char    seed[64] = "";
	va_list args;
	int     n;

	/* Only the first thread prints. Others may have failed for the same
	 * reason. */
	if (a_add_rlx(&panics, 1))
		for (;;)
			pause();
	sn_check_who(who, sizeof(who));
	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	if (sn_torture_seed())
		snprintf(seed, sizeof(seed), " SENNIT_TORTURE_SEED=%" PRIu64,
			 sn_torture_seed());
	n = snprintf(text, sizeof(text), "sennit: %s [%s] (%s:%d)%s\n", what,
		     who[0] ? who : "no scheduler yet", file, line, seed);
	if (n >= (int)sizeof(text))
		n = (int)sizeof(text) - 1;
	if (n > 0 && write(STDERR_FILENO, text, (size_t)n) < 0)
		abort(); /* standard error failed: there is no other output */
	call_dumper();
	abort();
}

/* --- texts of errors ------------------------------------------------------ */

/* A text that fits whatever call of the library returns the error. */
static const struct {
	int         error;
	const char *text;
} error_texts[] = {
	{ 0, "no error" },
	{ ECANCELED, "the caller's group was cancelled" },
	{ ETIMEDOUT, "the deadline has passed" },
	{ EPIPE, "closed: the channel, or the other end of the pipe or "
		 "connection" },
	{ ESHUTDOWN, "the scheduler or domain has ended" },
	{ E2BIG, "too long: an argument list, or a struct of a newer version "
		 "than the library's" },
	{ EAGAIN, "not now: nothing is there yet, or the system refuses a "
		  "thread" },
	{ EALREADY, "it is done already" },
	{ ENOENT, "no such file, host or service" },
#ifdef EREMOTEIO /* what only libsennit-io returns */
	{ ENODATA, "the end came first, or the host has no address of that "
		   "family" },
	{ EMSGSIZE, "too long for the reader, or for one message" },
	{ EREMOTEIO, "a name server refused to answer" },
#endif
	{ ELOOP, "a circle: of nodes that wait for each other, or of symbolic "
		 "links" },
	{ EOVERFLOW, "too many: a limit of the call is exceeded" },
	{ ENOSYS, "not in this build of the library, or not in this system" },
};

const char *sennit_strerror(int error)
{
	const int number = error < 0 ? (int)(0u - (unsigned)error) : error;

	for (size_t i = 0; i < sizeof(error_texts) / sizeof(error_texts[0]);
	     i++)
		if (error_texts[i].error == number)
			return error_texts[i].text;
	return strerror(number);
}

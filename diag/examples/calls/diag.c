/* SPDX-License-Identifier: Apache-2.0 */
/* diag.c - the stacks of all fibers, the name of a function, and a profile. */
#include "calls.h"

#include <errno.h>
#include <sennit/dump.h>
#include <sennit/profile.h>
#include <sennit/stacks.h>
#include <sennit/symbol.h>
#include <string.h>
#include <unistd.h>

static void count(void *context, const sennit_stack *stack)
{
	unsigned *stacks = context;

	CHECK(stack->count <= SENNIT_STACK_FRAMES);
	++*stacks;
}

static void wait_a_little(void *unused)
{
	(void)unused;
	sennit_sleep(SENNIT_MILLISECOND);
}

/* Where fibers wait while one runs. `sennit-trace flame`, `go tool pprof` and
 * flamegraph.pl show the other formats. */
static void profile(sennit_scheduler *s)
{
	int err = sennit_profile_start(
		SENNIT_PROFILE_CPU | SENNIT_PROFILE_WAITS, 0);

	if (err) {
		CHECK(err == -EPERM || err == -ENOTSUP);
		return;
	}
	CHECK(sennit_scheduler_run(s, wait_a_little, NULL) == 0);
	sennit_profile_stop();
	fflush(stdout);
	CHECK(sennit_profile_write(1, SENNIT_PROFILE_WAITS,
				   SENNIT_PROFILE_TEXT) == 0);
}

static void show(sennit_scheduler *s)
{
	char     text[64];
	unsigned stacks = 0;
	int      err = sennit_stacks_visit(s, count, &stacks);

	CHECK(err ? err == -EPERM || err == -ENOTSUP : stacks >= 1);

	/* `show+0x0` with -rdynamic, else the file and the place in it. */
	CHECK(sennit_symbol_print((const void *)(uintptr_t)show, text,
				  sizeof(text)) == strlen(text));
	printf("%s\n", text);

	/* kill -QUIT would now write the stacks. */
	CHECK(sennit_dump_start(SENNIT_DUMP_ENVIRONMENT, 2,
				SENNIT_STACKS_TEXT) == 0);
	sennit_dump_stop();
	profile(s);

	/* A fault, or misuse, would now write them before it ends the process.
	 * It waits for that for 5 s at most. */
	err = sennit_dump_fatal(STDERR_FILENO, 5000);
	CHECK(err == 0 || err == -EPERM || err == -ENOTSUP);
}

int main(void)
{
	return run(show);
}

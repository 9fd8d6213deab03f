/* SPDX-License-Identifier: Apache-2.0 */
/* hello.c - two tasks sleep as fibers; sennit_run waits for both. */
#include <sennit.h>
#include <stdio.h>

static void greet(void *name)
{
	sennit_sleep(10 * SENNIT_MILLISECOND); /* other tasks run meanwhile */
	printf("hello, %s\n", (const char *)name);
}

static int program(void *unused)
{
	(void)unused;
	return sennit_schedule(greet, "warp") || sennit_schedule(greet, "weft");
}

int main(void)
{
	int result;

	return sennit_run(program, NULL, NULL, &result) || result;
}

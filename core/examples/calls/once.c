/* SPDX-License-Identifier: Apache-2.0 */
/* once.c - a table that is made when it is first needed. */
#include "calls.h"

static sennit_once ready;
static unsigned    squares[10];

static void make(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < 10; i++)
		squares[i] = i * i;
}

static int use(void *unused)
{
	(void)unused;
	sennit_once_call(&ready, make, NULL); /* or waits until it is made */
	return squares[7] == 49 ? 0 : -EINVAL;
}

static void show(sennit_scheduler *s)
{
	sennit_group g;

	(void)s;
	sennit_once_init(&ready); /* or all bytes zero */
	CHECK(!sennit_once_is_done(&ready));
	sennit_group_init(&g, SENNIT_NEVER, 0);
	for (int i = 0; i < 8; i++)
		CHECK(sennit_group_spawn(&g, use, NULL) == 0);
	CHECK(sennit_group_wait(&g) == 0);
	CHECK(sennit_once_is_done(&ready));
	CHECK(sennit_once_call_until(&ready, make, NULL, soon()) == 0);
	sennit_once_destroy(&ready);
}

int main(void)
{
	return run(show);
}

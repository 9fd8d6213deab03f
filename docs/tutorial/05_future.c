/* SPDX-License-Identifier: Apache-2.0 */
/* 05_future.c - a price and a rate are asked for at the same time; a third
 * question has no answer. */
#include <sennit.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Stands for a request to a service. */
static int ask(void *argument, void **value)
{
	const char *what = argument;

	sennit_sleep(SENNIT_MILLISECOND);
	if (!strcmp(what, "price"))
		*value = (void *)(intptr_t)250;
	else if (!strcmp(what, "rate"))
		*value = (void *)(intptr_t)3;
	else
		return -ENOENT;
	return 0;
}

static int program(void *unused)
{
	static sennit_future price, rate, other; /* all bytes zero: not set */
	void                *p, *r;
	int                  err;

	(void)unused;
	if (sennit_future_spawn(&price, ask, (void *)"price") ||
	    sennit_future_spawn(&rate, ask, (void *)"rate") ||
	    sennit_future_spawn(&other, ask, (void *)"weather"))
		return 1;
	err = sennit_future_get(&other, NULL);
	printf("weather: %s\n", sennit_strerror(err));
	if (sennit_future_get(&price, &p) || sennit_future_get(&rate, &r))
		return 1;
	printf("total: %d\n", (int)((intptr_t)p * (intptr_t)r));
	return err == -ENOENT && (intptr_t)p * (intptr_t)r == 750 ? 0 : 1;
}

int main(void)
{
	int result;

	return sennit_run(program, NULL, NULL, &result) || result;
}

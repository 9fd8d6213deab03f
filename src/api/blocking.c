/* SPDX-License-Identifier: Apache-2.0 */
#include "sennit/blocking.h"

#include "base/check.h"
#include "wait/blocking_call.h"

#include <errno.h>

/* On an unbound thread there are no fibers to run meanwhile, so the call runs
 * in place. */
static int call(struct blocking_call *c, sennit_time deadline)
{
	int err;

	if (!sn_self) {
		c->result = c->run(c->argument);
		return 0;
	}
	c->error = errno;
	err = sn_blocking_call(c, deadline);
	errno = c->error; /* starting a thread may have changed it */
	return err;
}

void *sennit_blocking_call(sennit_blocking_fn *run, void *argument)
{
	struct blocking_call c;

	MISUSE(!run, "sennit_blocking_call", "there is no function");
	c.run = run;
	c.argument = argument;
	(void)!call(&c, SN_UNCANCELLED);
	return c.result;
}

int sennit_blocking_call_until(sennit_blocking_fn *run, void *argument,
			       void **result, sennit_time deadline)
{
	struct blocking_call c;
	int                  err;

	MISUSE(!run, "sennit_blocking_call_until", "there is no function");
	c.run = run;
	c.argument = argument;
	err = call(&c, deadline);
	if (!err && result)
		*result = c.result;
	return err;
}

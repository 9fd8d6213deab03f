/* SPDX-License-Identifier: Apache-2.0 */
/* give_up.c - a deadline for a call that nothing can interrupt: the caller goes
 * on, and the call ends in the background on memory of its own. */
#include <sennit.h>

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct call {
	sennit_future done;
	atomic_int    owners; /* the caller, and the task that makes the call */
	int           fd;
	char          byte;
};

static void release(struct call *c)
{
	if (atomic_fetch_sub(&c->owners, 1) == 1)
		free(c);
}

/* Blocks its thread for as long as it likes. */
static void *library_call(void *argument)
{
	struct call *c = argument;

	return (void *)(intptr_t)read(c->fd, &c->byte, 1);
}

static void make_call(void *argument)
{
	struct call *c = argument;

	if ((intptr_t)sennit_blocking_call(library_call, c) == 1)
		sennit_future_set(&c->done, &c->byte);
	else
		sennit_future_set_error(&c->done, -EIO);
	release(c);
}

static int ask(int fd, char *reply, sennit_time deadline)
{
	struct call *c = calloc(1, sizeof(*c));
	void        *byte;
	int          err;

	if (!c)
		return -ENOMEM;
	c->fd = fd;
	atomic_store(&c->owners, 2);
	err = sennit_schedule(make_call, c);
	if (err) {
		free(c);
		return err;
	}
	err = sennit_future_get_until(&c->done, &byte, deadline);
	if (!err)
		*reply = *(const char *)byte;
	release(c);
	return err;
}

static int program(void *unused)
{
	int  fast[2], slow[2], errs[2];
	char reply = 0;

	(void)unused;
	if (pipe(fast) || pipe(slow) || write(fast[1], "!", 1) != 1)
		return 1;
	errs[0] = ask(fast[0], &reply, SENNIT_NEVER);
	errs[1] = ask(slow[0], &reply, sennit_after(5 * SENNIT_MILLISECOND));
	printf("fast: %s, reply %c\n", sennit_strerror(errs[0]), reply);
	printf("slow: %s\n", sennit_strerror(errs[1]));
	if (write(slow[1], "?", 1) != 1) /* the slow call ends at last */
		return 1;
	return !errs[0] && reply == '!' && errs[1] == -ETIMEDOUT ? 0 : 1;
}

int main(void)
{
	int result;

	return sennit_run(program, NULL, NULL, &result) || result;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* once.c - the first task that needs a connection opens it.
 *
 * Opening takes a while and may fail. On failure the caller gets the error, and
 * the next task, which may be waiting already, tries again. Once the connection
 * is open every task uses it at the cost of a load.
 */
#include <sennit.h>

#include <errno.h>
#include <stdio.h>

#define USERS   20
#define REFUSED 3

struct connection {
	sennit_once       open;
	uint32_t          attempts; /* written by the task that opens it */
	sennit_mutex      lock;
	uint32_t          used, errors; /* under lock */
	sennit_wait_group done;
};

static int open_connection(void *argument)
{
	struct connection *c = argument;

	sennit_sleep(SENNIT_MILLISECOND);
	return ++c->attempts <= REFUSED ? -ECONNREFUSED : 0;
}

static void use(void *argument)
{
	struct connection *c = argument;
	sennit_time        deadline = sennit_after(10 * SENNIT_SECOND);
	int err = sennit_once_attempt_until(&c->open, open_connection, c,
					    deadline);

	sennit_mutex_lock(&c->lock);
	if (err)
		c->errors++;
	else
		c->used++;
	sennit_mutex_unlock(&c->lock);
	(void)sennit_wait_group_done(&c->done);
}

static int program(void *unused)
{
	struct connection c = { .open = SENNIT_ONCE_INIT };

	(void)unused;
	sennit_wait_group_init(&c.done, USERS);
	for (unsigned i = 0; i < USERS; i++)
		if (sennit_schedule(use, &c))
			return 1;
	sennit_wait_group_wait(&c.done);
	printf("%u used it, %u were refused, %u attempts\n",
	       (unsigned int)c.used, (unsigned int)c.errors,
	       (unsigned int)c.attempts);
	return c.used == USERS - REFUSED && c.errors == REFUSED &&
			       c.attempts == REFUSED + 1
		       ? 0
		       : 1;
}

int main(void)
{
	int result;

	return sennit_run(program, NULL, NULL, &result) || result;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* owner_task.c - a library that is not thread-safe and blocks: one task owns
 * it, the others send requests and wait for their answers. */
#include <sennit.h>

#include <stdio.h>

enum { CLIENTS = 10, REQUESTS = 10 };

/* --- the library -------------------------------------------------------- */

static int balance;

static int library_add(int amount)
{
	return balance += amount;
}

/* --- its owner ---------------------------------------------------------- */

struct request {
	int           amount, after;
	sennit_future done;
};

static sennit_channel requests = SENNIT_CHANNEL_INIT(sizeof(struct request *));

static void *execute(void *argument)
{
	struct request *r = argument;

	r->after = library_add(r->amount);
	return NULL;
}

static int own(void *unused)
{
	struct request *r;

	(void)unused;
	while (!sennit_channel_receive(&requests, &r)) {
		sennit_blocking_call(execute, r);
		sennit_future_set(&r->done, NULL);
	}
	return 0;
}

/* --- its clients -------------------------------------------------------- */

/* The request is in the caller's frame. So once it is sent, the caller waits
 * for its answer, even if its group is cancelled. */
static int add(int amount, int *after)
{
	struct request r = { .amount = amount }, *at = &r;
	int            err;

	err = sennit_channel_send(&requests, &at);
	if (err)
		return err;
	(void)!sennit_future_wait_until(&r.done, SENNIT_UNCANCELLED);
	*after = r.after;
	return 0;
}

static int client(void *unused)
{
	int before = 0, after, err = 0;

	(void)unused;
	for (int i = 0; i < REQUESTS && !err; i++) {
		err = add(1, &after);
		if (!err && after <= before)
			err = -1;
		before = after;
	}
	return err;
}

static int run(void)
{
	sennit_group owner, clients;
	int          err, ended;

	sennit_group_init(&owner, SENNIT_NEVER, 0);
	sennit_group_init(&clients, SENNIT_NEVER, 0);
	err = sennit_group_spawn(&owner, own, NULL);
	for (int i = 0; i < CLIENTS && !err; i++)
		err = sennit_group_spawn(&clients, client, NULL);
	ended = sennit_group_wait(&clients);
	sennit_channel_close(&requests);
	sennit_group_wait(&owner);
	return ended ? ended : err;
}

static int program(void *unused)
{
	int err;

	(void)unused;
	err = run();
	if (err)
		return 1;
	printf("%d requests, balance %d\n", CLIENTS * REQUESTS, balance);
	return balance == CLIENTS * REQUESTS ? 0 : 1;
}

int main(void)
{
	int result;

	return sennit_run(program, NULL, NULL, &result) || result;
}

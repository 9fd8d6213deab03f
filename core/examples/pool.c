/* SPDX-License-Identifier: Apache-2.0 */
/* pool.c - a hundred requests share three connections.
 *
 * Opening a connection is expensive, so each is opened once, when it is first
 * needed, and closed with the pool. A request that finds no free connection
 * waits as a fiber, so any number of requests may wait. A request that cannot
 * wait that long gives up at its deadline.
 */
#include <sennit.h>

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>

#define CONNECTIONS 3
#define REQUESTS    100

struct connection {
	int number;
	int requests;
};

struct server {
	sennit_pool       connections;
	sennit_wait_group served;
	atomic_int        opened, answered, failed;
};

static int open_connection(void *context, void *item)
{
	struct server     *s = context;
	struct connection *c = item;

	sennit_sleep(2 * SENNIT_MILLISECOND); /* the handshake */
	c->number = atomic_fetch_add(&s->opened, 1) + 1;
	c->requests = 0;
	return 0; /* or -ECONNREFUSED, which the request gets */
}

static void close_connection(void *context, void *item)
{
	struct connection *c = item;

	(void)context;
	printf("connection %d served %d requests\n", c->number, c->requests);
}

static void request(void *argument)
{
	struct server *s = argument;
	void          *item;

	if (sennit_pool_borrow_until(&s->connections, &item,
				     sennit_after(10 * SENNIT_SECOND))) {
		atomic_fetch_add(&s->failed, 1);
	} else {
		struct connection *c = item;

		c->requests++;
		sennit_sleep(100 * SENNIT_MICROSECOND); /* the answer */
		atomic_fetch_add(&s->answered, 1);
		sennit_pool_return(&s->connections, c);
	}
	sennit_wait_group_done(&s->served);
}

static int serve(struct server *s)
{
	const sennit_pool_config config = { .size = sizeof(config),
					    .item_size =
						    sizeof(struct connection),
					    .count = CONNECTIONS,
					    .policy = SENNIT_POOL_PRESERVE,
					    .construct = open_connection,
					    .destroy = close_connection,
					    .context = s };
	int                      err;

	err = sennit_pool_init(&s->connections, &config);
	if (err)
		return err;
	sennit_wait_group_init(&s->served, REQUESTS);
	for (int i = 0; i < REQUESTS; i++)
		if (sennit_schedule(request, s))
			request(s);
	sennit_wait_group_wait(&s->served);
	sennit_pool_destroy(&s->connections);
	return 0;
}

static int program(void *unused)
{
	static struct server server;
	int                  err;

	(void)unused;
	err = serve(&server);
	if (err)
		return 1;
	printf("%d answered, %d failed, %d connections\n",
	       atomic_load(&server.answered), atomic_load(&server.failed),
	       atomic_load(&server.opened));
	return atomic_load(&server.answered) == REQUESTS ? 0 : 1;
}

int main(void)
{
	int result;

	return sennit_run(program, NULL, NULL, &result) || result;
}

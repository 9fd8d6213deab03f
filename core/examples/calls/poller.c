/* SPDX-License-Identifier: Apache-2.0 */
/* poller.c - a hook and a poller, for authors of an I/O library.
 *
 * The hook asks a queue for completions. The poller sleeps on an eventfd, and
 * completes an operation that a fiber has begun.
 */
#include "calls.h"
#include "sennit/poller.h"

#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* --- a hook --------------------------------------------------------------- */

struct queue {
	sennit_poller_hook hook; /* first */
	sennit_event       came;
	unsigned           asked;
};

/* The third time that it is asked there is something. */
static sennit_time ask(sennit_poller_hook *h)
{
	struct queue *q = (struct queue *)h;

	if (++q->asked < 3)
		return sennit_after(SENNIT_MILLISECOND);
	sennit_event_set(&q->came);
	return SENNIT_NEVER;
}

static void wait_for_queue(void)
{
	struct queue q = { .hook = { .ask = ask },
			   .came = SENNIT_EVENT_INIT(SENNIT_EVENT_MANUAL) };

	CHECK(sennit_poller_hook_add(&q.hook) == 0);
	CHECK(sennit_poller_hook_find(ask) == &q.hook);
	sennit_poller_hook_ask(&q.hook);
	CHECK(!sennit_event_wait(&q.came));
	sennit_poller_hook_remove(&q.hook);
}

/* --- a poller ------------------------------------------------------------ */

struct device {
	sennit_poller     p; /* first */
	int               fd;
	sennit_poller_op *begun; /* by a fiber; NULL: none */
};

/* What a fiber has begun is complete at once here. */
static void complete(sennit_poller *p)
{
	struct device    *d = (struct device *)p;
	sennit_poller_op *op = d->begun;

	d->begun = NULL;
	if (op)
		sennit_poller_complete(op, 42);
}

static enum sennit_poller_end sleep_until(sennit_poller *p,
					  sennit_time    deadline)
{
	struct device *d = (struct device *)p;
	struct pollfd  fd = { .fd = d->fd, .events = POLLIN };
	sennit_time    now = sennit_now();
	uint64_t       count;
	int            ms = 1000; /* a wake for no reason is allowed */

	if (deadline <= now)
		return SENNIT_POLLER_TIMEOUT;
	if (deadline - now < SENNIT_SECOND)
		ms = (int)((deadline - now) / SENNIT_MILLISECOND) + 1;
	if (poll(&fd, 1, ms) > 0)
		(void)!read(d->fd, &count, sizeof(count));
	return d->begun ? SENNIT_POLLER_READY : SENNIT_POLLER_WOKEN;
}

static void wake(sennit_poller *p)
{
	const uint64_t one = 1;

	(void)!write(((struct device *)p)->fd, &one, sizeof(one));
}

static void destroy(sennit_poller *p)
{
	close(((struct device *)p)->fd);
	free(p);
}

static const sennit_poller_ops ops = {
	.size = sizeof(sennit_poller_ops),
	.turn = complete,
	.peek = complete,
	.flush = complete,
	.sleep = sleep_until,
	.wake = wake,
	.destroy = destroy,
};

/* The device of the calling fiber's worker. */
static struct device *my_device(void)
{
	struct device *d = (struct device *)sennit_poller_current();

	if (d)
		return d;
	CHECK(sennit_poller_allocator()); /* where a library takes memory */
	d = calloc(1, sizeof(*d));
	CHECK(d);
	d->p.ops = &ops;
	d->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	CHECK(sennit_poller_attach(&d->p) == 0);
	return d;
}

static void show(sennit_scheduler *s)
{
	sennit_poller_op op;
	struct device   *d;

	(void)s;
	wait_for_queue();
	d = my_device();
	memset(&op, 0, sizeof(op));
	d->begun = &op;
	CHECK(sennit_poller_wait(&op, d->fd, SENNIT_NEVER) == 0);
	CHECK(op.done && op.result == 42);
}

int main(void)
{
	return run(show);
}

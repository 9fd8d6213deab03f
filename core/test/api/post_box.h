/* SPDX-License-Identifier: Apache-2.0 */
/* post_box.h - a poller whose completions other threads post. */
#ifndef SN_TEST_POST_BOX_H
#define SN_TEST_POST_BOX_H

#include "testing/with_workers.h"
#include "sennit/poller.h"

#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>

/* A poller that takes completions which any thread posts, and
 * sleeps in poll() on an eventfd. */

struct post {
	sennit_poller_op op;
	struct post     *next;
	int32_t          result;
};

struct post_box {
	sennit_poller          p; /* first */
	int                    fd;
	_Atomic(struct post *) posts;
};

static atomic_int made, destroyed, flushes;

static inline void take_posts(sennit_poller *p)
{
	struct post_box *b = (struct post_box *)p;
	struct post     *n = atomic_exchange(&b->posts, NULL);

	while (n) {
		struct post *this = n;

		n = n->next;
		sennit_poller_complete(&this->op, this->result);
	}
}

static inline void flush_posts(sennit_poller *p)
{
	atomic_fetch_add(&flushes, 1);
	take_posts(p);
}

static inline enum sennit_poller_end sleep_for_post(sennit_poller *p,
						    sennit_time    deadline)
{
	struct post_box *b = (struct post_box *)p;
	struct pollfd    poll_for = { .fd = b->fd, .events = POLLIN };
	sennit_time      now = sennit_now();
	int              ms = -1;
	uint64_t         count;

	if (deadline != SENNIT_NEVER && deadline <= now)
		return SENNIT_POLLER_TIMEOUT;
	if (deadline != SENNIT_NEVER && deadline - now < SENNIT_SECOND)
		ms = (int)((deadline - now) / SENNIT_MILLISECOND) + 1;
	else if (deadline != SENNIT_NEVER)
		ms = 1000;
	if (poll(&poll_for, 1, ms) > 0)
		(void)!read(b->fd, &count, sizeof(count));
	return atomic_load(&b->posts) ? SENNIT_POLLER_READY
				      : SENNIT_POLLER_WOKEN;
}

static inline void wake_box(sennit_poller *p)
{
	const uint64_t one = 1;

	(void)!write(((struct post_box *)p)->fd, &one, sizeof(one));
}

static inline void destroy_box(sennit_poller *p)
{
	close(((struct post_box *)p)->fd);
	free(p);
	atomic_fetch_add(&destroyed, 1);
}

static const sennit_poller_ops box_ops = {
	.size = sizeof(sennit_poller_ops),
	.turn = take_posts,
	.peek = take_posts,
	.flush = flush_posts,
	.sleep = sleep_for_post,
	.wake = wake_box,
	.destroy = destroy_box,
};

static inline struct post_box *my_box(void)
{
	struct post_box *b = (struct post_box *)sennit_poller_current();

	if (b)
		return b;
	b = calloc(1, sizeof(*b));
	EXPECT(b);
	b->p.ops = &box_ops;
	b->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	atomic_fetch_add(&made, 1);
	EXPECT(sennit_poller_attach(&b->p) == 0);
	return b;
}

static inline void post(struct post_box *b, struct post *n, int32_t result)
{
	n->result = result;
	n->next = atomic_load(&b->posts);
	while (!atomic_compare_exchange_weak(&b->posts, &n->next, n))
		;
}

#endif

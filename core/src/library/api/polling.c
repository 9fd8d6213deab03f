/* SPDX-License-Identifier: Apache-2.0 */
/* polling.c - the calls of pollers and of their hooks (sched/poller.h). */
#include "sched/poller.h"

#include "base/compiler.h"
#include "base/sized.h"
#include "wait/wait.h"
#include "sennit/poller.h"

#include <errno.h>

sennit_poller *sennit_poller_current(void)
{
	return sn_self ? sn_self->poller : NULL;
}

int sennit_poller_attach(sennit_poller *p)
{
	struct worker *w = sn_self;

	if (!w)
		return -EPERM;
	if (w->poller)
		return -EBUSY;
	if (sn_sized_check(p->ops, sizeof(*p->ops),
			   SIZE_THROUGH(sennit_poller_ops, destroy)))
		return -EINVAL;
	w->poller = p;
	/* Awake, so nobody has claimed it: who does sees this (park.bit). */
	w->sleeper.poller = p;
	w->own_parking.sleeper.poller = p;
	return 0;
}

const sennit_allocator *sennit_poller_allocator(void)
{
	return sn_self ? &sn_self->scheduler->memory : NULL;
}

static int wait_alone(sennit_poller_op *op, int fd, sennit_time deadline)
{
	struct waiter *n = sn_waiter_own(deadline);

	sn_wait_show(n, SENNIT_WAITS_FOR_IO, (const void *)(intptr_t)fd,
		     deadline);
	op->waiter_ = n;
	return sn_wait(n, deadline);
}

int sennit_poller_wait(sennit_poller_op *op, int fd, sennit_time deadline)
{
	struct worker    *w = sn_self;
	sennit_selection *s = op->selection;
	int               err;

	MISUSE(!w || !w->poller, "sennit_poller_wait",
	       "the calling thread's worker has no poller");
	if (op->done)
		return 0;
	if (!deadline)
		return -ETIMEDOUT;
	sn_poller_soon(w);
	op->selection = NULL;
	w->polled.waiting++;
	err = unlikely(s) ? s->wait_(s, op, NULL, fd, deadline)
			  : wait_alone(op, fd, deadline);
	op->waiter_ = NULL;
	w->polled.waiting--;
	w->polled.ready -= !err;
	return op->done ? 0 : err; /* what is done beats the deadline */
}

int sennit_poller_sleep(sennit_poller *p, sennit_selection *s,
			sennit_time deadline)
{
	MISUSE(sn_self, "sennit_poller_sleep",
	       "the calling thread is bound to a scheduler");
	return s->wait_(s, NULL, p, -1, deadline);
}

/* Who has lost the claim runs already, and will see that it is done. */
void sennit_poller_complete(sennit_poller_op *op, int32_t result)
{
	struct waiter *n = op->waiter_;

	MISUSE(op->done, "sennit_poller_complete",
	       "the operation is complete already");
	op->result = result;
	op->done = true;
	if (n && (!n->is.raced || sn_waiter_claim(n))) {
		sn_self->polled.ready++;
		sn_wake(n);
	}
}

/* --- hooks -------------------------------------------------------------- */

int sennit_poller_hook_add(sennit_poller_hook *h)
{
	struct worker *w = sn_self;

	if (!w)
		return -EPERM;
	if (!h->ask)
		return -EINVAL;
	MISUSE(w->polled.asking, "sennit_poller_hook_add",
	       "called by a hook's own function");
	h->again_ = SENNIT_NEVER;
	h->worker_ = w;
	h->next_ = w->polled.hooks;
	w->polled.hooks = h;
	return 0;
}

sennit_poller_hook *sennit_poller_hook_find(
	sennit_time (*ask)(sennit_poller_hook *h))
{
	sennit_poller_hook *h = sn_self ? sn_self->polled.hooks : NULL;

	while (h && h->ask != ask)
		h = h->next_;
	return h;
}

void sennit_poller_hook_ask(sennit_poller_hook *h)
{
	struct worker *w = sn_self;

	MISUSE(!w || h->worker_ != w, "sennit_poller_hook_ask",
	       "the hook is not of the calling thread's worker");
	MISUSE(w->polled.asking == h, "sennit_poller_hook_ask",
	       "called by the hook's own function, which returns the time");
	w->polled.active += h->again_ == SENNIT_NEVER;
	h->again_ = 0;
	sn_poller_soon(w);
}

void sennit_poller_hook_remove(sennit_poller_hook *h)
{
	struct worker       *w = sn_self;
	sennit_poller_hook **at;

	MISUSE(!w || h->worker_ != w, "sennit_poller_hook_remove",
	       "the hook is not of the calling thread's worker");
	MISUSE(w->polled.asking, "sennit_poller_hook_remove",
	       "called by a hook's own function");
	at = &w->polled.hooks;
	while (*at != h)
		at = &(*at)->next_;
	*at = h->next_;
	w->polled.active -= h->again_ != SENNIT_NEVER;
	h->worker_ = NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "wait/wake.h"

#include "base/race.h"
#include "base/torture.h"
#include "life/end.h"
#include "os/os.h"
#include "sched/fiber.h"
#include "sched/hooks.h"
#include "sched/idle.h"
#include "sched/mailbox.h"
#include "sched/run_queue.h"
#include "sched/worker.h"
#include "group/cancel.h"

#include <string.h>

static void wake_thread(struct waiter *n)
{
	struct parker *parker = n->parker;

	sn_race_release(parker);
	sn_hook_wake_thread(n);
	if (unlikely(parker->poller)) { /* the store may end its life */
		sn_race_hide();         /* no access of the task that wakes */
		parker->poller->ops->wake(parker->poller);
		sn_race_show();
	}
	a_store_rel(&parker->word,
		    1); /* -> wait.thread: what it is woken for */
	os_word_wake_one(&parker->word);
}

/* Send the chain of fibers, newest first, to their worker, which is not the
 * caller's. The fibers keep that worker and its scheduler alive until they run.
 * From then until the worker has been woken, the caller needs its own
 * protection: if it is outside of the scheduler, a reference keeps the
 * scheduler; `callers` keeps a bound thread's worker, which could unbind. */
static void send_home(struct worker *home, struct node *newest,
		      struct node *oldest)
{
	sennit_scheduler *s = home->scheduler;
	bool              outside = !sn_self || sn_self->scheduler != s;
	bool              threaded = home->threaded;

	if (outside)
		CHECK(sn_gate_retain(&s->gate),
		      "a scheduler ended with a fiber waiting");
	if (!threaded)
		sn_mailbox_hold(&home->mail);
	TORTURE_POINT();
	sn_inbox_push(&home->mail.fibers, newest, oldest);
	TORTURE_POINT(); /* in the inbox, but worker not woken yet */
	if (sn_worker_wake(home) && threaded && !outside)
		sn_woken_set(&sn_self->woken, &home->idle);
	if (!threaded)
		sn_mailbox_let_go(&home->mail);
	if (outside)
		sn_end_release(s);
}

void sn_wake_other(struct waiter *n)
{
	struct sennit_fiber *f = n->fiber;

	if (!f) {
		wake_thread(n);
		return;
	}
	/* Both cache lines belong to another processor. Two requests at the
	 * same time take as long as one. That is why the waiter stores the
	 * worker. */
	a_fetch_own(f);
	a_fetch_own(&n->home->mail);
	sn_hook_wake_other(n);
	sn_race_release(&f->wait);
	sn_fiber_state_ready(&f->state);
	send_home(n->home, &f->link, &f->link);
}

/* --- waking many -------------------------------------------------------- */

/* Fibers of other workers that are about to be sent. Fibers of one worker form
 * a bundle, so that one push and at most one wake serve them all, in whatever
 * order the workers appear in the chain. A bundle needs no memory of its own,
 * because its fibers sleep until it is sent. Its fibers form a ring: each
 * `link` leads to the one before it, and that of the oldest to the newest. The
 * oldest fiber's waiter represents the bundle, through the link by which it
 * came:
 *
 *	next   another bundle of the same bucket
 *	prev   the bundle that was begun after this one
 */
#define BUCKETS 16

/* The number of waiters per bundle that pass before all bundles are sent:
 * enough to pay for the push and the wake, and so few that searching workers do
 * not fall asleep meanwhile. */
#define PATIENCE TORTURED(2, 128)

struct bundles {
	size_t       offset;   /* of the link in the waiter */
	unsigned     patience; /* waiters until all bundles are sent */
	struct link *first;    /* in the order of beginning; NULL: none, and the
			        * fields below are unset */
	struct link *last;
	struct link *buckets[BUCKETS];
};

static struct waiter *waiter_of(struct link *l, size_t offset)
{
	return (struct waiter *)(void *)((char *)l - offset);
}

/* Workers lie several KiB apart. */
static struct link **bucket_of(struct bundles *b, const struct worker *home)
{
	const uint64_t spread = (uintptr_t)home * UINT64_C(0x9e3779b97f4a7c15);

	return &b->buckets[(spread >> 32) % TORTURED(1, BUCKETS)];
}

/* The bundle for this worker. NULL: there is none yet. */
static struct link *find_bundle(const struct bundles *b, struct link *bucket,
				const struct worker *home)
{
	while (bucket && waiter_of(bucket, b->offset)->home != home)
		bucket = bucket->next;
	return bucket;
}

static void begin_bundle(struct bundles *b, struct link **bucket,
			 struct link *l, struct node *f)
{
	f->next = f;
	l->next = *bucket;
	l->prev = NULL;
	*bucket = l;
	if (b->first)
		b->last->prev = l;
	else
		b->first = l;
	b->last = l;
	b->patience += PATIENCE;
}

/* Add the fiber that came by l. It belongs to another worker. */
static void gather(struct bundles *b, struct link *l)
{
	struct waiter *n = waiter_of(l, b->offset);
	struct node   *f = &n->fiber->link;
	struct link  **bucket = bucket_of(b, n->home);
	struct link   *at;
	struct node   *oldest;

	if (!b->first)
		memset(b->buckets, 0, sizeof(b->buckets));
	sn_hook_wake_other(n);
	sn_race_release(&n->fiber->wait);
	sn_fiber_state_ready(&n->fiber->state);
	at = find_bundle(b, *bucket, n->home);
	if (!at) {
		begin_bundle(b, bucket, l, f);
		return;
	}
	oldest = &waiter_of(at, b->offset)->fiber->link;
	f->next = oldest->next;
	oldest->next = f;
}

/* A bundle keeps only its own worker alive until it is sent. */
static void send_bundles(struct bundles *b)
{
	struct link *l = b->first;

	b->first = NULL;
	b->patience = 0;
	while (l) {
		const struct waiter *n = waiter_of(l, b->offset);
		struct worker       *home = n->home;
		struct node         *oldest = &n->fiber->link;

		l = l->prev;
		send_home(home, oldest->next, oldest);
	}
}

/* The waiters before have fetched the next one, if their jumps lead here. Now
 * fetch one further ahead; and without jumps, the next one's fiber and the
 * waiter after it. */
static inline void prefetch_waiter(struct link *next, size_t offset)
{
	const struct sennit_fiber *f = waiter_of(next, offset)->fiber;

	if (f)
		sn_jumps_follow(f);
	__builtin_prefetch(f, 1);
	__builtin_prefetch(next->next);
}

/* Wake the chain of waiters through the links at `offset` in them. Inlined
 * twice, each time with a constant offset: 198 instead of 210 ns in the same
 * test. */
static ALWAYS_INLINE void wake_linked(struct link *chain, size_t offset)
{
	const struct link *first = chain;
	struct bundles     b;

	b.offset = offset;
	b.patience = 0;
	b.first = NULL;
	while (chain) {
		struct link   *l = chain;
		struct waiter *n = waiter_of(l, offset);

		/* *l is gone or reused once n has been handled. */
		chain = sn_link_after(l, first);
		if (chain)
			prefetch_waiter(chain, offset);
		if (!n->fiber || n->home == sn_self)
			sn_wake(n);
		else
			gather(&b, l);
		if (b.first && !--b.patience)
			send_bundles(&b);
	}
	send_bundles(&b);
}

void sn_wake_chain(struct link *chain)
{
	wake_linked(chain, offsetof(struct waiter, link));
}

bool sn_wake_cancelled(struct sennit_cancel_scope *s)
{
	bool         first;
	struct link *chain = sn_cancel_scope_cancel(s, &first);

	wake_linked(chain, offsetof(struct waiter, enlisted));
	return first;
}

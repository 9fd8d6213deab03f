/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/wake.h"

#include "base/torture.h"
#include "os/os.h"
#include "worker/finalise.h"

#include <string.h>

static void wake_thread(struct waiter *n)
{
	struct parker *parker = n->parker;

	a_store_rel(&parker->word,
		    1); /* -> wait.thread: what it is woken for */
	os_word_wake_one(&parker->word);
}

/* Hand the chain of fibers, newest first, to their worker, which is not ours.
 * They keep it and its scheduler alive until they run; from then until it has
 * been woken, a reference keeps the scheduler, if we are outside it, and
 * `callers` a bound thread's worker, which could unbind. */
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
	sn_mailbox_put_fibers(&home->mail, newest, oldest);
	TORTURE_POINT(); /* in the inbox, nobody woken */
	sn_worker_wake(home);
	if (!threaded)
		sn_mailbox_let_go(&home->mail);
	if (outside)
		sn_finalise_release(s);
}

void sn_wake_other(struct waiter *n)
{
	struct sennit_fiber *f = n->fiber;

	if (!f) {
		wake_thread(n);
		return;
	}
	/* Both lines are another processor's. Asked for at once they take as
	 * long as one; that is why the waiter knows the worker. */
	a_fetch_own(f);
	a_fetch_own(&n->home->mail);
	sn_fiber_state_ready(&f->state);
	send_home(n->home, &f->link, &f->link);
}

/* --- waking many -------------------------------------------------------- */

/* Fibers of other workers on their way, those of one worker as a bundle, so
 * that one push and at most one wake serve them all, in whatever order workers
 * take turns in the chain. A bundle is kept in what it is made of, whose owners
 * sleep until it is sent: its fibers are a ring, each `link` leading to the one
 * before it and the oldest's to the newest; the oldest one's waiter stands for
 * it, by the link through which it came:
 *
 *	next   another bundle of the same bucket
 *	prev   the bundle that was begun after this one
 */
#define BUCKETS TORTURED(1, 16)

/* How many waiters go by, for each bundle, before all bundles are sent: many
 * enough to pay for the push and the wake, few enough for workers that look for
 * more not to fall asleep meanwhile. */
#define PATIENCE TORTURED(2, 128)

struct bundles {
	size_t       offset;   /* of the link in the waiter */
	unsigned     patience; /* waiters until all are sent */
	struct link *first;    /* in the order in which they were begun; NULL:
				* none, and what follows means nothing */
	struct link *last;
	struct link *buckets[BUCKETS];
};

static struct waiter *waiter_of(struct link *l, size_t offset)
{
	return (struct waiter *)(void *)((char *)l - offset);
}

/* Workers lie some KiB apart. */
static struct link **bucket_of(struct bundles *b, const struct worker *home)
{
	const uint64_t spread = (uintptr_t)home * UINT64_C(0x9e3779b97f4a7c15);

	return &b->buckets[(spread >> 32) % BUCKETS];
}

/* The bundle of the fibers of this worker; NULL: there is none yet. */
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

/* Add the fiber that came by l, and is of another worker. */
static void gather(struct bundles *b, struct link *l)
{
	struct waiter *n = waiter_of(l, b->offset);
	struct node   *f = &n->fiber->link;
	struct link  **bucket = bucket_of(b, n->home);
	struct link   *at;
	struct node   *oldest;

	if (!b->first)
		memset(b->buckets, 0, sizeof(b->buckets));
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

/* A bundle keeps its own worker, no other, alive until it is sent. */
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

/* Each waiter lies on a page of its own. The next one, not yet woken, has been
 * fetched while the one before was woken: now for its fiber, and the one after
 * it. With the same in loop.c, releasing 10^6 fibers takes 255 instead of
 * 520 ns for each. */
static inline void fetch_ahead(struct link *next, size_t offset)
{
	__builtin_prefetch(waiter_of(next, offset)->fiber, 1);
	__builtin_prefetch(next->next);
}

/* Wake the chain of waiters through the links that are `offset` within them. In
 * two copies, each of which knows the offset: 198 instead of 210 ns there. */
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

		/* *l is gone, or means something else, once n is dealt with. */
		chain = sn_link_after(l, first);
		if (chain)
			fetch_ahead(chain, offset);
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

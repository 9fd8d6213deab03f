/* SPDX-License-Identifier: Apache-2.0 */
#include "wait/wait.h"

#include "worker/finalise.h"

#include <errno.h>
#include <string.h>

_Thread_local struct parker sn_parker;

/* --- sleeping ----------------------------------------------------------- */

static void sleep_fiber(struct waiter *n, sennit_time deadline)
{
	struct worker *w = sn_self;
	struct alarm  *a;

	if (deadline >= SN_UNCANCELLED) {
		sn_loop_suspend(w);
		return;
	}
	a = sn_worker_alarm(w, n->fiber);
	a->waiter = n;
	sn_timers_arm(&w->timers, &a->timer, deadline);
	sn_loop_suspend(w);
	if (sn_timer_is_armed(&a->timer))
		sn_timers_cancel(&w->timers, &a->timer);
}

static void sleep_thread(struct waiter *n, sennit_time deadline)
{
	uint32_t waiting = WAITER_WAITING;

	if (deadline == SN_UNCANCELLED)
		deadline = SENNIT_NEVER;
	while (!a_load_acq(&n->parker->word)) { /* <- wait.thread */
		if (os_word_wait(&n->parker->word, 0, deadline))
			continue;
		/* -> wait.claim <- wait.claim */
		if (a_cas_acqrel(&n->claim, &waiting, WAITER_TIMEDOUT))
			return;
		/* Claimed by a signaller, whose wake must hit this wait. */
		deadline = SENNIT_NEVER;
	}
}

static void sleep_anyhow(struct waiter *n, sennit_time deadline)
{
	if (n->fiber)
		sleep_fiber(n, deadline);
	else
		sleep_thread(n, deadline);
}

/* For reports it has waited, and goes on at once. */
void sn_wait_skip(const struct waiter *n)
{
	struct worker *w = sn_self;

	if (!n->fiber)
		return;
	a_bump_owner(&w->blocks);
	sn_fiber_state_run(&n->fiber->state);
	sn_worker_count_resume(w);
}

static void sleep_in_scope(struct waiter *n, sennit_time deadline)
{
	if (n->scope->deadline_ < deadline)
		deadline = n->scope->deadline_;
	if (!sn_cancel_scope_enlist(n)) {
		sn_wait_skip(n);
		return;
	}
	sleep_fiber(n, deadline);
	sn_cancel_scope_withdraw(n);
}

int sn_wait(struct waiter *n, sennit_time deadline)
{
	if (!n->is.raced) {
		sleep_anyhow(n, deadline);
		return 0;
	}
	if (n->scope)
		sleep_in_scope(n, deadline);
	else
		sleep_anyhow(n, deadline);
	switch (a_load_acq(&n->claim)) { /* <- wait.claim */
	case WAITER_TIMEDOUT:
		return -ETIMEDOUT;
	case WAITER_CANCELLED:
		return -ECANCELED;
	default:
		return 0;
	}
}

/* A signaller that found the claim taken may hold n in its hands until it
 * unlocks. */
void sn_wait_leave(sennit_word *word, void **list, struct waiter *n)
{
	uint32_t value = sn_wait_queue_lock(word);

	if (n->is.linked)
		sn_wait_queue_leave(list, n);
	sn_wait_queue_unlock(word, sn_wait_queue_bits(*list, value));
}

int sn_wait_in_slow(sennit_word *word, void **list, struct waiter *n,
		    sennit_time deadline)
{
	int err = sn_wait(n, deadline);

	if (err)
		sn_wait_leave(word, list, n);
	return err;
}

/* --- taking ------------------------------------------------------------- */

struct waiter *sn_wait_take_next(void **list)
{
	while (*list) {
		struct waiter *n = sn_wait_queue_first(*list);

		if (sn_wait_take(list, n))
			return n;
	}
	return NULL;
}

struct link *sn_wait_take_all_raced(void **list)
{
	struct link *all = *list;
	struct link *claimed = NULL;

	/* A waiter that lost unlinks itself under the lock: it must learn here
	 * that it is not linked any more. */
	while (all) {
		struct waiter *n = sn_wait_queue_first(all);

		sn_link_leave(&all, &n->link);
		n->is.linked = false;
		if (!n->is.raced || sn_waiter_claim(n))
			sn_link_join(&claimed, &n->link);
	}
	*list = NULL;
	return claimed;
}

/* --- waking ------------------------------------------------------------- */

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
		a_add_rlx(&home->callers, 1); /* shown by inbox.push */
	TORTURE_POINT();
	sn_inbox_push(&home->fibers, newest, oldest);
	TORTURE_POINT(); /* in the inbox, nobody woken */
	sn_worker_wake(home);
	if (!threaded)
		a_sub_rel(&home->callers, 1); /* -> wait.callers: all is done */
	if (outside)
		sn_finalise_release(s);
}

void sn_wait_wake_other(struct waiter *n)
{
	struct sennit_fiber *f = n->fiber;

	if (!f) {
		wake_thread(n);
		return;
	}
	/* Both lines are another processor's. Asked for at once they take as
	 * long as one; that is why the waiter knows the worker. */
	a_fetch_own(f);
	a_fetch_own(&n->home->fibers);
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
			sn_wait_wake(n);
		else
			gather(&b, l);
		if (b.first && !--b.patience)
			send_bundles(&b);
	}
	send_bundles(&b);
}

void sn_wait_wake_chain(struct link *chain)
{
	wake_linked(chain, offsetof(struct waiter, link));
}

bool sn_wait_cancel(struct sennit_cancel_scope *s)
{
	bool         first;
	struct link *chain = sn_cancel_scope_cancel(s, &first);

	wake_linked(chain, offsetof(struct waiter, enlisted));
	return first;
}

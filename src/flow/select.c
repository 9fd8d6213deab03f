/* SPDX-License-Identifier: Apache-2.0 */
/* select.c - locks all objects, tries each case once, or joins all queues.
 *
 * While all locks are held, no thread can find the caller, and no object can
 * become ready unnoticed. So a step of a select needs only one claim, that of
 * its partner. Two selects that could serve each other run in sequence, and the
 * second one finds the first one waiting. (If the caller joined the queues one
 * by one, as waits for events do, a step would need both claims at once.)
 */
#include "base/compiler.h"
#include "base/torture.h"
#include "flow/channel.h"
#include "sync/event.h"
#include "wait/wait.h"
#include "sennit/select.h"

#include <errno.h>

_Static_assert(SENNIT_SELECT_MAX == LOCK_SET_MAX, "all can be locked at once");

/* Number of cases whose parties fit on every caller's stack: about 1 KiB. */
enum { FEW = 8 };

struct selection {
	sennit_case           *cases;
	size_t                 count;
	struct channel_waiter *parties; /* one per case, while it waits */
	struct lock_set        locks;
};

/* --- one case, lock held ------------------------------------------------ */

static sennit_word *word_of(const sennit_case *k)
{
	if (k->kind_ == SENNIT_CASE_EVENT)
		return &((sennit_event *)k->object_)->state_;
	return &((sennit_channel *)k->object_)->state_;
}

static void **list_of(const sennit_case *k)
{
	sennit_channel *c = k->object_;

	switch (k->kind_) {
	case SENNIT_CASE_SEND:
		return &c->senders_;
	case SENNIT_CASE_RECEIVE:
		return &c->receivers_;
	default:
		return &((sennit_event *)k->object_)->waiters_;
	}
}

static int try_event(sennit_event *e)
{
	uint32_t word = sn_lock_set_get(&e->state_);

	if (!(word & EVENT_SET))
		return -EAGAIN;
	sn_lock_set_set(&e->state_, sn_event_passed(e, word));
	return 0;
}

/* Returns what sn_channel_try_send returns. */
static int try_case(const sennit_case *k, struct deal *d)
{
	switch (k->kind_) {
	case SENNIT_CASE_SEND:
		return sn_channel_try_send(k->object_, k->value_, d);
	case SENNIT_CASE_RECEIVE:
		return sn_channel_try_receive(k->object_, k->value_, d);
	case SENNIT_CASE_EVENT:
		return try_event(k->object_);
	default:
		return -EAGAIN;
	}
}

/* The part that already waits in this list, or NULL. All parts that are linked
 * have been joined. */
static struct channel_waiter *find_part(const struct selection *s,
					size_t joined, void **list)
{
	size_t i;

	for (i = 0; *list && i < joined; i++)
		if (s->cases[i].kind_ != SENNIT_CASE_NONE &&
		    list_of(&s->cases[i]) == list)
			return &s->parties[i];
	return NULL;
}

/* The list of waiters on the other side of the channel. */
static void **other_list_of(const sennit_case *k)
{
	sennit_channel *c = k->object_;

	return k->kind_ == SENNIT_CASE_SEND ? &c->receivers_ : &c->senders_;
}

/* p is about to wait as case i: find its twin. */
static void pair_up(const struct selection *s, size_t i,
		    struct channel_waiter *p)
{
	p->other_side = NULL;
	if (s->cases[i].kind_ == SENNIT_CASE_EVENT)
		return;
	p->other_side = find_part(s, i, other_list_of(&s->cases[i]));
	if (p->other_side)
		p->other_side->other_side = p;
}

/* Of equal cases only the first one waits. The thread that ends its wait could
 * not find the others, and none of them may be linked afterwards. */
static void join_case(struct selection *s, size_t i, struct waiter *whole)
{
	const sennit_case     *k = &s->cases[i];
	struct channel_waiter *p = &s->parties[i];
	uint32_t               bits;

	if (k->kind_ == SENNIT_CASE_NONE)
		return;
	sn_waiter_init_part(&p->n, whole, (uint32_t)i);
	if (find_part(s, i, list_of(k)))
		return;
	pair_up(s, i, p);
	p->value = k->value_;
	bits = sn_wait_queue_join(list_of(k), &p->n, false);
	if (k->kind_ == SENNIT_CASE_EVENT)
		sn_lock_set_set(word_of(k), sn_lock_set_get(word_of(k)) | bits);
}

/* --- all cases ---------------------------------------------------------- */

/* A random number below `limit`. It only decides which case comes first, so any
 * seed will do. */
static uint32_t random_below(uint32_t limit)
{
#ifdef SENNIT_DETERMINISTIC
	return sn_deterministic_random(limit);
#else
	static _Thread_local uint32_t state
		__attribute__((tls_model("initial-exec")));

	if (!state)
		state = (uint32_t)((uintptr_t)&state >> 4) | 1;
	state ^= state << 13;
	state ^= state >> 17;
	state ^= state << 5;
	return (uint32_t)((uint64_t)state * limit >> 32);
#endif
}

static void shuffle(uint8_t order[], size_t count)
{
	size_t i, other;

	for (i = 0; i < count; i++) {
		other = random_below((uint32_t)i + 1);
		order[i] = order[other];
		order[other] = (uint8_t)i;
	}
}

/* The first case, in random order, that need not wait; *err becomes its result.
 * `count`: none. Locks held. */
static size_t try_each(const struct selection *s, struct deal *d, int *err)
{
	uint8_t order[SENNIT_SELECT_MAX];
	size_t  i;

	shuffle(order, s->count);
	for (i = 0; i < s->count; i++) {
		*err = try_case(&s->cases[order[i]], d);
		if (*err != -EAGAIN)
			return order[i];
	}
	return s->count;
}

static void collect_locks(struct selection *s)
{
	size_t i;

	s->locks.count = 0;
	for (i = 0; i < s->count; i++)
		if (s->cases[i].kind_ != SENNIT_CASE_NONE)
			sn_lock_set_add(&s->locks, word_of(&s->cases[i]));
}

/* --- waiting ------------------------------------------------------------ */

/* Unlink all parts, except those of the object that ended the wait: it may be
 * gone, and none of them is linked to it any more. */
static void leave_others(const struct selection *s, size_t which)
{
	const void *gone = which < s->count ? s->cases[which].object_ : NULL;
	size_t      i;

	for (i = 0; i < s->count; i++) {
		const sennit_case *k = &s->cases[i];

		if (k->kind_ != SENNIT_CASE_NONE && k->object_ != gone)
			sn_wait_leave(word_of(k), list_of(k), &s->parties[i].n);
	}
}

/* Join all queues and wait. Locks held on entry, not on return. */
static int wait_for_each(struct selection *s, size_t *which,
			 sennit_time deadline)
{
	struct waiter whole;
	size_t        i;
	int           err;

	sn_waiter_init_whole(&whole, deadline);
	sn_wait_show(&whole, SENNIT_WAITS_FOR_SELECT,
		     s->count ? s->cases[0].object_ : NULL, deadline);
	for (i = 0; i < s->count; i++)
		join_case(s, i, &whole);
	sn_lock_set_drop(&s->locks);
	err = sn_wait(&whole, deadline);
	i = err ? s->count : sn_waiter_part(&whole);
	leave_others(s, i);
	if (err)
		return err;
	if (s->cases[i].kind_ == SENNIT_CASE_EVENT || s->parties[i].n.is.handed)
		s->cases[i].result = 0;
	else
		s->cases[i].result = -EPIPE;
	*which = i;
	return 0;
}

NOINLINE static int wait_for_few(struct selection *s, size_t *which,
				 sennit_time deadline)
{
	struct channel_waiter parties[FEW];

	s->parties = parties;
	return wait_for_each(s, which, deadline);
}

NOINLINE static int wait_for_many(struct selection *s, size_t *which,
				  sennit_time deadline)
{
	struct channel_waiter parties[SENNIT_SELECT_MAX];

	s->parties = parties;
	return wait_for_each(s, which, deadline);
}

/* --- calls -------------------------------------------------------------- */

/* No case could proceed. Locks held on entry, not on return. */
static int wait_until(struct selection *s, size_t *which, sennit_time deadline)
{
	if (!deadline) {
		sn_lock_set_drop(&s->locks);
		return -ETIMEDOUT;
	}
	if (s->count <= FEW)
		return wait_for_few(s, which, deadline);
	return wait_for_many(s, which, deadline);
}

static int select_until(sennit_case cases[], size_t count, size_t *which,
			sennit_time deadline)
{
	struct selection s; /* not zeroed, because it is large */
	struct deal      d = { .partner = NULL };
	size_t           i;
	int              err = 0;

	MISUSE(count > SENNIT_SELECT_MAX, "sennit_select",
	       "more than SENNIT_SELECT_MAX cases");
	s.cases = cases;
	s.count = count;
	collect_locks(&s);
	do {
		sn_lock_set_take(&s.locks);
		i = try_each(&s, &d, &err);
		if (i == count)
			return wait_until(&s, which, deadline);
		sn_lock_set_drop(&s.locks);
	} while (err == -ENOMEM && !sn_channel_grow(cases[i].object_));
	if (!err)
		sn_channel_conclude(&d);
	cases[i].result = err;
	*which = i;
	return 0;
}

int sennit_select_until(sennit_case cases[], size_t count, size_t *which,
			sennit_time deadline)
{
	return select_until(cases, count, which, deadline);
}

static bool can_happen(const sennit_case cases[], size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (cases[i].kind_ != SENNIT_CASE_NONE)
			return true;
	return false;
}

int sennit_select(sennit_case cases[], size_t count)
{
	size_t which;
	int    err;

	MISUSE(!can_happen(cases, count), "sennit_select",
	       "none of the cases can ever happen");
	err = select_until(cases, count, &which, SENNIT_NEVER);
	return err ? err : (int)which;
}

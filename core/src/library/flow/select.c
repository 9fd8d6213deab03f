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
#include "flow/channel.h"
#include "os/os.h"
#include "sync/event.h"
#include "sync/wait_any.h"
#include "sennit/poller.h"
#include "sennit/select.h"

#include <errno.h>

_Static_assert(SENNIT_SELECT_MAX == LOCK_SET_MAX, "all can be locked at once");

_Static_assert(offsetof(sennit_channel, state_) == 0 &&
		       offsetof(sennit_event, state_) == 0 &&
		       offsetof(sennit_future, state_) == 0,
	       "the word of each object is first");

/* Number of cases whose parties fit on every caller's stack: about 1 KiB. */
enum { SELECT_FEW = 8 };

struct selection {
	sennit_case         *cases;
	size_t               count;
	sennit_time          deadline; /* the caller's */
	sennit_time          end;      /* of the wait; 0: do not wait */
	sennit_time          now;      /* read if there are times */
	struct channel_part *parties;  /* one per case, while it waits */
	struct polling      *polling;  /* NULL: no case is a library's */
	struct lock_set      locks;
};

/* A select that has cases of a library. */
struct polling {
	sennit_selection       call; /* first: what the library knows */
	struct selection      *s;
	const sennit_case_ops *library;
	sennit_poller_op      *op;     /* what the library waits for; NULL: on a
				        * thread */
	sennit_poller         *poller; /* where a thread waits; or NULL */
	int                    fd;     /* for reports */
	sennit_time            end;    /* of the select's wait */
	bool                   over;   /* with this: */
	int                    outcome;
};

/* --- one case, lock held ------------------------------------------------ */

/* Whether there is an object with a queue. */
static bool is_queued(const sennit_case *k)
{
	return k->kind_ - 1 < SENNIT_CASE_FUTURE;
}

static bool is_of_channel(const sennit_case *k)
{
	return k->kind_ - 1 < SENNIT_CASE_RECEIVE;
}

static sennit_word *case_word(const sennit_case *k)
{
	return k->object_;
}

static void **list_of(const sennit_case *k)
{
	sennit_channel *c = k->object_;

	switch (k->kind_) {
	case SENNIT_CASE_SEND:
		return &c->senders_;
	case SENNIT_CASE_RECEIVE:
		return &c->receivers_;
	case SENNIT_CASE_EVENT:
		return &((sennit_event *)k->object_)->waiters_;
	default:
		return &((sennit_future *)k->object_)->waiters_;
	}
}

static int try_event(sennit_event *e)
{
	uint32_t word = sn_lock_set_get(&e->state_);

	if (!(word & EVENT_SET))
		return -EAGAIN;
	sn_race_acquire(e);
	sn_lock_set_set(&e->state_, sn_event_passed(e, word));
	return 0;
}

static bool case_is_set(const sennit_case *k)
{
	return sn_lock_set_get(case_word(k)) & WAIT_QUEUE_OWN;
}

/* A case of one of the other kinds. */
static NOINLINE int try_other(const struct selection *s, const sennit_case *k)
{
	switch (k->kind_) {
	case SENNIT_CASE_FUTURE:
		return case_is_set(k) ? 0 : -EAGAIN;
	case SENNIT_CASE_DEADLINE:
		return s->now >= k->number_ ? 0 : -EAGAIN;
	case SENNIT_CASE_POLLED: /* as the library has seen it */
		return k->result == -EAGAIN ? -EAGAIN : 0;
	default:
		return -EAGAIN;
	}
}

/* Returns what sn_channel_try_send returns. */
static ALWAYS_INLINE int try_case(const struct selection *s,
				  const sennit_case *k, struct deal *d)
{
	if (k->kind_ == SENNIT_CASE_SEND)
		return sn_channel_try_send(k->object_, k->value_, d);
	if (k->kind_ == SENNIT_CASE_RECEIVE)
		return sn_channel_try_receive(k->object_, k->value_, d);
	if (k->kind_ == SENNIT_CASE_EVENT)
		return try_event(k->object_);
	return try_other(s, k);
}

/* The part that already waits in this list, or NULL. All parts that are linked
 * have been joined. */
static struct channel_part *find_part(const struct selection *s, size_t joined,
				      void **list)
{
	size_t i;

	for (i = 0; *list && i < joined; i++)
		if (is_queued(&s->cases[i]) && list_of(&s->cases[i]) == list)
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
static void find_twin(const struct selection *s, size_t i,
		      struct channel_part *p)
{
	p->other_side = NULL;
	if (!is_of_channel(&s->cases[i]))
		return;
	p->other_side = find_part(s, i, other_list_of(&s->cases[i]));
	if (p->other_side)
		p->other_side->other_side = p;
}

/* Of equal cases only the first one waits. The thread that ends its wait could
 * not find the others, and none of them may be linked afterwards. */
static void join_case(struct selection *s, size_t i, struct waiter *whole)
{
	const sennit_case   *k = &s->cases[i];
	struct channel_part *p = &s->parties[i];
	uint32_t             bits;

	if (!is_queued(k))
		return;
	sn_waiter_init_part(&p->n, whole, (uint32_t)i);
	if (find_part(s, i, list_of(k)))
		return;
	find_twin(s, i, p);
	p->n.place = k->value_;
	sn_race_release(p);
	bits = sn_wait_queue_join(list_of(k), &p->n, false);
	if (!is_of_channel(k))
		sn_lock_set_set(case_word(k),
				sn_lock_set_get(case_word(k)) | bits);
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

static ALWAYS_INLINE void shuffle(uint8_t order[], size_t count)
{
	size_t i, other;

	order[0] = 0;
	for (i = 1; i < count; i++) {
		other = random_below((uint32_t)i + 1);
		order[i] = order[other];
		order[other] = (uint8_t)i;
	}
}

/* The first case, in random order, that need not wait; *err becomes its result.
 * `count`: none. Locks held. */
static ALWAYS_INLINE size_t try_each(const struct selection *s, struct deal *d,
				     int *err)
{
	uint8_t order[SENNIT_SELECT_MAX];
	size_t  i;

	shuffle(order, s->count);
	for (i = 0; i < s->count; i++) {
		*err = try_case(s, &s->cases[order[i]], d);
		if (*err != -EAGAIN)
			return order[i];
	}
	return s->count;
}

/* Returns whether there are cases that have no queue. */
static bool collect_locks(struct selection *s)
{
	bool   others = false;
	size_t i;

	s->locks.count = 0;
	for (i = 0; i < s->count; i++) {
		if (is_queued(&s->cases[i]))
			sn_lock_set_add(&s->locks, case_word(&s->cases[i]));
		else
			others |= s->cases[i].kind_ != SENNIT_CASE_NONE;
	}
	return others;
}

static NOINLINE void conclude_other(sennit_case *k, int result)
{
	if (k->kind_ == SENNIT_CASE_FUTURE)
		k->result = sennit_future_get_until(k->object_, k->value_, 0);
	else if (k->kind_ == SENNIT_CASE_POLLED)
		((const sennit_case_ops *)k->object_)->done(k);
	else
		k->result = result;
}

/* k has happened. Locks not held. */
static ALWAYS_INLINE void conclude_case(sennit_case *k, int result)
{
	if (likely(k->kind_ <= SENNIT_CASE_EVENT))
		k->result = result;
	else
		conclude_other(k, result);
}

/* --- waiting ------------------------------------------------------------ */

/* Unlink all parts, except those of the object that ended the wait: it may be
 * gone, and none of them is linked to it any more. */
static void leave_others(const struct selection *s, int which)
{
	const bool  by_case = which >= 0 && (size_t)which < s->count;
	const void *gone = by_case ? s->cases[which].object_ : NULL;
	size_t      i;

	for (i = 0; i < s->count; i++) {
		const sennit_case *k = &s->cases[i];

		if (is_queued(k) && k->object_ != gone)
			sn_wait_leave(case_word(k), list_of(k),
				      &s->parties[i].n);
	}
}

/* Show in reports what is waited for: the first object with a queue, else what
 * the library says. */
static void show_select_wait(const struct selection *s,
			     const struct waiter    *whole)
{
	uint32_t    kind = SENNIT_WAITS_FOR_SELECT;
	const void *object = NULL;
	size_t      i = 0;

	while (i < s->count && !is_queued(&s->cases[i]))
		i++;
	if (i < s->count) {
		object = s->cases[i].object_;
	} else if (s->polling) {
		kind = SENNIT_WAITS_FOR_IO;
		object = (const void *)(intptr_t)s->polling->fd;
	}
	sn_wait_show(whole, kind, object, s->end);
}

/* The library's completion claims the whole, as the part behind the cases. */
static void join_library(const struct selection *s, struct waiter *whole)
{
	struct polling *p = s->polling;

	whole->part = (uint32_t)s->count;
	if (p && p->op)
		p->op->waiter_ = whole;
	else if (p)
		whole->parker->poller = p->poller;
}

/* Sleep, after all has been joined. Returns the part that ended the wait, or a
 * negative error. */
static int sleep_for_each(const struct selection *s, struct waiter *whole)
{
	int err = sn_wait(whole, s->end);

	if (unlikely(s->polling && !s->polling->op))
		whole->parker->poller = NULL;
	return err ? err : (int)sn_waiter_part(whole);
}

/* Join all queues and wait. Locks held on entry, not on return. Returns the
 * index of the case that happened; the number of cases, if one of the library's
 * may be possible; or a negative error. */
static int wait_for_each(struct selection *s)
{
	struct waiter whole;
	size_t        i;
	int           which;

	sn_waiter_init_whole(&whole, s->deadline);
	show_select_wait(s, &whole);
	for (i = 0; i < s->count; i++)
		join_case(s, i, &whole);
	join_library(s, &whole);
	sn_lock_set_drop(&s->locks);
	which = sleep_for_each(s, &whole);
	leave_others(s, which);
	if (which >= 0 && (size_t)which < s->count)
		conclude_case(&s->cases[which],
			      !is_of_channel(&s->cases[which]) ||
					      s->parties[which].n.is.handed
				      ? 0
				      : -EPIPE);
	return which;
}

NOINLINE static int wait_for_few(struct selection *s)
{
	struct channel_part parties[SELECT_FEW];

	s->parties = parties;
	return wait_for_each(s);
}

NOINLINE static int wait_for_many(struct selection *s)
{
	struct channel_part parties[SENNIT_SELECT_MAX];

	s->parties = parties;
	return wait_for_each(s);
}

/* Do a case, or wait for one. Returns what wait_for_each returns. */
static ALWAYS_INLINE int select_one_inline(struct selection *s)
{
	struct deal d = { .partner = NULL };
	size_t      i;
	int         err = 0;

	do {
		sn_lock_set_take(&s->locks);
		i = try_each(s, &d, &err);
		if (i == s->count && s->end)
			return s->count <= SELECT_FEW ? wait_for_few(s)
						      : wait_for_many(s);
		sn_lock_set_drop(&s->locks);
		if (i == s->count)
			return -ETIMEDOUT;
	} while (err == -ENOMEM && !sn_channel_grow(s->cases[i].object_));
	if (!err)
		sn_channel_conclude(&d);
	conclude_case(&s->cases[i], err);
	return (int)i;
}

/* The same, where some 25 instructions do not count. */
static NOINLINE int select_one(struct selection *s)
{
	return select_one_inline(s);
}

/* --- times, and what a library polls ------------------------------------- */

/* The case whose time comes first. NULL: there is none. */
static sennit_case *first_time(const struct selection *s)
{
	sennit_case *first = NULL;
	size_t       i;

	for (i = 0; i < s->count; i++)
		if (s->cases[i].kind_ == SENNIT_CASE_DEADLINE &&
		    (!first || s->cases[i].number_ < first->number_))
			first = &s->cases[i];
	return first;
}

/* The first case of a library. NULL: there is none. */
static sennit_case *first_polled(const struct selection *s)
{
	size_t i;

	for (i = 0; i < s->count; i++)
		if (s->cases[i].kind_ == SENNIT_CASE_POLLED)
			return &s->cases[i];
	return NULL;
}

/* Whether a wait that has timed out was one that the library had shortened. */
static bool was_shortened(const struct polling *p)
{
	const sennit_time now = p->s->end < p->end ? os_now() : p->end;

	return now >= p->s->end && now < p->end;
}

/* The library waits: do so for all cases. As sennit_poller_sleep. */
static int wait_with_library(sennit_selection *call, sennit_poller_op *op,
			     sennit_poller *poller, int fd,
			     sennit_time deadline)
{
	struct polling   *p = (struct polling *)call;
	struct selection *s = p->s;

	p->op = op;
	p->poller = poller;
	p->fd = fd;
	s->end = deadline;
	p->outcome = select_one(s);
	if (p->outcome == (int)s->count)
		return 0;
	p->over = p->outcome != -ETIMEDOUT || !was_shortened(p);
	return p->outcome < 0 ? p->outcome : -ECANCELED;
}

/* One round: try all cases, then wait. Returns the number of cases if there
 * must be another round, otherwise as select_one. */
static int poll_once(struct polling *p, sennit_case *first)
{
	struct selection *s = p->s;
	int               which;

	p->library->look(&p->call, s->cases, s->count);
	p->over = false;
	s->end = 0;
	which = select_one(s);
	if (which != -ETIMEDOUT || !p->end)
		return which;
	which = p->library->wait(&p->call, s->cases, s->count, p->end);
	if (p->over)
		return p->outcome;
	if (!which || which == -ETIMEDOUT)
		return (int)s->count;
	first->result = which;
	return (int)(first - s->cases);
}

static int poll_all(struct selection *s, sennit_case *first)
{
	struct polling p = { .call.wait_ = wait_with_library,
			     .s = s,
			     .library = first->object_,
			     .end = s->end };
	int            which;

	s->polling = &p;
	do
		which = poll_once(&p, first);
	while (which == (int)s->count);
	return which;
}

/* The wait has timed out, by the caller's deadline, that of its group, or the
 * time of a case, which then happens. */
static int time_out(const struct selection *s, sennit_case *timed)
{
	if (!timed || os_now() < timed->number_)
		return -ETIMEDOUT;
	timed->result = 0;
	return (int)(timed - s->cases);
}

/* There are cases without a queue. */
static NOINLINE int select_with_unqueued(struct selection *s)
{
	sennit_case *timed = first_time(s);
	sennit_case *polled = first_polled(s);
	int          which;

	s->now = timed ? os_now() : 0;
	if (timed && s->end > timed->number_)
		s->end = timed->number_;
	which = polled ? poll_all(s, polled) : select_one(s);
	return which == -ETIMEDOUT ? time_out(s, timed) : which;
}

/* --- cases --------------------------------------------------------------- */

sennit_case sennit_case_send(sennit_channel *c, const void *value)
{
	sennit_case k = { c, (void *)(uintptr_t)value, 0, SENNIT_CASE_NONE, 0 };

	if (c)
		k.kind_ = SENNIT_CASE_SEND;
	return k;
}

sennit_case sennit_case_receive(sennit_channel *c, void *value)
{
	sennit_case k = { c, value, 0, SENNIT_CASE_NONE, 0 };

	if (c)
		k.kind_ = SENNIT_CASE_RECEIVE;
	return k;
}

sennit_case sennit_case_event(sennit_event *e)
{
	sennit_case k = { e, NULL, 0, SENNIT_CASE_NONE, 0 };

	if (e)
		k.kind_ = SENNIT_CASE_EVENT;
	return k;
}

sennit_case sennit_case_future(sennit_future *f, void **value)
{
	sennit_case k = { f, value, 0, SENNIT_CASE_NONE, 0 };

	if (f)
		k.kind_ = SENNIT_CASE_FUTURE;
	return k;
}

sennit_case sennit_case_deadline(sennit_time time)
{
	sennit_case k = { NULL, NULL, time, SENNIT_CASE_NONE, 0 };

	if (time < SENNIT_UNCANCELLED)
		k.kind_ = SENNIT_CASE_DEADLINE;
	return k;
}

/* --- calls -------------------------------------------------------------- */

static ALWAYS_INLINE int do_select(sennit_case cases[], size_t count,
				   sennit_time deadline)
{
	struct selection s; /* not zeroed, because it is large */

	MISUSE(count > SENNIT_SELECT_MAX, "sennit_select",
	       "more than SENNIT_SELECT_MAX cases");
	s.cases = cases;
	s.count = count;
	s.deadline = deadline;
	s.end = deadline;
	s.polling = NULL;
	return unlikely(collect_locks(&s)) ? select_with_unqueued(&s)
					   : select_one_inline(&s);
}

/* Of an index or error, store the index and return 0 or the error. */
static int tell_which(int i, size_t *which)
{
	if (i < 0)
		return i;
	if (which)
		*which = (size_t)i;
	return 0;
}

int sennit_select_until(sennit_case cases[], size_t count, size_t *which,
			sennit_time deadline)
{
	return tell_which(do_select(cases, count, deadline), which);
}

static bool can_happen(const sennit_case cases[], size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (cases[i].kind_ != SENNIT_CASE_NONE)
			return true;
	return false;
}

int sennit_select(sennit_case cases[], size_t count, size_t *which)
{
	MISUSE(!can_happen(cases, count), "sennit_select",
	       "none of the cases can ever happen");
	return tell_which(do_select(cases, count, SENNIT_NEVER), which);
}

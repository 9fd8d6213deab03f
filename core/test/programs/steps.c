/* SPDX-License-Identifier: Apache-2.0 */
/* steps.c - each call as a step of an actor: whether it may come now, what it
 * may return, and what that says about the object. */
#include "run.h"

#include "base/torture.h"

#include <errno.h>
#include <string.h>

#define AT(index) (run.known[index].at)

/* An error of a wait is what the deadline or a group says. */
static bool in_vain(int err)
{
	return err == -ETIMEDOUT || err == -ECANCELED;
}

#define CALL(name, arguments, from, waits, errors, lends, why) \
	{ #name, errors },
static const struct {
	const char *name, *errors;
} rows[] = {
#include "testing/calls.def"
};
#undef CALL

static const char *name_of_error(int err)
{
	switch (err) {
	case -ETIMEDOUT:
		return "ETIMEDOUT";
	case -ECANCELED:
		return "ECANCELED";
	case -EPIPE:
		return "EPIPE";
	case -ENOMEM:
		return "ENOMEM";
	case -EALREADY:
		return "EALREADY";
	case -EINVAL:
		return "EINVAL";
	default:
		return NULL; /* of the program itself */
	}
}

/* Whether the header names the error for the call, of which name is at least
 * the beginning. */
static bool is_in_table(const char *name, int err)
{
	const char *error = name_of_error(err);
	bool        known = false;

	if (err >= 0 || !error)
		return true;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		if (strncmp(rows[i].name, name, strlen(name)))
			continue;
		known = true;
		if (strstr(rows[i].errors, error))
			return true;
	}
	return !known;
}

static void must_be(bool claim, const char *call, int err)
{
	if (!claim || !is_in_table(call, err))
		program_failed("%s returned %d", call, err);
}

/* End a record of a wait: it took something, or there was a moment without. */
static void note_wait_end(struct record *r, int err, unsigned effect,
			  int32_t value)
{
	if (err >= 0)
		note_end(r, effect, value);
	else
		note_end(r, in_vain(err) ? IN_VAIN : NO_EFFECT,
			 r ? r->value : 0);
}

static void begin_leave(unsigned object)
{
	atomic_fetch_add(&run.known[object].leaving, 1);
}

static void end_leave(unsigned object)
{
	atomic_fetch_sub(&run.known[object].leaving, 1);
}

/* --- events ------------------------------------------------------- */

static void do_set(struct actor *a, const struct step *s)
{
	struct record *r = note(a, s->name[0], SET, 0);

	begin_leave(s->name[0]);
	sennit_event_set(&AT(s->name[0])->event);
	end_leave(s->name[0]);
	note_end(r, SET, 0);
	if (r)
		perhaps_free_taken(s->name[0], r->begin);
}

static void do_clear(struct actor *a, const struct step *s)
{
	struct record *r = note(a, s->name[0], CLEAR, 0);

	sennit_event_clear(&AT(s->name[0])->event);
	note_end(r, CLEAR, 0);
}

static void do_look(struct actor *a, const struct step *s)
{
	struct record *r = note(a, s->name[0], NO_EFFECT, 0);
	const bool     set = sennit_event_is_set(&AT(s->name[0])->event);

	note_end(r, set ? SEEN_SET : SEEN_CLEAR, 0);
}

static void do_await(struct actor *a, const struct step *s)
{
	const sennit_time d = deadline_of(a, s->limit);
	struct record    *r = note_wait(a, s->name[0], AWAITED, 0);
	int               err;

	begin_wait(a, d, d != SENNIT_UNCANCELLED);
	err = d == SENNIT_NEVER
		      ? sennit_event_wait(&AT(s->name[0])->event)
		      : sennit_event_wait_until(&AT(s->name[0])->event, d);
	end_wait(a, err);
	must_be(!err || in_vain(err), "sennit_event_wait", err);
	note_wait_end(r, err, AWAITED, 0);
	if (!err)
		perhaps_free(s->name[0], r, 1);
}

/* Records for the objects of a step, one for each, whatever stands twice. */
static void note_waits(struct actor *a, const struct step *s, unsigned wanted,
		       struct record *records[NAMES])
{
	for (unsigned i = 0; i < s->count; i++) {
		records[i] = NULL;
		for (unsigned j = 0; j < i; j++)
			if (s->name[j] == s->name[i])
				goto known;
		records[i] = note_wait(a, s->name[i], wanted, 0);
known:;
	}
}

static void note_waits_end(const struct step *s, struct record *records[NAMES],
			   int err, size_t which)
{
	for (unsigned i = 0; i < s->count; i++) {
		if (!records[i])
			continue;
		if (err < 0)
			note_wait_end(records[i], err, NO_EFFECT, 0);
		else if (which == SIZE_MAX || s->name[i] == s->name[which])
			note_end(records[i], AWAITED, 0);
		else
			note_end(records[i], NO_EFFECT, 0);
	}
}

static const struct record *record_of(const struct step *s,
				      struct record     *records[NAMES],
				      size_t             which)
{
	for (unsigned i = 0; i < s->count; i++)
		if (records[i] && s->name[i] == s->name[which])
			return records[i];
	return NULL;
}

static void do_await_any(struct actor *a, const struct step *s)
{
	const sennit_time d = deadline_of(a, s->limit);
	struct record    *records[NAMES];
	sennit_event     *events[NAMES];
	size_t            which = 77;
	int               err;

	for (unsigned i = 0; i < s->count; i++)
		events[i] = &AT(s->name[i])->event;
	note_waits(a, s, AWAITED, records);
	begin_wait(a, d, d != SENNIT_UNCANCELLED);
	if (d == SENNIT_NEVER) {
		err = sennit_event_wait_any(events, s->count, &which);
	} else {
		err = sennit_event_wait_any_until(events, s->count, &which, d);
	}
	end_wait(a, err);
	must_be(err ? in_vain(err) && which == 77 : which < s->count,
		"sennit_event_wait_any", err);
	note_waits_end(s, records, err, which);
	if (!err)
		perhaps_free(s->name[which], record_of(s, records, which), 1);
}

static void do_await_all(struct actor *a, const struct step *s)
{
	const sennit_time d = deadline_of(a, s->limit);
	struct record    *records[NAMES];
	sennit_event     *events[NAMES];
	int               err;

	for (unsigned i = 0; i < s->count; i++)
		events[i] = &AT(s->name[i])->event;
	note_waits(a, s, NO_EFFECT, records);
	begin_wait(a, d, d != SENNIT_UNCANCELLED);
	err = d == SENNIT_NEVER
		      ? sennit_event_wait_all(events, s->count)
		      : sennit_event_wait_all_until(events, s->count, d);
	end_wait(a, err);
	must_be(!err || in_vain(err), "sennit_event_wait_all", err);
	for (unsigned i = 0; i < s->count; i++)
		note_end(records[i], err ? NO_EFFECT : AWAITED, 0);
}

/* --- locks -------------------------------------------------------- */

/* What an actor holds it will use again. While it leaves it, its step or this
 * counts, not both. */
static void use_again(unsigned object, int by)
{
	atomic_fetch_add(&run.known[object].uses, by);
}

static void hold_lock(struct actor *a, unsigned index)
{
	struct known *k = &run.known[index];

	if (k->holder)
		program_failed("object %u has two owners", index);
	k->holder = a->place;
	a->writes[index] = 1;
	use_again(index, 1);
	atomic_fetch_add(&a->place->held, 1);
}

static void leave_lock(struct actor *a, unsigned index)
{
	struct known *k = &run.known[index];

	if (k->holder != a->place)
		program_failed("object %u has lost its owner", index);
	k->holder = NULL;
	a->writes[index] = 0;
}

static void do_lock(struct actor *a, const struct step *s)
{
	const unsigned    i = s->name[0];
	const sennit_time d = deadline_of(a, s->limit);
	struct record    *r;
	int               err = 0;

	if (run.known[i].holder == a->place)
		return;
	r = note_wait(a, (uint8_t)i, LOCKED, a->index + 1);
	begin_wait(a, d, d != SENNIT_NEVER && d != SENNIT_UNCANCELLED);
	if (d == SENNIT_NEVER)
		sennit_mutex_lock(&AT(i)->mutex);
	else
		err = sennit_mutex_lock_until(&AT(i)->mutex, d);
	end_wait(a, err);
	must_be(!err || in_vain(err), "sennit_mutex_lock_until", err);
	/* It may have been handed to a waiter that has given up. */
	note_end(r, err ? NO_EFFECT : LOCKED, a->index + 1);
	if (!err)
		hold_lock(a, i);
}

static void unlock_mutex(struct actor *a, unsigned i, bool in_step)
{
	struct record *r = note(a, (uint8_t)i, UNLOCKED, a->index + 1);

	leave_lock(a, i);
	use_again(i, in_step ? -1 : 0);
	begin_leave(i);
	sennit_mutex_unlock(&AT(i)->mutex);
	end_leave(i);
	note_end(r, UNLOCKED, a->index + 1);
	atomic_fetch_sub(&a->place->held, 1);
	perhaps_free((uint8_t)i, r, 1);
	use_again(i, in_step ? 0 : -1);
}

static void do_unlock(struct actor *a, const struct step *s)
{
	if (a->writes[s->name[0]])
		unlock_mutex(a, s->name[0], true);
}

static void read_lock(struct actor *a, unsigned i, sennit_time d)
{
	struct record *r = note_wait(a, (uint8_t)i, READ, 0);
	int            err = 0;

	begin_wait(a, d, d != SENNIT_NEVER && d != SENNIT_UNCANCELLED);
	if (d == SENNIT_NEVER)
		sennit_rwlock_lock_shared(&AT(i)->rwlock);
	else
		err = sennit_rwlock_lock_shared_until(&AT(i)->rwlock, d);
	end_wait(a, err);
	must_be(!err || in_vain(err), "sennit_rwlock_lock_shared_until", err);
	note_end(r, err ? NO_EFFECT : READ, 0);
	if (err)
		return;
	a->reads[i]++;
	use_again(i, 1);
	atomic_fetch_add(&a->place->held, 1);
}

static void do_read_lock(struct actor *a, const struct step *s)
{
	/* A second time it may wait for a writer that waits for it. */
	if (run.known[s->name[0]].holder != a->place)
		read_lock(a, s->name[0], deadline_of(a, s->limit));
}

static void do_write_lock(struct actor *a, const struct step *s)
{
	const unsigned    i = s->name[0];
	const sennit_time d = deadline_of(a, s->limit);
	struct record    *r;
	int               err = 0;

	if (run.known[i].holder == a->place)
		return;
	r = note_wait(a, (uint8_t)i, LOCKED, a->index + 1);
	begin_wait(a, d, d != SENNIT_NEVER && d != SENNIT_UNCANCELLED);
	if (d == SENNIT_NEVER)
		sennit_rwlock_lock(&AT(i)->rwlock);
	else
		err = sennit_rwlock_lock_until(&AT(i)->rwlock, d);
	end_wait(a, err);
	must_be(!err || in_vain(err), "sennit_rwlock_lock_until", err);
	note_end(r, err ? NO_EFFECT : LOCKED, a->index + 1);
	if (!err)
		hold_lock(a, i);
}

static void unlock_rwlock(struct actor *a, unsigned i, bool in_step)
{
	const bool     writes = a->writes[i];
	const unsigned effect = writes ? UNLOCKED : UNREAD;
	struct record *r = note(a, (uint8_t)i, effect, a->index + 1);

	use_again(i, in_step ? -1 : 0);
	begin_leave(i);
	if (writes) {
		leave_lock(a, i);
		sennit_rwlock_unlock(&AT(i)->rwlock);
	} else {
		a->reads[i]--;
		sennit_rwlock_unlock_shared(&AT(i)->rwlock);
	}
	end_leave(i);
	note_end(r, effect, a->index + 1);
	atomic_fetch_sub(&a->place->held, 1);
	if (writes)
		perhaps_free((uint8_t)i, r, 1);
	use_again(i, in_step ? 0 : -1);
}

static void do_unlock_rw(struct actor *a, const struct step *s)
{
	if (a->writes[s->name[0]] || a->reads[s->name[0]])
		unlock_rwlock(a, s->name[0], true);
}

/* --- condition variables ------------------------------------------ */

/* The mutex of a condition variable is the first mutex of the program. */
int mutex_of_cond(void)
{
	for (unsigned i = 0; i < run.p->objects; i++)
		if (kind_of((uint8_t)i) == MUTEX)
			return (int)i;
	return -1;
}

static bool is_never(void *unused)
{
	(void)unused;
	return false;
}

static int cond_wait(struct actor *a, const struct step *s, int m,
		     sennit_time d)
{
	sennit_cond  *c = &AT(s->name[0])->cond;
	sennit_mutex *mutex = &AT(m)->mutex;

	(void)a;
	if (s->flag % 4 == 1 && d != SENNIT_NEVER)
		return sennit_cond_wait_until_true(c, mutex, is_never, NULL, d);
	return d == SENNIT_NEVER ? sennit_cond_wait(c, mutex)
				 : sennit_cond_wait_until(c, mutex, d);
}

static void do_await_notify(struct actor *a, const struct step *s)
{
	const int      m = mutex_of_cond();
	struct known  *k = &run.known[s->name[0]];
	struct record *out, *in;
	sennit_time    d;
	int            err;
	const bool     again = s->flag % 4 == 1;

	if (m < 0 || !a->writes[m])
		return;
	atomic_fetch_sub(&a->place->held, 1);
	d = deadline_of(a, again && s->limit > FAR ? FAR : s->limit);
	out = note(a, (uint8_t)m, UNLOCKED, a->index + 1);
	in = note(a, (uint8_t)m, LOCKED, a->index + 1);
	leave_lock(a, (unsigned)m);
	use_again((unsigned)m, -1);
	k->waiting++;
	k->loose |= again; /* it waits again after each notify */
	begin_wait(a, d, d != SENNIT_UNCANCELLED);
	err = cond_wait(a, s, m, d);
	if (again)
		a->waits = false; /* it does not say what ended it */
	else
		end_wait(a, err);
	atomic_fetch_add(&a->place->held, 1);
	must_be(!err || in_vain(err), "sennit_cond_wait", err);
	note_end(out, UNLOCKED, a->index + 1);
	note_end(in, LOCKED, a->index + 1);
	hold_lock(a, (unsigned)m);
	atomic_fetch_sub(&a->place->held, 1);
	/* A notify may have found that this wait was over. */
	k->loose |= err && k->notified;
	if (err)
		k->waiting--;
	else
		k->notified--;
	if (!k->loose && (k->waiting < 0 || k->notified < 0))
		program_failed("cond %u: a notify too few or too many: wait "
			       "returned %d",
			       s->name[0], err);
}

static void do_notify(struct actor *a, const struct step *s, bool all)
{
	const int     m = mutex_of_cond();
	struct known *k = &run.known[s->name[0]];
	const int     n = all || !k->waiting ? k->waiting : 1;

	if (m < 0 || !a->writes[m])
		k->loose = true;
	k->waiting -= n;
	k->notified += n;
	if (all)
		sennit_cond_notify_all(&AT(s->name[0])->cond);
	else
		sennit_cond_notify_one(&AT(s->name[0])->cond);
}

static void do_notify_one(struct actor *a, const struct step *s)
{
	do_notify(a, s, false);
}

static void do_notify_all(struct actor *a, const struct step *s)
{
	do_notify(a, s, true);
}

/* --- semaphores --------------------------------------------------- */

static void do_take(struct actor *a, const struct step *s)
{
	sennit_semaphore *x = &AT(s->name[0])->semaphore;
	const sennit_time d = deadline_of(a, s->limit);
	const uint32_t    n = s->count;
	struct record    *r = note_wait(a, s->name[0], TAKEN, (int32_t)n);
	int               err;

	begin_wait(a, d, d != SENNIT_UNCANCELLED);
	err = d == SENNIT_NEVER ? sennit_semaphore_acquire(x, n)
				: sennit_semaphore_acquire_until(x, n, d);
	end_wait(a, err);
	must_be(!err || in_vain(err), "sennit_semaphore_acquire", err);
	note_end(r, err ? NO_EFFECT : TAKEN, (int32_t)n);
	if (!err)
		perhaps_free(s->name[0], r, 1);
}

static void give(struct actor *a, unsigned i, uint32_t n)
{
	struct record *r = note(a, (uint8_t)i, GIVEN, (int32_t)n);

	begin_leave(i);
	sennit_semaphore_release(&AT(i)->semaphore, n);
	end_leave(i);
	note_end(r, GIVEN, (int32_t)n);
}

static void do_give(struct actor *a, const struct step *s)
{
	give(a, s->name[0], s->count);
}

/* --- barriers, once ----------------------------------------------- */

static void arrive(struct actor *a, unsigned i, sennit_time d)
{
	struct known *k = &run.known[i];
	int           err;

	atomic_fetch_add(&k->arrived, 1);
	begin_wait(a, d, d != SENNIT_NEVER && d != SENNIT_UNCANCELLED);
	err = d == SENNIT_NEVER ? sennit_barrier_wait(&AT(i)->barrier)
				: sennit_barrier_wait_until(&AT(i)->barrier, d);
	end_wait(a, err);
	must_be(err == 0 || err == 1 || in_vain(err), "sennit_barrier_wait",
		err);
	if (err < 0) {
		atomic_fetch_sub(&k->arrived, 1);
		return;
	}
	atomic_fetch_add(&k->passed, 1);
	atomic_fetch_add(&k->last, err);
}

static void do_arrive(struct actor *a, const struct step *s)
{
	unsigned limit = s->limit;

	if (limit >= EVER) /* no actor can complete the phase in the end */
		limit = FAR;
	arrive(a, s->name[0], deadline_of(a, limit));
}

/* What the function of a once object needs. */
struct first {
	struct actor      *a;
	const struct step *s;
	struct known      *k;
	unsigned           index; /* of an actor that runs in it; 0: none */
};

static int be_first(void *argument)
{
	const struct first *f = argument;

	if (atomic_fetch_add(&f->k->running, 1) || atomic_load(&f->k->ran))
		program_failed("two functions of one once object");
	f->a->waits = false;
	atomic_fetch_add(&f->a->place->held, 1);
	if (f->s->flag & 1)
		sennit_yield();
	if (f->s->flag & 2)
		sennit_sleep(f->s->count * SENNIT_MICROSECOND);
	atomic_fetch_sub(&f->a->place->held, 1);
	if (!(f->s->flag & 4))
		atomic_store(&f->k->ran, 1);
	atomic_fetch_sub(&f->k->running, 1);
	return f->s->flag & 4 ? -EIO : 0;
}

static void be_first_once(void *argument)
{
	(void)be_first(argument);
}

static void do_attempt(struct actor *a, const struct step *s)
{
	struct known *k = &run.known[s->name[0]];
	sennit_once  *o = &AT(s->name[0])->once;
	struct first  f = { a, s, k, 0 };
	sennit_time   d = deadline_of(a, s->limit);
	int           err = 0;

	/* Its function must not call it again. */
	if (k->holder == a->place || !may_wait_long(a))
		return;
	if (d == SENNIT_NEVER && !(s->flag & 4)) {
		begin_wait(a, d, false);
		sennit_once_call(o, be_first_once, &f);
		a->waits = false;
	} else {
		begin_wait(a, d, d != SENNIT_UNCANCELLED);
		err = sennit_once_attempt_until(o, be_first, &f, d);
		if (a->waits)
			end_wait(a, err);
	}
	must_be(!err || in_vain(err) || (err == -EIO && s->flag & 4),
		"sennit_once_attempt_until", err);
	if (!err)
		CHECK(atomic_load(&k->ran) && sennit_once_is_done(o));
}

/* --- tickets ------------------------------------------------------ */

static void do_draw(struct actor *a, const struct step *s)
{
	const unsigned n = s->count > 1 ? TICKETS : 1;

	if (atomic_load(&a->watched))
		return; /* another actor may wait for one that it has had */
	for (unsigned i = 0; i < n; i++)
		if (a->line[i] >= 0)
			return;
	atomic_fetch_add(&run.known[s->name[0]].drawn, (int)n);
	atomic_fetch_add(&a->place->held, (int)n);
	if (n == 1)
		sennit_ticket_queue_take(&AT(s->name[0])->line, a->ticket);
	else
		sennit_ticket_queue_take_many(&AT(s->name[0])->line, a->ticket,
					      n);
	for (unsigned i = 0; i < n; i++)
		a->line[i] = s->name[0];
}

static int held_ticket(const struct actor *a, unsigned line)
{
	for (int i = 0; i < TICKETS; i++)
		if (a->line[i] == (int)line)
			return i;
	return -1;
}

static void end_turn(struct actor *a, int i)
{
	struct known *k = &run.known[a->line[i]];

	if (sennit_ticket_is_due(&a->ticket[i])) {
		if (atomic_fetch_add(&k->busy, 1))
			program_failed("two turns at once");
		atomic_fetch_sub(&k->busy, 1);
	}
	atomic_fetch_add(&k->served, 1);
	a->line[i] = -1;
	sennit_ticket_done(&a->ticket[i]);
	atomic_fetch_sub(&a->place->held, 1);
}

static void do_await_turn(struct actor *a, const struct step *s)
{
	const int   i = held_ticket(a, s->name[0]);
	sennit_time d;
	int         err;

	if (i < 0)
		return;
	/* Those before it do not wait for ever, as they hold a ticket. */
	d = deadline_of(a, s->limit);
	begin_wait(a, d, d != SENNIT_UNCANCELLED);
	err = d == SENNIT_NEVER ? sennit_ticket_wait(&a->ticket[i])
				: sennit_ticket_wait_until(&a->ticket[i], d);
	end_wait(a, err);
	must_be(!err || in_vain(err), "sennit_ticket_wait", err);
	if (err)
		return;
	CHECK(sennit_ticket_is_due(&a->ticket[i]));
	if (atomic_fetch_add(&run.known[s->name[0]].busy, 1))
		program_failed("two turns at once");
	sennit_explore_point();
	atomic_fetch_sub(&run.known[s->name[0]].busy, 1);
}

static void do_end_turn(struct actor *a, const struct step *s)
{
	const int i = held_ticket(a, s->name[0]);

	if (i >= 0)
		end_turn(a, i);
}

/* Another actor that has a ticket of the queue, which will not take it again
 * until the caller has waited for it; NULL: none. */
static struct actor *another_holder(struct actor *a, const struct step *s)
{
	for (unsigned i = 0; i < run.p->actors; i++) {
		struct actor *other = &run.actor[(s->flag + i) % run.p->actors];

		atomic_fetch_add(&other->watched, 1);
		if (other != a && held_ticket(other, s->name[0]) >= 0)
			return other;
		atomic_fetch_sub(&other->watched, 1);
	}
	return NULL;
}

/* Several callers may wait for one ticket. */
static void do_await_other_turn(struct actor *a, const struct step *s)
{
	struct actor *other;
	sennit_time   d;
	int           i, err;

	/* In a real build its owner may be about to take it. */
	other = sennit_explore_is_possible() ? another_holder(a, s) : NULL;
	if (!other)
		return;
	i = held_ticket(other, s->name[0]);
	a->other = &other->ticket[i];
	d = deadline_of(a, s->limit);
	begin_wait(a, d, d != SENNIT_UNCANCELLED);
	err = sennit_ticket_wait_until(a->other, d);
	end_wait(a, err);
	must_be(!err || in_vain(err), "sennit_ticket_wait", err);
	if (!err)
		CHECK(sennit_ticket_is_due(a->other));
	atomic_fetch_sub(&other->watched, 1);
}

bool is_ticket_due(const struct actor *a)
{
	int i;

	if (a->step->call == CALL_await_other_turn)
		return sennit_ticket_is_due(a->other);
	if (a->step->call != CALL_await_turn)
		return false;
	i = held_ticket(a, a->step->name[0]);
	return sennit_ticket_is_due(&a->ticket[i]);
}

/* --- channels ----------------------------------------------------- */

static void send_until(struct actor *a, unsigned i, sennit_time d)
{
	sennit_channel *c = &AT(i)->channel;
	const int       value = atomic_fetch_add(&run.next_value, 1) % 250 + 1;
	struct record  *r = note_wait(a, (uint8_t)i, SENT, value);
	int             err;

	begin_wait(a, d, d != SENNIT_UNCANCELLED);
	err = d == SENNIT_NEVER ? sennit_channel_send(c, &value)
				: sennit_channel_send_until(c, &value, d);
	end_wait(a, err);
	must_be(!err || in_vain(err) || err == -EPIPE ||
			(err == -ENOMEM && run.p->object[i].value == 3 &&
			 atomic_load(&run.refused)),
		"sennit_channel_send", err);
	if (err == -EPIPE)
		note_end(r, SENT_TO_CLOSED, 0);
	else if (!run.p->object[i].value || err == -ENOMEM)
		note_end(r, err ? NO_EFFECT : SENT, value);
	else
		note_wait_end(r, err, SENT, value);
}

static void receive_until(struct actor *a, unsigned i, sennit_time d)
{
	sennit_channel *c = &AT(i)->channel;
	struct record  *r = note_wait(a, (uint8_t)i, RECEIVED, 0);
	int             err, value = 0;

	begin_wait(a, d, d != SENNIT_UNCANCELLED);
	err = d == SENNIT_NEVER ? sennit_channel_receive(c, &value)
				: sennit_channel_receive_until(c, &value, d);
	end_wait(a, err);
	must_be((err ? !value : value) &&
			(!err || in_vain(err) || err == -EPIPE),
		"sennit_channel_receive", err);
	if (err == -EPIPE)
		note_end(r, RECEIVED_NONE, 0);
	else if (!run.p->object[i].value)
		note_end(r, err ? NO_EFFECT : RECEIVED, value);
	else
		note_wait_end(r, err, RECEIVED, value);
}

static void do_send(struct actor *a, const struct step *s)
{
	send_until(a, s->name[0], deadline_of(a, s->limit));
}

static void do_receive(struct actor *a, const struct step *s)
{
	receive_until(a, s->name[0], deadline_of(a, s->limit));
}

static void close_channel(struct actor *a, unsigned i)
{
	struct record *r = note(a, (uint8_t)i, CLOSED, 0);

	sennit_channel_close(&AT(i)->channel);
	note_end(r, CLOSED, 0);
}

static void do_close(struct actor *a, const struct step *s)
{
	close_channel(a, s->name[0]);
}

static void do_length(struct actor *a, const struct step *s)
{
	const size_t n = sennit_channel_length(&AT(s->name[0])->channel);

	(void)a;
	CHECK(run.p->object[s->name[0]].value == 3 ||
	      n <= run.p->object[s->name[0]].value);
}

/* --- futures ------------------------------------------------------ */

static void settle(struct actor *a, unsigned i, bool fails)
{
	sennit_future *f = &AT(i)->future;
	const int      value = atomic_fetch_add(&run.next_value, 1) % 250 + 1;
	struct record *r = note(a, (uint8_t)i, SET, 0);
	int            none = 0, err;

	/* After the first set its memory may be gone. */
	atomic_compare_exchange_strong(&run.known[i].value, &none,
				       fails ? -value : value);
	if (none) {
		err = fails ? sennit_future_try_set_error(f, -EPIPE)
			    : sennit_future_try_set(f, (void *)(intptr_t)value);
		must_be(err == -EALREADY || !err, "sennit_future_try_set", err);
		if (!err) /* before the one that was first */
			atomic_store(&run.known[i].value,
				     fails ? -value : value);
		note_end(r, err ? REFUSED_SET : SET, 0);
		return;
	}
	begin_leave(i);
	err = fails ? sennit_future_try_set_error(f, -EPIPE)
		    : sennit_future_try_set(f, (void *)(intptr_t)value);
	end_leave(i);
	must_be(err == -EALREADY || !err, "sennit_future_try_set", err);
	note_end(r, err ? REFUSED_SET : SET, 0);
}

static void do_settle(struct actor *a, const struct step *s)
{
	settle(a, s->name[0], s->flag & 1);
}

/* All see one outcome: what somebody has set, or an error. */
static void must_be_the_outcome(unsigned i, int outcome)
{
	int none = 0;

	if (!outcome || (!atomic_compare_exchange_strong(&run.known[i].outcome,
							 &none, outcome) &&
			 none != outcome))
		program_failed("future %u: outcomes %d and %d", i, none,
			       outcome);
}

static void do_await_future(struct actor *a, const struct step *s)
{
	sennit_future    *f = &AT(s->name[0])->future;
	const sennit_time d = deadline_of(a, s->limit);
	struct record    *r = note_wait(a, s->name[0], AWAITED, 0);
	void             *value = NULL;
	int               err;

	begin_wait(a, d, d != SENNIT_UNCANCELLED);
	if (s->flag & 1)
		err = d == SENNIT_NEVER ? sennit_future_get(f, &value)
					: sennit_future_get_until(f, &value, d);
	else
		err = d == SENNIT_NEVER ? sennit_future_wait(f)
					: sennit_future_wait_until(f, d);
	if (s->flag & 1 && (!err || err == -EPIPE)) {
		must_be_the_outcome(s->name[0],
				    err ? err : (int)(intptr_t)value);
		err = 0;
	}
	end_wait(a, err);
	must_be(!err || in_vain(err), "sennit_future_wait", err);
	note_wait_end(r, err, AWAITED, 0);
	if (!err) {
		CHECK(sennit_future_is_set(f));
		perhaps_free(s->name[0], r, 1);
	}
}

static void do_await_any_future(struct actor *a, const struct step *s)
{
	const sennit_time d = deadline_of(a, s->limit);
	struct record    *records[NAMES];
	sennit_future    *futures[NAMES];
	size_t            which = 77;
	int               err;

	for (unsigned i = 0; i < s->count; i++)
		futures[i] = &AT(s->name[i])->future;
	note_waits(a, s, AWAITED, records);
	begin_wait(a, d, d != SENNIT_UNCANCELLED);
	if (d == SENNIT_NEVER) {
		err = sennit_future_wait_any(futures, s->count, &which);
	} else {
		err = sennit_future_wait_any_until(futures, s->count, &which,
						   d);
	}
	end_wait(a, err);
	must_be(err ? in_vain(err) && which == 77 : which < s->count,
		"sennit_future_wait_any", err);
	note_waits_end(s, records, err, which);
}

static void do_await_all_futures(struct actor *a, const struct step *s)
{
	const sennit_time d = deadline_of(a, s->limit);
	struct record    *records[NAMES];
	sennit_future    *futures[NAMES];
	int               err;

	for (unsigned i = 0; i < s->count; i++)
		futures[i] = &AT(s->name[i])->future;
	note_waits(a, s, NO_EFFECT, records);
	begin_wait(a, d, d != SENNIT_UNCANCELLED);
	err = d == SENNIT_NEVER
		      ? sennit_future_wait_all(futures, s->count)
		      : sennit_future_wait_all_until(futures, s->count, d);
	end_wait(a, err);
	must_be(!err || in_vain(err), "sennit_future_wait_all", err);
	for (unsigned i = 0; i < s->count; i++)
		note_end(records[i], err ? NO_EFFECT : AWAITED, 0);
}

/* --- wait groups -------------------------------------------------- */

static void do_add(struct actor *a, const struct step *s)
{
	struct record *r = note(a, s->name[0], ADDED, s->count);

	sennit_wait_group_add(&AT(s->name[0])->wait_group, s->count);
	note_end(r, ADDED, s->count);
	atomic_fetch_add(&run.known[s->name[0]].count, s->count);
}

/* Returns whether there was something to subtract. */
static bool subtract_one(struct actor *a, unsigned i)
{
	int            n = atomic_load(&run.known[i].count);
	struct record *r;
	bool           last;

	do {
		if (!n)
			return false;
	} while (!atomic_compare_exchange_weak(&run.known[i].count, &n, n - 1));
	r = note(a, (uint8_t)i, DONE, 0);
	if (r)
		r->effect = NO_EFFECT; /* until it is known what it was */
	begin_leave(i);
	last = sennit_wait_group_done(&AT(i)->wait_group);
	end_leave(i);
	note_end(r, DONE, last);
	return true;
}

static void do_done(struct actor *a, const struct step *s)
{
	subtract_one(a, s->name[0]);
}

static void do_await_zero(struct actor *a, const struct step *s)
{
	sennit_wait_group *g = &AT(s->name[0])->wait_group;
	const sennit_time  d = deadline_of(a, s->limit);
	struct record     *r = note_wait(a, s->name[0], AWAITED, 0);
	int                err = 0;

	begin_wait(a, d, d != SENNIT_NEVER && d != SENNIT_UNCANCELLED);
	if (d == SENNIT_NEVER)
		sennit_wait_group_wait(g);
	else
		err = sennit_wait_group_wait_until(g, d);
	end_wait(a, err);
	must_be(!err || in_vain(err), "sennit_wait_group_wait_until", err);
	note_wait_end(r, err, AWAITED, 0);
	if (!err)
		perhaps_free(s->name[0], r, 1);
}

/* --- pools -------------------------------------------------------- */

static void do_borrow(struct actor *a, const struct step *s)
{
	const sennit_time d = deadline_of(a, s->limit);
	const bool        bounded = run.p->object[s->name[0]].value;
	struct record    *r;
	void             *item = NULL;
	int               at, err;

	for (at = 0; at < LOANS; at++)
		if (!a->loan[at])
			break;
	if (at == LOANS)
		return;
	r = bounded ? note_wait(a, s->name[0], TAKEN, 1) : NULL;
	begin_wait(a, d, d != SENNIT_UNCANCELLED);
	err = d == SENNIT_NEVER
		      ? sennit_pool_borrow(&AT(s->name[0])->pool, &item)
		      : sennit_pool_borrow_until(&AT(s->name[0])->pool, &item,
						 d);
	end_wait(a, err);
	must_be((!err && item) || in_vain(err) ||
			(err == -ENOMEM && !bounded &&
			 atomic_load(&run.refused)),
		"sennit_pool_borrow", err);
	note_end(r, err ? NO_EFFECT : TAKEN, 1);
	if (err)
		return;
	a->loan[at] = item;
	a->pool[at] = s->name[0];
	atomic_fetch_add(&a->place->held, 1);
	if (atomic_exchange((atomic_int *)item, a->index + 1) > 0)
		program_failed("an item is lent twice");
}

static void return_loan(struct actor *a, int at)
{
	void *const    item = a->loan[at];
	const bool     bounded = run.p->object[a->pool[at]].value;
	struct record *r = bounded ? note(a, (uint8_t)a->pool[at], GIVEN, 1)
				   : NULL;

	CHECK(atomic_exchange((atomic_int *)item, -1) == a->index + 1);
	a->loan[at] = NULL;
	sennit_pool_return(&AT(a->pool[at])->pool, item);
	note_end(r, GIVEN, 1);
	atomic_fetch_sub(&a->place->held, 1);
}

static void do_give_back(struct actor *a, const struct step *s)
{
	for (int at = 0; at < LOANS; at++)
		if (a->loan[at] && a->pool[at] == s->name[0]) {
			return_loan(a, at);
			return;
		}
}

/* --- groups ------------------------------------------------------- */

static void do_open_group(struct actor *a, const struct step *s)
{
	struct known             *k = &run.known[s->name[0]];
	const struct object_plan *o = &run.p->object[s->name[0]];

	if (k->state || !may_wait_long(a) ||
	    (!sennit_scheduler_current() && !run.p->world.workers))
		return;
	k->state = 1;
	k->opener = a->index;
	k->around = a->group;
	k->deadline = deadline_of(a, o->set);
	if (k->deadline == SENNIT_UNCANCELLED)
		k->deadline = SENNIT_NEVER;
	if (sennit_scheduler_current() == run.s && !(s->flag & 1))
		sennit_group_init(&AT(s->name[0])->group, k->deadline,
				  o->value);
	else
		sennit_group_init_on(&AT(s->name[0])->group, run.s, k->deadline,
				     o->value);
}

/* Whether the group, or one around it, is cancelled or past its deadline. */
static bool is_group_over(int g)
{
	for (; g >= 0; g = run.known[g].around)
		if (atomic_load(&run.known[g].cancels) ||
		    run.known[g].draining ||
		    sennit_now() >= run.known[g].deadline)
			return true;
	return false;
}

/* `how`: 0 wait, 1 drain. */
void end_group(struct actor *a, unsigned index, unsigned how, unsigned limit)
{
	struct known *k = &run.known[index];
	sennit_group *g = &AT(index)->group;
	sennit_time   d = SENNIT_NEVER;
	bool          over;
	int           err;

	if (k->state != 1 || k->opener != a->index || !may_wait_long(a))
		return;
	if (how) {
		d = deadline_of(a, limit);
		k->drained_at = d;
		k->changed = sennit_now();
		k->draining = true;
	}
	begin_wait(a, SENNIT_NEVER, false);
	err = how ? sennit_group_drain(g, d) : sennit_group_wait(g);
	a->waits = false;
	over = how || is_group_over((int)index);
	k->state = 2;
	if (atomic_load(&k->members))
		program_failed("group %u ended before %d members", index,
			       atomic_load(&k->members));
	if (atomic_load(&k->failed))
		must_be(err == -EIO, "sennit_group_wait", err);
	else if (atomic_load(&k->cancels) || atomic_load(&k->refused))
		must_be(err == -ECANCELED, "sennit_group_wait", err);
	else
		must_be(!err || (over && err == -ECANCELED),
			"sennit_group_wait", err);
	memset(run.known[index].page, 0xa5, sizeof(struct object));
}

static void do_end_group(struct actor *a, const struct step *s)
{
	end_group(a, s->name[0], s->flag & 1, s->limit);
}

static void do_await_members(struct actor *a, const struct step *s)
{
	struct known     *k = &run.known[s->name[0]];
	const sennit_time d = deadline_of(a, s->limit);
	int               err;

	if (k->state != 1 || k->opener != a->index)
		return;
	(void)!sennit_group_members(&AT(s->name[0])->group);
	begin_wait(a, d, d != SENNIT_UNCANCELLED);
	err = sennit_group_wait_until(&AT(s->name[0])->group, d);
	end_wait(a, err);
	must_be(!err || in_vain(err), "sennit_group_wait_until", err);
	if (!err)
		CHECK(!atomic_load(&k->members));
}

static void do_cancel(struct actor *a, const struct step *s)
{
	struct known *k = &run.known[s->name[0]];
	int           before;

	if (!is_inside(a, s->name[0]))
		return;
	before = atomic_fetch_add(&k->cancels, 1);
	if (sennit_group_cancel(&AT(s->name[0])->group) && before &&
	    !sennit_explore_is_possible())
		return; /* another one had noted it and not called yet */
}

static void do_set_deadline(struct actor *a, const struct step *s)
{
	struct known *k = &run.known[s->name[0]];
	sennit_time   d = deadline_of(a, s->limit);

	if (!is_inside(a, s->name[0]))
		return;
	if (d < k->deadline && d < SENNIT_UNCANCELLED)
		k->deadline = d;
	sennit_group_set_deadline(&AT(s->name[0])->group, d);
	k->changed = sennit_now();
}

/* --- domains ------------------------------------------------------ */

static void do_await_domain(struct actor *a, const struct step *s)
{
	unsigned    limit = s->limit >= EVER ? FAR : s->limit;
	sennit_time d = deadline_of(a, limit);
	int         err;

	begin_wait(a, d, true);
	err = sennit_event_wait_until(&AT(s->name[0])->domain_end, d);
	end_wait(a, err);
	must_be(!err || in_vain(err), "sennit_event_wait_until", err);
	if (!err)
		CHECK(atomic_load(&run.known[s->name[0]].ended) == 1);
}

/* --- select ------------------------------------------------------- */

struct choice {
	sennit_case    cases[NAMES];
	struct record *record[NAMES];
	int            out[NAMES], in[NAMES];
	bool           sends[NAMES];
};

static void set_case(struct actor *a, const struct step *s, struct choice *c,
		     unsigned i)
{
	const uint8_t name = s->name[i];

	c->record[i] = NULL;
	switch (kind_of(name)) {
	case EVENT:
		c->cases[i] = sennit_case_event(&AT(name)->event);
		c->record[i] = note_wait(a, name, AWAITED, 0);
		break;
	case FUTURE:
		c->cases[i] = sennit_case_future(&AT(name)->future, NULL);
		c->record[i] = note_wait(a, name, AWAITED, 0);
		break;
	case CHANNEL:
		c->sends[i] = s->flag >> i & 1;
		c->out[i] = atomic_fetch_add(&run.next_value, 1) % 250 + 1;
		c->in[i] = 0;
		c->cases[i] = c->sends[i]
				      ? sennit_case_send(&AT(name)->channel,
							 &c->out[i])
				      : sennit_case_receive(&AT(name)->channel,
							    &c->in[i]);
		c->record[i] = note_wait(a, name, c->sends[i] ? SENT : RECEIVED,
					 c->out[i]);
		break;
	default:
		c->cases[i] = (sennit_case){ 0 };
		if (s->flag >> i & 1)
			c->cases[i] =
				sennit_case_deadline(deadline_of(a, SOON));
	}
}

static void end_case(const struct step *s, struct choice *c, unsigned i,
		     bool chosen)
{
	const int result = c->cases[i].result;

	if (!chosen || !c->record[i]) {
		note_end(c->record[i], NO_EFFECT, 0);
		CHECK(chosen || !c->in[i] || kind_of(s->name[i]) != CHANNEL);
		return;
	}
	if (kind_of(s->name[i]) != CHANNEL) {
		must_be(!result || result == -EPIPE, "a case", result);
		note_end(c->record[i], AWAITED, 0);
		return;
	}
	if (result == -ENOMEM && c->sends[i])
		note_end(c->record[i], NO_EFFECT, 0);
	else if (result == -EPIPE)
		note_end(c->record[i],
			 c->sends[i] ? SENT_TO_CLOSED : RECEIVED_NONE, 0);
	else if (c->sends[i])
		note_end(c->record[i], SENT, c->out[i]);
	else
		note_end(c->record[i], RECEIVED, c->in[i]);
}

static void do_choose_case(struct actor *a, const struct step *s)
{
	sennit_time   d = deadline_of(a, s->limit);
	struct choice c;
	size_t        which = 77;
	bool          any = false;
	int           err;

	memset(&c, 0, sizeof(c));
	for (unsigned i = 0; i < s->count; i++) {
		set_case(a, s, &c, i);
		any |= c.cases[i].kind_ != 0;
	}
	if (d >= SENNIT_UNCANCELLED && !any)
		d = deadline_of(a, SOON);
	begin_wait(a, d, d != SENNIT_UNCANCELLED);
	if (d == SENNIT_NEVER) {
		err = sennit_select(c.cases, s->count, &which);
	} else {
		err = sennit_select_until(c.cases, s->count, &which, d);
	}
	end_wait(a, err);
	must_be(err ? in_vain(err) && which == 77 : which < s->count,
		"sennit_select", err);
	for (unsigned i = 0; i < s->count; i++)
		end_case(s, &c, i, !err && i == which);
}

/* --- others ------------------------------------------------------- */

/* The next actor that it is to start. */
static void do_start(struct actor *a, const struct step *s)
{
	(void)s;
	for (unsigned i = a->index + 1u; i < run.p->actors; i++)
		if (run.actor[i].parent == a &&
		    atomic_load(&run.actor[i].state) == UNBORN) {
			start_actor(a, i);
			return;
		}
}

static void do_yield(struct actor *a, const struct step *s)
{
	(void)a;
	(void)s;
	sennit_yield();
}

static void do_sleep(struct actor *a, const struct step *s)
{
	sennit_time d = deadline_of(a, s->limit);
	int         err;

	if (d >= SENNIT_UNCANCELLED)
		d = deadline_of(a, SOON);
	begin_wait(a, d, true);
	err = sennit_sleep_until(d);
	if (!err) {
		CHECK(sennit_now() >= d);
		a->waits = false;
	} else {
		end_wait(a, err);
	}
	must_be(!err || in_vain(err), "sennit_sleep_until", err);
}

static void do_ask(struct actor *a, const struct step *s)
{
	sennit_stats stats = { .size = sizeof(stats) };
	const int    err = sennit_check_cancelled();

	must_be(!err || (in_vain(err) && is_group_over(a->group)),
		"sennit_check_cancelled", err);
	if (s->flag & 1)
		sennit_scheduler_get_stats(run.s, &stats);
	CHECK(sennit_scheduler_workers(run.s) <= run.p->world.max_workers);
}

/* A task that computes: its thread does nothing else meanwhile. */
static void do_hold(struct actor *a, const struct step *s)
{
	static const uint32_t word;
	const sennit_time     d = deadline_of(a, s->flag & 1 ? SOON : TICK);

	atomic_fetch_add(&run.holding, 1);
	if (sennit_explore_is_possible())
		while (sennit_now() < d)
			sennit_explore_sleep(&word, 0, d);
	atomic_fetch_sub(&run.holding, 1);
}

static void do_set_workers(struct actor *a, const struct step *s)
{
	const uint32_t most = run.p->world.max_workers;
	const uint32_t n = most ? 1 + s->flag % most : 1;
	const int      err = sennit_scheduler_set_workers(run.s, n);

	(void)a;
	must_be(run.p->world.workers ? !err : err == -EINVAL,
		"sennit_scheduler_set_workers", err);
}

struct loop {
	atomic_uint sum, count;
	bool        yields;
};

static int add_indices(void *context, size_t begin, size_t end)
{
	struct loop *l = context;

	for (size_t i = begin; i < end; i++)
		atomic_fetch_add(&l->sum, (unsigned)i);
	atomic_fetch_add(&l->count, (unsigned)(end - begin));
	if (l->yields)
		sennit_yield();
	return 0;
}

static void do_loop(struct actor *a, const struct step *s)
{
	struct loop    l = { .yields = s->flag & 1 };
	const unsigned n = s->flag;
	int            err;

	if (sennit_scheduler_current() != run.s || !may_wait_long(a))
		return;
	err = sennit_parallel_for(0, n, add_indices, &l, NULL, SENNIT_NEVER);
	if (err)
		must_be(err == -ENOMEM
				? atomic_load(&run.refused) != 0
				: in_vain(err) && is_group_over(a->group),
			"sennit_parallel_for", err);
	else
		CHECK(l.count == n && (!n || l.sum == n * (n - 1) / 2));
}

/* References to the scheduler, and an argument made in place. */
static void do_refer(struct actor *a, const struct step *s)
{
	const size_t      size = (size_t)s->flag * 8;
	sennit_scheduler *held = NULL;
	void             *memory;

	(void)a;
	sennit_scheduler_retain(run.s);
	sennit_weak_scheduler_retain(run.weak);
	CHECK(!sennit_weak_scheduler_lock(run.weak, &held) && held == run.s);
	sennit_weak_scheduler_release(run.weak);
	sennit_scheduler_release(held);
	memory = sennit_argument_alloc(run.s, size);
	CHECK(memory || atomic_load(&run.refused));
	if (memory) {
		memset(memory, 0x5a, size);
		sennit_argument_free(run.s, memory, size);
	}
	sennit_scheduler_release(run.s);
}

/* The minimums of the two schedulers may be more than the CPUs. */
static void do_set_cpus(struct actor *a, const struct step *s)
{
	const bool                   other = run.second && s->flag & 4;
	const sennit_resources_share share = { .size = sizeof(share),
					       .priority = 1 + s->flag,
					       .min = s->flag >> 1 & 1,
					       .max = s->flag & 1 ? s->count
								  : 0 };
	const uint32_t               workers = other ? run.p->world.second
						     : run.p->world.max_workers;
	int                          err;

	(void)a;
	if (!run.resources)
		return;
	err = sennit_resources_set_cpus(run.resources, 1 + s->count % 3);
	must_be(!err || err == -EAGAIN, "sennit_resources_set_cpus", err);
	err = sennit_resources_set_share(other ? run.second : run.s, &share);
	must_be(!err || err == -EAGAIN ||
			(err == -EINVAL && share.max > workers),
		"sennit_resources_set_share", err);
}

static void do_trim(struct actor *a, const struct step *s)
{
	(void)a;
	(void)s;
	sennit_scheduler_trim(run.s);
}

/* --- all ---------------------------------------------------------- */

static void (*const functions[])(struct actor *a, const struct step *s) = {
#define STEP(name, kind, weight) do_##name,
	STEP_CALLS(STEP)
#undef STEP
};

void step_run(struct actor *a, const struct step *s)
{
	functions[s->call](a, s);
}

void let_all_go(struct actor *a)
{
	for (int i = 0; i < TICKETS; i++)
		if (a->line[i] >= 0)
			end_turn(a, i);
	for (int i = 0; i < LOANS; i++)
		if (a->loan[i])
			return_loan(a, i);
	for (unsigned i = 0; i < run.p->objects; i++) {
		if (kind_of((uint8_t)i) == MUTEX && a->writes[i])
			unlock_mutex(a, i, false);
		while (kind_of((uint8_t)i) == RWLOCK &&
		       (a->writes[i] || a->reads[i]))
			unlock_rwlock(a, i, false);
	}
}

void object_supply(struct actor *main_part, unsigned i)
{
	const struct step s = { .name = { (uint8_t)i }, .count = 1 };

	switch (kind_of((uint8_t)i)) {
	case EVENT:
		do_set(main_part, &s);
		break;
	case COND:
		do_notify_all(main_part, &s);
		break;
	case SEMAPHORE:
		give(main_part, i, 2);
		break;
	case CHANNEL:
		close_channel(main_part, i);
		break;
	case FUTURE:
		if (!sennit_future_is_set(&AT(i)->future))
			settle(main_part, i, false);
		break;
	case WAIT_GROUP:
		while (subtract_one(main_part, i))
			;
		break;
	default:
		break;
	}
}

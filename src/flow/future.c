/* SPDX-License-Identifier: Apache-2.0 */
/* future.c - one bit of the word (SET) says whether the future is set.
 *
 * The outcome is stored with the lock held. The store that unlocks makes SET
 * visible. A thread that sees SET, with or without LOCKED, may read the
 * outcome. It may also free the future, because the setter no longer uses it.
 * SET and WAITERS are never both set: the setter takes all waiters.
 *
 * Continuations get copies of the outcome, because the future may be gone when
 * they run.
 */
#include "base/compiler.h"
#include "wait/wait.h"
#include "sennit/future.h"
#include "sennit/task.h"

#include <errno.h>

#define SET WAIT_QUEUE_OWN

_Static_assert(sizeof(sennit_future) ==
		       2 * sizeof(uint32_t) + 3 * sizeof(void *),
	       "a future is four words");

void sennit_future_init(sennit_future *f)
{
	a_init(&f->state_, 0);
	f->error_ = 0;
	f->value_ = NULL;
	f->waiters_ = NULL;
	f->last_ = NULL;
}

void sennit_future_destroy(sennit_future *f)
{
	MISUSE(a_load_rlx(&f->state_) & WAIT_QUEUE_WAITERS,
	       "sennit_future_destroy",
	       "a fiber or thread still waits for the future");
	MISUSE(f->last_, "sennit_future_destroy",
	       "a continuation still waits for the future");
}

static ALWAYS_INLINE bool is_set(const sennit_future *f)
{
	/* <- wait_queue.unlock */
	bool set = a_load_acq(&f->state_) & SET;

	if (set)
		sn_race_acquire(f);
	return set;
}

bool sennit_future_is_set(const sennit_future *f)
{
	return is_set(f);
}

/* --- continuations ------------------------------------------------------ */

/* From the call of run on, the record belongs to its owner again. */
static void run_continuation(void *record)
{
	const sennit_continuation *c = record;

	sn_race_acquire(c);
	c->run(c->argument, c->value_, c->error_);
}

static void start_on(sennit_scheduler *s, sennit_continuation *c)
{
	const sennit_task task = { .run = run_continuation, .argument = c };

	if (sennit_schedule_on(s, &task))
		run_continuation(c);
	sennit_scheduler_release(s); /* the reference of sennit_future_then() */
}

static void start(sennit_continuation *c)
{
	if (c->scheduler)
		start_on(c->scheduler, c);
	else if (c->flags & SENNIT_CONTINUATION_INLINE || !sn_self ||
		 sennit_schedule(run_continuation, c))
		run_continuation(c);
}

/* Start the continuations of a ring, which is given by its last member; NULL
 * for none. */
static void start_all(sennit_continuation *last, void *value, int error)
{
	sennit_continuation *c, *next;

	if (!last)
		return;
	next = last->next_;
	do {
		c = next;
		next = c->next_; /* c may be gone once it runs */
		c->value_ = value;
		c->error_ = error;
		start(c);
	} while (c != last);
}

/* Add c to the continuations of f. Returns false if f is set. */
static bool attach(sennit_future *f, sennit_continuation *c)
{
	uint32_t word = sn_wait_queue_lock(&f->state_);
	bool     late = word & SET;

	if (!late) {
		c->next_ = f->last_ ? f->last_->next_ : c;
		if (f->last_)
			f->last_->next_ = c;
		f->last_ = c;
	}
	sn_wait_queue_unlock(&f->state_, word);
	return !late;
}

void sennit_future_then(sennit_future *f, sennit_continuation *c)
{
	MISUSE(!c->run, "sennit_future_then",
	       "the continuation has no function");
	MISUSE(c->flags & ~SENNIT_CONTINUATION_INLINE ||
		       (c->flags && c->scheduler),
	       "sennit_future_then",
	       "unknown flags, or inline and with a scheduler");
	if (c->scheduler)
		sennit_scheduler_retain(c->scheduler); /* released in
						        * start_on() */
	sn_race_release(c);
	if (attach(f, c))
		return;
	sn_race_acquire(f);
	c->next_ = c;
	start_all(c, f->value_, f->error_);
}

/* --- setting ------------------------------------------------------------ */

/* Returns false if it was already set. */
static bool set(sennit_future *f, void *value, int error)
{
	sennit_continuation *last;
	struct link         *waiters;
	uint32_t             word;

	if (is_set(f))
		return false;
	word = sn_wait_queue_lock(&f->state_);
	if (word & SET) {
		sn_wait_queue_unlock(&f->state_, word);
		return false;
	}
	sn_race_release(f);
	f->value_ = value;
	f->error_ = error;
	last = f->last_;
	f->last_ = NULL;
	waiters = sn_wait_take_all(&f->waiters_, word);
	sn_wait_queue_unlock(&f->state_, SET);
	sn_wake_all(waiters);
	start_all(last, value, error);
	return true;
}

void sennit_future_set(sennit_future *f, void *value)
{
	MISUSE(!set(f, value, 0), "sennit_future_set",
	       "the future is already set");
}

void sennit_future_set_error(sennit_future *f, int error)
{
	MISUSE(error >= 0, "sennit_future_set_error",
	       "an error must be negative");
	MISUSE(!set(f, NULL, error), "sennit_future_set_error",
	       "the future is already set");
}

int sennit_future_try_set(sennit_future *f, void *value)
{
	return set(f, value, 0) ? 0 : -EALREADY;
}

int sennit_future_try_set_error(sennit_future *f, int error)
{
	MISUSE(error >= 0, "sennit_future_try_set_error",
	       "an error must be negative");
	return set(f, NULL, error) ? 0 : -EALREADY;
}

/* --- setting by a task -------------------------------------------------- */

struct promise {
	sennit_future    *future;
	sennit_future_fn *run;
	void             *argument;
};

static void keep(void *copy)
{
	const struct promise *p = copy;
	void                 *value = NULL;
	int                   error = p->run(p->argument, &value);

	MISUSE(error > 0, "sennit_future_spawn",
	       "the function returned a positive number");
	MISUSE(!set(p->future, error ? NULL : value, error),
	       "sennit_future_spawn", "the future is already set");
}

int sennit_future_spawn(sennit_future *f, sennit_future_fn *run, void *argument)
{
	const struct promise p = { f, run, argument };

	SPAWN_CALL();
	MISUSE(!sn_self, "sennit_future_spawn",
	       "no scheduler is bound to this thread");
	MISUSE(is_set(f), "sennit_future_spawn", "the future is already set");
	if (!run)
		return -EINVAL;
	return sennit_schedule_copy(keep, &p, sizeof(p));
}

/* --- waiting ------------------------------------------------------------ */

static ALWAYS_INLINE int wait_until(sennit_future *f, sennit_time deadline)
{
	struct waiter *n;
	uint32_t       word;

	if (is_set(f))
		return 0;
	if (!deadline)
		return -ETIMEDOUT;
	n = sn_waiter_own(deadline);
	word = sn_wait_queue_lock(&f->state_);
	if (word & SET) {
		sn_race_acquire(f);
		sn_wait_queue_unlock(&f->state_, word);
		return 0;
	}
	sn_wait_show(n, SENNIT_WAITS_FOR_FUTURE, f, deadline);
	word |= sn_wait_queue_join(&f->waiters_, n, false);
	sn_wait_queue_unlock(&f->state_, word);
	return sn_wait_in(&f->state_, &f->waiters_, n, deadline);
}

int sennit_future_wait_until(sennit_future *f, sennit_time deadline)
{
	return wait_until(f, deadline);
}

int sennit_future_wait(sennit_future *f)
{
	return wait_until(f, SENNIT_NEVER);
}

static ALWAYS_INLINE int get_until(sennit_future *f, void **value,
				   sennit_time deadline)
{
	int err = wait_until(f, deadline);

	if (!err)
		err = f->error_;
	if (!err && value)
		*value = f->value_;
	return err;
}

int sennit_future_get(sennit_future *f, void **value)
{
	return get_until(f, value, SENNIT_NEVER);
}

int sennit_future_get_until(sennit_future *f, void **value,
			    sennit_time deadline)
{
	return get_until(f, value, deadline);
}

/* --- waiting for several ------------------------------------------------ */

_Static_assert(SENNIT_FUTURE_WAIT_MAX == WAIT_ANY_MAX,
	       "as wait/wait_any has it");

static struct wait_any_queue queue_of(const void *futures, size_t i)
{
	sennit_future *f = ((sennit_future *const *)futures)[i];

	return (struct wait_any_queue){ &f->state_, &f->waiters_ };
}

/* The future stays set. */
static uint32_t passed(const void *futures, size_t i, uint32_t word)
{
	(void)futures;
	(void)i;
	return word;
}

/* The index of the first future that is set; `count` if none is. */
static size_t find_set(sennit_future *const futures[], size_t count)
{
	size_t i = 0;

	while (i < count && !is_set(futures[i]))
		i++;
	return i;
}

static int wait_any(sennit_future *const futures[], size_t count, size_t *which,
		    sennit_time deadline)
{
	size_t i = find_set(futures, count);

	if (i < count) {
		*which = i;
		return 0;
	}
	if (!deadline)
		return -ETIMEDOUT;
	return sn_wait_any(&(struct wait_any){ .objects = futures,
					       .count = count,
					       .first = futures[0],
					       .queue = queue_of,
					       .passed = passed },
			   which, deadline);
}

static void check_count(size_t count, const char *call)
{
	MISUSE(!count, call, "there is no future to wait for");
	MISUSE(count > SENNIT_FUTURE_WAIT_MAX, call,
	       "more than SENNIT_FUTURE_WAIT_MAX futures");
}

int sennit_future_wait_any_until(sennit_future *const futures[], size_t count,
				 size_t *which, sennit_time deadline)
{
	check_count(count, "sennit_future_wait_any_until");
	return wait_any(futures, count, which, deadline);
}

int sennit_future_wait_any(sennit_future *const futures[], size_t count)
{
	size_t which;
	int    err;

	check_count(count, "sennit_future_wait_any");
	err = wait_any(futures, count, &which, SENNIT_NEVER);
	return err ? err : (int)which;
}

int sennit_future_wait_all_until(sennit_future *const futures[], size_t count,
				 sennit_time deadline)
{
	size_t i;
	int    err = 0;

	for (i = 0; i < count && !err; i++)
		err = wait_until(futures[i], deadline);
	return err;
}

int sennit_future_wait_all(sennit_future *const futures[], size_t count)
{
	return KEEP_FRAME(
		sennit_future_wait_all_until(futures, count, SENNIT_NEVER));
}

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
#include "sync/wait_any.h"
#include "sennit/future.h"
#include "sennit/task.h"

#include <errno.h>

#define SET WAIT_QUEUE_OWN

_Static_assert(sizeof(sennit_future) ==
		       2 * sizeof(uint32_t) + 5 * sizeof(void *),
	       "a future has no nameless bytes");

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

static ALWAYS_INLINE bool future_is_set(const sennit_future *f)
{
	/* <- wait_queue.unlock */
	bool set = a_load_acq(&f->state_) & SET;

	if (set)
		sn_race_acquire(f);
	return set;
}

bool sennit_future_is_set(const sennit_future *f)
{
	return future_is_set(f);
}

/* --- continuations ------------------------------------------------------ */

/* The continuations that a call runs on its own stack:
 *
 *	outermost call    runs the first one on its stack; then those that have
 *	                  come meanwhile, and so on
 *	call within it    adds its own behind them, and returns
 *
 * So a chain of futures that set each other needs one frame, and no memory. A
 * task that runs on the stack of its waiter has an identity of its own, and is
 * not within a call of the waiter.
 */
struct sequels {
	const void          *identity; /* of the outermost call */
	sennit_continuation *last;     /* a ring; NULL: none */
};

/* Of calls outside of fibers. */
static _Thread_local struct sequels *of_thread
	__attribute__((tls_model("initial-exec")));

/* Where the running fiber, or the thread, has its outermost call; it stays
 * valid if the thread binds or unbinds meanwhile. */
static struct sequels **outermost_sequels(void)
{
	struct worker *w = sn_self;

	return w && w->home.current != &w->main ? &w->home.current->sequels
						: &of_thread;
}

static sennit_continuation *take_first_continuation(sennit_continuation **last)
{
	sennit_continuation *c = (*last)->next_;

	if (c == *last)
		*last = NULL;
	else
		(*last)->next_ = c->next_;
	return c;
}

/* Put the ring, which is not empty, behind those of *last. */
static void append_continuations(sennit_continuation **last,
				 sennit_continuation  *ring)
{
	if (*last) {
		sennit_continuation *first = (*last)->next_;

		(*last)->next_ = ring->next_;
		ring->next_ = first;
	}
	*last = ring;
}

/* From the call of run on, the record belongs to its owner again. */
static void run_continuation(void *record)
{
	const sennit_continuation *c = record;

	sn_race_acquire(c);
	c->run(c->argument, c->value_, c->error_);
}

/* Returns false if the caller must run it. */
static bool start_continuation_task(sennit_continuation *c)
{
	sennit_scheduler *s = c->scheduler;
	const sennit_task task = { .run = run_continuation, .argument = c };

	if (!s)
		return !(c->flags & SENNIT_CONTINUATION_INLINE) && sn_self &&
		       !sennit_schedule(run_continuation, c);
	if (sennit_schedule_task_on(s, &task))
		return false;
	sennit_scheduler_release(s); /* the reference of sennit_future_then() */
	return true;
}

static void run_continuation_here(sennit_continuation *c)
{
	sennit_scheduler *s = c->scheduler;

	run_continuation(c);
	if (s)
		sennit_scheduler_release(s);
}

/* Start those of the ring, in order, up to the first that the caller must run.
 * Returns the ring from there on. */
static sennit_continuation *start_continuation_tasks(sennit_continuation *last)
{
	sennit_continuation *c, *next;

	while (last) {
		c = last->next_; /* may be gone once it has started */
		next = c->next_;
		if (!start_continuation_task(c))
			break;
		if (c == last)
			last = NULL;
		else
			last->next_ = next;
	}
	return last;
}

/* No exception may leave a continuation: others would never run. */
static NOINLINE void run_in_order(sennit_continuation *last)
{
	struct sequels **at = outermost_sequels(), *outer = *at;
	struct sequels   mine = { sn_wait_identity(), last };

	ARCH_BARRIER();
	if (outer && outer->identity == mine.identity) {
		append_continuations(&outer->last, last);
		return;
	}
	*at = &mine;
	while (mine.last) {
		sennit_continuation *c = take_first_continuation(&mine.last);

		if (!start_continuation_task(c))
			run_continuation_here(c);
	}
	*at = outer;
}

/* Start the continuations of a ring, which is given by its last member; NULL
 * for none. */
static void start_continuations(sennit_continuation *last, void *value,
				int error)
{
	sennit_continuation *c = last;

	if (!last)
		return;
	do {
		c = c->next_;
		c->value_ = value;
		c->error_ = error;
	} while (c != last);
	last = start_continuation_tasks(last);
	if (last)
		run_in_order(last);
}

/* Add c to the continuations of f. Returns false if f is set. */
static bool attach_continuation(sennit_future *f, sennit_continuation *c)
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
	if (c->scheduler) /* released in start_continuation_task() */
		sennit_scheduler_retain(c->scheduler);
	sn_race_release(c);
	if (attach_continuation(f, c))
		return;
	sn_race_acquire(f);
	c->next_ = c;
	start_continuations(c, f->value_, f->error_);
}

/* --- setting ------------------------------------------------------------ */

/* Returns false if it was already set. */
static bool settle_future(sennit_future *f, void *value, int error)
{
	sennit_continuation *last;
	struct link         *waiters;
	uint32_t             word;

	if (future_is_set(f))
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
	start_continuations(last, value, error);
	return true;
}

void sennit_future_set(sennit_future *f, void *value)
{
	MISUSE(!settle_future(f, value, 0), "sennit_future_set",
	       "the future is already set");
}

void sennit_future_set_error(sennit_future *f, int error)
{
	MISUSE(error >= 0, "sennit_future_set_error",
	       "an error must be negative");
	MISUSE(!settle_future(f, NULL, error), "sennit_future_set_error",
	       "the future is already set");
}

int sennit_future_try_set(sennit_future *f, void *value)
{
	return settle_future(f, value, 0) ? 0 : -EALREADY;
}

int sennit_future_try_set_error(sennit_future *f, int error)
{
	MISUSE(error >= 0, "sennit_future_try_set_error",
	       "an error must be negative");
	return settle_future(f, NULL, error) ? 0 : -EALREADY;
}

/* --- setting by a task -------------------------------------------------- */

struct promise {
	sennit_future    *future;
	sennit_future_fn *run;
	void             *argument;
};

static void fulfil_promise(void *copy)
{
	const struct promise *p = copy;
	void                 *value = NULL;
	int                   error = p->run(p->argument, &value);

	MISUSE(error > 0, "sennit_future_spawn",
	       "the function returned a positive number");
	MISUSE(!settle_future(p->future, error ? NULL : value, error),
	       "sennit_future_spawn", "the future is already set");
}

int sennit_future_spawn(sennit_future *f, sennit_future_fn *run, void *argument)
{
	const struct promise p = { f, run, argument };

	SPAWN_CALL();
	MISUSE(!sn_self, "sennit_future_spawn",
	       "no scheduler is bound to this thread");
	MISUSE(future_is_set(f), "sennit_future_spawn",
	       "the future is already set");
	if (!run)
		return -EINVAL;
	return sennit_schedule_copy(fulfil_promise, &p, sizeof(p));
}

int sennit_future_spawn_on(sennit_future *f, sennit_scheduler *s,
			   sennit_future_fn *run, void *argument)
{
	const struct promise p = { f, run, argument };

	SPAWN_CALL();
	MISUSE(future_is_set(f), "sennit_future_spawn_on",
	       "the future is already set");
	if (!run)
		return -EINVAL;
	return sennit_schedule_copy_on(s, fulfil_promise, &p, sizeof(p));
}

/* --- waiting ------------------------------------------------------------ */

static ALWAYS_INLINE int wait_for_future(sennit_future *f, sennit_time deadline)
{
	struct waiter *n;
	uint32_t       word;

	if (future_is_set(f))
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
	return wait_for_future(f, deadline);
}

int sennit_future_wait(sennit_future *f)
{
	return wait_for_future(f, SENNIT_NEVER);
}

static ALWAYS_INLINE int get_until(sennit_future *f, void **value,
				   sennit_time deadline)
{
	int err = wait_for_future(f, deadline);

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

static struct wait_any_queue future_queue_of(const void *futures, size_t i)
{
	sennit_future *f = ((sennit_future *const *)futures)[i];

	return (struct wait_any_queue){ &f->state_, &f->waiters_ };
}

/* The future stays set. */
static uint32_t future_word_after(const void *futures, size_t i, uint32_t word)
{
	(void)futures;
	(void)i;
	return word;
}

/* The index of the first future that is set; `count` if none is. */
static size_t find_set(sennit_future *const futures[], size_t count)
{
	size_t i = 0;

	while (i < count && !future_is_set(futures[i]))
		i++;
	return i;
}

static int wait_any(sennit_future *const futures[], size_t count, size_t *which,
		    sennit_time deadline)
{
	size_t i = find_set(futures, count), unused;

	if (!which)
		which = &unused;
	if (i < count) {
		*which = i;
		return 0;
	}
	if (!deadline)
		return -ETIMEDOUT;
	return sn_wait_any(&(struct wait_any){ .objects = futures,
					       .count = count,
					       .first = futures[0],
					       .queue = future_queue_of,
					       .passed = future_word_after },
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

int sennit_future_wait_any(sennit_future *const futures[], size_t count,
			   size_t *which)
{
	check_count(count, "sennit_future_wait_any");
	return wait_any(futures, count, which, SENNIT_NEVER);
}

int sennit_future_wait_all_until(sennit_future *const futures[], size_t count,
				 sennit_time deadline)
{
	size_t i;
	int    err = 0;

	for (i = 0; i < count && !err; i++)
		err = wait_for_future(futures[i], deadline);
	return err;
}

int sennit_future_wait_all(sennit_future *const futures[], size_t count)
{
	return KEEP_FRAME(
		sennit_future_wait_all_until(futures, count, SENNIT_NEVER));
}

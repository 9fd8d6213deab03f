/* SPDX-License-Identifier: Apache-2.0 */
#include "base/deterministic_turns.h"

#include "base/seeded_random.h"

#ifdef SENNIT_DETERMINISTIC

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Nanoseconds between two points, at most; and when the clock begins: late
 * enough that what is some time ago is not below zero. */
#define STEP  UINT32_C(1000)
#define BEGIN UINT64_C(1000000000000)

/* One point in so many lets the first deadline come early. */
#define JUMPS 128

/* How long, of the system's time, whoever has the turn may do other things than
 * call us before it is taken away. */
#define ABSENCE_MS 300

/* All that follows, and every struct turn, is under this lock. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct turn *first, **last = &first;
static struct turn *holder; /* of the turn; NULL: nobody who takes part runs */
static uint64_t     points; /* how often the holder has called us */

static uint64_t             seed;
static struct seeded_random chance;
static uint64_t             now = BEGIN;
static uint64_t             passed;
static uint32_t             patience; /* one point in so many passes the turn */

static void (*explain)(void *context);
static void *explain_context;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t  leaving;

static _Thread_local struct turn *mine;

/* --- chance ------------------------------------------------------------- */

static void plant(uint64_t value)
{
	seed = value;
	sn_seeded_random_init(&chance, value);
	/* Some bugs want many changes, some long runs between few. */
	patience = 1u << sn_seeded_random_below(&chance, 6);
	now = BEGIN;
	passed = 0;
}

/* --- saying ------------------------------------------------------------- */

static void say(const char *text)
{
	if (write(STDERR_FILENO, text, strlen(text)) < 0)
		return; /* nowhere to say it */
}

/* Whatever aborts the process, a failed assertion of the program's too, the
 * seed is worth knowing. */
static void aborting(int number)
{
	char text[64];

	snprintf(text, sizeof(text),
		 "sennit: this run again: SENNIT_SEED=%" PRIu64 "\n", seed);
	say(text);
	signal(number, SIG_DFL);
	raise(number);
}

void sn_turn_explain(void (*what)(void *context), void *context)
{
	explain = what;
	explain_context = context;
}

void sn_turn_forget(const void *context)
{
	if (explain_context == context)
		explain = NULL;
}

/* The explanation may come back to us: it finds itself runnable. */
_Noreturn static void all_sleep_for_ever(struct turn *self)
{
	void (*say_more)(void *) = explain;

	say("sennit: deadlock: every thread waits, and nothing will wake "
	    "one\n");
	explain = NULL;
	self->state = TURN_RUNNABLE;
	pthread_mutex_unlock(&lock);
	if (say_more)
		say_more(explain_context);
	abort();
}

/* --- who is next -------------------------------------------------------- */

/* The sleeper whose deadline is first; NULL: none has one. */
static struct turn *first_due(void)
{
	struct turn *due = NULL;

	for (struct turn *t = first; t; t = t->next)
		if (t->state == TURN_WAITING && t->deadline <= INT64_MAX &&
		    (!due || t->deadline < due->deadline))
			due = t;
	return due;
}

/* Let those go whose deadline has passed, and those who wait for an end. */
static uint32_t count_runnable(void)
{
	uint32_t count = 0;

	for (struct turn *t = first; t; t = t->next) {
		if (t->state == TURN_WAITING && t->deadline <= now) {
			t->in_time = false;
			t->state = TURN_RUNNABLE;
		} else if (t->state == TURN_JOINING &&
			   t->joined->state == TURN_ENDED) {
			t->state = TURN_RUNNABLE;
		}
		count += t->state == TURN_RUNNABLE;
	}
	return count;
}

/* NULL: all that are left sleep for ever, or are absent. */
static struct turn *choose(void)
{
	uint32_t     count = count_runnable();
	struct turn *due;

	if (!count) {
		due = first_due();
		if (!due)
			return NULL;
		now = due->deadline;
		count = count_runnable();
	}
	count = sn_seeded_random_below(&chance, count);
	for (struct turn *t = first;; t = t->next)
		if (t->state == TURN_RUNNABLE && !count--)
			return t;
}

static bool is_anyone(enum turn_state state)
{
	for (struct turn *t = first; t; t = t->next)
		if (t->state == state)
			return true;
	return false;
}

static void give(struct turn *next)
{
	holder = next;
	if (!next)
		return;
	next->taken = false;
	sem_post(&next->go);
}

/* --- taking turns ------------------------------------------------------- */

/* The holder has not called us since this was last asked: then it waits for
 * something that we do not see, perhaps for us. Unless it has yet to wake for
 * its turn: that takes as long as the system likes. */
static void lose_patience(struct turn *t)
{
	struct turn *next;

	if (holder && holder->taken && t->seen == points) {
		holder->state = TURN_ABSENT;
		next = choose();
		if (next)
			give(next);
		else
			holder->state = TURN_RUNNABLE;
	}
	t->seen = points;
}

/* Until the turn is ours. */
static void await(struct turn *t)
{
	struct timespec until;

	while (holder != t) {
		pthread_mutex_unlock(&lock);
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += ABSENCE_MS * 1000000L;
		until.tv_sec += until.tv_nsec / 1000000000L;
		until.tv_nsec %= 1000000000L;
		while (sem_timedwait(&t->go, &until) && errno == EINTR)
			continue;
		pthread_mutex_lock(&lock);
		if (holder != t)
			lose_patience(t);
	}
	t->taken = true;
}

/* Hand the turn to whom chance says, who may be the caller. */
void sn_turn_pass(struct turn *self)
{
	struct turn *next = choose();

	if (next == self)
		return;
	if (!next && self->state != TURN_ENDED && !is_anyone(TURN_ABSENT))
		all_sleep_for_ever(self);
	passed++;
	give(next);
	if (self->state != TURN_ENDED)
		await(self);
}

/* --- coming and going --------------------------------------------------- */

void sn_turn_enlist(struct turn *t)
{
	t->next = NULL;
	*last = t;
	last = &t->next;
}

static void leave(void *turn)
{
	struct turn *self = turn;

	pthread_mutex_lock(&lock);
	self->state = TURN_ENDED;
	if (holder == self)
		sn_turn_pass(self);
	pthread_mutex_unlock(&lock);
}

static void before_fork(void)
{
	pthread_mutex_lock(&lock);
}

static void in_parent(void)
{
	pthread_mutex_unlock(&lock);
}

/* The others are not in the child. */
static void in_child(void)
{
	first = mine;
	last = &first;
	holder = mine;
	if (mine)
		sn_turn_enlist(mine);
	pthread_mutex_unlock(&lock);
}

static void prepare(void)
{
	const char *text = getenv("SENNIT_SEED");

	plant(text ? strtoull(text, NULL, 0) : 1);
	if (pthread_key_create(&leaving, leave) ||
	    pthread_atfork(before_fork, in_parent, in_child))
		abort();
	signal(SIGABRT, aborting);
}

struct turn *sn_turn_make(void)
{
	struct turn *t = calloc(1, sizeof(*t));

	if (!t || sem_init(&t->go, 0, 0))
		abort();
	return t;
}

/* The calling thread, with the turn and the lock. */
struct turn *sn_turn_enter(void)
{
	struct turn *t = mine;

	if (!t) { /* not of our starting */
		pthread_once(&once, prepare);
		t = mine = sn_turn_make();
		t->thread = pthread_self();
		pthread_setspecific(leaving, t);
		pthread_mutex_lock(&lock);
		sn_turn_enlist(t);
	} else {
		pthread_mutex_lock(&lock);
	}
	if (holder != t && t->state != TURN_ENDED) {
		t->state = TURN_RUNNABLE;
		if (!holder)
			holder = t;
		await(t);
	}
	points++;
	return t;
}

void sn_turn_let_others(struct turn *self)
{
	struct turn *due;

	if (self->state == TURN_ENDED)
		return; /* its thread-specific data is being taken down */
	now += 1 + sn_seeded_random_below(&chance, STEP);
	if (!sn_seeded_random_below(&chance, JUMPS) && (due = first_due()) &&
	    due->deadline > now)
		now = due->deadline;
	if (!sn_seeded_random_below(&chance, patience))
		sn_turn_pass(self);
}

void *sn_turn_run(void *turn)
{
	struct turn *t = turn;
	void        *result;

	mine = t;
	pthread_mutex_lock(&lock);
	await(t);
	pthread_mutex_unlock(&lock);
	result = t->run(t->argument);
	leave(t);
	return result;
}

void sn_turn_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

/* --- what there is ------------------------------------------------------ */

void sn_turn_free(struct turn *t)
{
	sem_destroy(&t->go);
	free(t);
}

struct turn *sn_turn_first(void)
{
	return first;
}

void sn_turn_begin(struct turn *self, uint64_t value)
{
	struct turn *next;

	for (struct turn *t = first; t; t = next) {
		next = t->next;
		if (t != self)
			sn_turn_free(t);
	}
	last = &first;
	sn_turn_enlist(self);
	plant(value);
}

uint64_t sn_turn_seed(void)
{
	return seed;
}

uint64_t sn_turn_passed(void)
{
	return passed;
}

uint64_t sn_turn_now(void)
{
	return now;
}

uint32_t sn_turn_random(uint32_t limit)
{
	return sn_seeded_random_below(&chance, limit);
}

#endif

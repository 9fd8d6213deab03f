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

/* The maximum time between two points, in ns, and the initial time, which is
 * large enough that times in the recent past are not negative. */
#define STEP  UINT32_C(1000)
#define BEGIN UINT64_C(1000000000000)

/* One of this many points jumps to the earliest deadline. */
#define JUMPS 128

/* How long, in the system's time, the thread that has the turn may stay away
 * from the library before it loses the turn. */
#define ABSENCE_MS 300

/* Protects everything below, and every struct turn. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct turn *first, **last = &first;
static struct turn *holder; /* the thread with the turn; NULL: none */
static uint64_t     points; /* calls of the library by the holder */

static uint64_t             seed;
static struct seeded_random chance;
static uint64_t             now = BEGIN;
static uint64_t             passed;
static uint32_t             patience; /* average number of points per pass */

static void (*explain)(void *context);
static void *explain_context;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t  leaving;

static _Thread_local struct turn *mine;

/* --- random choices ----------------------------------------------------- */

static void plant(uint64_t value)
{
	seed = value;
	sn_seeded_random_init(&chance, value);
	/* Some bugs need many passes, others few. */
	patience = 1u << sn_seeded_random_below(&chance, 6);
	now = BEGIN;
	passed = 0;
}

/* --- messages ----------------------------------------------------------- */

static void say(const char *text)
{
	if (write(STDERR_FILENO, text, strlen(text)) < 0)
		return; /* the message cannot be written */
}

/* Print the seed at every abort, also after a failed assert of the program. */
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

/* The explanation may call the library: this thread is then runnable. */
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

/* --- the choice of the next thread -------------------------------------- */

/* The waiting thread with the earliest deadline. NULL: none has a deadline. */
static struct turn *first_due(void)
{
	struct turn *due = NULL;

	for (struct turn *t = first; t; t = t->next)
		if (t->state == TURN_WAITING && t->deadline <= INT64_MAX &&
		    (!due || t->deadline < due->deadline))
			due = t;
	return due;
}

/* Make the threads runnable whose deadline has passed, or whose joined thread
 * has ended. Returns the number of runnable threads. */
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

/* NULL: all threads that are left wait for ever, or are absent. */
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

/* If the holder has not called the library since the previous check, it waits
 * for something that the library does not see, perhaps for this thread: take
 * the turn away. Exception: a holder that has not yet woken for its turn,
 * because the system may take any time for that. */
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

/* Wait until *t, the calling thread, has the turn. */
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

/* Pass the turn to a thread that the seed chooses, perhaps the caller. */
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

/* --- joining and leaving ------------------------------------------------ */

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

/* The child has no other threads. */
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

/* Wait until the calling thread has the turn, and take the lock. */
struct turn *sn_turn_enter(void)
{
	struct turn *t = mine;

	if (!t) { /* a thread that the library did not start */
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
		return; /* its thread-specific data is being destroyed */
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

/* --- access ------------------------------------------------------------- */

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

/* SPDX-License-Identifier: Apache-2.0 */
#include "base/torture.h"

#ifdef SENNIT_DETERMINISTIC

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* --- turns -------------------------------------------------- */

/* The turns of a deterministic run: one thread runs, the others wait until the
 * seed gives them the turn. One lock protects everything; sn_turn_enter takes
 * it. */

enum turn_state {
	TURN_RUNNABLE,
	TURN_WAITING, /* waits on a word */
	TURN_JOINING,
	TURN_ABSENT, /* lost the turn while it did something outside the
		      * library */
	TURN_ENDED
};

struct turn {
	struct turn    *next; /* in the list of all threads, in order of
			       * arrival */
	sem_t           go;   /* posted when the thread gets the turn */
	enum turn_state state;
	bool            taken;    /* the thread has noticed that it has the
				   * turn */
	bool            in_time;  /* TURN_WAITING: a wake came before the
				   * deadline */
	const uint32_t *word;     /* TURN_WAITING: the word */
	uint64_t        deadline; /* TURN_WAITING */
	struct turn    *joined;   /* TURN_JOINING */
	uint64_t        seen;     /* `points` at the last check for an absent
				   * holder */
	pthread_t       thread;
	void *(*run)(void *);
	void *argument;
};

/* Allocate the record of a thread that is to be started. It is not on the list
 * before sn_turn_enlist. */
struct turn *sn_turn_make(void);
void         sn_turn_free(struct turn *t);
void         sn_turn_enlist(struct turn *t);

/* The main function of such a thread: it runs run(argument) when it has the
 * turn, and then ends. */
void *sn_turn_run(void *turn);

/* Wait until the calling thread has the turn, and take the lock. */
struct turn *sn_turn_enter(void);
void         sn_turn_unlock(void);

/* Pass the turn to the thread that the seed chooses, which may be the
 * caller. */
void sn_turn_pass(struct turn *self);

/* Advance the clock a little, and perhaps pass the turn. */
void sn_turn_let_others(struct turn *self);

/* The list of all threads that take part, including ended ones, in order of
 * arrival. */
struct turn *sn_turn_first(void);

/* Forget all other threads, which have ended, and begin a new run with this
 * seed. */
void sn_turn_begin(struct turn *self, uint64_t seed);

uint64_t sn_turn_seed(void);   /* changes only when a run begins with one
			        * thread */
uint64_t sn_turn_passed(void); /* the number of times that the turn has
			        * passed */
uint64_t sn_turn_now(void);
uint32_t sn_turn_random(uint32_t limit);

/* See sn_deterministic_explain and sn_deterministic_forget. */
void sn_turn_explain(void (*what)(void *context), void *context);
void sn_turn_forget(const void *context);

/* --- threads ------------------------------------------------------------ */

int sn_deterministic_start(pthread_t *out, void *(*run)(void *), void *argument)
{
	struct turn *self = sn_turn_enter();
	struct turn *t = sn_turn_make();
	int          err;

	t->run = run;
	t->argument = argument;
	err = pthread_create(&t->thread, NULL, sn_turn_run, t);
	if (err) {
		sn_turn_free(t);
	} else {
		*out = t->thread;
		sn_turn_enlist(t);
		sn_turn_let_others(self);
	}
	sn_turn_unlock();
	return err;
}

/* --- what threads do ---------------------------------------------------- */

/* Whether all other threads have ended, so that nothing refers to them. */
static bool is_alone(const struct turn *self)
{
	for (const struct turn *t = sn_turn_first(); t; t = t->next)
		if (t != self && t->state != TURN_ENDED)
			return false;
	return true;
}

void sn_deterministic_begin(uint64_t value)
{
	struct turn *self = sn_turn_enter();

	while (!is_alone(self))
		sn_turn_pass(self);
	sn_turn_begin(self, value);
	sn_turn_unlock();
}

uint64_t sn_deterministic_seed(void)
{
	return sn_turn_seed();
}

uint64_t sn_deterministic_passed(void)
{
	uint64_t count;

	sn_turn_enter();
	count = sn_turn_passed();
	sn_turn_unlock();
	return count;
}

uint32_t sn_deterministic_random(uint32_t limit)
{
	uint32_t value;

	sn_turn_enter();
	value = sn_turn_random(limit);
	sn_turn_unlock();
	return value;
}

uint64_t sn_deterministic_now(void)
{
	uint64_t time;

	sn_turn_enter();
	time = sn_turn_now();
	sn_turn_unlock();
	return time;
}

void sn_deterministic_point(void)
{
	int saved = errno;

	sn_turn_let_others(sn_turn_enter());
	sn_turn_unlock();
	errno = saved;
}

bool sn_deterministic_wait(const uint32_t *word, uint32_t expected,
			   uint64_t deadline)
{
	int          saved = errno;
	struct turn *self = sn_turn_enter();
	bool         in_time = true;

	if (self->state != TURN_ENDED &&
	    __atomic_load_n(word, __ATOMIC_ACQUIRE) == expected) {
		self->word = word;
		self->deadline = deadline;
		self->in_time = true;
		self->state = TURN_WAITING;
		sn_turn_pass(self);
		in_time = self->in_time;
	}
	sn_turn_unlock();
	errno = saved;
	return in_time;
}

static void make_runnable(const uint32_t *word, bool all)
{
	for (struct turn *t = sn_turn_first(); t; t = t->next) {
		if (t->state != TURN_WAITING || t->word != word)
			continue;
		t->state = TURN_RUNNABLE;
		if (!all)
			break;
	}
}

void sn_deterministic_wake(const uint32_t *word, bool all)
{
	struct turn *self = sn_turn_enter();

	make_runnable(word, all);
	sn_turn_let_others(self);
	sn_turn_unlock();
}

void sn_deterministic_end_sleep(const uint32_t *word)
{
	sn_turn_enter();
	make_runnable(word, true);
	sn_turn_unlock();
}

int sn_deterministic_join(pthread_t thread)
{
	struct turn *self = sn_turn_enter();
	struct turn *other = NULL;

	/* Use the last thread with this id, because the system reuses ids. */
	for (struct turn *t = sn_turn_first(); t; t = t->next)
		if (pthread_equal(t->thread, thread))
			other = t;
	if (other && other->state != TURN_ENDED) {
		self->joined = other;
		self->state = TURN_JOINING;
		sn_turn_pass(self);
	}
	sn_turn_unlock();
	return pthread_join(thread, NULL);
}

void sn_deterministic_explain(void (*explain)(void *context), void *context)
{
	sn_turn_explain(explain, context);
}

void sn_deterministic_forget(const void *context)
{
	sn_turn_forget(context);
}

void sn_deterministic_lock(pthread_mutex_t *mutex)
{
	while (pthread_mutex_trylock(mutex))
		sn_deterministic_point();
}

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

/* SPDX-License-Identifier: Apache-2.0 */
/* determinism.c - deterministic builds: one thread runs at a time, and the seed
 * chooses the next one. */
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

struct thread_turn {
	struct thread_turn *next; /* in the list of all threads, in order of
			       * arrival */
	sem_t               go;   /* posted when the thread gets the turn */
	enum turn_state     state;
	bool                taken;    /* the thread has noticed that it has the
				   * turn */
	bool                in_time;  /* TURN_WAITING: a wake came before the
				   * deadline */
	const uint32_t     *word;     /* TURN_WAITING: the word */
	uint64_t            deadline; /* TURN_WAITING */
	struct thread_turn *joined;   /* TURN_JOINING */
	int64_t             priority; /* if the seed chooses by priority */
	uint32_t            stayed;   /* points since it got the turn */
	uint64_t            seen; /* `points` at the last check for an absent
				   * holder */
	pthread_t           thread;
	void *(*run)(void *);
	void *argument;
};

/* Allocate the record of a thread that is to be started. It is not on the list
 * before sn_turn_enlist. */
struct thread_turn *sn_turn_make(void);
void                sn_turn_free(struct thread_turn *t);
void                sn_turn_enlist(struct thread_turn *t);

/* The main function of such a thread: it runs run(argument) when it has the
 * turn, and then ends. */
void *sn_turn_run(void *turn);

/* Wait until the calling thread has the turn, and take the lock. */
struct thread_turn *sn_turn_enter(void);
void                sn_turn_unlock(void);

/* Pass the turn to the thread that the seed chooses, which may be the
 * caller. */
void sn_turn_pass(struct thread_turn *self);

/* Let all other threads run before the caller, if they can. */
void sn_turn_wait(struct thread_turn *self);

/* Advance the clock a little, and perhaps pass the turn. */
void sn_turn_let_others(struct thread_turn *self);

/* The list of all threads that take part, including ended ones, in order of
 * arrival. */
struct thread_turn *sn_turn_first(void);

/* Forget all other threads, which have ended, and begin a new run with this
 * seed. */
void sn_turn_begin(struct thread_turn *self, uint64_t seed);

uint64_t sn_turn_seed(void);   /* changes only when a run begins with one
			        * thread */
uint64_t sn_turn_passed(void); /* the number of times that the turn has
			        * passed */
uint64_t sn_turn_now(void);
uint32_t sn_turn_random(uint32_t limit);

/* See sn_deterministic_explain, sn_deterministic_forget and
 * sn_deterministic_watch. */
void sn_turn_explain(void (*what)(void *context), void *context);
void sn_turn_forget(const void *context);
void sn_turn_watch(sn_idle_watch *what, void *context);

/* --- threads ------------------------------------------------------------ */

int sn_deterministic_start(pthread_t *out, void *(*run)(void *), void *argument)
{
	struct thread_turn *self = sn_turn_enter();
	struct thread_turn *t = sn_turn_make();
	int                 err;

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
static bool is_alone(const struct thread_turn *self)
{
	for (const struct thread_turn *t = sn_turn_first(); t; t = t->next)
		if (t != self && t->state != TURN_ENDED)
			return false;
	return true;
}

void sn_deterministic_begin(uint64_t value)
{
	struct thread_turn *self = sn_turn_enter();

	while (!is_alone(self))
		sn_turn_wait(self);
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
	int                 saved = errno;
	struct thread_turn *self = sn_turn_enter();
	bool                in_time = true;

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
	for (struct thread_turn *t = sn_turn_first(); t; t = t->next) {
		if (t->state != TURN_WAITING || t->word != word)
			continue;
		t->state = TURN_RUNNABLE;
		if (!all)
			break;
	}
}

void sn_deterministic_wake(const uint32_t *word, bool all)
{
	struct thread_turn *self = sn_turn_enter();

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
	struct thread_turn *self = sn_turn_enter();
	struct thread_turn *other = NULL;

	/* Use the last thread with this id, because the system reuses ids. */
	for (struct thread_turn *t = sn_turn_first(); t; t = t->next)
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

void sn_deterministic_watch(sn_idle_watch *watch, void *context)
{
	sn_turn_enter();
	sn_turn_watch(watch, context);
	sn_turn_unlock();
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

/* One seed of this many chooses by priority: the runnable thread of the highest
 * priority runs, and at a few random points the thread that runs gets the
 * lowest of all. That finds orders in which one thread stays behind for long
 * (PCT: S. Burckhardt and others, "A Randomized Scheduler with Probabilistic
 * Guarantees of Finding Bugs", 2010). A thread that has passed STAY points gets
 * the lowest too, because it may spin until another one runs. */
#define BY_PRIORITY 4
#define STAY        256

/* How long, in the system's time, the thread that has the turn may stay away
 * from the library before it loses the turn. */
#define ABSENCE_MS 300

/* Protects everything below, and every struct thread_turn. */
static pthread_mutex_t turn_lock = PTHREAD_MUTEX_INITIALIZER;

static struct thread_turn *first_turn, **last_turn = &first_turn;
static struct thread_turn *holder; /* the thread with the turn; NULL: none */
static uint64_t            points; /* calls of the library by the holder */

static uint64_t             seed;
static struct seeded_random chance;
static uint64_t             now = BEGIN;
static uint64_t             turn_passes;
static uint32_t             patience; /* average number of points per pass */
static bool                 by_priority;
static int64_t              lowest; /* priority of a thread so far */

typedef void explain_fn(void *context);

static explain_fn    *turn_explain;
static sn_idle_watch *turn_watch;
static void          *explain_context, *watch_context;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t  leaving;

static _Thread_local struct thread_turn *mine;

/* --- random choices ----------------------------------------------------- */

static void apply_seed(uint64_t value)
{
	seed = value;
	sn_seeded_random_init(&chance, value);
	/* Some bugs need many passes, others few. */
	patience = 1u << sn_seeded_random_below(&chance, 6);
	by_priority = !sn_seeded_random_below(&chance, BY_PRIORITY);
	lowest = 0;
	now = BEGIN;
	turn_passes = 0;
}

static void set_priority(struct thread_turn *t)
{
	t->priority = 1 + (int64_t)sn_seeded_random_below(&chance, UINT32_MAX);
}

static void demote(struct thread_turn *t)
{
	t->priority = --lowest;
	t->stayed = 0;
}

/* --- messages ----------------------------------------------------------- */

static void write_to_stderr(const char *text)
{
	if (write(STDERR_FILENO, text, strlen(text)) < 0)
		return; /* the message cannot be written */
}

/* Print the seed at every abort, also after a failed assert of the program. */
static void aborting(int number)
{
	char text[64];

	snprintf(text, sizeof(text),
		 "sennit: repeat this run with SENNIT_SEED=%" PRIu64 "\n",
		 seed);
	write_to_stderr(text);
	signal(number, SIG_DFL);
	raise(number);
}

void sn_turn_explain(void (*what)(void *context), void *context)
{
	turn_explain = what;
	explain_context = context;
}

void sn_turn_forget(const void *context)
{
	if (explain_context == context)
		turn_explain = NULL;
}

void sn_turn_watch(sn_idle_watch *what, void *context)
{
	turn_watch = what;
	watch_context = context;
}

/* The explanation may call the library, so this thread is runnable. */
_Noreturn static void abort_on_deadlock(struct thread_turn *self)
{
	void (*say_more)(void *) = turn_explain;

	write_to_stderr(
		"sennit: deadlock: every thread waits, and nothing will wake "
		"one\n");
	turn_explain = NULL;
	self->state = TURN_RUNNABLE;
	pthread_mutex_unlock(&turn_lock);
	if (say_more)
		say_more(explain_context);
	abort();
}

/* --- the choice of the next thread -------------------------------------- */

/* The waiting thread with the earliest deadline. NULL: none has a deadline. */
static struct thread_turn *first_due(void)
{
	struct thread_turn *due = NULL;

	for (struct thread_turn *t = first_turn; t; t = t->next)
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

	for (struct thread_turn *t = first_turn; t; t = t->next) {
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

static bool is_anyone(enum turn_state state)
{
	for (struct thread_turn *t = first_turn; t; t = t->next)
		if (t->state == state)
			return true;
	return false;
}

static struct thread_turn *highest_priority(void)
{
	struct thread_turn *best = NULL;

	for (struct thread_turn *t = first_turn; t; t = t->next)
		if (t->state == TURN_RUNNABLE &&
		    (!best || t->priority > best->priority))
			best = t;
	return best;
}

/* Choose a runnable thread. NULL: all threads that are left wait forever, or
 * are absent. */
static struct thread_turn *choose_turn(void)
{
	uint32_t            count = count_runnable();
	struct thread_turn *due;

	if (!count) {
		if (turn_watch && !is_anyone(TURN_ABSENT))
			turn_watch(watch_context, now);
		due = first_due();
		if (!due)
			return NULL;
		now = due->deadline;
		count = count_runnable();
	}
	if (by_priority)
		return highest_priority();
	count = sn_seeded_random_below(&chance, count);
	for (struct thread_turn *t = first_turn;; t = t->next)
		if (t->state == TURN_RUNNABLE && !count--)
			return t;
}

static void give_turn(struct thread_turn *next)
{
	holder = next;
	if (!next)
		return;
	next->stayed = 0;
	next->taken = false;
	sem_post(&next->go);
}

/* --- taking turns ------------------------------------------------------- */

/* If the holder has not called the library since the previous check, it waits
 * for something that the library does not see, perhaps for this thread: take
 * the turn away. Exception: a holder that has not yet woken for its turn,
 * because the system may take any time for that. */
static void check_absent_holder(struct thread_turn *t)
{
	struct thread_turn *next;

	if (holder && holder->taken && t->seen == points) {
		holder->state = TURN_ABSENT;
		next = choose_turn();
		if (next)
			give_turn(next);
		else
			holder->state = TURN_RUNNABLE;
	}
	t->seen = points;
}

/* Wait until *t, the calling thread, has the turn. */
static void await_turn(struct thread_turn *t)
{
	struct timespec until;

	while (holder != t) {
		pthread_mutex_unlock(&turn_lock);
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += ABSENCE_MS * 1000000L;
		until.tv_sec += until.tv_nsec / 1000000000L;
		until.tv_nsec %= 1000000000L;
		while (sem_timedwait(&t->go, &until) && errno == EINTR)
			continue;
		pthread_mutex_lock(&turn_lock);
		if (holder != t)
			check_absent_holder(t);
	}
	t->taken = true;
}

/* Pass the turn to a thread that the seed chooses, perhaps the caller. */
void sn_turn_pass(struct thread_turn *self)
{
	struct thread_turn *next = choose_turn();

	if (next == self)
		return;
	if (!next && self->state != TURN_ENDED && !is_anyone(TURN_ABSENT))
		abort_on_deadlock(self);
	turn_passes++;
	give_turn(next);
	if (self->state != TURN_ENDED)
		await_turn(self);
}

void sn_turn_wait(struct thread_turn *self)
{
	demote(self);
	sn_turn_pass(self);
}

/* --- joining and leaving ------------------------------------------------ */

void sn_turn_enlist(struct thread_turn *t)
{
	t->next = NULL;
	*last_turn = t;
	last_turn = &t->next;
	set_priority(t);
}

static void leave_turns(void *turn)
{
	struct thread_turn *self = turn;

	pthread_mutex_lock(&turn_lock);
	self->state = TURN_ENDED;
	if (holder == self)
		sn_turn_pass(self);
	pthread_mutex_unlock(&turn_lock);
}

static void lock_turns_before_fork(void)
{
	pthread_mutex_lock(&turn_lock);
}

static void unlock_turns_in_parent(void)
{
	pthread_mutex_unlock(&turn_lock);
}

/* The child has no other threads. */
static void reset_turns_in_child(void)
{
	first_turn = mine;
	last_turn = &first_turn;
	holder = mine;
	if (mine)
		sn_turn_enlist(mine);
	pthread_mutex_unlock(&turn_lock);
}

static void prepare_turns(void)
{
	const char *text = getenv("SENNIT_SEED");

	apply_seed(text ? strtoull(text, NULL, 0) : 1);
	if (pthread_key_create(&leaving, leave_turns) ||
	    pthread_atfork(lock_turns_before_fork, unlock_turns_in_parent,
			   reset_turns_in_child))
		abort();
	signal(SIGABRT, aborting);
}

struct thread_turn *sn_turn_make(void)
{
	struct thread_turn *t = calloc(1, sizeof(*t));

	if (!t || sem_init(&t->go, 0, 0))
		abort();
	return t;
}

/* Wait until the calling thread has the turn, and take the lock. */
struct thread_turn *sn_turn_enter(void)
{
	struct thread_turn *t = mine;

	if (!t) { /* a thread that the library did not start */
		pthread_once(&once, prepare_turns);
		t = mine = sn_turn_make();
		t->thread = pthread_self();
		pthread_setspecific(leaving, t);
		pthread_mutex_lock(&turn_lock);
		sn_turn_enlist(t);
	} else {
		pthread_mutex_lock(&turn_lock);
	}
	if (holder != t && t->state != TURN_ENDED) {
		t->state = TURN_RUNNABLE;
		if (!holder)
			holder = t;
		await_turn(t);
	}
	points++;
	return t;
}

void sn_turn_let_others(struct thread_turn *self)
{
	struct thread_turn *due;

	if (self->state == TURN_ENDED)
		return; /* its thread-specific data is being destroyed */
	now += 1 + sn_seeded_random_below(&chance, STEP);
	if (!sn_seeded_random_below(&chance, JUMPS) && (due = first_due()) &&
	    due->deadline > now)
		now = due->deadline;
	if (by_priority) {
		if (++self->stayed > STAY ||
		    !sn_seeded_random_below(&chance, 8 * patience))
			demote(self);
		sn_turn_pass(self);
	} else if (!sn_seeded_random_below(&chance, patience)) {
		sn_turn_pass(self);
	}
}

void *sn_turn_run(void *turn)
{
	struct thread_turn *t = turn;
	void               *result;

	mine = t;
	pthread_mutex_lock(&turn_lock);
	await_turn(t);
	pthread_mutex_unlock(&turn_lock);
	result = t->run(t->argument);
	leave_turns(t);
	return result;
}

void sn_turn_unlock(void)
{
	pthread_mutex_unlock(&turn_lock);
}

/* --- access ------------------------------------------------------------- */

void sn_turn_free(struct thread_turn *t)
{
	sem_destroy(&t->go);
	free(t);
}

struct thread_turn *sn_turn_first(void)
{
	return first_turn;
}

void sn_turn_begin(struct thread_turn *self, uint64_t value)
{
	struct thread_turn *next;

	for (struct thread_turn *t = first_turn; t; t = next) {
		next = t->next;
		if (t != self)
			sn_turn_free(t);
	}
	last_turn = &first_turn;
	apply_seed(value);
	sn_turn_enlist(self);
}

uint64_t sn_turn_seed(void)
{
	return seed;
}

uint64_t sn_turn_passed(void)
{
	return turn_passes;
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

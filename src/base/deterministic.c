/* SPDX-License-Identifier: Apache-2.0 */
#include "base/deterministic.h"

#ifdef SENNIT_DETERMINISTIC

#include <errno.h>
#include <inttypes.h>
#include <semaphore.h>
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

enum state {
	RUNNABLE,
	WAITING, /* on a word */
	JOINING,
	ABSENT, /* had the turn, and does something else */
	ENDED
};

struct turn {
	struct turn    *next; /* of all, first come first */
	sem_t           go;   /* the turn is given */
	enum state      state;
	bool            taken;    /* the turn: it has noticed that it has it */
	bool            in_time;  /* WAITING: woken, not by the deadline */
	const uint32_t *word;     /* WAITING */
	uint64_t        deadline; /* WAITING */
	struct turn    *joined;   /* JOINING */
	uint64_t        seen;     /* `points` when last impatient */
	pthread_t       thread;
	void *(*run)(void *);
	void *argument;
};

/* All that follows, and every struct turn, is under this lock. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct turn *first, **last = &first;
static struct turn *holder; /* of the turn; NULL: nobody who takes part runs */
static uint64_t     points; /* how often the holder has called us */

static uint64_t seed;
static uint64_t random_state;
static uint64_t now = BEGIN;
static uint64_t passed;
static uint32_t patience; /* one point in so many passes the turn */

static void (*explain)(void *context);
static void *explain_context;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t  leaving;

static _Thread_local struct turn *mine;

/* --- chance ------------------------------------------------------------- */

static uint32_t random_below(uint32_t limit)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32_t)(random_state * UINT64_C(0x2545f4914f6cdd1d) >> 32) %
	       limit;
}

static void plant(uint64_t value)
{
	seed = value;
	random_state = (value + 1) * UINT64_C(0x9e3779b97f4a7c15);
	if (!random_state)
		random_state = 1;
	/* Some bugs want many changes, some long runs between few. */
	patience = 1u << random_below(6);
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

void sn_deterministic_explain(void (*what)(void *context), void *context)
{
	explain = what;
	explain_context = context;
}

void sn_deterministic_forget(const void *context)
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
	self->state = RUNNABLE;
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
		if (t->state == WAITING && t->deadline <= INT64_MAX &&
		    (!due || t->deadline < due->deadline))
			due = t;
	return due;
}

/* Let those go whose deadline has passed, and those who wait for an end. */
static uint32_t count_runnable(void)
{
	uint32_t count = 0;

	for (struct turn *t = first; t; t = t->next) {
		if (t->state == WAITING && t->deadline <= now) {
			t->in_time = false;
			t->state = RUNNABLE;
		} else if (t->state == JOINING && t->joined->state == ENDED) {
			t->state = RUNNABLE;
		}
		count += t->state == RUNNABLE;
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
	count = random_below(count);
	for (struct turn *t = first;; t = t->next)
		if (t->state == RUNNABLE && !count--)
			return t;
}

static bool is_anyone(enum state state)
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
		holder->state = ABSENT;
		next = choose();
		if (next)
			give(next);
		else
			holder->state = RUNNABLE;
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
static void pass(struct turn *self)
{
	struct turn *next = choose();

	if (next == self)
		return;
	if (!next && self->state != ENDED && !is_anyone(ABSENT))
		all_sleep_for_ever(self);
	passed++;
	give(next);
	if (self->state != ENDED)
		await(self);
}

/* --- coming and going --------------------------------------------------- */

static void enlist(struct turn *t)
{
	t->next = NULL;
	*last = t;
	last = &t->next;
}

static void leave(void *turn)
{
	struct turn *self = turn;

	pthread_mutex_lock(&lock);
	self->state = ENDED;
	if (holder == self)
		pass(self);
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
		enlist(mine);
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

static struct turn *make(void)
{
	struct turn *t = calloc(1, sizeof(*t));

	if (!t || sem_init(&t->go, 0, 0))
		abort();
	return t;
}

/* The calling thread, with the turn and the lock. */
static struct turn *enter(void)
{
	struct turn *t = mine;

	if (!t) { /* not of our starting */
		pthread_once(&once, prepare);
		t = mine = make();
		t->thread = pthread_self();
		pthread_setspecific(leaving, t);
		pthread_mutex_lock(&lock);
		enlist(t);
	} else {
		pthread_mutex_lock(&lock);
	}
	if (holder != t && t->state != ENDED) {
		t->state = RUNNABLE;
		if (!holder)
			holder = t;
		await(t);
	}
	points++;
	return t;
}

static void let_others(struct turn *self)
{
	struct turn *due;

	if (self->state == ENDED)
		return; /* its thread-specific data is being taken down */
	now += 1 + random_below(STEP);
	if (!random_below(JUMPS) && (due = first_due()) && due->deadline > now)
		now = due->deadline;
	if (!random_below(patience))
		pass(self);
}

static void *run_in_turn(void *turn)
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

int sn_deterministic_start(pthread_t *out, void *(*run)(void *), void *argument)
{
	struct turn *self = enter();
	struct turn *t = make();
	int          err;

	t->run = run;
	t->argument = argument;
	err = pthread_create(&t->thread, NULL, run_in_turn, t);
	if (err) {
		sem_destroy(&t->go);
		free(t);
	} else {
		*out = t->thread;
		enlist(t);
		let_others(self);
	}
	pthread_mutex_unlock(&lock);
	return err;
}

/* --- what threads do ---------------------------------------------------- */

/* The others have ended, and nobody knows them any more. */
static bool is_alone(const struct turn *self)
{
	for (const struct turn *t = first; t; t = t->next)
		if (t != self && t->state != ENDED)
			return false;
	return true;
}

void sn_deterministic_begin(uint64_t value)
{
	struct turn *self = enter();
	struct turn *next;

	while (!is_alone(self))
		pass(self);
	for (struct turn *t = first; t; t = next) {
		next = t->next;
		if (t == self)
			continue;
		sem_destroy(&t->go);
		free(t);
	}
	last = &first;
	enlist(self);
	plant(value);
	pthread_mutex_unlock(&lock);
}

uint64_t sn_deterministic_seed(void)
{
	return seed; /* changes in sn_deterministic_begin alone */
}

uint64_t sn_deterministic_passed(void)
{
	uint64_t count;

	enter();
	count = passed;
	pthread_mutex_unlock(&lock);
	return count;
}

uint32_t sn_deterministic_random(uint32_t limit)
{
	uint32_t value;

	enter();
	value = random_below(limit);
	pthread_mutex_unlock(&lock);
	return value;
}

uint64_t sn_deterministic_now(void)
{
	uint64_t time;

	enter();
	time = now;
	pthread_mutex_unlock(&lock);
	return time;
}

void sn_deterministic_point(void)
{
	int saved = errno;

	let_others(enter());
	pthread_mutex_unlock(&lock);
	errno = saved;
}

bool sn_deterministic_wait(const uint32_t *word, uint32_t expected,
			   uint64_t deadline)
{
	int          saved = errno;
	struct turn *self = enter();
	bool         in_time = true;

	if (self->state != ENDED &&
	    __atomic_load_n(word, __ATOMIC_ACQUIRE) == expected) {
		self->word = word;
		self->deadline = deadline;
		self->in_time = true;
		self->state = WAITING;
		pass(self);
		in_time = self->in_time;
	}
	pthread_mutex_unlock(&lock);
	errno = saved;
	return in_time;
}

void sn_deterministic_wake(const uint32_t *word, bool all)
{
	struct turn *self = enter();

	for (struct turn *t = first; t; t = t->next) {
		if (t->state != WAITING || t->word != word)
			continue;
		t->state = RUNNABLE;
		if (!all)
			break;
	}
	let_others(self);
	pthread_mutex_unlock(&lock);
}

int sn_deterministic_join(pthread_t thread)
{
	struct turn *self = enter();
	struct turn *other = NULL;

	/* The last of that name: the system gives names anew. */
	for (struct turn *t = first; t; t = t->next)
		if (pthread_equal(t->thread, thread))
			other = t;
	if (other && other->state != ENDED) {
		self->joined = other;
		self->state = JOINING;
		pass(self);
	}
	pthread_mutex_unlock(&lock);
	return pthread_join(thread, NULL);
}

void sn_deterministic_lock(pthread_mutex_t *mutex)
{
	while (pthread_mutex_trylock(mutex))
		sn_deterministic_point();
}

#endif

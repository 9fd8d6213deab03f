/* SPDX-License-Identifier: Apache-2.0 */
/* machine.c - a machine of a few processors, on which one thread runs at a
 * time, and which counts the cache lines that move between them. */
#include "lines.h"

#include "base/torture.h"

#include <errno.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

/* What things take, in ns: about what they take on machines of today. No count
 * depends on one of them being exact. */
#define BEGIN    UINT64_C(1000000000000)
#define HIT      1
#define TRANSFER 60
#define POINT    20
#define WAKE     1000  /* of the waker's time */
#define WOKEN    30000 /* until the woken thread runs */
#define AHEAD    100   /* how far a clock may be ahead of the lowest one */

enum state { RUNNABLE, WAITING, JOINING, ENDED };

struct thread {
	sem_t           go;
	enum state      state;
	bool            in_time;
	uint64_t        clock;
	const uint32_t *word;     /* WAITING */
	uint64_t        deadline; /* WAITING */
	struct thread  *joined;   /* JOINING */
	unsigned        cache;    /* of its own while it lives */
	pthread_t       thread;
	void *(*run)(void *);
	void *argument;
};

static struct thread *threads[4096];
static unsigned       thread_count;
static bool           taken[LINES_CACHES];
static uint32_t       chance = 1;

static _Thread_local struct thread *mine;

static struct thread *make(uint64_t clock)
{
	struct thread *t = calloc(1, sizeof(*t));

	if (!t || thread_count == sizeof(threads) / sizeof(*threads) ||
	    sem_init(&t->go, 0, 0))
		abort();
	while (taken[t->cache])
		if (++t->cache == LINES_CACHES)
			abort();
	taken[t->cache] = true;
	t->clock = clock;
	threads[thread_count++] = t;
	return t;
}

/* The calling thread, which has the turn. The first caller is main. */
static struct thread *self_of_caller(void)
{
	if (!mine) {
		if (thread_count)
			abort(); /* a thread that the library did not start */
		mine = make(BEGIN);
	}
	return mine;
}

/* When the thread can go on; UINT64_MAX: not before another one has done
 * something. */
static uint64_t next_of(const struct thread *t)
{
	switch (t->state) {
	case RUNNABLE:
		return t->clock;
	case WAITING:
		if (t->deadline > INT64_MAX)
			return UINT64_MAX;
		return t->deadline > t->clock ? t->deadline : t->clock;
	case JOINING:
		if (t->joined->state == ENDED)
			return t->clock;
		return UINT64_MAX;
	default:
		return UINT64_MAX;
	}
}

static struct thread *choose(uint64_t *when)
{
	struct thread *lowest = NULL;

	*when = UINT64_MAX;
	for (unsigned i = 0; i < thread_count; i++) {
		uint64_t next = next_of(threads[i]);

		if (next < *when) {
			*when = next;
			lowest = threads[i];
		}
	}
	return lowest;
}

/* Let the thread go on whose turn it is, perhaps the caller. */
static void pass(struct thread *self)
{
	uint64_t       when;
	struct thread *next = choose(&when);

	if (!next) {
		fprintf(stderr, "cachelines: all threads wait for ever\n");
		abort();
	}
	next->in_time = next->state != WAITING;
	next->state = RUNNABLE;
	next->clock = when;
	if (next == self)
		return;
	sem_post(&next->go);
	if (self->state != ENDED)
		while (sem_wait(&self->go) && errno == EINTR)
			continue;
}

static void advance(struct thread *self, uint64_t ns)
{
	uint64_t lowest;

	if (self->state == ENDED)
		return; /* its thread-specific data is being destroyed */
	self->clock += ns;
	choose(&lowest);
	if (self->clock > lowest + AHEAD)
		pass(self);
}

void machine_access(const volatile void *address, size_t size, bool write,
		    uintptr_t pc)
{
	struct thread *self = mine;
	unsigned       moved;

	if (!self || self->state == ENDED)
		return;
	moved = lines_access(self->cache, (uintptr_t)address, size, write, pc);
	self->clock += HIT + moved * TRANSFER;
}

void machine_work(uint64_t ns)
{
	advance(self_of_caller(), ns);
}

/* --- base/torture.h ------------------------------------------------- */

static void *run(void *thread)
{
	struct thread *t = thread;
	void          *result;

	mine = t;
	while (sem_wait(&t->go) && errno == EINTR)
		continue;
	result = t->run(t->argument);
	t->state = ENDED;
	taken[t->cache] = false;
	pass(t);
	return result;
}

int sn_deterministic_start(pthread_t *out, void *(*what)(void *),
			   void      *argument)
{
	struct thread *self = self_of_caller();
	struct thread *t = make(self->clock + WOKEN);
	int            err;

	t->run = what;
	t->argument = argument;
	err = pthread_create(&t->thread, NULL, run, t);
	if (err)
		abort();
	*out = t->thread;
	advance(self, WAKE);
	return 0;
}

int sn_deterministic_join(pthread_t thread)
{
	struct thread *self = self_of_caller();

	for (unsigned i = thread_count; i--;) {
		if (!pthread_equal(threads[i]->thread, thread))
			continue;
		self->joined = threads[i];
		self->state = JOINING;
		pass(self);
		break;
	}
	return pthread_join(thread, NULL);
}

bool sn_deterministic_wait(const uint32_t *word, uint32_t expected,
			   uint64_t deadline)
{
	struct thread *self = self_of_caller();

	if (self->state == ENDED ||
	    __atomic_load_n(word, __ATOMIC_ACQUIRE) != expected)
		return true;
	self->word = word;
	self->deadline = deadline;
	self->state = WAITING;
	pass(self);
	return self->in_time;
}

static unsigned wake(const uint32_t *word, bool all, uint64_t now)
{
	unsigned woken = 0;

	for (unsigned i = 0; i < thread_count; i++) {
		struct thread *t = threads[i];

		if (t->state != WAITING || t->word != word)
			continue;
		t->state = RUNNABLE;
		t->clock = now + WOKEN;
		t->in_time = true;
		woken++;
		if (!all)
			break;
	}
	return woken;
}

void sn_deterministic_wake(const uint32_t *word, bool all)
{
	struct thread *self = self_of_caller();

	advance(self, wake(word, all, self->clock) ? WAKE : POINT);
}

void sn_deterministic_end_sleep(const uint32_t *word)
{
	wake(word, true, self_of_caller()->clock);
}

void sn_deterministic_point(void)
{
	advance(self_of_caller(), POINT);
}

void sn_deterministic_lock(pthread_mutex_t *lock)
{
	machine_access(lock, sizeof(*lock), true,
		       (uintptr_t)__builtin_return_address(0));
	while (pthread_mutex_trylock(lock))
		sn_deterministic_point();
}

uint64_t sn_deterministic_now(void)
{
	return self_of_caller()->clock;
}

uint32_t sn_deterministic_random(uint32_t limit)
{
	chance = chance * 1664525u + 1013904223u;
	return (uint32_t)((uint64_t)chance * limit >> 32);
}

uint64_t sn_deterministic_passed(void)
{
	return 0;
}

uint64_t sn_deterministic_seed(void)
{
	return 1;
}

void sn_deterministic_begin(uint64_t seed)
{
	chance = (uint32_t)seed;
}

void sn_deterministic_explain(void (*explain)(void *context), void *context)
{
	(void)explain;
	(void)context;
}

void sn_deterministic_forget(const void *context)
{
	(void)context;
}

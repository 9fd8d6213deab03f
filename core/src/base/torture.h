/* SPDX-License-Identifier: Apache-2.0 */
/* torture.h - random delays that make rare interleavings common, and runs in
 * which a seed chooses all of them.
 *
 * TORTURE_POINT() stands in each window that a protocol must survive: for
 * example between a store and the load that depends on it. In builds with
 * assertions, and with SENNIT_TORTURE_SEED in the environment, it sometimes
 * yields the CPU or delays the thread, for at most about 50 us. TORTURED() then
 * selects a tiny limit, so that tests reach it. Each thread has its own random
 * numbers, derived from the seed; 0 takes another seed each time. sn_panic
 * prints the seed. It makes the failure likely again, but not certain, because
 * the operating system still schedules the threads.
 *
 * In builds without assertions, and in those for helgrind, which takes relaxed
 * accesses for races, both are nothing. In the deterministic build
 * (see below) each point is a point of that scheduler, and limits are tiny.
 */
#ifndef SN_TORTURE_H
#define SN_TORTURE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef SENNIT_DETERMINISTIC
#define TORTURE_POINT() sn_deterministic_point()
#ifdef SENNIT_USUAL_LIMITS /* core/test/cachelines counts what programs do */
#define TORTURED(tiny, usual) (usual)
#else
#define TORTURED(tiny, usual) (tiny)
#endif

static inline uint64_t sn_torture_seed(void)
{
	return 0;
}
#elif !defined(NDEBUG) && !defined(SENNIT_HELGRIND)
#include <stdatomic.h>
#include <stdlib.h>

#define TORTURE_POINT()                     \
	do {                                \
		if (sn_torture_is_on())     \
			sn_torture_point(); \
	} while (0)
#define TORTURED(tiny, usual) (sn_torture_is_on() ? (tiny) : (usual))

/* Each file asks once: several libraries and tests use this, and have no
 * variable in common. */
static inline bool sn_torture_is_on(void)
{
	static atomic_int known; /* any: 0 at first, then 1: off, or 2: on */
	int is = atomic_load_explicit(&known, memory_order_relaxed);

	if (!is) {
		is = getenv("SENNIT_TORTURE_SEED") ? 2 : 1;
		atomic_store_explicit(&known, is, memory_order_relaxed);
	}
	return is == 2;
}

void sn_torture_point(void);

/* The value for SENNIT_TORTURE_SEED that repeats this run; 0: it is not
 * tortured. */
uint64_t sn_torture_seed(void);
#else
#define TORTURE_POINT()       ((void)0)
#define TORTURED(tiny, usual) (usual)

static inline uint64_t sn_torture_seed(void)
{
	return 0;
}
#endif

/* --- seeded random -------------------------------------------------------- */

/* Random numbers that a seed determines (xorshift64*). */

struct seeded_random {
	uint64_t state; /* not 0 */
};

static inline void sn_seeded_random_init(struct seeded_random *r, uint64_t seed)
{
	r->state = (seed + 1) * UINT64_C(0x9e3779b97f4a7c15);
	if (!r->state)
		r->state = 1;
}

/* A number below `limit`. */
static inline uint32_t sn_seeded_random_below(struct seeded_random *r,
					      uint32_t              limit)
{
	r->state ^= r->state << 13;
	r->state ^= r->state >> 7;
	r->state ^= r->state << 17;
	return (uint32_t)(r->state * UINT64_C(0x2545f4914f6cdd1d) >> 32) %
	       limit;
}

/* --- determinism ---------------------------------------------------------- */

/* A repeatable run: one thread runs at a time, a seed chooses which, and the
 * clock advances only when all threads wait (determinism.c).
 *
 *	runnable --chosen--> running --point--> runnable
 *	    ^                   |
 *	    +--woken, deadline-- waiting (on a word, for a thread's end)
 *
 * In builds with SENNIT_DETERMINISTIC every thread that reaches a point takes
 * part. A thread runs while it has the turn, and keeps the turn until its next
 * point. The points are TORTURE_POINT, spin loops and sleeps. At a point the
 * seed chooses the next thread. When all threads sleep, the clock jumps to the
 * earliest deadline. When there is no deadline, all threads are deadlocked: the
 * library reports that with the seed and aborts the process.
 *
 * This explores interleavings, but not the reorderings of weak memory models.
 *
 * A thread that the library did not start joins when the operating system runs
 * it. A run with such threads is only as repeatable as their arrival. A thread
 * that keeps the turn for long without calling the library (it joins a thread,
 * or reads a file) loses the turn until it comes back. The program then
 * continues, but the run may not be repeatable.
 */

#ifdef SENNIT_DETERMINISTIC

/* Begin a new run with this seed, and reset the clock. The caller must be the
 * only thread left that takes part. */
void sn_deterministic_begin(uint64_t seed);

/* The seed of this run: from sn_deterministic_begin, else from the environment
 * variable SENNIT_SEED, else 1. */
uint64_t sn_deterministic_seed(void);

/* The number of times that the turn has passed to another thread. */
uint64_t sn_deterministic_passed(void);

/* Let the seed decide whether another thread gets the turn. */
void sn_deterministic_point(void);

/* A random number below `limit`. */
uint32_t sn_deterministic_random(uint32_t limit);

/* The virtual clock, in nanoseconds. */
uint64_t sn_deterministic_now(void);

/* The deterministic forms of os_word_wait and os_word_wake_*. */
bool sn_deterministic_wait(const uint32_t *word, uint32_t expected,
			   uint64_t deadline);
void sn_deterministic_wake(const uint32_t *word, bool all);

/* Wake all that wait on the word. No point: the caller keeps the turn, and may
 * hold a lock. */
void sn_deterministic_end_sleep(const uint32_t *word);

/* The deterministic forms of pthread_create, pthread_join and
 * pthread_mutex_lock. */
int  sn_deterministic_start(pthread_t *out, void *(*run)(void *),
			    void      *argument);
int  sn_deterministic_join(pthread_t thread);
void sn_deterministic_lock(pthread_mutex_t *lock);

/* Register a function that the deadlock report calls. A later call replaces it.
 * sn_deterministic_forget removes it if it has this context. */
void sn_deterministic_explain(void (*explain)(void *context), void *context);
void sn_deterministic_forget(const void *context);

/* Register a function that is called whenever no thread can run, before the
 * clock jumps or the deadlock is reported. It must not call the library. NULL:
 * none. */
typedef void sn_idle_watch(void *context, uint64_t now);
void sn_deterministic_watch(sn_idle_watch *watch, void *context);

#else

static inline void sn_deterministic_explain(void (*explain)(void *context),
					    void *context)
{
	(void)explain;
	(void)context;
}

static inline void sn_deterministic_forget(const void *context)
{
	(void)context;
}

#endif

#endif

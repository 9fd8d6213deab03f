/* SPDX-License-Identifier: Apache-2.0 */
/* soak.h - random scenes over all primitives for any length of time, and a
 * ledger that shows whether anything was lost.
 *
 *	players   tasks that play one random scene after the other
 *	guests    threads that bind and unbind, enqueue from outside, start and
 *	          retire workers, create schedulers and release them
 *	scene     a few tasks, threads or both on fresh primitives; returns
 *	          when everything that it started is done
 *	ledger    counts of what went in and what came out, by kind; they are
 *	          equal in the end
 */
#ifndef SN_TEST_SOAK_H
#define SN_TEST_SOAK_H

#include "testing/random.h"
#include "base/compiler.h"
#include "sennit.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

/* --- the ledger --------------------------------------------------------- */

#define ACCOUNTS(X)         \
	X(tiny_tasks)       \
	X(forks)            \
	X(copies)           \
	X(background_tasks) \
	X(own_thread_tasks) \
	X(sleeps)           \
	X(local_values)     \
	X(blocking_calls)   \
	X(goods)            \
	X(writes)           \
	X(permits)          \
	X(arrivals)         \
	X(first_times)      \
	X(events)           \
	X(turns)            \
	X(loans)            \
	X(futures)          \
	X(continuations)    \
	X(values)           \
	X(notes)            \
	X(enqueued_tasks)   \
	X(bindings)         \
	X(schedulers)       \
	X(members)          \
	X(indices)          \
	X(sums)             \
	X(cards_sorted)     \
	X(nodes)            \
	X(branches)         \
	X(nested)

enum account {
#define ACCOUNT(name) name,
	ACCOUNTS(ACCOUNT)
#undef ACCOUNT
		ACCOUNT_COUNT
};

/* Events that are only counted. */
enum tally { timeouts, cancellations, failures, scenes, TALLY_COUNT };

void     book_in(enum account a, uint64_t n);
void     book_out(enum account a, uint64_t n);
void     count_one(enum tally t);
uint64_t tallied(enum tally t);

/* Print the ledger. Returns the number of accounts that do not balance. */
unsigned ledger_print(void);

/* A claim about a promise of the primitives. Prints and counts each claim that
 * does not hold. */
void     claim_at(bool holds, const char *what, const char *file, int line);
unsigned broken_claims(void);
#define CLAIM(what) claim_at((what), #what, __FILE__, __LINE__)

/* --- scenes ------------------------------------------------------------- */

typedef void scene_fn(uint64_t *random);
/* One of several tasks that work on a shared object. Each has its own random
 * numbers. */
typedef void part_fn(void *shared, uint64_t *random);

scene_fn scene_tiny, scene_tree, scene_copies, scene_background;
scene_fn scene_own_thread, scene_sleeps, scene_locals, scene_calls;
scene_fn scene_market, scene_rwlock, scene_semaphore, scene_barrier;
scene_fn scene_once, scene_notes, scene_events, scene_tickets, scene_pool;
scene_fn scene_futures, scene_channel, scene_select, scene_chain;
scene_fn scene_for, scene_sums, scene_sort, scene_dag, scene_forks,
	scene_nested;

/* Play a random scene. Call it from a task or a bound thread. */
void play_any(uint64_t *random);

/* Let n tasks play the part, and wait for them. They may be members of a group
 * that fails, times out or is cancelled. So a part that would retry a wait with
 * a deadline until it succeeds must check sennit_check_cancelled() first. */
void play_parts(part_fn *part, void *shared, uint32_t n, uint64_t *random);

void must_schedule(sennit_task_fn *run, void *argument);

/* A deadline that is near, past or never; mostly later than the awaited
 * event. */
sennit_time some_deadline(uint64_t *random);

/* Count err, which must be 0, a timeout or a cancel. Returns true for 0. */
bool went_well(int err);

/* --- guests ------------------------------------------------------------- */

struct guests;

/* Start threads of the program on *s, which has at most max_workers workers. */
struct guests *guests_invite(sennit_scheduler *s, uint32_t max_workers,
			     uint64_t seed);
/* Wait until all guests have left. */
void guests_see_off(struct guests *g);

#endif

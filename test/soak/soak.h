/* SPDX-License-Identifier: Apache-2.0 */
/* soak.h - random scenes over all primitives, for as long as one likes, and the
 * ledger that says whether anything was lost.
 *
 *	players   tasks that play one random scene after the other
 *	guests    threads that bind and unbind, enqueue from outside, start and
 *	          retire workers, found schedulers and let them go
 *	scene     a few tasks, threads or both on fresh primitives; returns when
 *	          all it has started is done
 *	ledger    what went in and what came out, by kind: equal in the end
 */
#ifndef SN_TEST_SOAK_H
#define SN_TEST_SOAK_H

#include "../random.h"
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

/* What is only counted. */
enum tally { timeouts, cancellations, failures, scenes, TALLY_COUNT };

void     book_in(enum account a, uint64_t n);
void     book_out(enum account a, uint64_t n);
void     count_one(enum tally t);
uint64_t tallied(enum tally t);

/* Print the ledger. Returns how many accounts do not agree. */
unsigned ledger_print(void);

/* A claim about what primitives promise; prints and counts those that do not
 * hold. */
void     claim_at(bool holds, const char *what, const char *file, int line);
unsigned broken_claims(void);
#define CLAIM(what) claim_at((what), #what, __FILE__, __LINE__)

/* --- scenes ------------------------------------------------------------- */

typedef void scene_fn(uint64_t *random);
/* One of several tasks on something shared, with randomness of its own. */
typedef void part_fn(void *shared, uint64_t *random);

scene_fn scene_tiny, scene_tree, scene_copies, scene_background;
scene_fn scene_own_thread, scene_sleeps, scene_locals, scene_calls;
scene_fn scene_market, scene_rwlock, scene_semaphore, scene_barrier;
scene_fn scene_once, scene_notes, scene_events, scene_tickets, scene_pool;
scene_fn scene_futures, scene_channel, scene_select, scene_chain;
scene_fn scene_for, scene_sums, scene_sort, scene_dag, scene_forks,
	scene_nested;

/* Play a scene by chance. From a task or a bound thread. */
void play_any(uint64_t *random);

/* Have n tasks play the part, and wait for them. They may be members of a group
 * that fails, times out or is cancelled: a part that would wait with a deadline
 * until it succeeds asks sennit_cancelled() first. */
void play_parts(part_fn *part, void *shared, uint32_t n, uint64_t *random);

void must_schedule(sennit_task_fn *run, void *argument);

/* Soon, now or never: mostly far enough away for what is waited for. */
sennit_time some_deadline(uint64_t *random);

/* Count err, which must be 0, a timeout or a cancelling; true for 0. */
bool went_well(int err);

/* --- guests ------------------------------------------------------------- */

struct guests;

/* Threads of the program's own on *s, which has at most max_workers. */
struct guests *guests_invite(sennit_scheduler *s, uint32_t max_workers,
			     uint64_t seed);
/* Wait until all have gone. */
void guests_see_off(struct guests *g);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* peer.h - the parts of a peer's program: its rows, the harness and main.c. The
 * rows have the names of sennit's rows, with the peer's name instead of the
 * variant, or before it: "W2-fib/tbb", "W8-sleep/tbb/cpu". The clock is
 * sennit's; sennit's scheduler is not started.
 *
 * A row is written as one would write it for that peer: with its own ways to
 * spawn, join and wait. Rows that it cannot express are left out. A peer that
 * needs microseconds per operation does fewer of them.
 */
#ifndef SN_BENCH_PEERS_PEER_H
#define SN_BENCH_PEERS_PEER_H

#include "harness.h"
#include "shapes.h"

#define SPAWNED     1000000
#define FIB         32
#define FIB_RESULT  2178309
#define FIB_SPAWNED 3524577
#define SKY_FAN_OUT 10
#define SKY_LEAVES  1000000
#define SKY_NODES   1111110
#define SKY_RESULT  (UINT64_C(999999) * 500000)
#define HAND_OVERS  2000000
#define ACROSS      400000 /* token passes between two workers */
#define RING        503
#define RING_ROUNDS 2000
#define LOCKERS     64
#define LOCK_PAIRS  10000
#define SLEEPERS    100000
#define ELEMENTS    10000000
#define PIECE       1000
#define SAMPLES     500
#define GAP         (2 * SENNIT_MILLISECOND)
#define TIMERS      1000000
#define STRIDE \
	611953 /* coprime to TIMERS: visits all, never two
			    * neighbours in a row */

SENNIT_BEGIN

/* Each program defines these. The rows end with one without a run function. */
extern const struct bench_row peer_rows[];
const char                   *peer_version(void);

/* The code that the main thread wakes calls this as soon as it runs. */
void ran_now(void);

/* Call wake() SAMPLES times, with the peer idle for GAP before each. Report the
 * time until ran_now() is called: median and 99th percentile. */
void sample_wakes(struct bench_run *r, void (*wake)(void));

/* Run run(r) in a process of its own, whose stacks are untouched. */
void run_afresh(struct bench_run *r, bench_fn *run);

/* Report how late the sleepers were, and the CPU time of each since `cpu`. */
void report_sleeps(struct bench_run *r, uint64_t late[], uint64_t cpu);

/* Report the resident bytes per operation above `before`. */
void report_memory(struct bench_run *r, uint64_t before);

SENNIT_END

/* How long a sleeper sleeps: every multiple of 1 ms up to 1 s equally often. */
static inline uint64_t delay_of(uint64_t sleeper)
{
	return SENNIT_MILLISECOND + sleeper * 7919 % SLEEPERS * 9990;
}

static inline void change(float *first)
{
	for (unsigned i = 0; i < PIECE; i++)
		first[i] = first[i] * 0.5f + 1.0f;
}

/* Set value[i] to the time per operation for a total of `total` ns. */
static inline void set_value(struct bench_run *r, unsigned i, uint64_t total)
{
	r->value[i] = (double)total / (double)r->n;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* peer.h - what the program of a peer is made of: its rows, the harness and
 * main.c. The rows have the names of ours, with the peer's in place of the
 * variant, or before it: "W2-fib/tbb", "W8-sleep/tbb/cpu". The clock is that of
 * sennit, whose scheduler is not started.
 *
 * A row is what one would write for that peer: its own ways to spawn, join and
 * wait. What it has no way for is left out. A peer that takes microseconds for
 * an operation does fewer of them.
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
#define ACROSS      400000 /* hand-overs between two workers */
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
#define STRIDE      611953 /* prime to TIMERS: visits all, no two neighbours */

SENNIT_BEGIN

/* Each program has these; the rows end with one that has no run. */
extern const struct bench_row peer_rows[];
const char                   *peer_version(void);

/* What the main thread wakes calls this as soon as it runs. */
void ran_now(void);

/* Call wake() SAMPLES times, the peer idle for GAP before each, and report what
 * passes until ran_now() is called: median and 99th percentile. */
void sample_wakes(struct bench_run *r, void (*wake)(void));

/* Do run(r) in a process of its own, where no stack was touched before. */
void run_afresh(struct bench_run *r, bench_fn *run);

/* Report how late sleepers were, and what CPU time each took since `cpu`. */
void report_sleeps(struct bench_run *r, uint64_t late[], uint64_t cpu);

/* Report the resident bytes per operation since it was `before`. */
void report_memory(struct bench_run *r, uint64_t before);

SENNIT_END

/* How long a sleeper sleeps: each millisecond step up to a second as often. */
static inline uint64_t delay_of(uint64_t sleeper)
{
	return SENNIT_MILLISECOND + sleeper * 7919 % SLEEPERS * 9990;
}

static inline void change(float *first)
{
	for (unsigned i = 0; i < PIECE; i++)
		first[i] = first[i] * 0.5f + 1.0f;
}

/* Set value[i] to `total` nanoseconds per operation. */
static inline void set_value(struct bench_run *r, unsigned i, uint64_t total)
{
	r->value[i] = (double)total / (double)r->n;
}

#endif

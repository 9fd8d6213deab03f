/* SPDX-License-Identifier: Apache-2.0 */
/* stopwatch.h - short times, cheaply: a counter of the processor, else the
 * clock.
 *
 * The rate of the counter is measured once in the process, against the clock.
 * The error is below a thousandth, which a histogram does not show.
 */
#ifndef SN_STOPWATCH_H
#define SN_STOPWATCH_H

#include "arch/arch.h"
#include "os/os.h"
#include "processor/product.h"

struct stopwatch {
	bool     ticks; /* whether the counter is used */
	uint64_t rate;  /* nanoseconds for 2^32 units */
};

/* Fixed after sn_stopwatch_prepare. */
extern struct stopwatch sn_stopwatch;

/* Whether arch_ticks measures time in this process. */
bool sn_stopwatch_has_ticks(void);

/* Measure the rate, unless that has been done. Takes up to a millisecond.
 * Whoever calls the functions below must have seen that it has returned. */
void sn_stopwatch_prepare(void);

/* The time in the stopwatch's units. Never 0. */
static inline uint64_t sn_stopwatch_read(void)
{
	return (likely(sn_stopwatch.ticks) ? arch_ticks() : os_now()) | 1;
}

/* The nanoseconds from one reading to a later one. 0 if the second one was
 * taken on another processor whose counter is behind. */
static inline uint64_t sn_stopwatch_between(uint64_t from, uint64_t to)
{
	if (unlikely((int64_t)(to - from) < 0))
		return 0;
	return product_32(to - from, sn_stopwatch.rate);
}

/* The units of a number of nanoseconds, with an error below a thousandth, and
 * in integers, because the running task may have unmasked floating-point
 * exceptions. UINT64_MAX for more than three days. */
static inline uint64_t sn_stopwatch_units(uint64_t ns)
{
	if (ns >> 48)
		return UINT64_MAX;
	return (ns << 16) / (sn_stopwatch.rate >> 16);
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/histogram.h"

#include "os/os.h"

/* Long enough that an error of some 50 ns at each end does not matter. */
#define MEASURED (500 * SENNIT_MICROSECOND)

/* The number of readings from which the best one is taken. */
#define STOPWATCH_TRIES 8

struct stopwatch sn_stopwatch;

struct moment {
	uint64_t    ticks;
	sennit_time time;
};

/* Read both clocks. If the thread is interrupted between the two readings, the
 * pair is wrong, so use the pair that was read fastest. */
static struct moment read_both_clocks(void)
{
	struct moment best = { .ticks = 0 };
	uint64_t      shortest = UINT64_MAX;

	for (int i = 0; i < STOPWATCH_TRIES; i++) {
		uint64_t    before = arch_ticks();
		sennit_time time = os_now();
		uint64_t    after = arch_ticks();

		if (after - before >= shortest)
			continue;
		shortest = after - before;
		best = (struct moment){ before + (after - before) / 2, time };
	}
	return best;
}

bool sn_stopwatch_has_ticks(void)
{
#ifdef SENNIT_DETERMINISTIC
	return false; /* time is virtual */
#else
	return arch_ticks_are_steady();
#endif
}

static void measure_tick_rate(void)
{
	struct moment begin, end;

	sn_stopwatch.rate = UINT64_C(1) << 32;
	if (!sn_stopwatch_has_ticks())
		return;
	begin = read_both_clocks();
	do
		end = read_both_clocks();
	while (end.time - begin.time < MEASURED);
	if (end.ticks <= begin.ticks)
		return;
	sn_stopwatch.rate = ((end.time - begin.time) << 32) /
			    (end.ticks - begin.ticks);
	sn_stopwatch.ticks = true;
}

void sn_stopwatch_prepare(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, measure_tick_rate);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - sennit-soak: hours of all primitives at the same time.
 *
 *	sennit-soak [--seconds N] [--seed S] [--workers N]
 *
 * Runs for one hour by default, times SENNIT_TEST_TIME. Prints its progress
 * every 10 seconds. Exits with 0 if nothing was lost, every claim held, and
 * memory did not grow. Memory is measured in 10 windows of equal length. The
 * peaks of the later 6 windows may exceed those of the third and fourth by at
 * most 10 % plus 8 MiB. This is checked for runs of 30 seconds or more, and not
 * with sanitizers, which keep freed memory.
 */
#include "soak.h"

#include <inttypes.h>
#include <unistd.h>

uint64_t random_seed;

enum {
	HOUR = 3600,
	PLAYERS = 12,
	WINDOWS = 10,
	WARM = 2,  /* windows before the plateau */
	LATER = 4, /* the first window after the plateau */
	LINE_EVERY = 10,
	PATIENCE = 120, /* seconds for running work to end */
	JUDGED_FROM = 30
};

#define MARGIN ((uint64_t)8 << 20)

#if defined(SN_ASAN) || defined(SN_TSAN)
#define MEMORY_IS_OURS 0
#else
#define MEMORY_IS_OURS 1
#endif

struct soak {
	sennit_scheduler *s;
	uint64_t          seed, seconds;
	uint32_t          workers;
	sennit_time       begin;
	atomic_bool       stop;
	atomic_uint       players;
	sennit_wait_group playing;
	uint64_t          peaks[WINDOWS]; /* of memory, in bytes */
};

static struct soak soak;

/* --- players ------------------------------------------------------------ */

/* Play one scene, then continue in another task, so that no player keeps a
 * worker from retiring. */
static void play(void *argument)
{
	uint64_t *random = argument;

	play_any(random);
	if (atomic_load(&soak.stop))
		sennit_wait_group_done(&soak.playing);
	else
		must_schedule(play, random);
}

static void begin_to_play(void)
{
	static uint64_t random[PLAYERS];
	uint64_t        seed = soak.seed;

	sennit_wait_group_init(&soak.playing, PLAYERS);
	for (unsigned i = 0; i < PLAYERS; i++) {
		const sennit_task t = { .run = play, .argument = &random[i] };

		random[i] = random_from(&seed);
		if (sennit_schedule_task_on(soak.s, &t))
			abort();
	}
}

/* --- progress ----------------------------------------------------------- */

static uint64_t memory_in_use(void)
{
	FILE         *f = fopen("/proc/self/statm", "re");
	unsigned long all, resident = 0;

	if (!f)
		return 0;
	if (fscanf(f, "%lu %lu", &all, &resident) != 2)
		resident = 0;
	fclose(f);
	return (uint64_t)resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

static uint64_t seconds_gone(void)
{
	return (sennit_now() - soak.begin) / SENNIT_SECOND;
}

static void note_memory(void)
{
	const uint64_t now = sennit_now() - soak.begin;
	const uint64_t all = soak.seconds * SENNIT_SECOND;
	const uint64_t window = now / (all / WINDOWS);
	const uint64_t bytes = memory_in_use();

	if (window < WINDOWS && bytes > soak.peaks[window])
		soak.peaks[window] = bytes;
}

static void ignore(void *count, const sennit_report_entry *entry)
{
	(void)entry;
	++*(uint64_t *)count;
}

static void print_line(void)
{
	sennit_stats stats = { .size = sizeof(stats) };
	uint64_t     reported = 0;

	sennit_scheduler_get_stats(soak.s, &stats);
	sennit_report_visit(soak.s, ignore, &reported);
	printf("%5" PRIu64 " s  %12" PRIu64 " tasks %10" PRIu64
	       " blocks %8" PRIu64 " timeouts %8" PRIu64 " cancelled %8" PRIu64
	       " failed  %5.1f MiB %4" PRIu64 " fibers %5" PRIu64 " stacks\n",
	       seconds_gone(), stats.tasks, stats.blocks, tallied(timeouts),
	       tallied(cancellations), tallied(failures),
	       (double)memory_in_use() / 1048576, stats.fibers, stats.stacks);
	fflush(stdout);
}

static void watch(void)
{
	uint64_t next_line = LINE_EVERY;

	while (sennit_now() < soak.begin + soak.seconds * SENNIT_SECOND) {
		sennit_sleep(250 * SENNIT_MILLISECOND);
		note_memory();
		if (seconds_gone() < next_line)
			continue;
		print_line();
		next_line += LINE_EVERY;
	}
}

/* --- the verdict -------------------------------------------------------- */

static uint64_t peak(unsigned from, unsigned to)
{
	uint64_t most = 0;

	for (unsigned i = from; i < to; i++)
		if (soak.peaks[i] > most)
			most = soak.peaks[i];
	return most;
}

static bool memory_is_flat(void)
{
	const uint64_t plateau = peak(WARM, LATER);
	const uint64_t later = peak(LATER, WINDOWS);
	const bool     judged = MEMORY_IS_OURS && soak.seconds >= JUDGED_FROM;
	const bool     flat = later <= plateau + plateau / 10 + MARGIN;

	printf("memory: %.1f MiB at first, %.1f MiB later: %s\n",
	       (double)plateau / 1048576, (double)later / 1048576,
	       !judged ? "not judged"
	       : flat  ? "flat"
		       : "IT GROWS");
	return flat || !judged;
}

/* Wait until all work has ended; otherwise print a report of the work that
 * remains. */
static bool all_ends(struct guests *guests)
{
	atomic_store(&soak.stop, true);
	if (!sennit_wait_group_wait_until(
		    &soak.playing, sennit_after(PATIENCE * SENNIT_SECOND))) {
		guests_see_off(guests);
		print_line();
		if (!sennit_scheduler_shutdown(
			    soak.s, sennit_after(PATIENCE * SENNIT_SECOND)))
			return true;
	}
	printf("IT DOES NOT END:\n");
	fflush(stdout);
	sennit_report_print(soak.s, STDOUT_FILENO);
	return false;
}

static int verdict(bool ended)
{
	const unsigned lost = ledger_print();
	const bool     flat = memory_is_flat();

	printf("%" PRIu64 " scenes, %u accounts with a loss, %u broken claims, "
	       "%s\n",
	       tallied(scenes), lost, broken_claims(),
	       ended && flat && !lost && !broken_claims() ? "all well"
							  : "FAILED");
	if (ended && flat && !lost && !broken_claims())
		return 0;
	printf("--seed %" PRIu64 "\n", soak.seed);
	return random_report(1);
}

/* --- the program -------------------------------------------------------- */

static bool read_options(int count, char **words)
{
	soak.seconds = HOUR;
	soak.seed = random_stream(0);
	soak.workers = 4;
	for (int i = 1; i < count; i += 2) {
		uint64_t n = i + 1 < count ? strtoull(words[i + 1], NULL, 0)
					   : 0;

		if (!strcmp(words[i], "--seconds") && n)
			soak.seconds = n;
		else if (!strcmp(words[i], "--seed") && n)
			soak.seed = n;
		else if (!strcmp(words[i], "--workers") && n &&
			 n <= SENNIT_WORKERS_MAX)
			soak.workers = (uint32_t)n;
		else
			return false;
	}
	soak.seconds = scaled(soak.seconds);
	return true;
}

int main(int count, char **words)
{
	struct guests *guests;

	if (!read_options(count, words)) {
		fprintf(stderr, "usage: sennit-soak [--seconds N] [--seed S] "
				"[--workers N]\n");
		return 2;
	}
	printf("%" PRIu64 " seconds, --seed %" PRIu64 " --workers %" PRIu32
	       "\n",
	       soak.seconds, soak.seed, soak.workers);
	fflush(stdout);
	if (sennit_scheduler_create(
		    &soak.s, SENNIT_CONFIG(.workers = soak.workers,
					   .name = "soak", .trace_events = 64)))
		abort();
	soak.begin = sennit_now();
	begin_to_play();
	guests = guests_invite(soak.s, soak.workers, soak.seed ^ 1);
	watch();
	return verdict(all_ends(guests));
}

/* SPDX-License-Identifier: Apache-2.0 */
/* suspects.c - with a clock of the test: each case that lasts too long causes
 * one line, everything else none. */
#include "../src/watchdog.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "testing/test.h"

#define MS SENNIT_MILLISECOND

static void a_task(void *argument)
{
	(void)argument;
}

/* `suspects` is the first member, so that free() of it frees all. */
struct watched {
	struct suspects         suspects;
	sennit_watchdog_options options;
	sennit_watchdog_wait    waits[4];
};

static struct suspects *watch_with(sennit_watchdog_options options)
{
	struct watched *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	if (options.wait_count)
		memcpy(w->waits, options.waits,
		       options.wait_count * sizeof(w->waits[0]));
	w->options = options;
	w->options.waits = w->waits;
	sn_suspects_init(&w->suspects, &w->options);
	return &w->suspects;
}

static struct suspects *watch(uint32_t task_ms, uint32_t ready_ms,
			      uint32_t call_ms)
{
	const sennit_watchdog_wait calls = { .size = sizeof(calls),
					     .kinds = SENNIT_WATCHDOG_KIND(
						     SENNIT_WAITS_FOR_CALL),
					     .ms = call_ms };

	return watch_with((sennit_watchdog_options){
		.size = sizeof(sennit_watchdog_options),
		.task_ms = task_ms,
		.ready_ms = ready_ms,
		.waits = &calls,
		.wait_count = 1 });
}

static sennit_report_entry entry(uint32_t state, uint32_t fiber, uint64_t turn)
{
	return (sennit_report_entry){ .state = state,
				      .thread = 7,
				      .fiber = fiber,
				      .task = a_task,
				      .turn = turn };
}

/* Nothing delays the look. */
static void begin(struct suspects *s, sennit_time now)
{
	sn_suspects_begin(s, now, SENNIT_NEVER);
}

/* Look once at `count` entries. Returns the number of lines. */
static unsigned look(struct suspects *s, sennit_time now,
		     const sennit_report_entry *entries, unsigned count)
{
	unsigned lines = 0;

	begin(s, now);
	for (unsigned i = 0; i < count; i++)
		sn_suspects_add(s, &entries[i]);
	while (sn_suspects_next(s))
		lines++;
	return lines;
}

TEST(a_line_comes_once_at_the_limit)
{
	const sennit_report_entry e = entry(SENNIT_REPORT_READY, 1, 5);
	struct suspects          *s = watch(0, 100, 0);

	assert_int_equal(look(s, 1, &e, 1), 0);
	assert_int_equal(look(s, 100 * MS, &e, 1), 0);
	assert_int_equal(look(s, 100 * MS + 1, &e, 1), 1);
	assert_int_equal(look(s, 500 * MS, &e, 1), 0);
	free(s);
}

TEST(another_turn_begins_anew)
{
	struct suspects *s = watch(100, 100, 100);

	for (uint64_t turn = 0; turn < 1000; turn++) {
		const sennit_report_entry e[] = {
			entry(SENNIT_REPORT_RUNNING, 1, turn / 2),
			entry(SENNIT_REPORT_READY, 2, turn / 2),
		};

		assert_int_equal(look(s, 1 + turn * 99 * MS, e, 2), 0);
	}
	free(s);
}

/* A worker in a long task does not check its timers. */
TEST(a_wait_past_its_deadline_is_as_ready)
{
	sennit_report_entry e[] = {
		entry(SENNIT_REPORT_RUNNING, 1, 5),
		entry(SENNIT_REPORT_BLOCKED, 2, 5),
	};
	struct suspects *s = watch(0, 100, 0);
	struct suspects *tasks = watch(100, 0, 0);

	e[1].waits_for = SENNIT_WAITS_FOR_TIME;
	e[1].deadline = 500 * MS;
	assert_int_equal(look(s, 1, e, 2), 0);
	assert_int_equal(look(s, 500 * MS, e, 2), 0);
	assert_int_equal(look(s, 510 * MS, e, 2), 0);
	assert_int_equal(look(s, 610 * MS, e, 2), 1);
	assert_int_equal(look(tasks, 1, e, 2), 0);
	assert_int_equal(look(tasks, 400 * MS, e, 2), 0);
	assert_int_equal(look(tasks, 501 * MS, e, 2), 1);
	e[1].deadline = SENNIT_NEVER;
	e[1].turn = 6;
	assert_int_equal(look(s, 2000 * MS, e, 2), 0);
	assert_int_equal(look(s, 2200 * MS, e, 2), 0);
	free(s);
	free(tasks);
}

TEST(what_was_gone_begins_anew)
{
	const sennit_report_entry e = entry(SENNIT_REPORT_READY, 1, 5);
	struct suspects          *s = watch(0, 100, 0);

	assert_int_equal(look(s, 1, &e, 1), 0);
	assert_int_equal(look(s, 90 * MS, &e, 0), 0);
	assert_int_equal(look(s, 150 * MS, &e, 1), 0);
	assert_int_equal(look(s, 260 * MS, &e, 1), 1);
	free(s);
}

TEST(a_task_may_run_while_nobody_waits_for_its_worker)
{
	sennit_report_entry e[] = {
		entry(SENNIT_REPORT_RUNNING, 1, 5),
		entry(SENNIT_REPORT_READY, 2, 5),
	};
	struct suspects *s = watch(100, 0, 0);

	assert_int_equal(look(s, 1, e, 1), 0);
	assert_int_equal(look(s, 900 * MS, e, 1), 0);
	e[1].thread = 8; /* on another worker */
	assert_int_equal(look(s, 950 * MS, e, 2), 0);
	e[1].thread = 7;
	assert_int_equal(look(s, 960 * MS, e, 2), 1);
	e[1] = (sennit_report_entry){ .state = SENNIT_REPORT_QUEUED,
				      .thread = 7,
				      .count = 1 };
	e[0].turn = 6;
	assert_int_equal(look(s, 970 * MS, e, 2), 0);
	assert_int_equal(look(s, 1070 * MS, e, 2), 1);
	free(s);
}

TEST(bound_threads_own_code_and_other_waits_are_not_watched)
{
	sennit_report_entry e[] = {
		entry(SENNIT_REPORT_RUNNING, 0, 5),
		entry(SENNIT_REPORT_READY, 2, 5),
		entry(SENNIT_REPORT_BLOCKED, 3, 5),
	};
	struct suspects *s = watch(100, 0, 100);

	e[0].task = NULL;
	e[2].waits_for = SENNIT_WAITS_FOR_EVENT;
	assert_int_equal(look(s, 1, e, 3), 0);
	assert_int_equal(look(s, 900 * MS, e, 3), 0);
	e[2].waits_for = SENNIT_WAITS_FOR_CALL;
	assert_int_equal(look(s, 901 * MS, e, 3), 0);
	assert_int_equal(look(s, 1001 * MS, e, 3), 1);
	free(s);
}

/* Each look finds 30 fibers that exceed the limit. */
TEST(lines_are_bounded_in_every_window)
{
	enum { FIBERS = 30, LOOKS = 400 };

	sennit_report_entry e[FIBERS];
	unsigned            lines[LOOKS];
	struct suspects    *s = watch(0, 1, 0);
	const unsigned      window = 100; /* looks */

	for (unsigned i = 0; i < LOOKS; i++) {
		unsigned sum = 0;

		for (unsigned f = 0; f < FIBERS; f++)
			e[f] = entry(SENNIT_REPORT_READY, f, i / 2);
		lines[i] = look(s, 1 + i * SENNIT_WATCHDOG_WINDOW / window, e,
				FIBERS);
		for (unsigned j = 0; j < window && j <= i; j++)
			sum += lines[i - j];
		assert_true(sum <= SENNIT_WATCHDOG_LINES);
		if (i == 1)
			assert_int_equal(sum, SENNIT_WATCHDOG_LINES);
	}
	free(s);
}

TEST(a_line_that_must_wait_comes_later)
{
	enum { FIBERS = SENNIT_WATCHDOG_LINES + 1 };

	sennit_report_entry e[FIBERS];
	struct suspects    *s = watch(0, 1, 0);

	for (unsigned f = 0; f < FIBERS; f++)
		e[f] = entry(SENNIT_REPORT_READY, f, 1);
	assert_int_equal(look(s, 1, e, FIBERS), 0);
	assert_int_equal(look(s, 2 * MS, e, FIBERS), SENNIT_WATCHDOG_LINES);
	assert_int_equal(look(s, 3 * MS, e, FIBERS), 0);
	assert_int_equal(look(s, 2 * MS + SENNIT_WATCHDOG_WINDOW, e, FIBERS),
			 1);
	free(s);
}

TEST(more_fibers_than_are_watched_do_no_harm)
{
	enum { FIBERS = 3 * SENNIT_WATCHDOG_FIBERS };

	sennit_report_entry *e = calloc(FIBERS, sizeof(*e));
	struct suspects     *s = watch(0, 1, 0);

	assert_non_null(e);
	for (unsigned f = 0; f < FIBERS; f++)
		e[f] = entry(SENNIT_REPORT_READY, f, 1);
	assert_int_equal(look(s, 1, e, FIBERS), 0);
	assert_int_equal(look(s, 2 * MS, e, FIBERS), SENNIT_WATCHDOG_LINES);
	free(e);
	free(s);
}

/* --- waits --------------------------------------------------------------- */

static sennit_report_entry waiting(uint32_t waits_for, uint32_t fiber,
				   uintptr_t object)
{
	sennit_report_entry e = entry(SENNIT_REPORT_BLOCKED, fiber, 1);

	e.waits_for = waits_for;
	e.object = (const void *)object;
	e.deadline = SENNIT_NEVER;
	return e;
}

/* Return the number of findings about one wait that lasts for 10 s. */
static unsigned findings(sennit_watchdog_options options, sennit_report_entry e)
{
	struct suspects *s = watch_with(options);
	unsigned         n = look(s, 1, &e, 1) + look(s, 9000 * MS, &e, 1) +
		     look(s, 10000 * MS, &e, 1);

	free(s);
	return n;
}

static unsigned findings_of(sennit_watchdog_wait wait, uint32_t waits_for)
{
	return findings(
		(sennit_watchdog_options){
			.size = sizeof(sennit_watchdog_options),
			.waits = &wait,
			.wait_count = 1 },
		waiting(waits_for, 3, 64));
}

TEST(sleep_io_and_calls_have_no_limit_unless_they_are_named)
{
	const sennit_watchdog_wait all = { .size = sizeof(all), .ms = 100 };
	const uint32_t exempt[] = { SENNIT_WAITS_FOR_TIME, SENNIT_WAITS_FOR_IO,
				    SENNIT_WAITS_FOR_CALL,
				    SENNIT_WAITS_FOR_WORK };
	unsigned       found = 0;

	for (uint32_t kind = 1; kind <= SENNIT_WAITS_FOR_MEMBERS; kind++)
		found += findings_of(all, kind);
	assert_int_equal(found, SENNIT_WAITS_FOR_MEMBERS - 4);
	for (unsigned i = 0; i < 4; i++) {
		const sennit_watchdog_wait named = {
			.size = sizeof(named),
			.ms = 100,
			.kinds = SENNIT_WATCHDOG_KIND(exempt[i])
		};

		assert_int_equal(findings_of(all, exempt[i]), 0);
		assert_int_equal(findings_of(named, exempt[i]), 1);
	}
}

TEST(a_limit_is_for_its_kinds_only)
{
	const sennit_watchdog_wait locks = { .size = sizeof(locks),
					     .kinds = SENNIT_WATCHDOG_LOCKS,
					     .ms = 100 };

	assert_int_equal(findings_of(locks, SENNIT_WAITS_FOR_MUTEX), 1);
	assert_int_equal(findings_of(locks, SENNIT_WAITS_FOR_RWLOCK), 1);
	assert_int_equal(findings_of(locks, SENNIT_WAITS_FOR_ONCE), 1);
	assert_int_equal(findings_of(locks, SENNIT_WAITS_FOR_CHANNEL), 0);
}

static void another_task(void *argument)
{
	(void)argument;
}

TEST(a_limit_is_for_its_tasks_only)
{
	const sennit_watchdog_wait waits[] = {
		{ .name = "may wait", .ms = 0 },
		{ .name = "query", .ms = 100000 },
		{ .task = another_task, .ms = 100 },
		{ .name = "short", .ms = 100 },
	};
	const sennit_watchdog_options o = { .size = sizeof(o),
					    .waits = waits,
					    .wait_count = 4 };
	sennit_report_entry e = waiting(SENNIT_WAITS_FOR_CHANNEL, 3, 64);

	assert_int_equal(findings(o, e), 0); /* no name */
	e.name = "short";
	assert_int_equal(findings(o, e), 1);
	e.name = "query";
	assert_int_equal(findings(o, e), 0);
	e.task = another_task;
	e.name = "may wait";
	assert_int_equal(findings(o, e), 0);
	e.name = "other";
	assert_int_equal(findings(o, e), 1);
}

TEST(waits_for_one_object_are_one_finding_as_long_as_one_lasts)
{
	enum { FIBERS = 100 };

	const sennit_watchdog_wait    all = { .size = sizeof(all), .ms = 100 };
	const sennit_watchdog_options o = { .size = sizeof(o),
					    .waits = &all,
					    .wait_count = 1 };
	struct suspects              *s = watch_with(o);
	sennit_report_entry           e[FIBERS + 1];

	for (unsigned i = 0; i < FIBERS; i++)
		e[i] = waiting(SENNIT_WAITS_FOR_MUTEX, i, 64);
	e[FIBERS] = waiting(SENNIT_WAITS_FOR_MUTEX, FIBERS, 128);
	assert_int_equal(look(s, 1, e, FIBERS - 1), 0);
	assert_int_equal(look(s, 200 * MS, e, FIBERS), 1);
	/* The last one came later, and the first ones have ended. */
	assert_int_equal(look(s, 400 * MS, e + 50, FIBERS - 50), 0);
	assert_int_equal(look(s, 500 * MS, e + 99, 2), 0);
	assert_int_equal(look(s, 700 * MS, e + 99, 2), 1);
	/* none that exceeded its limit is left */
	assert_int_equal(look(s, 800 * MS, e, 1), 0);
	assert_int_equal(look(s, 900 * MS, e, 1), 1);
	free(s);
}

/* --- standstill ----------------------------------------------------------- */

static struct suspects *watch_standstill(void)
{
	return watch_with((sennit_watchdog_options){
		.size = sizeof(sennit_watchdog_options),
		.standstill_ms = 100 });
}

static bool stands_still(struct suspects *s, sennit_time now,
			 const sennit_report_entry *e, unsigned count,
			 uint32_t workers)
{
	assert_int_equal(look(s, now, e, count), 0);
	return sn_suspects_stand_still(s, workers);
}

static void fill_running(sennit_report_entry *e, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		e[i] = entry(SENNIT_REPORT_RUNNING, i, 5);
		e[i].thread = 100 + i;
		e[i].worker = i;
	}
}

TEST(a_standstill_is_told_once_until_a_worker_goes_on)
{
	struct suspects    *s = watch_standstill();
	sennit_report_entry e[4];

	fill_running(e, 4);
	assert_false(stands_still(s, 1, e, 4, 4));
	assert_false(stands_still(s, 99 * MS, e, 4, 4));
	assert_true(stands_still(s, 101 * MS, e, 4, 4));
	assert_false(stands_still(s, 900 * MS, e, 4, 4));
	e[2].turn++;
	assert_false(stands_still(s, 1000 * MS, e, 4, 4));
	assert_false(stands_still(s, 1099 * MS, e, 4, 4));
	assert_true(stands_still(s, 1101 * MS, e, 4, 4));
	free(s);
}

TEST(no_standstill_while_one_worker_goes_on_or_is_idle)
{
	struct suspects    *s = watch_standstill();
	sennit_report_entry e[4];

	fill_running(e, 4);
	for (unsigned i = 0; i < 50; i++) {
		e[i % 4].turn++;
		assert_false(stands_still(s, 1 + i * 30 * MS, e, 4, 4));
	}
	for (unsigned i = 0; i < 50; i++)
		assert_false(stands_still(s, (2000 + i * 30) * MS, e, 3, 4));
	assert_false(stands_still(s, 9000 * MS, e, 0, 4));
	assert_false(stands_still(s, 9900 * MS, e, 0, 0));
	free(s);
}

TEST(bound_threads_and_waiting_fibers_are_no_stuck_workers)
{
	struct suspects    *s = watch_standstill();
	sennit_report_entry e[2];

	fill_running(e, 2);
	e[1].worker = SENNIT_REPORT_BOUND;
	assert_false(stands_still(s, 1, e, 2, 2));
	assert_false(stands_still(s, 900 * MS, e, 2, 2));
	e[1].worker = 1;
	e[1].state = SENNIT_REPORT_BLOCKED;
	e[1].waits_for = SENNIT_WAITS_FOR_IO;
	assert_false(stands_still(s, 1000 * MS, e, 2, 2));
	assert_false(stands_still(s, 1900 * MS, e, 2, 2));
	free(s);
}

/* --- deadlocks ------------------------------------------------------------ */

static bool is_told(struct suspects *s, sennit_time now, uint64_t turn)
{
	const sennit_report_entry e = entry(SENNIT_REPORT_BLOCKED, 3, turn);
	sennit_time               lasted = 0;

	begin(s, now);
	if (!sn_suspects_begin_deadlocks(s))
		return false;
	return turn && sn_suspects_add_deadlock(s, &e, &lasted);
}

TEST(a_deadlock_is_told_once_at_its_limit)
{
	struct suspects *s = watch_with((sennit_watchdog_options){
		.size = sizeof(sennit_watchdog_options), .deadlock_ms = 100 });

	assert_false(is_told(s, 1, 5));
	assert_false(is_told(s, 60 * MS, 5));
	assert_true(is_told(s, 110 * MS, 5));
	assert_false(is_told(s, 300 * MS, 5));
	/* It is resolved, and happens again. */
	assert_false(is_told(s, 400 * MS, 0));
	assert_false(is_told(s, 500 * MS, 5));
	assert_true(is_told(s, 600 * MS + 1, 5));
	/* Another deadlock of the same fiber. */
	assert_false(is_told(s, 700 * MS, 6));
	assert_true(is_told(s, 801 * MS, 6));
	free(s);
}

TEST(looks_for_deadlocks_are_rare_where_looks_are_frequent)
{
	struct suspects *s = watch_with((sennit_watchdog_options){
		.size = sizeof(sennit_watchdog_options),
		.task_ms = 4,
		.deadlock_ms = 800 });
	unsigned         looks = 0;

	for (sennit_time now = 1; now < 800 * MS; now += MS) {
		begin(s, now);
		looks += sn_suspects_begin_deadlocks(s);
	}
	assert_true(looks >= 4 && looks <= 8);
	free(s);
}

/* --- a process that is stopped -------------------------------------------- */

enum { USUAL_MS = 25, LIMIT_MS = 100 }; /* like a watchdog that looks 4 times */

/* One lasting state of each kind that causes a finding. */
static struct suspects *watch_everything(void)
{
	static const sennit_watchdog_wait waits = {
		.size = sizeof(waits),
		.kinds = SENNIT_WATCHDOG_KIND(SENNIT_WAITS_FOR_MUTEX),
		.ms = LIMIT_MS
	};

	return watch_with((sennit_watchdog_options){
		.size = sizeof(sennit_watchdog_options),
		.task_ms = LIMIT_MS,
		.ready_ms = LIMIT_MS,
		.standstill_ms = LIMIT_MS,
		.deadlock_ms = LIMIT_MS,
		.waits = &waits,
		.wait_count = 1,
	});
}

/* A look that is late by `late`. `moved` is when a blocking call last ended.
 * Returns the number of findings. */
static unsigned look_late(struct suspects *s, sennit_time *now,
			  sennit_time late, sennit_time moved)
{
	sennit_report_entry e[] = {
		entry(SENNIT_REPORT_RUNNING, 1, 5),
		entry(SENNIT_REPORT_READY, 2, 5),
		entry(SENNIT_REPORT_BLOCKED, 3, 5),
		entry(SENNIT_REPORT_BLOCKED, 4, 5),
	};
	sennit_stats stats = { .size = sizeof(stats) };
	sennit_time  lasted;
	unsigned     findings = 0;

	e[2].waits_for = SENNIT_WAITS_FOR_MUTEX;
	e[3].waits_for = SENNIT_WAITS_FOR_TIME; /* overdue after a stop */
	e[3].deadline = *now + USUAL_MS * MS;
	*now += USUAL_MS * MS + late;
	stats.blocking_stuck_ms = (*now - moved) / MS;
	sn_suspects_begin(s, *now, USUAL_MS * MS);
	for (size_t i = 0; i < sizeof(e) / sizeof(e[0]); i++)
		sn_suspects_add(s, &e[i]);
	findings += sn_suspects_stand_still(s, 1);
	findings += sn_suspects_calls_are_stuck(s, &stats);
	if (sn_suspects_begin_deadlocks(s))
		findings += sn_suspects_add_deadlock(s, &e[2], &lasted);
	while (sn_suspects_next(s))
		findings++;
	return findings;
}

TEST(time_in_which_the_process_was_stopped_does_not_count)
{
	static const sennit_time stops[] = { USUAL_MS * MS, 100 * MS,
					     SENNIT_SECOND,
					     3600 * SENNIT_SECOND };
	const unsigned           looks = LIMIT_MS / USUAL_MS;

	/* Stopped before each look, before the last ones, before one. */
	for (size_t i = 0; i < sizeof(stops) / sizeof(stops[0]); i++)
		for (unsigned first = 0; first < looks; first++)
			for (unsigned last = first; last < looks; last++) {
				struct suspects *s = watch_everything();
				sennit_time      now = SENNIT_SECOND;
				unsigned         n = 0;

				for (unsigned at = 0; at < looks; at++)
					n += look_late(s, &now,
						       at >= first && at <= last
							       ? stops[i]
							       : 0,
						       SENNIT_SECOND);
				assert_int_equal(n, 0);
				free(s);
			}
}

TEST(a_machine_that_delays_every_look_hides_nothing_for_ever)
{
	struct suspects *s = watch_everything();
	sennit_time      now = SENNIT_SECOND;
	unsigned         n = 0;

	for (unsigned looks = 0; looks < 8 * LIMIT_MS / USUAL_MS; looks++)
		n += look_late(s, &now, SENNIT_SECOND, SENNIT_SECOND);
	assert_int_equal(n, 0);
	for (unsigned looks = 0; looks < 2; looks++)
		n += look_late(s, &now, SENNIT_SECOND, SENNIT_SECOND);
	assert_int_equal(n, 7); /* one more for each entry that waits */
	free(s);
}

TEST(calls_that_end_between_looks_are_not_stuck)
{
	struct suspects *s = watch_everything();
	sennit_time      now = SENNIT_SECOND;

	for (unsigned looks = 0; looks < 100; looks++) {
		sennit_stats stats = { .size = sizeof(stats),
				       .blocking_stuck_ms = USUAL_MS - 1 };

		now += USUAL_MS * MS;
		sn_suspects_begin(s, now, USUAL_MS * MS);
		assert_false(sn_suspects_calls_are_stuck(s, &stats));
	}
	free(s);
}

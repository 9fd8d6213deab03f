/* SPDX-License-Identifier: Apache-2.0 */
/* suspects.c - with a clock of the test's own: what lasts too long causes one
 * line, everything else none. */
#include "diag/watchdog.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "../test.h"

#define MS SENNIT_MILLISECOND

static void a_task(void *argument)
{
	(void)argument;
}

static struct suspects *watch(uint32_t task_ms, uint32_t ready_ms,
			      uint32_t call_ms)
{
	struct suspects *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	sn_suspects_init(s, &(sennit_watchdog_options){ .task_ms = task_ms,
							.ready_ms = ready_ms,
							.call_ms = call_ms });
	return s;
}

static sennit_report_entry entry(uint32_t state, uint32_t fiber, uint64_t turn)
{
	return (sennit_report_entry){ .state = state,
				      .thread = 7,
				      .fiber = fiber,
				      .task = a_task,
				      .turn = turn };
}

/* One look at `count` entries. Returns the number of lines. */
static unsigned look(struct suspects *s, sennit_time now,
		     const sennit_report_entry *entries, unsigned count)
{
	unsigned lines = 0;

	sn_suspects_begin(s, now);
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

/* A worker that is in a long task does not look at its timers. */
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
	e[1].thread = 8; /* another worker's */
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

/* Each look finds 30 fibers that are over the limit. */
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

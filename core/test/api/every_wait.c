/* SPDX-License-Identifier: Apache-2.0 */
/* every_wait.c - what holds for each wait that returns an int: it ends at its
 * deadline and never before, many of them leave nothing behind, and reports
 * name what it waits for.
 */
#include "every_wait.h"
#include "testing/crowd.h"

#include <errno.h>

/* --- one caller, in each place ------------------------------------------ */

/* What comes after the deadline ends no later wait, and is still there. */
static void be_late(const struct wait *wait)
{
	sennit_time  soon = sennit_after(SENNIT_MILLISECOND);
	struct stage first, second;

	set_stage(&first);
	set_stage(&second);
	EXPECT(wait->until(&first, soon) == -ETIMEDOUT);
	EXPECT(sennit_now() >= soon);
	EXPECT(wait->until(&first, soon) == -ETIMEDOUT); /* in the past */
	EXPECT(wait->until(&first, 0) == -ETIMEDOUT);
	if (can_come_first(wait))
		wait->come(&first);
	soon = sennit_after(SENNIT_MILLISECOND);
	EXPECT(wait->until(&second, soon) == -ETIMEDOUT);
	EXPECT(sennit_now() >= soon);
	if (can_come_first(wait)) /* then the deadline does not matter */
		EXPECT(wait->until(&first, 1) == 0);
	clear_stage(&first);
	clear_stage(&second);
}

TEST_IN_EACH_PLACE(a_wait_times_out_never_before_its_deadline)
{
	for (unsigned i = 0; i < WAITS; i++)
		if (waits[i].come)
			be_late(&waits[i]);
}

/* --- many ----------------------------------------------------------------- */

struct many {
	const struct wait *wait;
	struct stage       stage;
	sennit_time        deadline;
	atomic_uint        late;
	sennit_wait_group  done;
};

static void wait_among_many(void *argument)
{
	struct many *m = argument;

	if (m->wait->until(&m->stage, m->deadline) == -ETIMEDOUT)
		atomic_fetch_add(&m->late, 1);
	sennit_wait_group_done(&m->done);
}

TEST_WITH_WORKERS(many_deadlines_pass_and_leave_nothing_behind)
{
	enum { MANY = LOAD(500) };

	for (unsigned i = 0; i < WAITS; i++) {
		struct many m = { .wait = &waits[i] };

		if (!waits[i].come)
			continue;
		set_stage(&m.stage);
		m.deadline = sennit_after(3 * SENNIT_MILLISECOND);
		sennit_wait_group_init(&m.done, MANY);
		for (unsigned n = 0; n < MANY; n++)
			must_schedule(wait_among_many, &m);
		sennit_wait_group_wait(&m.done);
		assert_int_equal(atomic_load(&m.late), MANY);
		clear_stage(&m.stage); /* misuse, if a waiter is left */
	}
}

/* --- reports -------------------------------------------------------------- */

TEST_WITH_WORKERS(reports_name_what_each_waits_for)
{
	for (unsigned i = 0; i < WAITS; i++) {
		struct many m = { .wait = &waits[i], .deadline = SENNIT_NEVER };
		const void *object = (char *)&m.stage + waits[i].object;

		if (!waits[i].come)
			continue;
		set_stage(&m.stage);
		sennit_wait_group_init(&m.done, 1);
		must_schedule(wait_among_many, &m);
		assert_soon(waiting_for(w->s, object) == 1);
		assert_int_equal(said_to_be(w->s, object), waits[i].kind);
		waits[i].come(&m.stage);
		sennit_wait_group_wait(&m.done);
		assert_int_equal(atomic_load(&m.late), 0);
		clear_stage(&m.stage);
	}
}

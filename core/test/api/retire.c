/* SPDX-License-Identifier: Apache-2.0 */
/* retire.c - workers that are idle for long end their threads: no worker
 * leaves its fibers, and the remaining workers sleep without a deadline. */
#include "retiring.h"

#include "sennit/poller.h"

#include <linux/membarrier.h>

/* --- retiring ----------------------------------------------------------- */

TEST_ALONE(idle_workers_retire_but_for_one)
{
	const unsigned    before = threads_at_rest();
	sennit_scheduler *s = begin(RETIRING());

	assert_settles(s, before, 1);
	assert_int_equal(sennit_scheduler_workers(s), MOST);
	end(s);
}

TEST_ALONE(the_first_may_retire_before_the_last_is_started)
{
	const unsigned    before = threads_at_rest();
	sennit_scheduler *s;

	atomic_store(&threads_are_late, true);
	s = begin(RETIRING());
	atomic_store(&threads_are_late, false);
	assert_settles(s, before, 1);
	assert_int_equal(workers_at_once(MOST), (1u << MOST) - 1);
	end(s);
}

TEST_ALONE(so_many_as_asked_for_stay)
{
	const unsigned    before = threads_at_rest();
	sennit_scheduler *s;
	uint32_t          n;

	for (n = 1; n <= MOST; n++) {
		s = begin(RETIRING(.min_workers = n));
		assert_settles(s, before, n);
		assert_int_equal(workers_at_once(MOST), (1u << MOST) - 1);
		assert_settles(s, before, n);
		end(s);
	}
	s = begin(RETIRING(.min_workers = SENNIT_WORKERS_MAX));
	assert_settles(s, before, MOST);
	end(s);
}

TEST_ALONE(none_retires_unless_asked_to)
{
	sennit_scheduler *s = begin(CONFIG());

	assert_soon(atomic_load(&endless) == MOST);
	assert_int_equal(threads_of(s), MOST);
	end(s);
}

struct one {
	atomic_bool       over;
	atomic_uint       index;
	sennit_wait_group gone;
};

static void hold_worker(void *argument)
{
	struct one *o = argument;

	atomic_store(&o->index, my_index);
	while (!atomic_load(&o->over))
		sched_yield();
	sennit_wait_group_done(&o->gone);
}

/* Independent of the index: workers with higher indices do not keep others from
 * retiring, nor the reverse. */
TEST_ALONE(all_but_the_busy_one_retire)
{
	const unsigned    before = threads_at_rest();
	sennit_scheduler *s = begin(RETIRING());
	unsigned          round, seen = 0;

	for (round = 0; round < 20; round++) {
		struct one o = { .index = MOST };

		sennit_wait_group_init(&o.gone, 1);
		workers_at_once(MOST);
		must_schedule(hold_worker, &o);
		assert_soon(threads_of(s) == 1);
		assert_soon(atomic_load(&o.index) < MOST);
		assert_soon(threads_now() == before + 1);
		seen |= 1u << atomic_load(&o.index);
		atomic_store(&o.over, true);
		sennit_wait_group_wait(&o.gone);
	}
	assert_true(seen);
	end(s);
}

struct crowd {
	struct meeting    m;
	sennit_event      gate;
	sennit_wait_group there, gone;
};

enum { EACH = 50 };

static void wait_at_gate(void *argument)
{
	struct crowd *c = argument;

	sennit_wait_group_done(&c->there);
	EXPECT(!sennit_event_wait(&c->gate));
	sennit_wait_group_done(&c->gone);
}

static void bring_crowd(void *argument)
{
	struct crowd *c = argument;

	for (unsigned i = 0; i < EACH; i++)
		must_schedule_here(wait_at_gate, c);
	meet(&c->m);
}

TEST_ALONE(who_retires_gives_its_stacks_back)
{
	const unsigned    before = threads_at_rest();
	sennit_scheduler *s = begin(RETIRING());
	struct crowd      c = { .m = { .expected = MOST } };
	uint64_t          had;

	sennit_event_init(&c.gate, SENNIT_EVENT_MANUAL);
	sennit_wait_group_init(&c.there, MOST * EACH);
	sennit_wait_group_init(&c.gone, MOST * EACH);
	sennit_wait_group_init(&c.m.done, MOST);
	for (unsigned i = 0; i < MOST; i++)
		must_schedule(bring_crowd, &c);
	sennit_wait_group_wait(&c.there);
	had = stats_of(s).stacks;
	assert_true(had >= MOST * EACH);
	sennit_event_set(&c.gate);
	sennit_wait_group_wait(&c.gone);
	assert_settles(s, before, 1);
	/* The others have at most one each. The remaining worker has all of
	 * its own if it did not try to retire, and it took them in batches. */
	assert_in_range(stats_of(s).stacks, 1, had / 4);
	end(s);
}

/* --- with fibers -------------------------------------------------------- */

struct guest {
	struct meeting *m;
	sennit_event    go;
	atomic_bool     waits, went;
	pthread_t       thread;
};

static void stay(void *argument)
{
	struct guest *g = argument;

	g->thread = pthread_self();
	atomic_store(&g->waits, true);
	EXPECT(!sennit_event_wait(&g->go));
	EXPECT(pthread_equal(pthread_self(), g->thread));
	atomic_store(&g->went, true);
}

static struct guest guests[MOST];

static unsigned hosts; /* a bit per worker */

static void leave_guest(void *meeting)
{
	if (hosts & 1u << my_index)
		must_schedule_here(stay, &guests[my_index]);
	meet(meeting);
}

static void leave_guests(unsigned where)
{
	struct meeting m = { .expected = MOST };

	hosts = where;

	memset(guests, 0, sizeof(guests));
	sennit_wait_group_init(&m.done, MOST);
	for (uint32_t i = 0; i < MOST; i++)
		must_schedule(leave_guest, &m);
	sennit_wait_group_wait(&m.done);
	EXPECT(atomic_load(&m.there) == MOST);
	for (uint32_t i = 0; i < MOST; i++)
		assert_soon(!(hosts & 1u << i) ||
			    atomic_load(&guests[i].waits));
}

TEST_ALONE(who_has_fibers_stays_and_they_resume_on_its_thread)
{
	const unsigned    before = threads_at_rest();
	sennit_scheduler *s = begin(RETIRING());
	unsigned          births[MOST], i;

	leave_guests(0xaa);
	for (i = 0; i < MOST; i++)
		births[i] = atomic_load(&starts[i]);
	assert_settles(s, before, MOST / 2);
	assert_int_equal(fibers_of(s), MOST / 2);
	for (i = 1; i < MOST; i += 2) {
		assert_int_equal(atomic_load(&starts[i]), births[i]);
		sennit_event_set(&guests[i].go);
		assert_soon(atomic_load(&guests[i].went));
	}
	assert_settles(s, before, 1);
	end(s);
}

/* --- with a hook -------------------------------------------------------- */

static sennit_time ask_soon_again(sennit_poller_hook *h)
{
	return sennit_after(100 * SENNIT_MICROSECOND);
}

static void keep_hook(void *hook)
{
	EXPECT(!sennit_poller_hook_add(hook));
	sennit_poller_hook_ask(hook);
	is_watched = true;
}

static bool system_has_barriers(void)
{
	return !syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
}

/* Its sleeps are shorter than the first one of others, after which these look
 * for tasks that they may have missed. */
TEST_ALONE(who_has_a_hook_looks_again_before_it_retires)
{
	sennit_scheduler  *s = begin(RETIRING());
	sennit_poller_hook hook = { .ask = ask_soon_again };
	struct one         o = { .index = MOST };

	atomic_store(&barriers, 0);
	sennit_wait_group_init(&o.gone, 1);
	must_schedule(hold_worker, &o);
	assert_soon(atomic_load(&o.index) < MOST);
	must_schedule(keep_hook, &hook);
	assert_soon(threads_of(s) == 1);
	assert_true(atomic_load(&barriers) || !system_has_barriers());
	atomic_store(&o.over, true);
	sennit_wait_group_wait(&o.gone);
	end(s);
}

/* --- with set_workers --------------------------------------------------- */

/* The only awake worker is about to leave, and no other thread can start. */
TEST_ALONE(some_that_stays_must_have_a_thread)
{
	const unsigned    before = threads_at_rest();
	sennit_scheduler *s = begin(RETIRING());
	struct load       l = { .ran = 0 };

	leave_guests(1u << 5);
	assert_settles(s, before, 1);
	atomic_store(&threads_are_refused, true);
	EXPECT(sennit_scheduler_set_workers(s, 2) == -EAGAIN);
	EXPECT(sennit_scheduler_workers(s) == MOST);
	must_schedule(count_run, &l);
	EXPECT_SOON(atomic_load(&l.ran) == 1);
	atomic_store(&threads_are_refused, false);
	EXPECT(sennit_scheduler_set_workers(s, 2) == 0);
	EXPECT_SOON(threads_of(s) == 2);
	must_schedule(count_run, &l);
	EXPECT_SOON(atomic_load(&l.ran) == 2);
	sennit_event_set(&guests[5].go);
	assert_soon(threads_of(s) == 1);
	end(s);
}

TEST_ALONE(who_retired_may_be_taken_away_and_added)
{
	const unsigned    before = threads_at_rest();
	sennit_scheduler *s = begin(RETIRING());
	uint32_t          n;

	for (n = MOST; n; n--) {
		assert_settles(s, before, 1);
		assert_int_equal(sennit_scheduler_set_workers(s, n), 0);
		assert_int_equal(workers_at_once(n), (1u << n) - 1);
	}
	assert_int_equal(sennit_scheduler_set_workers(s, MOST), 0);
	assert_int_equal(workers_at_once(MOST), (1u << MOST) - 1);
	end(s);
}

/* --- the end ------------------------------------------------------------ */

TEST_ALONE(schedulers_end_while_workers_retire)
{
	const unsigned before = threads_at_rest();

	for (unsigned i = 0; i < LOAD(200); i++) {
		sennit_scheduler *s = begin(RETIRING());

		if (i % 3 == 0)
			workers_at_once(2);
		sennit_thread_unbind();
		usleep(i * 37 % 3000);
		end_scheduler(s);
	}
	assert_soon(threads_now() == before);
}

TEST_ALONE(a_late_start_retires_as_well)
{
	const unsigned    before = threads_at_rest();
	sennit_scheduler *s = begin(RETIRING(.start = SENNIT_START_LAZY));

	assert_settles(s, before, 1);
	assert_int_equal(workers_at_once(MOST), (1u << MOST) - 1);
	assert_settles(s, before, 1);
	end(s);
}

BEFORE_ALL(warm_up);

/* SPDX-License-Identifier: Apache-2.0 */
/* workers.c - what workers do, seen from outside, and the schedulers of the
 * process. */
#include "sennit/workers.h"

#include "testing/with_workers.h"

#include "testing/child.h"

/* What a visit has found. */
struct seen {
	unsigned           threaded, bound, asleep, absent;
	uint64_t           tasks;
	sennit_worker_view last; /* of the threaded ones */
};

static void see(void *context, const sennit_worker_view *view)
{
	struct seen *seen = context;

	EXPECT(view->size == sizeof(*view));
	seen->tasks += view->tasks;
	if (view->worker == UINT32_MAX) {
		seen->bound++;
		return;
	}
	seen->threaded++;
	seen->asleep += view->state == SENNIT_WORKER_ASLEEP;
	seen->absent += view->state == SENNIT_WORKER_ABSENT;
	seen->last = *view;
}

static struct seen look(sennit_scheduler *s)
{
	struct seen seen = { .threaded = 0 };

	sennit_workers_visit(s, see, &seen);
	return seen;
}

static void count_one(void *counter)
{
	atomic_fetch_add((atomic_uint *)counter, 1);
}

TEST_WITH_WORKERS(each_worker_and_bound_thread_is_visited_once)
{
	atomic_uint ran = 0;

	for (unsigned i = 0; i < 100; i++)
		must_schedule(count_one, &ran);
	assert_soon(look(w->s).tasks == 100);
	assert_soon(look(w->s).threaded == w->threads);
	assert_int_equal(look(w->s).bound, 1);
}

TEST_WITH_THREADS(idle_workers_fall_asleep)
{
	assert_soon(look(w->s).asleep == w->threads);
}

TEST_WITH_ONE(idle_time_passes_while_a_worker_sleeps)
{
	uint64_t before;

	assert_soon(look(w->s).asleep == 1);
	before = look(w->s).last.idle_ns;
	assert_soon(look(w->s).last.idle_ns > before + SENNIT_MILLISECOND);
}

struct turn {
	atomic_bool runs, over;
};

static void run_until_over(void *argument)
{
	struct turn *t = argument;

	atomic_store(&t->runs, true);
	while (!atomic_load(&t->over))
		sched_yield();
}

/* And it counts the idle time before and after, but not that in between. */
TEST_WITH_ONE(idle_time_stands_still_while_a_worker_is_busy)
{
	struct turn t = { .runs = false };
	sennit_time begin = sennit_now();
	uint64_t    idle;

	must_schedule(run_until_over, &t);
	assert_soon(atomic_load(&t.runs));
	assert_int_equal(look(w->s).last.state, SENNIT_WORKER_BUSY);
	idle = look(w->s).last.idle_ns;
	assert_soon(sennit_now() > begin + 20 * SENNIT_MILLISECOND);
	assert_int_equal(look(w->s).last.idle_ns, idle);
	atomic_store(&t.over, true);
	assert_soon(look(w->s).last.idle_ns > idle);
	assert_true(look(w->s).last.idle_ns < idle + sennit_now() - begin);
}

struct pile {
	struct turn turn;
	atomic_uint ran;
};

static void pile_up(void *argument)
{
	struct pile *p = argument;

	for (unsigned i = 0; i < 10; i++)
		must_schedule(count_one, &p->ran);
	run_until_over(&p->turn);
}

TEST_WITH_ONE(what_a_worker_has_queued_is_counted)
{
	struct pile p = { .ran = 0 };

	must_schedule(pile_up, &p);
	assert_soon(atomic_load(&p.turn.runs));
	assert_int_equal(look(w->s).last.queued, 10);
	assert_int_equal(look(w->s).last.exact, 1);
	for (unsigned i = 0; i < 3; i++)
		must_schedule(count_one, &p.ran);
	assert_int_equal(look(w->s).last.queued, 13);
	assert_int_equal(look(w->s).last.exact, 1);
	atomic_store(&p.turn.over, true);
	assert_soon(atomic_load(&p.ran) == 13);
	assert_soon(look(w->s).last.exact && !look(w->s).last.queued);
}

TEST_ALONE(a_worker_that_has_retired_is_absent)
{
	sennit_scheduler *s = start_with(
		SENNIT_CONFIG(.workers = 2, .max_workers = 2, .retire_ms = 1));

	assert_soon(look(s).absent > 0);
	end_scheduler(s);
}

/* --- all schedulers ------------------------------------------------------ */

TEST_ALONE(all_schedulers_are_retained_until_they_end)
{
	sennit_scheduler *first = start_scheduler(1);
	sennit_scheduler *second = start_scheduler(2);
	sennit_scheduler *out[3] = { NULL };

	assert_int_equal(sennit_schedulers_get(out, 3), 2);
	assert_ptr_equal(out[0], first);
	assert_ptr_equal(out[1], second);
	sennit_scheduler_release(first);
	sennit_scheduler_release(second);
	/* The references in out[] keep them. */
	assert_int_equal(sennit_schedulers_get(&out[2], 1), 1);
	assert_ptr_equal(out[2], first);
	sennit_scheduler_release(out[2]);
	end_scheduler(out[0]);
	assert_int_equal(sennit_schedulers_get(&out[2], 1), 1);
	assert_ptr_equal(out[2], second);
	sennit_scheduler_release(out[2]);
	end_scheduler(out[1]);
	assert_int_equal(sennit_schedulers_get(out, 3), 0);
}

static void *count_until_over(void *over)
{
	sennit_scheduler *out[2];

	while (!atomic_load((atomic_bool *)over)) {
		size_t count = sennit_schedulers_get(out, 2);

		for (size_t i = 0; i < count; i++) {
			struct seen seen = look(out[i]);

			EXPECT(seen.threaded <= 2);
			sennit_scheduler_release(out[i]);
		}
	}
	return NULL;
}

/* The reference of another thread may be the last one. */
TEST_ALONE(a_scheduler_may_end_while_it_is_looked_at)
{
	atomic_bool over = false;
	pthread_t   t = must_start_thread(count_until_over, &over);

	for (unsigned i = 0; i < LOAD(300); i++)
		end_scheduler(start_scheduler(2));
	atomic_store(&over, true);
	pthread_join(t, NULL);
}

TEST_WITH_ONE(a_forked_child_has_none_of_the_parent)
{
	sennit_scheduler *out[1];
	pid_t             child = begin_child();

	if (!child)
		_exit(sennit_schedulers_get(out, 1) ? 1 : 0);
	assert_int_equal(await_child(child), 0);
}

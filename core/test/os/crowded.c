/* SPDX-License-Identifier: Apache-2.0 */
/* crowded.c - far more threads than CPUs, or CPUs that disappear: all work
 * proceeds. */
#include "testing/with_workers.h"
#include "testing/proc_self.h"

#include "base/torture.h"

#if defined(SN_TSAN) || defined(SN_ASAN) || defined(__aarch64__)
enum { IS_SLOW = 1 };
#else
enum { IS_SLOW = 0 };
#endif

enum { MOST_BOUND = 1000 };
#define FEW(few, usual) (IS_SLOW ? (few) : TORTURED(few, usual))
#define MANY            FEW(64u, 256u)
#define BOUND           FEW(100u, (unsigned)MOST_BOUND)
#define TASKS           FEW(4000u, 50000u)
#define LIVES           FEW(200u, 10000u)

static struct {
	sennit_scheduler *s;
	sennit_wait_group done;
	sennit_mutex      lock;
	sennit_event      go;
	unsigned          sum; /* under lock */
} crowd;

static void add(void *unused)
{
	sennit_mutex_lock(&crowd.lock);
	crowd.sum++;
	sennit_mutex_unlock(&crowd.lock);
	sennit_wait_group_done(&crowd.done);
}

static void add_and_yield(void *unused)
{
	sennit_yield();
	add(unused);
}

static void run_tasks(unsigned count)
{
	memset(&crowd.done, 0, sizeof(crowd.done));
	sennit_wait_group_init(&crowd.done, count);
	crowd.sum = 0;
	for (unsigned i = 0; i < count; i++)
		must_schedule(i % 4 ? add : add_and_yield, NULL);
	sennit_wait_group_wait(&crowd.done);
	assert_int_equal(crowd.sum, count);
}

TEST(many_workers_on_few_cpus_get_on)
{
	sennit_scheduler *s = start_scheduler(MANY);

	assert_int_equal(sennit_thread_bind(s), 0);
	run_tasks(TASKS);
	sennit_thread_unbind();
	end_scheduler(s);
}

/* --- bound threads -------------------------------------------------------- */

static void *live_bound(void *unused)
{
	EXPECT(!sennit_thread_bind(crowd.s));
	EXPECT(!sennit_schedule(add, NULL));
	EXPECT(!sennit_event_wait(&crowd.go));
	sennit_thread_unbind();
	return NULL;
}

TEST(many_threads_may_be_bound)
{
	static pthread_t threads[MOST_BOUND];

	memset(&crowd, 0, sizeof(crowd));
	crowd.s = start_scheduler(2);
	sennit_wait_group_init(&crowd.done, BOUND);
	for (unsigned i = 0; i < BOUND; i++)
		assert_int_equal(
			pthread_create(&threads[i], NULL, live_bound, NULL), 0);
	sennit_wait_group_wait(&crowd.done);
	sennit_event_set(&crowd.go);
	for (unsigned i = 0; i < BOUND; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(crowd.sum, BOUND);
	end_scheduler(crowd.s);
}

/* --- lives ---------------------------------------------------------------- */

TEST(many_schedulers_come_and_go)
{
	/* Includes threads of sanitizers, and such as have ended and are still
	 * listed. */
	const unsigned before = threads_now();

	for (unsigned i = 0; i < LIVES; i++) {
		sennit_scheduler *s = start_scheduler(1 + i % 2);

		assert_int_equal(sennit_thread_bind(s), 0);
		sennit_wait_group_init(&crowd.done, 1);
		must_schedule(add, NULL);
		sennit_thread_unbind();
		end_scheduler(s);
	}
	assert_soon(threads_now() <= before);
}

/* --- CPUs disappear ------------------------------------------------------- */

TEST(the_cpus_may_become_fewer)
{
	cpu_set_t         before, one;
	sennit_scheduler *s;

	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	s = start_scheduler(4);
	assert_int_equal(sennit_thread_bind(s), 0);
	run_tasks(TASKS / 10);
	CPU_ZERO(&one);
	for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &before)) {
			CPU_SET(cpu, &one);
			break;
		}
	/* A cpuset that shrinks does the same to every thread. */
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	run_tasks(TASKS / 10);
	assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);
	sennit_thread_unbind();
	end_scheduler(s);
}

static int begin_all(void)
{
	alarm(400);
	return 0;
}

BEFORE_ALL(begin_all);

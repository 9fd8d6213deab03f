/* SPDX-License-Identifier: Apache-2.0 */
/* trim.c - memory that a peak left unused is returned to the system, on request
 * and automatically. Memory in use is unaffected. */
#include "testing/with_workers.h"

#include "base/torture.h"
#include "testing/counting_allocator.h"

/* With ThreadSanitizer a fiber takes milliseconds to create and to free. */
#if defined(SN_TSAN)
enum { PEAK = 400, SOME = 100, SHADOWED = 1 };
#elif defined(SN_ASAN)
enum { PEAK = 3000, SOME = 500, SHADOWED = 1 };
#else
enum { SOME = 500 };
#define PEAK     TORTURED(3000u, 8000u)
#define SHADOWED TORTURED(1, 0)
#endif

static size_t resident(void)
{
	FILE         *f = fopen("/proc/self/statm", "re");
	unsigned long all, pages = 0;
	int           n = f ? fscanf(f, "%lu %lu", &all, &pages) : 0;

	if (f)
		fclose(f);
	assert_int_equal(n, 2);
	return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* --- a peak ------------------------------------------------------------- */

struct peak {
	unsigned          count;
	sennit_event      gate;
	sennit_wait_group arriving, leaving;
};

static void block(void *argument)
{
	struct peak      *p = argument;
	volatile unsigned mine = (unsigned)(uintptr_t)&mine;

	sennit_wait_group_done(&p->arriving);
	EXPECT(!sennit_event_wait(&p->gate));
	EXPECT(mine == (unsigned)(uintptr_t)&mine);
	sennit_wait_group_done(&p->leaving);
}

static void send_all(void *argument)
{
	struct peak *p = argument;

	for (unsigned i = 0; i < p->count; i++)
		must_schedule(block, p);
}

static void raise_peak(struct peak *p, unsigned count)
{
	p->count = count;
	sennit_event_init(&p->gate, SENNIT_EVENT_MANUAL);
	sennit_wait_group_init(&p->arriving, count);
	sennit_wait_group_init(&p->leaving, count);
	in_a_task(send_all, p);
	sennit_wait_group_wait(&p->arriving);
}

static void end_peak(struct peak *p)
{
	sennit_event_set(&p->gate);
	sennit_wait_group_wait(&p->leaving);
}

/* The fibers have ended when their stacks are idle. */
static bool is_trimmed(sennit_scheduler *s, uint64_t most)
{
	return stats_of(s).stacks <= most;
}

/* The number of stacks that may stay: those that each worker keeps, and those
 * in use. */
static uint64_t spare(const struct world *w, uint64_t each)
{
	return (w->threads + 1) * (each + 2) + 64;
}

/* Each worker keeps few stacks. */
static sennit_scheduler *start_trimming(const struct world *w, uint32_t ms,
					uint32_t spare_stacks)
{
	sennit_scheduler *s =
		start_with(SENNIT_CONFIG(.workers = w->workers, .trim_ms = ms,
					 .spare_stacks = spare_stacks));

	assert_int_equal(sennit_thread_bind(s), 0);
	return s;
}

static void end_trimming(sennit_scheduler *s)
{
	sennit_thread_unbind();
	end_scheduler(s);
}

/* --- on request --------------------------------------------------------- */

TEST_WITH_COUNTS(a_peak_is_given_back_when_told)
{
	sennit_scheduler *s = start_trimming(w, SENNIT_TRIM_NEVER, 8);
	size_t            before = resident(), peak;
	struct peak       p;
	uint64_t          most = spare(w, 8);

	raise_peak(&p, PEAK);
	peak = resident();
	assert_true(stats_of(s).stacks >= PEAK);
	assert_true(stats_of(s).stack_bytes >= PEAK * (size_t)16384);
	end_peak(&p);
	assert_soon(stats_of(s).fibers <= 1);
	sennit_scheduler_trim(s);
	assert_soon(stats_of(s).trims_due == 0 && is_trimmed(s, most));
	assert_true(stats_of(s).stacks_trimmed >= PEAK - most);
	/* Nearly nothing stays, but qemu keeps some for its own tables: more
	 * where each guard is a mapping. */
	if (!SHADOWED)
		assert_true(resident() < before + (peak - before) / 2);
	raise_peak(&p, PEAK / 10); /* the workers still work */
	end_peak(&p);
	end_trimming(s);
}

TEST_WITH_WORKERS(fibers_that_wait_keep_their_stacks)
{
	struct peak kept, p;

	raise_peak(&kept, SOME);
	for (unsigned i = 0; i < 5; i++) {
		raise_peak(&p, SOME);
		end_peak(&p);
		sennit_scheduler_trim(w->s);
	}
	assert_soon(stats_of(w->s).trims_due == 0);
	assert_true(stats_of(w->s).stacks >= SOME);
	end_peak(&kept);
}

TEST_WITH_WORKERS(stacks_that_rest_with_nobody_go_at_once)
{
	struct peak p;

	raise_peak(&p, 300);
	end_peak(&p);
	assert_soon(stats_of(w->s).fibers <= 1);
	sennit_thread_unbind();
	sennit_scheduler_trim(w->s);
	assert_soon(is_trimmed(w->s, spare(w, 64)));
	assert_int_equal(sennit_thread_bind(w->s), 0);
}

struct queue {
	sennit_wait_group left; /* for all tasks */
	unsigned          count;
	sennit_scheduler *to;
	void             *above; /* a block of the program behind the queues'
				  * memory, so that malloc keeps that mapped */
};

static void one_less(void *left)
{
	sennit_wait_group_done(left);
}

static void queue_many(void *argument)
{
	struct queue *q = argument;
	sennit_task   stays = { .run = one_less,
				.argument = &q->left,
				.flags = SENNIT_TASK_SAME_THREAD };
	sennit_task   later = { .run = one_less, .argument = &q->left };

	for (unsigned i = 0; i < q->count; i++) {
		must_schedule(one_less, &q->left);
		EXPECT(sennit_schedule_task(&stays) == 0);
		EXPECT(sennit_schedule_task_on(sennit_scheduler_current(),
					       &later) == 0);
	}
	q->above = malloc(60000);
}

static void queue_and_trim(const struct world *w, unsigned count)
{
	struct queue q = { .count = count };

	sennit_wait_group_init(&q.left, 3 * count);
	in_a_task(queue_many, &q);
	sennit_wait_group_wait(&q.left);
	sennit_scheduler_trim(w->s);
	assert_soon(stats_of(w->s).trims_due == 0);
	free(q.above);
}

/* More than once, because glibc learns from the first time to keep blocks of
 * that size. */
TEST_WITH_WORKERS(long_queues_are_given_back_when_told)
{
	size_t before = resident();

	for (unsigned i = 0; i < 3; i++) {
		queue_and_trim(w, 10 * PEAK);
		/* Without trimming: about 100 bytes per task. */
		if (!SHADOWED)
			assert_true(resident() <
				    before + 10 * PEAK * (size_t)10);
	}
	queue_and_trim(w, 1000);
}

/* Room for 1,024 tasks of three words in each of two queues. */
#define KEPT (2 * 1024 * 3 * (long long)sizeof(void *))

static void leave_little(const struct world *w, enum sennit_order order)
{
	struct counting_allocator tally = { .live = 0 };
	const sennit_allocator    counting = COUNTING_ALLOCATOR(&tally);
	struct world              own = *w;
	long long                 before;

	own.s = start_with(SENNIT_CONFIG(.workers = SENNIT_WORKERS_NONE,
					 .order = order, .allocator = &counting,
					 .trim_ms = SENNIT_TRIM_NEVER));
	assert_int_equal(sennit_thread_bind(own.s), 0);
	queue_and_trim(&own, 1000);
	before = atomic_load(&tally.bytes);
	for (unsigned i = 0; i < 3; i++) {
		queue_and_trim(&own, 10 * PEAK);
		assert_true(atomic_load(&tally.bytes) <= before + KEPT);
	}
	end_trimming(own.s);
}

/* In whatever order the tasks ran. Only without workers: those keep the blocks
 * of their deques, without pages. */
TEST_ALONE(long_queues_leave_little_room_when_told)
{
	leave_little(w, SENNIT_ORDER_OLDEST);
	leave_little(w, SENNIT_ORDER_NEWEST);
}

static void send_many(void *argument)
{
	struct queue *q = argument;
	sennit_task   t = { .run = one_less, .argument = &q->left };

	for (unsigned i = 0; i < q->count; i++)
		EXPECT(sennit_schedule_task_on(q->to, &t) == 0);
}

/* Each task has a block that no worker has in its cache, because it comes from
 * outside. */
TEST_WITH_THREADS(tasks_from_outside_are_given_back_when_told)
{
	struct queue q = { .count = 10 * PEAK, .to = w->s };
	size_t       before = resident();

	sennit_wait_group_init(&q.left, q.count);
	in_a_thread(send_many, &q);
	sennit_wait_group_wait(&q.left);
	sennit_scheduler_trim(w->s);
	assert_soon(stats_of(w->s).trims_due == 0);
	if (!SHADOWED)
		assert_true(resident() < before + 10 * PEAK * (size_t)20);
}

/* --- automatically ------------------------------------------------------ */

TEST_WITH_COUNTS(idle_workers_give_a_peak_back)
{
	sennit_scheduler *s = start_trimming(w, 20, 8);
	size_t            before = resident(), peak;
	sennit_event      never = SENNIT_EVENT_INIT(SENNIT_EVENT_MANUAL);
	struct peak       p;

	raise_peak(&p, PEAK);
	peak = resident();
	end_peak(&p);
	while (!is_trimmed(s, spare(w, 8))) /* a bound thread must wait in the
					     * library */
		if (!sennit_event_wait_until(&never,
					     sennit_after(SENNIT_SECOND)))
			fail();
	if (!SHADOWED)
		assert_true(resident() < before + (peak - before) / 5);
	end_trimming(s);
}

static void count_one(void *counter)
{
	atomic_fetch_add((atomic_uint *)counter, 1);
}

TEST_WITH_COUNTS(busy_workers_give_a_peak_back)
{
	sennit_scheduler *s = start_trimming(w, 10, 8);
	struct peak       p;
	atomic_uint       ran = 0;

	raise_peak(&p, PEAK / 4);
	end_peak(&p);
	/* Never idle for long: at least one task runs between two looks. */
	while (!is_trimmed(s, spare(w, 8))) {
		must_schedule(count_one, &ran);
		sennit_yield();
	}
	end_trimming(s);
}

TEST_WITH_COUNTS(what_is_needed_in_each_period_stays)
{
	sennit_scheduler *s = start_trimming(w, SENNIT_TRIM_NEVER, 8);
	struct peak       p;

	for (unsigned i = 0; i < 3; i++) {
		raise_peak(&p, 300);
		end_peak(&p);
	}
	assert_int_equal(stats_of(s).stacks_trimmed, 0);
	end_trimming(s);
}

/* --- unused handles ----------------------------------------------------- */

static void trim_twice(void *argument)
{
	sennit_scheduler_trim(argument);
	sennit_scheduler_trim(argument);
}

TEST_WITH_WORKERS(anyone_may_ask)
{
	in_each_place(trim_twice, w->s);
	assert_soon(stats_of(w->s).trims_due == 0);
}

/* The handle of a fiber that has ended and whose memory was returned. */
static void keep_handle(void *handle)
{
	atomic_store((_Atomic(sennit_fiber *) *)handle, sennit_fiber_current());
	sennit_yield();
}

TEST_WITH_WORKERS(late_notifies_do_no_harm)
{
	enum { HANDLES = 300 };
	static _Atomic(sennit_fiber *) handle[HANDLES];
	struct peak                    p;

	for (unsigned i = 0; i < HANDLES; i++)
		must_schedule(keep_handle, &handle[i]);
	raise_peak(&p, HANDLES);
	end_peak(&p);
	assert_soon(stats_of(w->s).fibers <= 1);
	sennit_scheduler_trim(w->s);
	assert_soon(stats_of(w->s).trims_due == 0);
	for (unsigned i = 0; i < HANDLES; i++)
		if (handle[i])
			sennit_fiber_notify(handle[i]);
}

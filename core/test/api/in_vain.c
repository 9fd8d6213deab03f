/* SPDX-License-Identifier: Apache-2.0 */
/* in_vain.c - a call that fails or gives up keeps nothing: each one, very
 * often, with a deadline of 0 and with one that has passed, on a bound thread's
 * own stack, in a task, on an unbound thread and in a cancelled group.
 */
#include "every_wait.h"
#include "testing/counting_allocator.h"
#include "testing/unchanged.h"
#include "sennit/domain.h"
#include "sennit/end.h"
#include "sennit/metrics.h"
#include "sennit/resources.h"
#include "sennit/trace.h"

#include <errno.h>

/* In each of up to four places. */
#if defined(SN_ASAN) || defined(SN_TSAN)
enum { TIMES = 1500 };
#else
enum { TIMES = 6000 };
#endif

/* --- objects whose calls fail or time out --------------------------------- */

static struct scene {
	sennit_scheduler      *s, *other;
	struct stage           stage;
	sennit_mutex           held, mine;
	sennit_rwlock          written, read;
	sennit_wait_group      busy;
	sennit_barrier         two;
	sennit_once            begun;
	sennit_event           over, never;
	sennit_domain         *domain;
	sennit_group           cancelled;
	sennit_weak_scheduler *ended;
	atomic_uint            holders;
	atomic_bool            blocks;
} at;

static int hold_once(void *unused)
{
	atomic_fetch_add(&at.holders, 1);
	return sennit_event_wait(&at.over);
}

static void *hold(void *unused)
{
	sennit_mutex_lock(&at.held);
	sennit_rwlock_lock(&at.written);
	sennit_rwlock_lock_shared(&at.read);
	EXPECT(!sennit_once_attempt_until(&at.begun, hold_once, NULL,
					  SENNIT_NEVER));
	sennit_rwlock_unlock_shared(&at.read);
	sennit_rwlock_unlock(&at.written);
	sennit_mutex_unlock(&at.held);
	return unused;
}

/* The only thread for blocking calls does nothing else. */
static void *block(void *unused)
{
	atomic_fetch_add(&at.holders, 1);
	while (atomic_load(&at.blocks))
		usleep(1000);
	return unused;
}

static void call_block(void *unused)
{
	sennit_blocking_call(block, NULL);
}

static pthread_t set_scene(const struct world *w)
{
	pthread_t holder;

	memset(&at, 0, sizeof(at));
	at.s = start_with(SENNIT_CONFIG(.workers = w->workers,
					.allocator = &counting,
					.max_blocking_threads = 1));
	at.other = start_with(SENNIT_CONFIG(.workers = SENNIT_WORKERS_NONE,
					    .allocator = &counting));
	at.ended = sennit_scheduler_weak(at.other);
	end_scheduler(at.other);
	at.other = start_with(
		SENNIT_CONFIG(.workers = w->workers, .allocator = &counting));
	assert_int_equal(sennit_thread_bind(at.s), 0);
	assert_int_equal(sennit_domain_create(&at.domain, at.s, NULL, NULL), 0);
	set_stage(&at.stage);
	sennit_wait_group_init(&at.busy, 1);
	sennit_barrier_init(&at.two, 2);
	sennit_event_init(&at.over, SENNIT_EVENT_MANUAL);
	atomic_store(&at.blocks, true);
	holder = must_start_thread(hold, NULL);
	must_schedule(call_block, NULL);
	assert_soon(atomic_load(&at.holders) == 2);
	sennit_group_init_on(&at.cancelled, at.s, SENNIT_NEVER, 0);
	assert_true(sennit_group_cancel(&at.cancelled));
	return holder;
}

static void clear_scene(pthread_t holder)
{
	sennit_group_wait(&at.cancelled);
	atomic_store(&at.blocks, false);
	sennit_event_set(&at.over);
	pthread_join(holder, NULL);
	clear_stage(&at.stage);
	assert_int_equal(sennit_domain_shutdown(at.domain, SENNIT_NEVER), 0);
	sennit_thread_unbind();
	end_scheduler(at.s);
	end_scheduler(at.other);
	sennit_weak_scheduler_release(at.ended);
	assert_int_equal(atomic_load(&tally.live), 0);
}

/* --- the calls: waits ----------------------------------------------------- */

static int lock(sennit_time d)
{
	return sennit_mutex_lock_until(&at.held, d);
}

static int write_held(sennit_time d)
{
	return sennit_rwlock_lock_until(&at.written, d);
}

static int read_held(sennit_time d)
{
	return sennit_rwlock_lock_shared_until(&at.written, d);
}

static int write_read(sennit_time d)
{
	return sennit_rwlock_lock_until(&at.read, d);
}

static int wait_group(sennit_time d)
{
	return sennit_wait_group_wait_until(&at.busy, d);
}

static int arrive(sennit_time d)
{
	return sennit_barrier_wait_until(&at.two, d);
}

static int attempt(sennit_time d)
{
	return sennit_once_attempt_until(&at.begun, hold_once, NULL, d);
}

static bool is_never(void *unused)
{
	return false;
}

static int wait_in_fiber(sennit_time d)
{
	bool held;

	sennit_mutex_lock(&at.mine);
	held = sennit_fiber_wait(&at.mine, is_never, NULL, d);
	sennit_mutex_unlock(&at.mine);
	return held ? 0 : d == SENNIT_NEVER ? -ECANCELED : -ETIMEDOUT;
}

static int call_blocking(sennit_time d)
{
	return sennit_blocking_call_until(block, NULL, NULL, d);
}

static int end_domain(sennit_time d)
{
	sennit_domain_retain(at.domain);
	if (sennit_domain_shutdown(at.domain, d) == 0)
		return 0;
	sennit_domain_release(at.domain);
	return d == SENNIT_NEVER ? -ECANCELED : -ETIMEDOUT;
}

/* A reference more: the wait gives back the one that it had. */
static int end_other(sennit_time d)
{
	sennit_scheduler_retain(at.other);
	if (sennit_scheduler_shutdown(at.other, d) == 0)
		return 0;
	sennit_scheduler_release(at.other);
	return -ETIMEDOUT;
}

static int wait_never(void *unused)
{
	return sennit_event_wait(&at.never);
}

static int wait_members(sennit_time d)
{
	sennit_group g;
	int          err;

	sennit_group_init_on(&g, at.s, SENNIT_NEVER, 0);
	EXPECT(!sennit_group_spawn(&g, wait_never, NULL));
	err = sennit_group_wait_until(&g, d);
	sennit_group_cancel(&g);
	EXPECT(sennit_group_wait(&g) == -ECANCELED);
	return err;
}

/* --- the calls: refusals -------------------------------------------------- */

static void do_nothing(void *unused)
{
	EXPECT(false);
}

static int spawn_cancelled(sennit_time d)
{
	static const char big[2000];

	return sennit_group_spawn_copy(&at.cancelled, wait_never, big,
				       sizeof(big));
}

static int spawn_nothing(sennit_time d)
{
	return sennit_wait_group_spawn(&at.busy, NULL, NULL);
}

static int schedule_unknown(sennit_time d)
{
	const sennit_task tasks[] = { { .run = do_nothing, .flags = 1u << 31 },
				      { .run = do_nothing,
					.flags = 1u << 31 } };

	EXPECT(sennit_schedule_many_on(at.s, tasks, 2) == -EINVAL);
	return sennit_schedule_task_on(at.s, tasks);
}

/* What it could allocate before it is given back. */
static int schedule_without_memory(sennit_time d)
{
	static const char big[2000];
	const sennit_task task = { .run = do_nothing,
				   .argument = (void *)(uintptr_t)big,
				   .copy_size = sizeof(big) };
	int               err;

	atomic_store(&tally.dry, true);
	err = sennit_domain_schedule_task(at.domain, &task);
	atomic_store(&tally.dry, false);
	return err;
}

static int schedule_late(sennit_time d)
{
	sennit_scheduler *s;

	return sennit_weak_scheduler_lock(at.ended, &s);
}

static int change_workers(sennit_time d)
{
	return sennit_scheduler_set_workers(at.other, 100000);
}

static int create_invalid(sennit_time d)
{
	sennit_scheduler *s;

	return sennit_scheduler_create(
		&s, SENNIT_CONFIG(.allocator = &counting, .workers = 100000));
}

/* Each of its allocations fails once in a while. */
static int create_without_memory(sennit_time d)
{
	static atomic_uint turn;
	const unsigned     k = atomic_fetch_add(&turn, 1) % 8 + 1;
	sennit_scheduler  *s;
	int                err;

	atomic_store(&tally.failing, atomic_load(&tally.calls) + k);
	err = sennit_scheduler_create(
		&s, SENNIT_CONFIG(.allocator = &counting, .workers = 2));
	atomic_store(&tally.failing, 0);
	if (!err)
		(void)!sennit_scheduler_shutdown(s, SENNIT_NEVER);
	return err ? err : -ENOMEM;
}

static int create_half(sennit_time d)
{
	const sennit_allocator half = { .allocate = counting_take };
	sennit_resources      *r;

	return sennit_resources_create(&r, 1, &half);
}

static int init_half(sennit_time d)
{
	const sennit_allocator half = { .allocate = counting_take };
	sennit_pool            p;

	return sennit_pool_init(
		&p, &(sennit_pool_config){ .size = sizeof(sennit_pool_config),
					   .item_size = 1,
					   .allocator = &half });
}

static int trace_too_much(sennit_time d)
{
	const sennit_trace_options most = { .events = UINT32_MAX,
					    .crash_fd = -1 };

	EXPECT(sennit_trace_write(at.s, -1) == -ENOTSUP);
	return sennit_trace_start(at.s, &most);
}

static int write_metrics(sennit_time d)
{
	return sennit_metrics_write(at.s, -1, SENNIT_METRICS_OPENMETRICS);
}

static int notify_nobody(sennit_time d)
{
	EXPECT(sennit_domain_on_end(at.domain, NULL, NULL) == -EINVAL);
	return sennit_ticket_on_call(&at.stage.mine, NULL, NULL);
}

/* --- the table ------------------------------------------------------------ */

enum {
	FIBER = 1,  /* on a bound thread's own stack, and in a task */
	THREAD = 2, /* on an unbound thread */
	CANCEL = 4, /* in a cancelled group, without a deadline */
	ANYWHERE = FIBER | THREAD,
	WAIT = ANYWHERE | CANCEL
};

static const struct vain {
	const char *name;
	int (*call)(sennit_time d);
	int      says; /* 0: that the deadline has passed, or the group is
			* cancelled */
	unsigned where;
	unsigned rarer; /* it takes so much longer than others */
} calls[] = {
	{ "mutex", lock, 0, WAIT, 1 },
	{ "rwlock, written", write_held, 0, WAIT, 1 },
	{ "rwlock, written, to read", read_held, 0, WAIT, 1 },
	{ "rwlock, read", write_read, 0, WAIT, 1 },
	{ "wait group", wait_group, 0, WAIT, 1 },
	{ "barrier", arrive, 0, WAIT, 1 },
	{ "once", attempt, 0, WAIT, 1 },
	{ "fiber_wait", wait_in_fiber, 0, FIBER | CANCEL, 1 },
	{ "blocking call", call_blocking, 0, FIBER | CANCEL, 1 },
	{ "domain_shutdown", end_domain, 0, WAIT, 1 },
	{ "scheduler_shutdown", end_other, 0, ANYWHERE, 1 },
	{ "group_wait_until", wait_members, 0, FIBER, 10 },
	{ "spawn into a cancelled group", spawn_cancelled, -ECANCELED, FIBER,
	  1 },
	{ "spawn nothing", spawn_nothing, -EINVAL, FIBER, 1 },
	{ "schedule with unknown flags", schedule_unknown, -EINVAL, ANYWHERE,
	  1 },
	{ "schedule without memory", schedule_without_memory, -ENOMEM, ANYWHERE,
	  1 },
	{ "lock an ended scheduler", schedule_late, -ESHUTDOWN, ANYWHERE, 1 },
	{ "set_workers", change_workers, -EINVAL, ANYWHERE, 1 },
	{ "create with a wrong number", create_invalid, -EINVAL, ANYWHERE, 1 },
	{ "create without memory", create_without_memory, -ENOMEM, ANYWHERE,
	  100 },
	{ "resources", create_half, -EINVAL, ANYWHERE, 1 },
	{ "pool", init_half, -EINVAL, ANYWHERE, 1 },
	{ "trace", trace_too_much, -EINVAL, ANYWHERE, 1 },
	{ "metrics", write_metrics, -EBADF, ANYWHERE, 10 },
	{ "no function to call", notify_nobody, -EINVAL, FIBER, 1 },
};

/* --- the calls, in each place --------------------------------------------- */

static void repeat(const struct vain *v, unsigned place, unsigned times)
{
	const int says = v->says           ? v->says
			 : place == CANCEL ? -ECANCELED
					   : -ETIMEDOUT;
	unsigned  wrong = 0;

	for (unsigned i = 0; i < times; i++)
		wrong += v->call(place == CANCEL ? SENNIT_NEVER : i % 2) !=
			 says;
	if (wrong)
		print_error("%s: %u times another result\n", v->name, wrong);
	EXPECT(!wrong);
}

static void repeat_wait(const struct wait *wait, unsigned place, unsigned times)
{
	const int says = place == CANCEL ? -ECANCELED : -ETIMEDOUT;
	unsigned  wrong = 0;

	for (unsigned i = 0; i < times; i++)
		wrong += wait->until(&at.stage,
				     place == CANCEL ? SENNIT_NEVER : i % 2) !=
			 says;
	if (wrong)
		print_error("%s: %u times another result\n", wait->name, wrong);
	EXPECT(!wrong);
}

static void run_all(unsigned place)
{
	struct counts before;

	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if (calls[i].where & place) {
			repeat(&calls[i], place, 100);
			before = counts_now();
			repeat(&calls[i], place, TIMES / calls[i].rarer);
			expect_unchanged(calls[i].name, &before);
		}
	for (size_t i = 0; i < WAITS; i++)
		if (waits[i].come) { /* a sleep is not in vain */
			repeat_wait(&waits[i], place, 100);
			before = counts_now();
			repeat_wait(&waits[i], place, TIMES);
			expect_unchanged(waits[i].name, &before);
		}
}

static void run_here(void *place)
{
	run_all(*(const unsigned *)place);
}

static int run_as_member(void *event)
{
	EXPECT(!sennit_event_wait_until(event, SENNIT_UNCANCELLED));
	run_all(CANCEL);
	return 0;
}

/* A group that is cancelled once its member has begun. */
static void run_cancelled(void)
{
	sennit_event cancelled = SENNIT_EVENT_INIT(SENNIT_EVENT_MANUAL);
	sennit_group g;

	sennit_group_init_on(&g, at.s, SENNIT_NEVER, 0);
	EXPECT(!sennit_group_spawn(&g, run_as_member, &cancelled));
	sennit_group_cancel(&g);
	sennit_event_set(&cancelled);
	EXPECT(sennit_group_wait(&g) == -ECANCELED);
}

static void run_everywhere(struct world *w)
{
	static const unsigned fiber = FIBER, thread = THREAD;
	const pthread_t       holder = set_scene(w);

	run_here((void *)(uintptr_t)&fiber);
	in_a_task(run_here, (void *)(uintptr_t)&fiber);
	in_a_thread(run_here, (void *)(uintptr_t)&thread);
	run_cancelled();
	clear_scene(holder);
}

TEST_IN_WORLDS(a_call_in_vain_keeps_nothing,
	       WITHOUT(a_call_in_vain_keeps_nothing, open_count, close_count),
	       IN_WORLD(a_call_in_vain_keeps_nothing, "_w2", open_count,
			close_count, 2))
{
	run_everywhere(w);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* bystanders.c - bystanders COUNT: executes each of the calls below a few times
 * on a worker with COUNT other fibers, whose waits have nothing to do with it,
 * and has callgrind write what each call has cost. bystanders.sh compares the
 * costs beside few and beside many.
 *
 * All bystanders, and the task that makes the calls, are members of one group.
 * Half of them wait until a deadline, half of them in an open group of their
 * own. They wait for an event, for a semaphore, for a future, for a value, or
 * for a condition: calls that are named `crowded` wait for the same objects,
 * and give up. */
#include "sennit.h"
#include "sennit/barrier.h"
#include "sennit/blocking.h"
#include "sennit/domain.h"
#include "sennit/end.h"
#include "sennit/fiber.h"
#include "sennit/fork_join.h"
#include "sennit/local.h"
#include "sennit/metrics.h"
#include "sennit/once.h"
#include "sennit/pool.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#else
#define CALLGRIND_ZERO_STATS        ((void)0)
#define CALLGRIND_DUMP_STATS_AT(to) ((void)(to))
#endif

/* Each call is made so often, after a warm-up: as many dispatches as it takes
 * until each worker's upkeep has had its turn. */
enum { TIMES = 61 };

/* As in operations.c: the load of the machine changes no count. */
static _Atomic(uint64_t) time_ns = SENNIT_SECOND;

int clock_gettime(clockid_t clock, struct timespec *t)
{
	uint64_t ns = atomic_fetch_add(&time_ns, 500);

	(void)clock;
	t->tv_sec = (time_t)(ns / SENNIT_SECOND);
	t->tv_nsec = (long)(ns % SENNIT_SECOND);
	return 0;
}

static void must(int err)
{
	if (err)
		abort();
}

/* --- bystanders ----------------------------------------------------------- */

static sennit_event      never = SENNIT_EVENT_INIT(SENNIT_EVENT_MANUAL);
static sennit_semaphore  no_permits = SENNIT_SEMAPHORE_INIT;
static sennit_future     unset = SENNIT_FUTURE_INIT;
static sennit_channel    no_values = SENNIT_CHANNEL_INIT(sizeof(int));
static sennit_mutex      crowd_mutex = SENNIT_MUTEX_INIT;
static sennit_cond       no_news = SENNIT_COND_INIT;
static sennit_wait_group arriving;

/* Wait in vain for the object of this number until the deadline. */
static int wait_in_vain(unsigned number, sennit_time deadline)
{
	int   value, err;
	void *result;

	switch (number % 5) {
	case 0:
		return sennit_event_wait_until(&never, deadline);
	case 1:
		return sennit_semaphore_acquire_until(&no_permits, 1, deadline);
	case 2:
		return sennit_future_get_until(&unset, &result, deadline);
	case 3:
		return sennit_channel_receive_until(&no_values, &value,
						    deadline);
	default:
		sennit_mutex_lock(&crowd_mutex);
		err = sennit_cond_wait_until(&no_news, &crowd_mutex, deadline);
		sennit_mutex_unlock(&crowd_mutex);
		return err;
	}
}

static int stand_by(void *in_time)
{
	static unsigned count;

	sennit_wait_group_done(&arriving);
	return wait_in_vain(count++,
			    in_time ? sennit_after(3600 * SENNIT_SECOND)
				    : SENNIT_NEVER);
}

static int stand_by_in_a_group(void *in_time)
{
	sennit_group g;

	sennit_group_init(&g, SENNIT_NEVER, SENNIT_GROUP_OWN_STACKS);
	must(sennit_group_spawn(&g, stand_by, in_time));
	return sennit_group_wait(&g);
}

/* --- groups --------------------------------------------------------------- */

static int fail(void *unused)
{
	(void)unused;
	return -EIO;
}

static int do_nothing(void *unused)
{
	(void)unused;
	return 0;
}

/* A group of one member, which waits. */
static void open_waiting(sennit_group *g, sennit_time deadline)
{
	sennit_wait_group_init(&arriving, 1);
	sennit_group_init(g, deadline, SENNIT_GROUP_OWN_STACKS);
	must(sennit_group_spawn(g, stand_by, NULL));
	sennit_wait_group_wait(&arriving);
}

static void must_end(sennit_group *g, int error)
{
	if (sennit_group_wait(g) != error)
		abort();
}

static void open_and_wait(void)
{
	sennit_group g;

	sennit_group_init(&g, SENNIT_NEVER, 0);
	must(sennit_group_spawn(&g, do_nothing, NULL));
	must_end(&g, 0);
}

static void cancel(void)
{
	sennit_group g;

	open_waiting(&g, SENNIT_NEVER);
	sennit_group_cancel(&g);
	must_end(&g, -ECANCELED);
}

static void cancel_by_failure(void)
{
	sennit_group g;

	open_waiting(&g, SENNIT_NEVER);
	must(sennit_group_spawn(&g, fail, NULL));
	must_end(&g, -EIO);
}

static void drain(void)
{
	sennit_group g;

	open_waiting(&g, SENNIT_NEVER);
	if (sennit_group_members(&g) != 1 ||
	    sennit_group_drain(&g, 0) != -ECANCELED)
		abort();
}

static void pass_deadline(void)
{
	sennit_group g;

	open_waiting(&g, sennit_now());
	must_end(&g, -ETIMEDOUT);
}

static int cancel_inside(void *unused)
{
	(void)unused;
	cancel();
	return 0;
}

static void cancel_nested(void)
{
	sennit_group g;

	sennit_group_init(&g, SENNIT_NEVER, SENNIT_GROUP_OWN_STACKS);
	must(sennit_group_spawn(&g, cancel_inside, NULL));
	must_end(&g, 0);
}

/* Comes last: the whole tree then looks for earlier deadlines. */
static void set_deadline(void)
{
	sennit_group g;

	open_waiting(&g, SENNIT_NEVER);
	sennit_group_set_deadline(&g, sennit_now());
	must_end(&g, -ETIMEDOUT);
}

/* --- primitives: each wakes a waiter -------------------------------------- */

static sennit_event        ping;
static sennit_channel      values = SENNIT_CHANNEL_INIT(sizeof(int));
static sennit_mutex        mutex;
static sennit_cond         cond;
static sennit_rwlock       rwlock;
static sennit_future       future;
static sennit_ticket_queue tickets;
static sennit_semaphore    semaphore = SENNIT_SEMAPHORE_INIT;
static sennit_wait_group   waited;
static bool                told;

static void with_waiter(sennit_task_fn *wait, void (*act)(void))
{
	sennit_wait_group_init(&waited, 1);
	must(sennit_schedule(wait, NULL));
	sennit_yield();
	act();
	sennit_wait_group_wait(&waited);
}

static void await_event(void *unused)
{
	(void)unused;
	must(sennit_event_wait(&ping));
	sennit_wait_group_done(&waited);
}

static void set_it(void)
{
	sennit_event_set(&ping);
}

static void set_event(void)
{
	sennit_event_init(&ping, SENNIT_EVENT_AUTO);
	with_waiter(await_event, set_it);
}

static void await_value(void *unused)
{
	int v;

	(void)unused;
	(void)!sennit_channel_receive(&values, &v);
	sennit_wait_group_done(&waited);
}

static void send_it(void)
{
	must(sennit_channel_send(&values, &(int){ 1 }));
}

static void send_value(void)
{
	with_waiter(await_value, send_it);
}

static void close_it(void)
{
	sennit_channel_close(&values);
}

static void close_channel(void)
{
	const sennit_channel fresh = SENNIT_CHANNEL_INIT(sizeof(int));

	with_waiter(await_value, close_it);
	sennit_channel_destroy(&values);
	values = fresh;
}

static void await_any(void *unused)
{
	int          v;
	sennit_event other = SENNIT_EVENT_INIT(SENNIT_EVENT_MANUAL);
	sennit_case  cases[3];

	(void)unused;
	cases[0] = sennit_case_event(&other);
	cases[1] = sennit_case_receive(&values, &v);
	cases[2] = sennit_case_event(&never);
	(void)!sennit_select(cases, 3, NULL);
	sennit_wait_group_done(&waited);
}

static void select_among_bystanders(void)
{
	with_waiter(await_any, send_it);
}

static void await_mutex(void *unused)
{
	(void)unused;
	sennit_mutex_lock(&mutex);
	sennit_mutex_unlock(&mutex);
	sennit_wait_group_done(&waited);
}

static void unlock_it(void)
{
	sennit_mutex_unlock(&mutex);
}

static void unlock_mutex(void)
{
	sennit_mutex_lock(&mutex);
	with_waiter(await_mutex, unlock_it);
}

static void await_cond(void *unused)
{
	(void)unused;
	sennit_mutex_lock(&mutex);
	while (!told)
		must(sennit_cond_wait(&cond, &mutex));
	sennit_mutex_unlock(&mutex);
	sennit_wait_group_done(&waited);
}

static void tell(void)
{
	sennit_mutex_lock(&mutex);
	told = true;
	sennit_cond_notify_one(&cond);
	sennit_mutex_unlock(&mutex);
}

static void notify(void)
{
	told = false;
	with_waiter(await_cond, tell);
}

static void await_rwlock(void *unused)
{
	(void)unused;
	sennit_rwlock_lock(&rwlock);
	sennit_rwlock_unlock(&rwlock);
	sennit_wait_group_done(&waited);
}

static void unlock_shared(void)
{
	sennit_rwlock_unlock_shared(&rwlock);
}

static void unlock_rwlock(void)
{
	sennit_rwlock_lock_shared(&rwlock);
	with_waiter(await_rwlock, unlock_shared);
}

static void await_semaphore(void *unused)
{
	(void)unused;
	must(sennit_semaphore_acquire(&semaphore, 1));
	sennit_wait_group_done(&waited);
}

static void give_it(void)
{
	sennit_semaphore_release(&semaphore, 1);
}

static void give(void)
{
	with_waiter(await_semaphore, give_it);
}

static void await_future(void *unused)
{
	(void)unused;
	must(sennit_future_wait(&future));
	sennit_wait_group_done(&waited);
}

static void set_its_value(void)
{
	sennit_future_set(&future, NULL);
}

static void set_future(void)
{
	sennit_future_init(&future);
	with_waiter(await_future, set_its_value);
	sennit_future_destroy(&future);
}

static void take_turns(void)
{
	sennit_ticket first, second;

	sennit_ticket_queue_take(&tickets, &first);
	sennit_ticket_queue_take(&tickets, &second);
	sennit_ticket_done(&first);
	must(sennit_ticket_wait(&second));
	sennit_ticket_done(&second);
}

/* --- waits that give up --------------------------------------------------- */

static void expire(unsigned number)
{
	if (wait_in_vain(number, sennit_after(100)) != -ETIMEDOUT)
		abort();
}

static void expire_event(void)
{
	expire(0);
}

static void expire_semaphore(void)
{
	expire(1);
}

static void expire_future(void)
{
	expire(2);
}

static void expire_channel(void)
{
	expire(3);
}

static void expire_cond(void)
{
	expire(4);
}

static void expire_any(void)
{
	sennit_event  own = SENNIT_EVENT_INIT(SENNIT_EVENT_MANUAL);
	sennit_event *events[] = { &never, &own, &never };
	size_t        which;

	if (sennit_event_wait_any_until(events, 3, &which, sennit_after(100)) !=
	    -ETIMEDOUT)
		abort();
}

static void expire_select(void)
{
	size_t      which;
	int         value;
	sennit_case cases[] = { sennit_case_event(&never),
				sennit_case_receive(&no_values, &value),
				sennit_case_future(&unset, NULL) };

	if (sennit_select_until(cases, 3, &which, sennit_after(100)) !=
	    -ETIMEDOUT)
		abort();
}

/* --- several objects ------------------------------------------------------ */

static void await_any_event(void *unused)
{
	sennit_event *events[] = { &never, &ping };
	size_t        which = 0;

	(void)unused;
	if (sennit_event_wait_any(events, 2, &which) ||
	    (which == 1 && !sennit_event_is_set(&ping)))
		abort();
	sennit_wait_group_done(&waited);
}

static void set_any(void)
{
	sennit_event_init(&ping, SENNIT_EVENT_MANUAL);
	with_waiter(await_any_event, set_it);
}

static void await_all_events(void *unused)
{
	sennit_event  other = SENNIT_EVENT_INIT(SENNIT_EVENT_MANUAL);
	sennit_event *events[] = { &ping, &other };

	(void)unused;
	sennit_event_set(&other);
	must(sennit_event_wait_all(events, 2));
	sennit_wait_group_done(&waited);
}

static void set_all(void)
{
	sennit_event_init(&ping, SENNIT_EVENT_MANUAL);
	with_waiter(await_all_events, set_it);
}

static void await_any_future(void *unused)
{
	sennit_future *futures[] = { &unset, &future };

	(void)unused;
	(void)!sennit_future_wait_any(futures, 2, NULL);
	sennit_wait_group_done(&waited);
}

static void set_any_future(void)
{
	sennit_future_init(&future);
	with_waiter(await_any_future, set_its_value);
	sennit_future_destroy(&future);
}

static void continue_after(void *unused, void *value, int error)
{
	(void)unused;
	(void)value;
	(void)error;
	sennit_wait_group_done(&waited);
}

static void continue_future(void)
{
	sennit_continuation c = { .run = continue_after };

	sennit_future_init(&future);
	sennit_wait_group_init(&waited, 1);
	sennit_future_then(&future, &c);
	sennit_future_set(&future, NULL);
	sennit_wait_group_wait(&waited);
	sennit_future_destroy(&future);
}

static int get_nothing(void *unused, void **value)
{
	(void)unused;
	*value = NULL;
	return 0;
}

static void spawn_future(void)
{
	void *value;

	sennit_future_init(&future);
	must(sennit_future_spawn(&future, get_nothing, NULL));
	must(sennit_future_get(&future, &value));
	sennit_future_destroy(&future);
}

/* --- barriers, onces, pools, fibers --------------------------------------- */

static sennit_barrier barrier;

static void arrive_first(void *unused)
{
	(void)unused;
	(void)sennit_barrier_wait(&barrier);
	sennit_wait_group_done(&waited);
}

static void arrive_last(void)
{
	(void)sennit_barrier_wait(&barrier);
}

static void meet(void)
{
	sennit_barrier_init(&barrier, 2);
	with_waiter(arrive_first, arrive_last);
}

static void yield_once(void *unused)
{
	(void)unused;
	sennit_yield();
}

static sennit_once once;

static void call_second(void *unused)
{
	sennit_once_call(&once, yield_once, unused);
	sennit_wait_group_done(&waited);
}

static void call_first(void *unused)
{
	sennit_wait_group_init(&waited, 1);
	must(sennit_schedule(call_second, unused));
	sennit_yield();
}

static void call_once(void)
{
	sennit_once_init(&once);
	sennit_once_call(&once, call_first, NULL);
	sennit_wait_group_wait(&waited);
}

static sennit_pool pool;
static void       *loan;

static void await_loan(void *unused)
{
	void *item;

	(void)unused;
	must(sennit_pool_borrow(&pool, &item));
	sennit_pool_return(&pool, item);
	sennit_wait_group_done(&waited);
}

static void return_loan(void)
{
	sennit_pool_return(&pool, loan);
}

static void lend(void)
{
	const sennit_pool_config one = { .size = sizeof(one),
					 .item_size = 8,
					 .count = 1 };

	must(sennit_pool_init(&pool, &one));
	must(sennit_pool_borrow(&pool, &loan));
	with_waiter(await_loan, return_loan);
	sennit_pool_destroy(&pool);
}

static sennit_ticket called;

static void answer_call(void *unused)
{
	(void)unused;
	sennit_ticket_done(&called);
	sennit_wait_group_done(&waited);
}

static void call_ticket(void)
{
	sennit_ticket first;

	sennit_ticket_queue_take(&tickets, &first);
	sennit_ticket_queue_take(&tickets, &called);
	sennit_wait_group_init(&waited, 1);
	must(sennit_ticket_on_call(&called, answer_call, NULL));
	sennit_ticket_done(&first);
	sennit_wait_group_wait(&waited);
}

static sennit_fiber *notified;

static bool is_told(void *unused)
{
	(void)unused;
	return told;
}

static void await_notice(void *unused)
{
	(void)unused;
	notified = sennit_fiber_current();
	sennit_mutex_lock(&mutex);
	if (!sennit_fiber_wait(&mutex, is_told, NULL, SENNIT_NEVER))
		abort();
	sennit_mutex_unlock(&mutex);
	sennit_wait_group_done(&waited);
}

static void notify_it(void)
{
	while (!notified)
		sennit_yield();
	sennit_mutex_lock(&mutex);
	told = true;
	sennit_mutex_unlock(&mutex);
	sennit_fiber_notify(notified);
}

static void notify_fiber(void)
{
	told = false;
	notified = NULL;
	with_waiter(await_notice, notify_it);
}

/* --- tasks, schedulers ---------------------------------------------------- */

static void end_task(void *unused)
{
	(void)unused;
	sennit_wait_group_done(&waited);
}

static void schedule(void)
{
	sennit_wait_group_init(&waited, 1);
	must(sennit_schedule(end_task, NULL));
	sennit_wait_group_wait(&waited);
}

static void sleep_briefly(void)
{
	must(sennit_sleep_until(sennit_now() + 100));
}

static int pass(void *unused, size_t begin, size_t end)
{
	(void)unused;
	(void)begin;
	(void)end;
	return 0;
}

static void loop_in_parallel(void)
{
	must(sennit_parallel_for(0, 100, pass, NULL, NULL, SENNIT_NEVER));
}

static void end_domain(void)
{
	sennit_domain *d;

	sennit_wait_group_init(&waited, 1);
	must(sennit_domain_create(&d, sennit_scheduler_current(), NULL, NULL));
	must(sennit_domain_schedule(d, end_task, NULL));
	sennit_domain_release(d);
	sennit_wait_group_wait(&waited);
}

static void schedule_many(void)
{
	sennit_task tasks[8];

	for (int i = 0; i < 8; i++)
		tasks[i] = (sennit_task){ .run = end_task };
	sennit_wait_group_init(&waited, 8);
	must(sennit_schedule_many(tasks, 8));
	sennit_wait_group_wait(&waited);
}

static void end_copy(void *number)
{
	if (*(int *)number != 7)
		abort();
	sennit_wait_group_done(&waited);
}

static void schedule_copy(void)
{
	sennit_wait_group_init(&waited, 1);
	must(sennit_schedule_copy(end_copy, &(int){ 7 }, sizeof(int)));
	sennit_wait_group_wait(&waited);
}

static void schedule_same_thread(void)
{
	const sennit_task t = { .run = end_task,
				.flags = SENNIT_TASK_SAME_THREAD };

	sennit_wait_group_init(&waited, 1);
	must(sennit_schedule_task(&t));
	sennit_wait_group_wait(&waited);
}

static void schedule_background(void)
{
	const sennit_task t = { .run = end_task,
				.flags = SENNIT_TASK_BACKGROUND };

	sennit_wait_group_init(&waited, 1);
	must(sennit_schedule_task(&t));
	sennit_wait_group_wait(&waited);
}

static void pass_argument(void *unused)
{
	(void)unused;
}

static void spawn_tied(void)
{
	sennit_wait_group w = SENNIT_WAIT_GROUP_INIT;

	must(sennit_wait_group_spawn(&w, pass_argument, NULL));
	sennit_wait_group_wait(&w);
}

SENNIT_FORK(int, fib, int, n)
{
	int a, b;

	if (n < 2)
		return n;
	SENNIT_FORK_SPAWN(fib, other, n - 1);
	b = SENNIT_FORK_CALL(fib, n - 2);
	a = SENNIT_FORK_SYNC(fib, other);
	return a + b;
}

static void fork_and_join(void)
{
	if (SENNIT_FORK_RUN(fib, 5) != 5)
		abort();
}

static void *block(void *unused)
{
	return unused;
}

static void call_blocking(void)
{
	(void)sennit_blocking_call(block, NULL);
}

static sennit_local_key key;

static void set_local(void *unused)
{
	must(sennit_local_set(key, &key));
	end_task(unused);
}

static void keep_local(void)
{
	sennit_wait_group_init(&waited, 1);
	must(sennit_schedule(set_local, NULL));
	sennit_wait_group_wait(&waited);
}

static void end_scheduler(void)
{
	sennit_scheduler *s;

	must(sennit_scheduler_create(&s, SENNIT_CONFIG(.workers = 1)));
	must(sennit_schedule_task_on(s,
				     &(sennit_task){ .run = pass_argument }));
	must(sennit_scheduler_shutdown(s, SENNIT_NEVER));
}

static void lock_weak(void)
{
	sennit_scheduler      *s;
	sennit_weak_scheduler *w =
		sennit_scheduler_weak(sennit_scheduler_current());

	must(sennit_weak_scheduler_lock(w, &s));
	sennit_scheduler_release(s);
	sennit_weak_scheduler_release(w);
}

static void set_workers(void)
{
	must(sennit_scheduler_set_workers(sennit_scheduler_current(), 2));
	must(sennit_scheduler_set_workers(sennit_scheduler_current(), 1));
}

static void get_stats(void)
{
	sennit_stats stats = { .size = sizeof(stats) };

	sennit_scheduler_get_stats(sennit_scheduler_current(), &stats);
}

static void trim(void)
{
	sennit_scheduler_trim(sennit_scheduler_current());
}

static int null; /* the descriptor of /dev/null */

static void get_metrics(void)
{
	must(sennit_metrics_write(sennit_scheduler_current(), null,
				  SENNIT_METRICS_OPENMETRICS));
}

static void *bind_and_unbind(void *scheduler)
{
	must(sennit_thread_bind(scheduler));
	sennit_thread_unbind();
	return NULL;
}

static void bind_a_thread(void)
{
	pthread_t thread;

	must(pthread_create(&thread, NULL, bind_and_unbind,
			    sennit_scheduler_current()));
	must(pthread_join(thread, NULL));
}

static void note_entry(void *count, const sennit_report_entry *e)
{
	(void)e;
	++*(unsigned *)count;
}

static void report(void)
{
	unsigned count = 0;

	sennit_report_visit(sennit_scheduler_current(), note_entry, &count);
}

/* ------------------------------------------------------------------------ */

/* Behind "*" is why bystanders may cost something. */
static const struct call {
	const char *name;
	void (*make)(void);
} calls[] = {
	{ "group-open-and-wait", open_and_wait },
	{ "group-cancel", cancel },
	{ "group-cancel-nested", cancel_nested },
	{ "group-failed-member", cancel_by_failure },
	{ "group-drain", drain },
	{ "group-deadline", pass_deadline },
	{ "event-set", set_event },
	{ "channel-send", send_value },
	{ "channel-close", close_channel },
	{ "select", select_among_bystanders },
	{ "mutex-unlock", unlock_mutex },
	{ "cond-notify", notify },
	{ "rwlock-unlock", unlock_rwlock },
	{ "semaphore-give", give },
	{ "future-set", set_future },
	{ "ticket-done", take_turns },
	{ "schedule", schedule },
	{ "sleep", sleep_briefly },
	{ "parallel-for", loop_in_parallel },
	{ "domain-end", end_domain },
	{ "stats", get_stats },
	{ "metrics", get_metrics },
	{ "trim *it looks at all memory that blocks lie in", trim },
	{ "bind", bind_a_thread },
	{ "crowded-event-expires", expire_event },
	{ "crowded-semaphore-expires", expire_semaphore },
	{ "crowded-future-expires", expire_future },
	{ "crowded-channel-expires", expire_channel },
	{ "crowded-cond-expires", expire_cond },
	{ "crowded-any-expires", expire_any },
	{ "crowded-select-expires", expire_select },
	{ "event-any", set_any },
	{ "event-all", set_all },
	{ "future-any", set_any_future },
	{ "future-then", continue_future },
	{ "future-spawn", spawn_future },
	{ "barrier", meet },
	{ "once", call_once },
	{ "pool-return", lend },
	{ "ticket-on-call", call_ticket },
	{ "fiber-notify", notify_fiber },
	{ "schedule-many", schedule_many },
	{ "schedule-copy", schedule_copy },
	{ "schedule-same-thread", schedule_same_thread },
	{ "schedule-background", schedule_background },
	{ "wait-group-spawn", spawn_tied },
	{ "fork-join", fork_and_join },
	{ "blocking-call *the worker spins until the thread has answered",
	  call_blocking },
	{ "local-set", keep_local },
	{ "scheduler-end *its threads spin before they sleep", end_scheduler },
	{ "weak-lock", lock_weak },
	{ "set-workers *a thread starts, or takes its time to end",
	  set_workers },
	{ "group-set-deadline", set_deadline },
	{ "group-cancel-after-that", cancel },
	{ "report *each fiber has its line", report },
};

static int make_calls(void *over)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		for (int k = 0; k < TIMES; k++)
			calls[i].make();
		CALLGRIND_ZERO_STATS;
		for (int k = 0; k < TIMES; k++)
			calls[i].make();
		CALLGRIND_DUMP_STATS_AT(calls[i].name);
	}
	sennit_event_set(over);
	return 0;
}

static int stand_and_call(void *count)
{
	const uintptr_t n = (uintptr_t)count;
	sennit_event    over = SENNIT_EVENT_INIT(SENNIT_EVENT_MANUAL);
	sennit_group    g;

	sennit_wait_group_init(&arriving, (uint32_t)n);
	sennit_group_init(&g, SENNIT_NEVER, SENNIT_GROUP_OWN_STACKS);
	for (uintptr_t i = 0; i < n; i++)
		must(sennit_group_spawn(&g,
					i % 2 ? stand_by : stand_by_in_a_group,
					(void *)(i / 2 % 2)));
	sennit_wait_group_wait(&arriving);
	must(sennit_group_spawn(&g, make_calls, &over));
	must(sennit_event_wait(&over));
	sennit_group_cancel(&g);
	must_end(&g, -ECANCELED);
	return 0;
}

int main(int argc, char **argv)
{
	int        result;
	const long count = argc == 2 ? strtol(argv[1], NULL, 10) : 0;

	if (count <= 0) {
		fputs("usage: bystanders COUNT\n", stderr);
		return 2;
	}
	null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	must(sennit_local_key_create(&key, NULL));
	return sennit_run(stand_and_call, (void *)(intptr_t)count,
			  SENNIT_CONFIG(.workers = 1, .max_workers = 2),
			  &result) ||
	       result;
}

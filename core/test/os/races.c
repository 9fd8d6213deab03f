/* SPDX-License-Identifier: Apache-2.0 */
/* races.c - builds for SENNIT_SANITIZE=race: each planted race is reported with
 * 1, 2 and 8 workers, and what the calls order is not. The program runs itself
 * with the name of a plot and a number of workers.
 */
#include "testing/with_workers.h"
#include "testing/child.h"

#include <sennit/dag.h>
#include <sennit/fork_join.h>
#include <errno.h>

#ifdef SENNIT_RACE

/* --- what plots share ----------------------------------------------------- */

#define TASKS  8
#define LAPSE  (100 * SENNIT_MICROSECOND)
#define PLACES 64

static int               x, y;
static int               places[PLACES + 1];
static atomic_int        flag;
static sennit_mutex      lock, other_lock;
static sennit_rwlock     rwlock;
static sennit_event      event, back;
static sennit_semaphore  permits;
static sennit_channel    channel;
static sennit_future     future;
static sennit_once       once;
static sennit_barrier    barrier;
static sennit_cond       cond;
static sennit_wait_group group;
static bool              said;

/* Not for cmocka, which jumps to where the test began. */
static void must_equal(long is, long should_be)
{
	if (is != should_be)
		abort();
}

/* One after the other in the text, at the same time for the library. */
static void run_both(sennit_member_fn *a, sennit_member_fn *b)
{
	sennit_group g;

	sennit_group_init(&g, SENNIT_NEVER, 0);
	must_equal(sennit_group_spawn(&g, a, NULL), 0);
	must_equal(sennit_group_spawn(&g, b, NULL), 0);
	must_equal(sennit_group_wait(&g), 0);
}

static void run_many(sennit_member_fn *run)
{
	sennit_group g;

	sennit_group_init(&g, SENNIT_NEVER, 0);
	for (int i = 0; i < TASKS; i++)
		must_equal(sennit_group_spawn(&g, run, NULL), 0);
	must_equal(sennit_group_wait(&g), 0);
}

/* --- counters and locks --------------------------------------------------- */

static int count(void *unused)
{
	int was = x;

	sennit_sleep(LAPSE);
	x = was + 1;
	return 0;
}

static int count_at_once(void *unused)
{
	x++;
	return 0;
}

static int count_locked(void *unused)
{
	sennit_mutex_lock(&lock);
	x++;
	sennit_sleep(LAPSE);
	x++;
	sennit_mutex_unlock(&lock);
	return 0;
}

static int count_other_lock(void *unused)
{
	sennit_mutex_lock(&other_lock);
	x++;
	sennit_mutex_unlock(&other_lock);
	return 0;
}

static void sleep_between(void)
{
	run_many(count);
}

static void no_wait(void)
{
	run_many(count_at_once);
}

static void locked(void)
{
	run_many(count_locked);
	x++;
}

static void lock_on_one_side(void)
{
	run_both(count_locked, count_at_once);
}

static void two_locks(void)
{
	run_both(count_locked, count_other_lock);
}

/* --- reader-writer lock --------------------------------------------------- */

static int write_as_reader(void *unused)
{
	sennit_rwlock_lock_shared(&rwlock);
	x++;
	sennit_rwlock_unlock_shared(&rwlock);
	return 0;
}

static int write_as_writer(void *unused)
{
	sennit_rwlock_lock(&rwlock);
	x++;
	sennit_sleep(LAPSE);
	y = x;
	sennit_rwlock_unlock(&rwlock);
	return 0;
}

static int read_as_reader(void *unused)
{
	int sum;

	sennit_rwlock_lock_shared(&rwlock);
	sum = x;
	sennit_yield();
	sum += y;
	sennit_rwlock_unlock_shared(&rwlock);
	return sum < 0;
}

static void read_side_write(void)
{
	run_many(write_as_reader);
}

static void readers_and_writers(void)
{
	sennit_group g;

	sennit_group_init(&g, SENNIT_NEVER, 0);
	for (int i = 0; i < TASKS; i++)
		must_equal(sennit_group_spawn(
				   &g, i % 3 ? read_as_reader : write_as_writer,
				   NULL),
			   0);
	must_equal(sennit_group_wait(&g), 0);
}

/* --- messages ------------------------------------------------------------- */

static int plain;

static int send_plainly(void *unused)
{
	x = 1;
	__atomic_store_n(&plain, 1, __ATOMIC_RELAXED);
	return 0;
}

static int receive_plainly(void *unused)
{
	while (!__atomic_load_n(&plain, __ATOMIC_RELAXED))
		sennit_sleep(LAPSE);
	return x != 1;
}

static int send_by_atomic(void *unused)
{
	x = 1;
	atomic_store(&flag, 1);
	return 0;
}

static int receive_by_atomic(void *unused)
{
	while (!atomic_load(&flag))
		sennit_sleep(LAPSE);
	return x != 1;
}

static void relaxed_flag(void)
{
	run_both(send_plainly, receive_plainly);
}

static void own_atomic(void)
{
	run_both(send_by_atomic, receive_by_atomic);
}

static int send_pointers(void *unused)
{
	static int values[100];

	for (int i = 0; i < 100; i++) {
		int *p = &values[i];

		*p = i;
		if (sennit_channel_send(&channel, &p))
			return -1;
	}
	y = 1;
	sennit_channel_close(&channel);
	return 0;
}

static int receive_pointers(void *unused)
{
	int *p;
	int  sum = 0;

	while (!sennit_channel_receive(&channel, &p))
		sum += (*p)++;
	return sum != 4950 || y != 1;
}

static int receive_early(void *unused)
{
	int *p;

	if (y > 1)
		return -1;
	while (!sennit_channel_receive(&channel, &p))
		(*p)++;
	return 0;
}

static void over_channel(size_t capacity, sennit_member_fn *receive)
{
	must_equal(sennit_channel_init(&channel, capacity, sizeof(int *), NULL),
		   0);
	run_both(send_pointers, receive);
	sennit_channel_destroy(&channel);
}

static void rendezvous(void)
{
	over_channel(0, receive_pointers);
}

static void buffered(void)
{
	over_channel(3, receive_pointers);
}

static void unbounded(void)
{
	over_channel(SENNIT_CHANNEL_UNBOUNDED, receive_pointers);
}

static void before_close(void)
{
	over_channel(200, receive_early);
}

/* Each sends and then writes what the other has written: only receiving is
 * ordered behind sending. */
static int send_and_write(void *unused)
{
	int *p = NULL;

	if (sennit_channel_send(&channel, &p))
		return -1;
	x++;
	return 0;
}

static void two_senders(void)
{
	must_equal(sennit_channel_init(&channel, 2, sizeof(int *), NULL), 0);
	run_both(send_and_write, send_and_write);
	sennit_channel_destroy(&channel);
}

static int select_pointers(void *unused)
{
	int *p;
	int  sum = 0;

	for (;;) {
		sennit_case cases[] = { sennit_case_receive(&channel, &p),
					sennit_case_event(&event) };
		size_t      i;

		if (sennit_select(cases, 2, &i) || i == 1)
			return y != 2;
		if (cases[0].result)
			break;
		sum += (*p)++;
	}
	return sum != 4950 || y != 1;
}

static void by_select(void)
{
	over_channel(0, select_pointers);
	over_channel(5, select_pointers);
}

/* --- events and what follows ---------------------------------------------- */

static int publish(void *unused)
{
	x = 1;
	sennit_event_set(&event);
	return 0;
}

static int publish_late(void *unused)
{
	sennit_event_set(&event);
	x = 1;
	return 0;
}

static int subscribe(void *unused)
{
	return sennit_event_wait(&event) || x > 1;
}

static void set_before(void)
{
	run_both(subscribe, publish);
	sennit_event_clear(&event);
	run_both(publish, subscribe);
}

static void set_too_early(void)
{
	run_both(subscribe, publish_late);
}

static int ping(void *unused)
{
	for (int i = 0; i < 50; i++) {
		x++;
		sennit_event_set(&event);
		if (sennit_event_wait(&back))
			return -1;
	}
	return 0;
}

static int pong(void *unused)
{
	for (int i = 0; i < 50; i++) {
		if (sennit_event_wait_until(&event,
					    sennit_after(SENNIT_SECOND * 100)))
			return -1;
		x++;
		sennit_event_set(&back);
	}
	return 0;
}

static void to_and_fro(void)
{
	sennit_event_init(&event, SENNIT_EVENT_AUTO);
	sennit_event_init(&back, SENNIT_EVENT_AUTO);
	run_both(ping, pong);
}

static int fulfil(void *unused)
{
	x = 7;
	sennit_future_set(&future, &x);
	return 0;
}

static int get(void *unused)
{
	void *value;

	return sennit_future_get(&future, &value) || *(int *)value != 7;
}

static int peek(void *unused)
{
	sennit_sleep(LAPSE);
	return x && x != 7;
}

static void future_read(void)
{
	run_both(get, fulfil);
}

static void future_not_read(void)
{
	run_both(peek, fulfil);
}

static struct {
	sennit_continuation link;
	int                 number;
} sequel;

static void follow(void *unused, void *value, int error)
{
	sequel.number++;
	sennit_event_set(&event);
}

static int attach(void *unused)
{
	sequel.link = (sennit_continuation){ .run = follow };
	sequel.number = 1;
	sennit_future_then(&future, &sequel.link);
	return 0;
}

static int attach_and_touch(void *unused)
{
	attach(unused);
	sequel.number++;
	return 0;
}

static int fulfil_later(void *unused)
{
	sennit_sleep(LAPSE);
	sennit_future_set(&future, NULL);
	return 0;
}

static void go_on_after(sennit_member_fn *first)
{
	sennit_future_init(&future);
	sennit_event_init(&event, SENNIT_EVENT_MANUAL);
	run_both(fulfil_later, first);
	must_equal(sennit_event_wait(&event), 0);
	x += sequel.number;
}

static void continuation(void)
{
	go_on_after(attach);
}

static void touched_continuation(void)
{
	go_on_after(attach_and_touch);
}

static void make_once(void *unused)
{
	x++;
	sennit_sleep(LAPSE);
}

static int use_once(void *unused)
{
	sennit_once_call(&once, make_once, NULL);
	return x != 1;
}

static int use_without_once(void *unused)
{
	if (!x)
		x = 1;
	return 0;
}

static void with_once(void)
{
	run_many(use_once);
}

static void without_once(void)
{
	run_many(use_without_once);
}

static int give(void *unused)
{
	x++;
	sennit_semaphore_release(&permits, 1);
	return 0;
}

static int take(void *unused)
{
	return sennit_semaphore_acquire(&permits, 1) || x++ != 1;
}

static int take_too_late(void *unused)
{
	x++;
	return sennit_semaphore_acquire(&permits, 1);
}

static void give_and_take(void)
{
	run_both(take, give);
}

static void take_behind(void)
{
	run_both(take_too_late, give);
}

/* Two tasks are in the barrier, so that each has the other's place behind
 * it. */
static int swap_places(void *number)
{
	const int mine = number != NULL;

	for (int i = 0; i < 10; i++) {
		places[(mine + i) % 2]++;
		sennit_barrier_wait(&barrier);
	}
	return 0;
}

static void at_barrier(void)
{
	sennit_group g;

	sennit_barrier_init(&barrier, 2);
	sennit_group_init(&g, SENNIT_NEVER, 0);
	must_equal(sennit_group_spawn(&g, swap_places, NULL), 0);
	must_equal(sennit_group_spawn(&g, swap_places, &x), 0);
	must_equal(sennit_group_wait(&g), 0);
	must_equal(places[0] + places[1], 20);
}

static int see_if_met(void *unused)
{
	if (sennit_barrier_wait_until(&barrier, SENNIT_NEVER) >= 0 && x != 5)
		return -1;
	return 0;
}

/* The phase ends for one whose wait has been cancelled already. */
static void at_barrier_cancelled(void)
{
	sennit_group g;

	sennit_barrier_init(&barrier, 2);
	sennit_group_init(&g, SENNIT_NEVER, 0);
	must_equal(sennit_group_spawn(&g, see_if_met, NULL), 0);
	sennit_sleep(LAPSE);
	sennit_group_cancel(&g);
	x = 5;
	(void)!sennit_barrier_wait_until(&barrier, sennit_after(LAPSE));
	must_equal(sennit_group_wait(&g), -ECANCELED);
}

static int notify(void *unused)
{
	x = 1;
	sennit_mutex_lock(&lock);
	said = true;
	sennit_cond_notify_all(&cond);
	sennit_mutex_unlock(&lock);
	return 0;
}

static int hear(void *unused)
{
	sennit_mutex_lock(&lock);
	while (!said)
		if (sennit_cond_wait(&cond, &lock))
			return -1;
	sennit_mutex_unlock(&lock);
	return x != 1;
}

static void by_cond(void)
{
	run_both(hear, notify);
}

/* --- spawning and joining ------------------------------------------------- */

static void add_to(void *place)
{
	++*(int *)place;
	sennit_sleep(LAPSE);
	++*(int *)place;
}

static void done_after(void *place)
{
	add_to(place);
	sennit_wait_group_done(&group);
}

static void tie(void)
{
	sennit_wait_group g;

	sennit_wait_group_init(&g, 0);
	for (int i = 0; i < TASKS; i++) {
		places[i] = i;
		must_equal(sennit_wait_group_spawn(&g, add_to, &places[i]), 0);
	}
	sennit_wait_group_wait(&g);
	for (int i = 0; i < TASKS; i++)
		x += places[i];
}

static void count_down(void)
{
	sennit_wait_group_init(&group, TASKS);
	for (int i = 0; i < TASKS; i++) {
		places[i] = i;
		must_equal(sennit_schedule(done_after, &places[i]), 0);
	}
	sennit_wait_group_wait(&group);
	for (int i = 0; i < TASKS; i++)
		x += places[i];
}

static void look_before_join(void)
{
	sennit_wait_group_init(&group, TASKS);
	for (int i = 0; i < TASKS; i++)
		must_equal(sennit_schedule(done_after, &places[i]), 0);
	sennit_sleep(10 * LAPSE);
	for (int i = 0; i < TASKS; i++)
		x += places[i];
	sennit_wait_group_wait(&group);
}

static void write_after_spawn(void)
{
	sennit_wait_group_init(&group, 1);
	must_equal(sennit_schedule(done_after, &x), 0);
	x = 5;
	sennit_wait_group_wait(&group);
}

static void through_pointer(void *copy)
{
	int *const *p = copy;

	++**p;
	sennit_wait_group_done(&group);
}

static void with_copies(void)
{
	for (int i = 0; i < 20; i++) {
		int *p = &x;

		sennit_wait_group_init(&group, 1);
		x++;
		must_equal(sennit_schedule_copy(through_pointer, &p, sizeof(p)),
			   0);
		sennit_wait_group_wait(&group);
		x++;
	}
}

static int change_copy(void *copy)
{
	int *number = copy;

	*number += 1;
	sennit_yield();
	*number += 1;
	return 0;
}

/* What a task gets, and where its frames are, was another's before. */
static void same_memory(void)
{
	for (int round = 0; round < 20; round++) {
		sennit_group g;

		sennit_group_init(&g, SENNIT_NEVER, 0);
		for (int i = 0; i < TASKS; i++)
			must_equal(sennit_group_spawn_copy(&g, change_copy, &i,
							   sizeof(i)),
				   0);
		must_equal(sennit_group_wait(&g), 0);
	}
}

static _Thread_local int of_thread;

static int use_thread_local(void *unused)
{
	of_thread++;
	errno = of_thread;
	sennit_yield();
	of_thread++;
	return 0;
}

static void thread_locals(void)
{
	run_many(use_thread_local);
}

static int fails(void *unused)
{
	x = 1;
	return -EIO;
}

static int is_cancelled(void *unused)
{
	while (!sennit_sleep(SENNIT_SECOND * 100))
		continue;
	return x == 1 ? -ECANCELED : -1;
}

static int asks_if_cancelled(void *unused)
{
	while (!sennit_check_cancelled())
		sennit_yield();
	return x == 1 ? -ECANCELED : -1;
}

static void by_cancel(void)
{
	sennit_group g;

	sennit_group_init(&g, SENNIT_NEVER, 0);
	must_equal(sennit_group_spawn(&g, is_cancelled, NULL), 0);
	must_equal(sennit_group_spawn(&g, asks_if_cancelled, NULL), 0);
	must_equal(sennit_group_spawn(&g, fails, NULL), 0);
	must_equal(sennit_group_wait(&g), -EIO);
}

SENNIT_FORK(int, sum, int *, from, int, n)
{
	int left, right;

	if (n == 1)
		return (*from)++;
	SENNIT_FORK_SPAWN(sum, other, from, n / 2);
	right = SENNIT_FORK_CALL(sum, from + n / 2, n - n / 2);
	left = SENNIT_FORK_SYNC(sum, other);
	return left + right;
}

SENNIT_FORK(int, touch, int *, at)
{
	sennit_yield();
	return ++*at;
}

SENNIT_FORK(int, touch_all, int *, a, int *, b)
{
	int left, right;

	SENNIT_FORK_SPAWN(touch, first, a);
	SENNIT_FORK_SPAWN(touch, second, b);
	right = SENNIT_FORK_SYNC(touch, second);
	left = SENNIT_FORK_SYNC(touch, first);
	return left + right;
}

static void fork_join(void)
{
	x += SENNIT_FORK_RUN(sum, places, PLACES);
	x += SENNIT_FORK_RUN(touch_all, &places[0], &places[1]);
	for (int i = 0; i < PLACES; i++)
		x += places[i]++;
}

static void forks_share(void)
{
	x += SENNIT_FORK_RUN(touch_all, &y, &y);
}

/* --- loops and graphs ----------------------------------------------------- */

static int change_own(void *unused, size_t begin, size_t end)
{
	for (size_t i = begin; i < end; i++)
		places[i]++;
	return 0;
}

static int change_neighbour(void *unused, size_t begin, size_t end)
{
	for (size_t i = begin; i < end; i++)
		places[i + 1] += places[i];
	return 0;
}

static void loop(sennit_range_fn *body)
{
	for (int i = 0; i < PLACES; i++)
		places[i] = i;
	if (sennit_parallel_for(0, PLACES, body, NULL, NULL, SENNIT_NEVER))
		abort();
	for (int i = 0; i < PLACES; i++)
		x += places[i];
}

static void own_places(void)
{
	loop(change_own);
}

static void neighbours(void)
{
	loop(change_neighbour);
}

static int add_place(void *data, void *place)
{
	++*(int *)place;
	sennit_yield();
	*(int *)data += *(int *)place;
	return 0;
}

static int add_places(void *data, void *unused)
{
	*(int *)data = places[1] + places[2];
	return 0;
}

static int touch_place(void *data, void *place)
{
	++*(int *)place;
	return 0;
}

/* first -> both -> last, and `both` are not ordered with each other. */
static void graph(sennit_dag_fn *middle)
{
	sennit_dag_builder b;
	sennit_dag        *d;
	uint32_t           node[4];
	int                err = 0, data = 0;

	if (sennit_dag_builder_init(&b, NULL))
		abort();
	err |= sennit_dag_builder_add(&b, touch_place, &places[1], "first",
				      &node[0]);
	err |= sennit_dag_builder_add(&b, middle, &places[1], "a", &node[1]);
	err |= sennit_dag_builder_add(&b, middle, &places[2], "b", &node[2]);
	err |= sennit_dag_builder_add(&b, add_places, NULL, "last", &node[3]);
	for (int i = 1; i < 3 && !err; i++) {
		err |= sennit_dag_builder_order(&b, node[0], node[i]);
		err |= sennit_dag_builder_order(&b, node[i], node[3]);
	}
	if (err || sennit_dag_build(&d, &b, NULL, 0))
		abort();
	sennit_dag_builder_destroy(&b);
	for (int i = 0; i < 10; i++)
		if (sennit_dag_run(d, &data, NULL, SENNIT_NEVER) || data < i)
			abort();
	sennit_dag_destroy(d);
}

static void nodes(void)
{
	graph(touch_place);
}

static void nodes_share(void)
{
	graph(add_place);
}

/* --- the rest ------------------------------------------------------------- */

static void *count_elsewhere(void *place)
{
	++*(int *)place;
	return place;
}

static int call_blocking(void *unused)
{
	int mine = 1;

	if (sennit_blocking_call(count_elsewhere, &mine) != &mine || mine != 2)
		return -1;
	mine++;
	return 0;
}

static int call_blocking_shared(void *unused)
{
	sennit_blocking_call(count_elsewhere, &x);
	return 0;
}

static void blocking(void)
{
	run_many(call_blocking);
}

static void blocking_shared(void)
{
	run_many(call_blocking_shared);
}

static sennit_ticket_queue turns;
static sennit_ticket       tickets[2];

static int in_turn(int which)
{
	if (sennit_ticket_wait(&tickets[which]))
		return -1;
	x++;
	sennit_ticket_done(&tickets[which]);
	return 0;
}

static int turn_0(void *unused)
{
	return in_turn(0);
}

static int turn_1(void *unused)
{
	return in_turn(1);
}

static void take_turns(void)
{
	sennit_ticket_queue_init(&turns);
	sennit_ticket_queue_take(&turns, &tickets[0]);
	sennit_ticket_queue_take(&turns, &tickets[1]);
	run_both(turn_1, turn_0);
	sennit_ticket_queue_destroy(&turns);
}

static void pass_on(void *place)
{
	++*(int *)place;
	sennit_ticket_done(&tickets[1]);
	sennit_wait_group_done(&group);
}

/* The last of the queue is called by the first. */
static int leave_turn(void *unused)
{
	sennit_sleep(LAPSE);
	sennit_ticket_done(&tickets[0]);
	return 0;
}

static int ask_for_call(void *unused)
{
	places[0] = 1;
	return sennit_ticket_on_call(&tickets[1], pass_on, &places[0]);
}

static void by_call(void)
{
	sennit_wait_group_init(&group, 1);
	sennit_ticket_queue_init(&turns);
	sennit_ticket_queue_take(&turns, &tickets[0]);
	sennit_ticket_queue_take(&turns, &tickets[1]);
	run_both(leave_turn, ask_for_call);
	sennit_wait_group_wait(&group);
	sennit_ticket_queue_destroy(&turns);
}

static sennit_pool pool;

static int borrow(void *unused)
{
	void *item;

	for (int i = 0; i < 10; i++) {
		if (sennit_pool_borrow(&pool, &item))
			return -1;
		++*(int *)item;
		sennit_yield();
		++*(int *)item;
		sennit_pool_return(&pool, item);
	}
	return 0;
}

static void lend(void)
{
	const sennit_pool_config config = { .size = sizeof(config),
					    .item_size = sizeof(int),
					    .count = 2 };

	if (sennit_pool_init(&pool, &config))
		abort();
	run_many(borrow);
	sennit_pool_destroy(&pool);
}

static int keep_after_return(void *unused)
{
	void *item;

	if (sennit_pool_borrow(&pool, &item))
		return -1;
	sennit_pool_return(&pool, item);
	++*(int *)item;
	return 0;
}

static void use_returned(void)
{
	const sennit_pool_config config = { .size = sizeof(config),
					    .item_size = sizeof(int),
					    .count = 1 };

	if (sennit_pool_init(&pool, &config))
		abort();
	run_many(keep_after_return);
	sennit_pool_destroy(&pool);
}

/* --- plots ---------------------------------------------------------------- */

static const struct plot {
	const char *name;
	void (*run)(void);
	bool races;
} plots[] = {
#define RACY(f)             \
	{                   \
#f, f, true \
	}
#define FINE(f)              \
	{                    \
#f, f, false \
	}
	RACY(sleep_between),
	RACY(no_wait),
	RACY(lock_on_one_side),
	RACY(two_locks),
	RACY(read_side_write),
	RACY(relaxed_flag),
	RACY(before_close),
	RACY(two_senders),
	RACY(set_too_early),
	RACY(future_not_read),
	RACY(touched_continuation),
	RACY(without_once),
	RACY(take_behind),
	RACY(look_before_join),
	RACY(write_after_spawn),
	RACY(forks_share),
	RACY(neighbours),
	RACY(nodes_share),
	RACY(blocking_shared),
	RACY(use_returned),
	FINE(locked),
	FINE(readers_and_writers),
	FINE(own_atomic),
	FINE(rendezvous),
	FINE(buffered),
	FINE(unbounded),
	FINE(by_select),
	FINE(set_before),
	FINE(to_and_fro),
	FINE(future_read),
	FINE(continuation),
	FINE(with_once),
	FINE(give_and_take),
	FINE(at_barrier),
	FINE(at_barrier_cancelled),
	FINE(by_cond),
	FINE(tie),
	FINE(count_down),
	FINE(with_copies),
	FINE(same_memory),
	FINE(thread_locals),
	FINE(by_cancel),
	FINE(fork_join),
	FINE(own_places),
	FINE(nodes),
	FINE(blocking),
	FINE(take_turns),
	FINE(by_call),
	FINE(lend),
};

#define PLOTS (sizeof(plots) / sizeof(*plots))

static const struct plot *running;

static void run_plot(void *over)
{
	x = 0;
	running->run();
	x++;
	sennit_event_set(over);
}

/* What the program does before and after is ordered, too. */
static int commit(const char *name, uint32_t workers)
{
	sennit_scheduler *s;
	sennit_event      over;
	sennit_task       t = { .run = run_plot, .argument = &over };

	for (running = plots; strcmp(running->name, name);)
		running++;
	sennit_event_init(&over, SENNIT_EVENT_MANUAL);
	x = 1;
	if (sennit_scheduler_create(&s, SENNIT_CONFIG(.workers = workers)) ||
	    sennit_schedule_task_on(s, &t) || sennit_event_wait(&over))
		return 3;
	x++;
	return sennit_scheduler_shutdown(s, SENNIT_NEVER) ? 5 : 0;
}

/* --- watching ------------------------------------------------------------- */

/* in: "" or "child": the program forks before it has a scheduler. */
_Noreturn static void run_self(const char *name, const char *workers,
			       const char *in)
{
	dup2(STDERR_FILENO, STDOUT_FILENO);
	setenv("TSAN_OPTIONS", "atexit_sleep_ms=0", 1);
	execl(test_argv[0], test_argv[0], name, workers, in, NULL);
	_exit(1);
}

static void check(const struct plot *p, const char *workers, const char *in)
{
	static char text[1 << 16];
	int         words, status;
	const pid_t child = begin_heard_child(&words);

	if (!child)
		run_self(p->name, workers, in);
	status = await_words(child, words, text, sizeof(text));
	if (p->races && (!strstr(text, "data race") || !status))
		fail_msg("%s with %s workers: no race is reported: %#x, %s",
			 p->name, workers, (unsigned)status, text);
	if (!p->races && (*text || status))
		fail_msg("%s with %s workers: %#x, %s", p->name, workers,
			 (unsigned)status, text);
}

static void check_all(bool races, const char *workers)
{
	for (size_t i = 0; i < PLOTS; i++)
		if (plots[i].races == races)
			check(&plots[i], workers, "");
}

TEST(each_race_is_reported_with_1_worker)
{
	check_all(true, "1");
}

TEST(each_race_is_reported_with_2_workers)
{
	check_all(true, "2");
}

TEST(each_race_is_reported_with_8_workers)
{
	check_all(true, "8");
}

TEST(what_calls_order_is_not_reported_with_1_worker)
{
	check_all(false, "1");
}

TEST(what_calls_order_is_not_reported_with_2_workers)
{
	check_all(false, "2");
}

TEST(what_calls_order_is_not_reported_with_8_workers)
{
	check_all(false, "8");
}

TEST(a_child_of_fork_is_watched_too)
{
	for (size_t i = 0; i < PLOTS; i++)
		if (!strcmp(plots[i].name, "sleep_between") ||
		    !strcmp(plots[i].name, "locked"))
			check(&plots[i], "2", "child");
}

static void go_on_in_a_child(void)
{
	const pid_t child = fork();
	int         status;

	if (child)
		exit(waitpid(child, &status, 0) == child ? WEXITSTATUS(status)
							 : 9);
}

static int commit_if_told(void)
{
	if (test_argc <= 3)
		return 0;
	if (*test_argv[3])
		go_on_in_a_child();
	exit(commit(test_argv[1], (uint32_t)atoi(test_argv[2])));
}

BEFORE_ALL(commit_if_told);

#else
SKIP_ALL("the library is not built to find races: SENNIT_SANITIZE=race");
#endif

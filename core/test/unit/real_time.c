/* SPDX-License-Identifier: Apache-2.0 */
/* real_time.c - a thread of SCHED_FIFO meets each place at which one thread
 * waits for a few instructions of another, and the other has only the same CPU.
 * A thread that spins there, or yields, keeps the other one off the CPU, until
 * the system stops threads of real time for the rest of the second. */
#include "park/parking.h"
#include "sched/fiber.h"
#include "sched/run_queue.h"
#include "sched/mailbox.h"
#include "sennit.h"
#include "group/group.h"
#include "wait/wait.h"
#include "group/wait_group.h"

#include "one_deque.h"

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

/* What a wait may take of the CPU. The system lets a thread of real time run
 * for 950 ms, and one that sleeps takes less than one. */
#define MOST_US 200000

struct place {
	const char *name;
	sennit_word *(*lock)(void); /* the word that is locked meanwhile */
	void (*take)(void);         /* or what the other thread does before */
	void (*wait)(void);         /* the thread of real time */
	void (*let_go)(void);       /* what it waits for, without a lock */
	bool barrier;               /* needs os_process_barrier() */
};

static const struct place *here;
static a_u32               waits; /* the thread has come to the place */
static a_u32               over;  /* and has left it */

static void say_it_waits(void)
{
	a_store_rel(&waits, 1);
}

/* --- objects that are locked ---------------------------------------------- */

static sennit_mutex        mutex;
static sennit_cond         cond;
static sennit_event        event, other;
static sennit_semaphore    semaphore;
static sennit_barrier      barrier;
static sennit_rwlock       rwlock;
static sennit_wait_group   wait_group;
static sennit_channel      channel;
static sennit_future       future;
static sennit_once         once;
static sennit_ticket_queue tickets;
static sennit_pool         pool;

static void nothing(void *argument)
{
}

/* clang-format off */
#define LOCKED(f, object, call)                                               \
	static sennit_word *f##_lock(void) { return &object.state_; }         \
	static void f##_wait(void) { say_it_waits(); call; }

LOCKED(mutex_until, mutex, (void)!sennit_mutex_lock_until(&mutex, 0))
LOCKED(event_wait, event, (void)!sennit_event_wait_until(&event, 0))
LOCKED(event_set, event, sennit_event_set(&event))
LOCKED(event_any, event, (void)!sennit_event_wait_any_until(
	(sennit_event *[]){ &other, &event }, 2, (size_t[1]){ 0 }, 0))
LOCKED(event_all, event, (void)!sennit_event_wait_all_until(
	(sennit_event *[]){ &event, &other }, 2, 0))
LOCKED(take, semaphore, (void)!sennit_semaphore_acquire_until(&semaphore, 1, 0))
LOCKED(give, semaphore, sennit_semaphore_release(&semaphore, 1))
LOCKED(barrier, barrier, (void)!sennit_barrier_wait_until(&barrier, 0))
LOCKED(write, rwlock, (void)!sennit_rwlock_lock_until(&rwlock, 0))
LOCKED(read, rwlock, (void)!sennit_rwlock_lock_shared_until(&rwlock, 0))
LOCKED(add, wait_group, sennit_wait_group_add(&wait_group, 1))
LOCKED(done, wait_group, (void)!sennit_wait_group_done(&wait_group))
LOCKED(zero, wait_group, (void)!sennit_wait_group_wait_until(&wait_group, 1))
LOCKED(send, channel, (void)!sennit_channel_send_until(&channel, &waits, 0))
LOCKED(receive, channel,
       (void)!sennit_channel_receive_until(&channel, (uint32_t[1]){ 0 }, 0))
LOCKED(closing, channel, sennit_channel_close(&channel))
LOCKED(length, channel, (void)sennit_channel_length(&channel))
LOCKED(set, future, sennit_future_set(&future, NULL))
LOCKED(get, future, (void)!sennit_future_wait_until(&future, 1))
LOCKED(once, once, sennit_once_call(&once, nothing, NULL))
LOCKED(ticket, tickets, sennit_ticket_queue_take(
	&tickets, &(sennit_ticket){ .queue_ = NULL }))
LOCKED(borrow, pool,
       (void)!sennit_pool_borrow_until(&pool, (void *[1]){ 0 }, 0))
/* clang-format on */

static sennit_word *cond_wait_lock(void)
{
	return &cond.state_;
}

static void cond_wait_wait(void)
{
	sennit_mutex own = SENNIT_MUTEX_INIT;

	sennit_mutex_lock(&own);
	say_it_waits();
	(void)!sennit_cond_wait_until(&cond, &own, 0);
	sennit_mutex_unlock(&own);
}

static void make_objects(void)
{
	const sennit_pool_config few = { .size = sizeof(few), .item_size = 8 };

	sennit_mutex_init(&mutex);
	sennit_cond_init(&cond);
	sennit_event_init(&event, SENNIT_EVENT_MANUAL);
	sennit_event_init(&other, SENNIT_EVENT_MANUAL);
	sennit_semaphore_init(&semaphore, 0);
	sennit_barrier_init(&barrier, 2);
	sennit_rwlock_init(&rwlock);
	sennit_wait_group_init(&wait_group, 1);
	assert_int_equal(
		sennit_channel_init(&channel, 1, sizeof(uint32_t), NULL), 0);
	sennit_future_init(&future);
	sennit_once_init(&once);
	sennit_ticket_queue_init(&tickets);
	assert_int_equal(sennit_pool_init(&pool, &few), 0);
}

/* --- other places --------------------------------------------------------- */

/* The owner is about to make the count zero. */
static void begin_to_end_kept(void)
{
	sennit_wait_group_init(&wait_group, 0);
	a_store_rel(&wait_group.kept_,
		    WAIT_GROUP_KEPT_ONE | WAIT_GROUP_KEPT | WAIT_GROUP_ENDING);
}

static void end_kept(void)
{
	a_store_rel(&wait_group.kept_, WAIT_GROUP_KEPT);
}

static void lock_deque(void)
{
	start(false);
	for (uint32_t i = 1; i <= 2; i++)
		assert_int_equal(sn_deque_push(&deque, numbered(i)), 0);
	(void)sn_deque_publish(&deque);
	a_store_rel(&deque.lock, 1);
}

static void pop_all(void)
{
	struct task t;

	say_it_waits();
	while (sn_deque_pop(&deque, &t))
		;
}

static void unlock_deque(void)
{
	a_store_rel(&deque.lock, 0);
}

/* A waker has claimed a worker that has a poller, and is about to say so. */
static struct parking parking;
static struct sleeper sleeper;

static void claim_sleeper(void)
{
	static struct sleeper *all[] = { &sleeper };
	static sennit_poller   poller;

	sn_parking_init(&parking, all, 1);
	sn_sleeper_init(&sleeper, &parking, 0);
	sleeper.poller = &poller;
	sn_parking_announce(&sleeper, false);
	a_and_acqrel(&parking.idle[0], ~UINT64_C(1));
}

static void withdraw(void)
{
	say_it_waits();
	sn_parking_withdraw(&sleeper);
}

static void tell_sleeper(void)
{
	a_store_rel(&sleeper.token, 1);
}

/* A report reads what a fiber waits for. */
static struct waited_lock look;
static uintptr_t          seen;

static void read_look(void)
{
	static sennit_pointer owner;

	sn_waited_lock_init(&look);
	sn_waited_lock_set(&look, &owner, false);
	assert_true(sn_waited_lock_keep(&look, &seen));
}

static void clear_look(void)
{
	say_it_waits();
	sn_waited_lock_clear(&look);
}

static void let_look_go(void)
{
	sn_waited_lock_let_go(&look, seen);
}

/* With a thread that is bound. */
static sennit_scheduler *scheduler;

static void make_scheduler(void)
{
	assert_int_equal(sennit_scheduler_create(
				 &scheduler,
				 SENNIT_CONFIG(.workers = SENNIT_WORKERS_NONE)),
			 0);
}

/* The thread that woke its last fiber is still in that call. */
static struct mailbox *held;

static void unbind_while_held(void)
{
	if (sennit_thread_bind(scheduler))
		return;
	held = &sn_self->mail;
	sn_mailbox_hold(held);
	say_it_waits();
	sennit_thread_unbind();
}

static void let_mailbox_go(void)
{
	sn_mailbox_let_go(held);
}

/* The opener of the inner group gives up. Its last member has counted itself
 * out, and is about to see that the opener does not wait any more. */
static sennit_group outer, inner;

static int give_up_inner(void *argument)
{
	sennit_group_init(&inner, SENNIT_NEVER, 0);
	a_store_rlx(&inner.others_, GROUP_ONE);
	say_it_waits();
	(void)!sennit_group_wait_until(&inner, SENNIT_NEVER);
	(void)!sennit_group_wait(&inner);
	return 0;
}

static void give_up_group(void)
{
	if (sennit_thread_bind(scheduler))
		return;
	sennit_group_init(&outer, SENNIT_NEVER, 0);
	if (!sennit_group_spawn(&outer, give_up_inner, NULL))
		(void)!sennit_group_wait(&outer);
	sennit_thread_unbind();
}

static void end_last_member(void)
{
	while (a_load_rlx(&inner.others_) != (GROUP_ONE | GROUP_WAITED))
		os_thread_yield();
	a_store_rlx(&inner.others_, GROUP_WAITED);
	sennit_group_cancel(&outer);
	usleep(2000); /* the opener comes to where it needs this thread */
	a_store_rel(&inner.others_, 0);
}

/* --- the table ------------------------------------------------------------ */

/* The test has locked the object, and unlocks it when it runs again. */
static void unlock_here(void)
{
	a_and_acqrel(here->lock(), ~(uint32_t)WAIT_QUEUE_LOCKED);
}

static void lock_here(void)
{
	make_objects();
	if (here->lock() == &mutex.state_)
		sennit_mutex_lock(&mutex);
	if (here->lock() == &rwlock.state_)
		sennit_rwlock_lock(&rwlock);
	a_or_acqrel(here->lock(), WAIT_QUEUE_LOCKED);
}

struct pass {
	bool    refused; /* the system has no real time for this process */
	int64_t us;      /* of the CPU, in the wait */
};

static int64_t used_us(void)
{
	struct rusage u;

	getrusage(RUSAGE_THREAD, &u);
	return (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * INT64_C(1000000) +
	       u.ru_utime.tv_usec + u.ru_stime.tv_usec;
}

static void *run_real_time(void *argument)
{
	struct pass       *p = argument;
	struct sched_param first = { .sched_priority = 1 };

	p->refused = pthread_setschedparam(pthread_self(), SCHED_FIFO, &first);
	if (p->refused) {
		say_it_waits();
		return NULL;
	}
	p->us = used_us();
	here->wait();
	a_store_rel(&over, 1);
	p->us = used_us() - p->us;
	return NULL;
}

/* All threads have the first CPU of the process. */
static void share_one_cpu(cpu_set_t *before)
{
	cpu_set_t one;
	size_t    cpu = 0;

	assert_int_equal(sched_getaffinity(0, sizeof(*before), before), 0);
	while (!CPU_ISSET(cpu, before))
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
}

static struct pass pass_here(void)
{
	struct pass p = { .refused = false };
	pthread_t   thread;
	cpu_set_t   before;

	share_one_cpu(&before);
	a_store_rlx(&waits, 0);
	a_store_rlx(&over, 0);
	(here->lock ? lock_here : here->take)();
	assert_int_equal(pthread_create(&thread, NULL, run_real_time, &p), 0);
	while (!a_load_acq(&waits))
		usleep(100);
	if (a_load_acq(&over) && !p.refused)
		fail_msg("%s: nobody waits here", here->name);
	(here->lock ? unlock_here : here->let_go)();
	pthread_join(thread, NULL);
	sched_setaffinity(0, sizeof(before), &before);
	if (here->lock)
		sennit_channel_destroy(&channel);
	return p;
}

#define OBJECT(f)                                              \
	{                                                      \
		.name = #f, .lock = f##_lock, .wait = f##_wait \
	}
#define OTHER(n, t, w, l, ...)                                            \
	{                                                                 \
		.name = n, .take = t, .wait = w, .let_go = l, __VA_ARGS__ \
	}

static const struct place places[] = {
	OBJECT(mutex_until),
	OBJECT(cond_wait),
	OBJECT(event_wait),
	OBJECT(event_set),
	OBJECT(event_any),
	OBJECT(event_all),
	OBJECT(take),
	OBJECT(give),
	OBJECT(barrier),
	OBJECT(write),
	OBJECT(read),
	OBJECT(add),
	OBJECT(done),
	OBJECT(zero),
	OBJECT(send),
	OBJECT(receive),
	OBJECT(closing),
	OBJECT(length),
	OBJECT(set),
	OBJECT(get),
	OBJECT(once),
	OBJECT(ticket),
	OBJECT(borrow),
	OTHER("kept count", begin_to_end_kept, zero_wait, end_kept,
	      .barrier = true),
	OTHER("deque", lock_deque, pop_all, unlock_deque, .barrier = false),
	OTHER("sleeper", claim_sleeper, withdraw, tell_sleeper,
	      .barrier = false),
	OTHER("report", read_look, clear_look, let_look_go, .barrier = false),
	OTHER("mailbox", make_scheduler, unbind_while_held, let_mailbox_go,
	      .barrier = false),
	OTHER("group", make_scheduler, give_up_group, end_last_member,
	      .barrier = false),
};

TEST(a_thread_of_real_time_lets_the_one_run_that_it_waits_for)
{
	bool spins = false;

	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		struct pass p;

		here = &places[i];
		if (here->barrier && !os_process_barrier_init())
			continue;
		p = pass_here();
		if (scheduler)
			assert_int_equal(sennit_scheduler_shutdown(
						 scheduler, SENNIT_NEVER),
					 0);
		scheduler = NULL;
		if (p.refused) {
			print_message("no SCHED_FIFO for this process\n");
			skip();
		}
		if (p.us > MOST_US) {
			print_message("%s: %lld us of the CPU\n", here->name,
				      (long long)p.us);
			spins = true;
		}
	}
	if (deque.slots.value_)
		sn_deque_free(&deque);
	assert_false(spins);
}

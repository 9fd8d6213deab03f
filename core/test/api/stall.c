/* SPDX-License-Identifier: Apache-2.0 */
/* stall.c - SENNIT_DEBUG=stall: a process in which nothing can go on says so,
 * and why; one that something could still wake prints nothing. io/test/stall.c
 * has programs with I/O.
 */
#include "testing/stalls.h"
#include "testing/switched_on.h"

#include <sennit/deterministic.h>
#include <sennit/fork_join.h>
#include <sennit/domain.h>
#include <sennit/poller.h>

#include <stdatomic.h>

/* What the programs use; each has its own process. */
static sennit_mutex      first, second;
static sennit_event      never, ready, also_ready;
static sennit_channel    channel;
static sennit_scheduler *other;

static void wait_for_ever(void *unused)
{
	await_event(&never);
}

static void *wait_for_ever_on_a_thread(void *unused)
{
	await_event(&never);
	return unused;
}

/* --- programs that stall ------------------------------------------------ */

static void lock_first_then_second(void *unused)
{
	sennit_mutex_lock(&first);
	sennit_event_set(&ready);
	await_event(&also_ready);
	sennit_mutex_lock(&second);
}

static void lock_second_then_first(void *unused)
{
	sennit_mutex_lock(&second);
	sennit_event_set(&also_ready);
	await_event(&ready);
	sennit_mutex_lock(&first);
}

static void two_mutexes_in_a_circle(uint32_t workers)
{
	sennit_scheduler *s = stall_scheduler(workers);

	start_task(s, lock_first_then_second, NULL);
	start_task(s, lock_second_then_first, NULL);
	end_scheduler(s);
}

static void receive(void *unused)
{
	int value;

	(void)!sennit_channel_receive_until(&channel, &value, SENNIT_NEVER);
}

static void a_channel_nobody_sends_to(uint32_t workers)
{
	sennit_scheduler *s = stall_scheduler(workers);

	REQUIRE(!sennit_channel_init(&channel, 0, sizeof(int), NULL));
	start_task(s, receive, NULL);
	end_scheduler(s);
}

static void an_event_never_set(uint32_t workers)
{
	sennit_scheduler *s = stall_scheduler(workers);

	start_task(s, wait_for_ever, NULL);
	end_scheduler(s);
}

static void a_bound_thread_that_waits(uint32_t workers)
{
	sennit_scheduler *s = stall_scheduler(workers);

	REQUIRE(!sennit_thread_bind(s));
	await_event(&never);
}

static void a_bound_thread_without_workers(uint32_t workers)
{
	sennit_scheduler *s = stall_scheduler(SENNIT_WORKERS_NONE);

	REQUIRE(!sennit_thread_bind(s));
	REQUIRE(!sennit_schedule(wait_for_ever, NULL));
	sennit_thread_unbind();
}

static void a_bound_thread_that_shuts_another_down(uint32_t workers)
{
	sennit_scheduler *s = stall_scheduler(workers);

	other = stall_scheduler(workers);
	REQUIRE(!sennit_thread_bind(s));
	start_task(other, wait_for_ever, NULL);
	end_scheduler(other);
}

static void threads_that_are_not_bound(uint32_t workers)
{
	(void)stall_scheduler(workers);
	(void)start_thread(wait_for_ever_on_a_thread, NULL);
	await_event(&never);
}

static void *lock_second_on_a_thread(void *unused)
{
	sennit_mutex_lock(&second);
	sennit_event_set(&ready);
	sennit_mutex_lock(&first);
	return unused;
}

static void lock_for_a_thread(void *unused)
{
	sennit_mutex_lock(&first);
	await_event(&ready);
	sennit_mutex_lock(&second);
}

static void a_circle_with_a_thread(uint32_t workers)
{
	sennit_scheduler *s = stall_scheduler(workers);

	start_task(s, lock_for_a_thread, NULL);
	(void)start_thread(lock_second_on_a_thread, NULL);
	end_scheduler(s);
}

static int wait_as_a_member(void *unused)
{
	await_event(&never); /* the opener would set it after its wait */
	return 0;
}

static void open_group(void *unused)
{
	sennit_group g;

	sennit_group_init(&g, SENNIT_NEVER, 0);
	REQUIRE(!sennit_group_spawn(&g, wait_as_a_member, NULL));
	(void)!sennit_group_wait(&g);
	sennit_event_set(&never);
}

/* With one worker no member is stolen. */
static void run_without_thieves(sennit_task_fn *run)
{
	sennit_scheduler *s = stall_scheduler(1);

	start_task(s, run, NULL);
	end_scheduler(s);
}

static void a_member_that_waits_for_its_opener(uint32_t workers)
{
	run_without_thieves(open_group);
}

/* The deadline of the group cannot end the wait. */
static int lock_as_a_member(void *unused)
{
	sennit_mutex_lock(&first);
	return 0;
}

static void open_group_with_deadline(void *unused)
{
	sennit_group g;

	sennit_mutex_lock(&first);
	sennit_group_init(&g, sennit_after(SENNIT_MILLISECOND), 0);
	REQUIRE(!sennit_group_spawn(&g, lock_as_a_member, NULL));
	(void)!sennit_group_wait(&g);
	sennit_mutex_unlock(&first);
}

static void a_member_past_its_deadline(uint32_t workers)
{
	sennit_scheduler *s = stall_scheduler(workers);

	start_task(s, open_group_with_deadline, NULL);
	end_scheduler(s);
}

SENNIT_FORK(int, wait_in_a_fork, int, unused)
{
	await_event(&never);
	return unused;
}

SENNIT_FORK(int, fork_twice, int, n)
{
	int a, b;

	SENNIT_FORK_SPAWN(wait_in_a_fork, one, n);
	b = SENNIT_FORK_CALL(wait_in_a_fork, n);
	a = SENNIT_FORK_SYNC(wait_in_a_fork, one);
	return a + b;
}

static void run_forks(void *unused)
{
	(void)SENNIT_FORK_RUN(fork_twice, 1);
}

static void a_fork_that_waits(uint32_t workers)
{
	sennit_scheduler *s = stall_scheduler(workers);

	start_task(s, run_forks, NULL);
	end_scheduler(s);
}

static void a_domain_that_does_not_end(uint32_t workers)
{
	sennit_scheduler *s = stall_scheduler(workers);
	sennit_domain    *d;

	REQUIRE(!sennit_domain_create(&d, s, NULL, NULL));
	REQUIRE(!sennit_domain_schedule(d, wait_for_ever, NULL));
	REQUIRE(!sennit_domain_shutdown(d, SENNIT_NEVER));
}

static void two_schedulers_that_wait_for_each_other(uint32_t workers)
{
	sennit_scheduler *s = stall_scheduler(workers);

	other = stall_scheduler(workers);
	start_task(s, lock_first_then_second, NULL);
	start_task(other, lock_second_then_first, NULL);
	end_scheduler(s);
}

static sennit_rwlock shared;

static void read_then_write(void *unused)
{
	sennit_rwlock_lock_shared(&shared);
	sennit_rwlock_lock(&shared);
}

static void a_reader_that_wants_to_write(uint32_t workers)
{
	sennit_scheduler *s = stall_scheduler(workers);

	start_task(s, read_then_write, NULL);
	end_scheduler(s);
}

static void a_member_that_wants_its_openers_lock(uint32_t workers)
{
	run_without_thieves(open_group_with_deadline);
}

static void read_for_ever(void *unused)
{
	sennit_rwlock_lock_shared(&shared);
	sennit_event_set(&ready);
	await_event(&never);
}

static void write_after_it(void *unused)
{
	await_event(&ready);
	sennit_rwlock_lock(&shared);
}

static void a_writer_behind_a_reader(uint32_t workers)
{
	sennit_scheduler *s = stall_scheduler(workers);

	start_task(s, read_for_ever, NULL);
	start_task(s, write_after_it, NULL);
	end_scheduler(s);
}

static void a_reference_that_nobody_releases(uint32_t workers)
{
	sennit_scheduler *s = stall_scheduler(workers);

	sennit_scheduler_retain(s);
	end_scheduler(s);
}

static void set_never(void *unused)
{
	sennit_event_set(&never);
}

/* The task that would wake the other finds no stack. */
static void no_stack_left(uint32_t workers)
{
	sennit_scheduler *s;
	sennit_stats      stats = { .size = sizeof(stats) };

	REQUIRE(!sennit_scheduler_create(
		&s, SENNIT_CONFIG(.workers = 1, .max_fibers = 1)));
	start_task(s, wait_for_ever, NULL);
	do
		sennit_scheduler_get_stats(s, &stats);
	while (!stats.fibers);
	start_task(s, set_never, NULL);
	end_scheduler(s);
}

static void a_worker_that_was_closed(uint32_t workers)
{
	sennit_scheduler *s = stall_scheduler(workers + 1);

	for (int i = 0; i < 32; i++)
		start_task(s, wait_for_ever, NULL);
	REQUIRE(!sennit_scheduler_set_workers(s, 1));
	end_scheduler(s);
}

static void *return_at_once(void *unused)
{
	return unused;
}

static void call_then_wait(void *unused)
{
	(void)sennit_blocking_call(return_at_once, unused);
	await_event(&never);
}

static void after_a_blocking_call(uint32_t workers)
{
	sennit_scheduler *s = stall_scheduler(workers);

	start_task(s, call_then_wait, NULL);
	end_scheduler(s);
}

static void *end_scheduler_on_a_thread(void *s)
{
	end_scheduler(s);
	return NULL;
}

static void a_main_thread_that_has_ended(uint32_t workers)
{
	sennit_scheduler *s = stall_scheduler(workers);

	start_task(s, wait_for_ever, NULL);
	(void)start_thread(end_scheduler_on_a_thread, s);
	pthread_exit(NULL);
}

TEST(what_stalls_is_said_with_who_waits_for_whom)
{
	static const struct stall_program all[] = {
		{ "two_mutexes_in_a_circle", two_mutexes_in_a_circle,
		  "deadlock of 2 fibers" },
		{ "a_channel_nobody_sends_to", a_channel_nobody_sends_to,
		  "waits for channel" },
		{ "an_event_never_set", an_event_never_set, "waits for event" },
		{ "a_bound_thread_that_waits", a_bound_thread_that_waits,
		  "waits for event" },
		{ "a_bound_thread_without_workers",
		  a_bound_thread_without_workers, "waits for event" },
		{ "a_bound_thread_that_shuts_another_down",
		  a_bound_thread_that_shuts_another_down,
		  "waits for the end of scheduler stuck" },
		{ "threads_that_are_not_bound", threads_that_are_not_bound,
		  "0 fibers and 2 other threads" },
		{ "a_circle_with_a_thread", a_circle_with_a_thread,
		  "held by a thread that is not bound" },
		{ "a_member_that_waits_for_its_opener",
		  a_member_that_waits_for_its_opener,
		  "on the stack of a task that waits for it" },
		{ "a_member_past_its_deadline", a_member_past_its_deadline,
		  "waits for mutex" },
		{ "a_fork_that_waits", a_fork_that_waits, "waits for event" },
		{ "a_domain_that_does_not_end", a_domain_that_does_not_end,
		  "waits for event" },
		{ "two_schedulers_that_wait_for_each_other",
		  two_schedulers_that_wait_for_each_other,
		  "deadlock of 2 fibers" },
		{ "a_reader_that_wants_to_write", a_reader_that_wants_to_write,
		  "as a reader itself" },
		{ "a_member_that_wants_its_openers_lock",
		  a_member_that_wants_its_openers_lock, "before that wait" },
		{ "a_writer_behind_a_reader", a_writer_behind_a_reader,
		  "held by the reader" },
		{ "a_reference_that_nobody_releases",
		  a_reference_that_nobody_releases,
		  "references to it are held" },
		{ "no_stack_left", no_stack_left, "max_fibers" },
		{ "a_worker_that_was_closed", a_worker_that_was_closed,
		  "32 fibers and 1 other" },
		{ "after_a_blocking_call", after_a_blocking_call,
		  "waits for event" },
		{ "a_main_thread_that_has_ended", a_main_thread_that_has_ended,
		  "waits for event" },
	};

	if (has_strange_threads()) {
		print_message("another thread runs in each process\n");
		skip();
	}
	RUN_STALL_PROGRAMS(all);
}

/* --- programs that do not ----------------------------------------------- */

static void sleep_a_while(void)
{
	(void)!sennit_sleep_until(sennit_after(A_WHILE));
}

static void sleep_then_set(void *unused)
{
	sleep_a_while();
	sennit_event_set(&never);
}

static void *set_on_a_thread(void *unused)
{
	usleep(A_WHILE / SENNIT_MICROSECOND);
	sennit_event_set(&never);
	return unused;
}

/* Each of these starts a fiber that waits, and what sets the event later. */
static void a_sleep(uint32_t workers)
{
	sennit_scheduler *s = stall_scheduler(workers);

	start_task(s, wait_for_ever, NULL);
	start_task(s, sleep_then_set, NULL);
	end_scheduler(s);
}

static void wait_with_deadline(void *unused)
{
	REQUIRE(sennit_event_wait_until(&never, sennit_after(A_WHILE)) ==
		-ETIMEDOUT);
}

static void a_deadline(uint32_t workers)
{
	sennit_scheduler *s = stall_scheduler(workers);

	start_task(s, wait_with_deadline, NULL);
	end_scheduler(s);
}

static int wait_until_ended(void *unused)
{
	return sennit_event_wait_until(&never, SENNIT_NEVER);
}

static void open_timed_group(void *unused)
{
	sennit_group g;

	sennit_group_init(&g, sennit_after(A_WHILE), 0);
	REQUIRE(!sennit_group_spawn(&g, wait_until_ended, NULL));
	REQUIRE(sennit_group_wait(&g) == -ETIMEDOUT);
}

static void a_group_with_a_deadline(uint32_t workers)
{
	sennit_scheduler *s = stall_scheduler(workers);

	start_task(s, open_timed_group, NULL);
	end_scheduler(s);
}

static void *sleep_in_a_call(void *unused)
{
	usleep(A_WHILE / SENNIT_MICROSECOND);
	return unused;
}

static void call_then_set(void *unused)
{
	(void)sennit_blocking_call(sleep_in_a_call, unused);
	sennit_event_set(&never);
}

static void a_blocking_call(uint32_t workers)
{
	sennit_scheduler *s = stall_scheduler(workers);

	start_task(s, wait_for_ever, NULL);
	start_task(s, call_then_set, NULL);
	end_scheduler(s);
}

static void a_plain_thread_that_sets(uint32_t workers)
{
	sennit_scheduler *s = stall_scheduler(workers);

	start_task(s, wait_for_ever, NULL);
	pthread_detach(start_thread(set_on_a_thread, NULL));
	end_scheduler(s);
}

static void *hold_a_while(void *unused)
{
	sennit_mutex_lock(&first);
	sennit_event_set(&ready);
	usleep(A_WHILE / SENNIT_MICROSECOND);
	sennit_mutex_unlock(&first);
	return unused;
}

static void lock_and_unlock(void *unused)
{
	await_event(&ready);
	sennit_mutex_lock(&first);
	sennit_mutex_unlock(&first);
}

static void a_plain_thread_that_holds_a_lock(uint32_t workers)
{
	sennit_scheduler *s = stall_scheduler(workers);

	pthread_detach(start_thread(hold_a_while, NULL));
	start_task(s, lock_and_unlock, NULL);
	end_scheduler(s);
}

static void *send_on_a_thread(void *unused)
{
	const int value = 1;

	usleep(A_WHILE / SENNIT_MICROSECOND);
	REQUIRE(!sennit_channel_send_until(&channel, &value, SENNIT_NEVER));
	return unused;
}

static void a_plain_thread_that_sends(uint32_t workers)
{
	sennit_scheduler *s = stall_scheduler(workers);

	REQUIRE(!sennit_channel_init(&channel, 0, sizeof(int), NULL));
	start_task(s, receive, NULL);
	pthread_detach(start_thread(send_on_a_thread, NULL));
	end_scheduler(s);
}

static void a_bound_thread_outside(uint32_t workers)
{
	sennit_scheduler *s = stall_scheduler(workers);

	REQUIRE(!sennit_thread_bind(s));
	start_task(s, wait_for_ever, NULL);
	usleep(A_WHILE / SENNIT_MICROSECOND);
	sennit_event_set(&never);
	sennit_thread_unbind();
	end_scheduler(s);
}

static void *await_signal(void *unused)
{
	sigset_t alarm_only;
	int      number;

	sigemptyset(&alarm_only);
	sigaddset(&alarm_only, SIGUSR1);
	REQUIRE(!sigwait(&alarm_only, &number));
	sennit_event_set(&never);
	return unused;
}

/* SIGUSR1 is blocked in all threads, and taken by one. */
static void a_signal(uint32_t workers)
{
	sigset_t          one;
	sennit_scheduler *s;
	pid_t             sender;

	sigemptyset(&one);
	sigaddset(&one, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &one, NULL);
	sender = fork();
	if (!sender) {
		usleep(A_WHILE / SENNIT_MICROSECOND);
		kill(getppid(), SIGUSR1);
		_exit(0);
	}
	s = stall_scheduler(workers);
	start_task(s, wait_for_ever, NULL);
	pthread_detach(start_thread(await_signal, NULL));
	end_scheduler(s);
	waitpid(sender, NULL, 0);
}

static volatile sig_atomic_t rang;

static void ring(int number)
{
	rang = 1;
}

/* The handler interrupts the main thread, which then sets. */
static void a_signal_handler(uint32_t workers)
{
	sennit_scheduler *s = stall_scheduler(workers);
	sigset_t          none;

	start_task(s, wait_for_ever, NULL);
	signal(SIGALRM, ring);
	sigemptyset(&none);
	alarm(1);
	while (!rang)
		usleep(10000);
	sennit_event_set(&never);
	end_scheduler(s);
}

static void compute_then_set(void *unused)
{
	const sennit_time end = sennit_after(A_WHILE);

	while (sennit_now() < end)
		;
	sennit_event_set(&never);
}

static void a_computation(uint32_t workers)
{
	sennit_scheduler *s = stall_scheduler(workers);

	start_task(s, wait_for_ever, NULL);
	start_task(s, compute_then_set, NULL);
	end_scheduler(s);
}

/* A bound thread waits, and runs these tasks meanwhile. */
static void wait_bound(uint32_t workers, sennit_task_fn *waits,
		       sennit_task_fn *then)
{
	sennit_scheduler *s = stall_scheduler(workers);
	sennit_task       task = { .flags = SENNIT_TASK_SAME_THREAD };

	REQUIRE(!sennit_thread_bind(s));
	task.run = waits;
	REQUIRE(!sennit_schedule_task(&task));
	task.run = then;
	REQUIRE(!sennit_schedule_task(&task));
	await_event(&never);
	sennit_thread_unbind();
	end_scheduler(s);
}

static void sleep_then_compute(void *unused)
{
	(void)!sennit_sleep_until(sennit_after(10 * SENNIT_MILLISECOND));
	compute_then_set(unused);
}

static void block_then_set(void *unused)
{
	usleep(A_WHILE / SENNIT_MICROSECOND);
	sennit_event_set(&never);
}

static void a_bound_thread_that_computes(uint32_t workers)
{
	wait_bound(SENNIT_WORKERS_NONE, wait_for_ever, sleep_then_compute);
}

static void a_bound_thread_that_computes_beside_workers(uint32_t workers)
{
	wait_bound(workers, wait_for_ever, sleep_then_compute);
}

static void a_bound_thread_that_sleeps(uint32_t workers)
{
	wait_bound(SENNIT_WORKERS_NONE, wait_for_ever, sleep_then_set);
}

static void a_bound_thread_in_a_system_call(uint32_t workers)
{
	wait_bound(workers, wait_for_ever, block_then_set);
}

static void yield_then_set(void *unused)
{
	const sennit_time end = sennit_after(A_WHILE);

	while (sennit_now() < end)
		sennit_yield();
	sennit_event_set(&never);
}

static void fibers_that_yield(uint32_t workers)
{
	sennit_scheduler *s = stall_scheduler(workers);

	start_task(s, wait_for_ever, NULL);
	start_task(s, yield_then_set, NULL);
	start_task(s, yield_then_set, NULL);
	end_scheduler(s);
}

static void a_thread_that_waits_with_a_deadline(uint32_t workers)
{
	sennit_scheduler *s = stall_scheduler(workers);

	start_task(s, wait_for_ever, NULL);
	REQUIRE(sennit_event_wait_until(&ready, sennit_after(A_WHILE)) ==
		-ETIMEDOUT);
	sennit_event_set(&never);
	end_scheduler(s);
}

static void a_shutdown_with_a_deadline(uint32_t workers)
{
	sennit_scheduler *s = stall_scheduler(workers);

	start_task(s, wait_for_ever, NULL);
	REQUIRE(sennit_scheduler_shutdown(s, sennit_after(A_WHILE)) ==
		-ETIMEDOUT);
	sennit_event_set(&never);
	end_scheduler(s);
}

static void the_task_of_another_scheduler(uint32_t workers)
{
	sennit_scheduler *s = stall_scheduler(workers);

	other = stall_scheduler(1);
	start_task(s, wait_for_ever, NULL);
	start_task(other, sleep_then_set, NULL);
	end_scheduler(s);
	end_scheduler(other);
}

static void a_scheduler_without_work(uint32_t workers)
{
	sennit_scheduler *s = stall_scheduler(workers);

	usleep(A_WHILE / SENNIT_MICROSECOND);
	end_scheduler(s);
}

static sennit_time  set_at;
static sennit_event by_hook;

static sennit_time ask_the_clock(sennit_poller_hook *h)
{
	if (sennit_now() < set_at)
		return set_at;
	sennit_event_set(&by_hook);
	return SENNIT_NEVER;
}

static void wait_for_a_hook(void *unused)
{
	static sennit_poller_hook hook = { .ask = ask_the_clock };

	set_at = sennit_after(A_WHILE);
	REQUIRE(!sennit_poller_hook_add(&hook));
	sennit_poller_hook_ask(&hook);
	await_event(&by_hook);
	sennit_poller_hook_remove(&hook);
}

static void a_hook_of_a_poller(uint32_t workers)
{
	sennit_scheduler *s = stall_scheduler(workers);

	start_task(s, wait_for_a_hook, NULL);
	end_scheduler(s);
}

static void *create_and_run(void *unused)
{
	sennit_scheduler *s;

	usleep(A_WHILE / SENNIT_MICROSECOND);
	s = stall_scheduler(1);
	start_task(s, set_never, NULL);
	end_scheduler(s);
	return unused;
}

static void a_scheduler_that_comes_later(uint32_t workers)
{
	sennit_scheduler *s = stall_scheduler(workers);

	start_task(s, wait_for_ever, NULL);
	pthread_detach(start_thread(create_and_run, NULL));
	end_scheduler(s);
}

static void hold_asleep(void *unused)
{
	sennit_mutex_lock(&first);
	sennit_event_set(&ready);
	sleep_a_while();
	sennit_mutex_unlock(&first);
}

static void a_thread_that_waits_for_a_sleeper(uint32_t workers)
{
	sennit_scheduler *s = stall_scheduler(workers);

	start_task(s, hold_asleep, NULL);
	await_event(&ready);
	sennit_mutex_lock(&first);
	sennit_mutex_unlock(&first);
	end_scheduler(s);
}

static void a_domain_that_sleeps(uint32_t workers)
{
	sennit_scheduler *s = stall_scheduler(workers);
	sennit_domain    *d;

	REQUIRE(!sennit_domain_create(&d, s, NULL, NULL));
	REQUIRE(!sennit_domain_schedule(d, sleep_then_set, NULL));
	REQUIRE(!sennit_domain_schedule(d, wait_for_ever, NULL));
	REQUIRE(!sennit_domain_shutdown(d, SENNIT_NEVER));
	end_scheduler(s);
}

/* Threads that would never be woken, but main() returns. */
static void an_exit(uint32_t workers)
{
	sennit_scheduler *s = stall_scheduler(workers);

	start_task(s, wait_for_ever, NULL);
	usleep(A_WHILE / SENNIT_MICROSECOND);
}

static void call_on_shutdown(void *unused)
{
	usleep(A_WHILE / SENNIT_MICROSECOND);
}

/* The thread that waited for the end now runs the program's function. */
static void a_slow_end(uint32_t workers)
{
	sennit_scheduler *s;

	REQUIRE(!sennit_scheduler_create(
		&s, SENNIT_CONFIG(.workers = workers,
				  .on_shutdown = call_on_shutdown)));
	other = stall_scheduler(workers);
	start_task(other, wait_for_ever, NULL);
	end_scheduler(s);
}

static void a_child_of_a_fork(uint32_t workers)
{
	pid_t child;
	int   status;

	if (has_strange_threads())
		return; /* their tool starts none in the child of a fork */
	end_scheduler(stall_scheduler(workers));
	child = fork();
	if (!child) {
		sennit_scheduler *s = stall_scheduler(workers);

		start_task(s, wait_for_ever, NULL);
		start_task(s, sleep_then_set, NULL);
		end_scheduler(s);
		_exit(0);
	}
	REQUIRE(waitpid(child, &status, 0) == child && !status);
}

TEST(what_could_still_be_woken_prints_nothing)
{
	static const struct stall_program all[] = {
		{ "a_sleep", a_sleep, NULL },
		{ "a_deadline", a_deadline, NULL },
		{ "a_group_with_a_deadline", a_group_with_a_deadline, NULL },
		{ "a_blocking_call", a_blocking_call, NULL },
		{ "a_plain_thread_that_sets", a_plain_thread_that_sets, NULL },
		{ "a_plain_thread_that_holds_a_lock",
		  a_plain_thread_that_holds_a_lock, NULL },
		{ "a_plain_thread_that_sends", a_plain_thread_that_sends,
		  NULL },
		{ "a_bound_thread_outside", a_bound_thread_outside, NULL },
		{ "a_signal", a_signal, NULL },
		{ "a_signal_handler", a_signal_handler, NULL },
		{ "a_computation", a_computation, NULL },
		{ "a_bound_thread_that_computes", a_bound_thread_that_computes,
		  NULL },
		{ "a_bound_thread_that_computes_beside_workers",
		  a_bound_thread_that_computes_beside_workers, NULL },
		{ "a_bound_thread_that_sleeps", a_bound_thread_that_sleeps,
		  NULL },
		{ "a_bound_thread_in_a_system_call",
		  a_bound_thread_in_a_system_call, NULL },
		{ "fibers_that_yield", fibers_that_yield, NULL },
		{ "a_thread_that_waits_with_a_deadline",
		  a_thread_that_waits_with_a_deadline, NULL },
		{ "a_shutdown_with_a_deadline", a_shutdown_with_a_deadline,
		  NULL },
		{ "the_task_of_another_scheduler",
		  the_task_of_another_scheduler, NULL },
		{ "a_scheduler_without_work", a_scheduler_without_work, NULL },
		{ "a_hook_of_a_poller", a_hook_of_a_poller, NULL },
		{ "a_scheduler_that_comes_later", a_scheduler_that_comes_later,
		  NULL },
		{ "a_thread_that_waits_for_a_sleeper",
		  a_thread_that_waits_for_a_sleeper, NULL },
		{ "a_domain_that_sleeps", a_domain_that_sleeps, NULL },
		{ "an_exit", an_exit, NULL },
		{ "a_slow_end", a_slow_end, NULL },
		{ "a_child_of_a_fork", a_child_of_a_fork, NULL },
	};

	RUN_STALL_PROGRAMS(all);
}

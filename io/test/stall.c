/* SPDX-License-Identifier: Apache-2.0 */
/* stall.c - SENNIT_DEBUG=stall prints nothing while a fiber waits for an event
 * that a descriptor, a process, a signal or a name server may cause.
 * core/test/api/stall.c has the cases without I/O.
 */
#include "testing/stalls.h"

#include <sennit/io.h>
#include <sennit/process.h>
#include <sennit/resolve.h>
#include <sennit/signals.h>

#include <netdb.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>

#ifdef SENNIT_NO_DEBUG_SWITCH
SKIP_ALL("built without SENNIT_DEBUG_SWITCH");
#endif

static sennit_event ready;

/* Another fiber waits the whole time for the event that the task sets at its
 * end. */
static void wait_for_ready(void *unused)
{
	(void)unused;
	await_event(&ready);
}

static void run(sennit_task_fn *task, void *argument, uint32_t workers)
{
	sennit_scheduler *s = stall_scheduler(workers);

	start_task(s, wait_for_ready, NULL);
	start_task(s, task, argument);
	end_scheduler(s);
}

static void read_byte(void *fd)
{
	char byte;

	REQUIRE(sennit_read(*(int *)fd, &byte, 1, SENNIT_NEVER) == 1);
	sennit_event_set(&ready);
}

/* Another process writes later. */
static void a_pipe(uint32_t workers)
{
	int   ends[2];
	pid_t writer;

	REQUIRE(!pipe(ends));
	writer = fork();
	if (!writer) {
		usleep(A_WHILE / SENNIT_MICROSECOND);
		_exit(write(ends[1], "x", 1) != 1);
	}
	run(read_byte, &ends[0], workers);
	waitpid(writer, NULL, 0);
}

static void poll_timer(void *unused)
{
	const struct itimerspec once = {
		.it_value = { .tv_nsec = (long)A_WHILE },
	};
	const int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);

	(void)unused;
	REQUIRE(fd >= 0 && !timerfd_settime(fd, 0, &once, NULL));
	REQUIRE(sennit_poll(fd, POLLIN, SENNIT_NEVER) > 0);
	sennit_event_set(&ready);
}

static void a_timer_of_the_kernel(uint32_t workers)
{
	run(poll_timer, NULL, workers);
}

static void run_command(void *unused)
{
	char *arguments[] = { "sleep", "0.4", NULL };
	pid_t child;

	(void)unused;
	REQUIRE(!sennit_process_spawn(
		&child, SENNIT_PROCESS_COMMAND(.argv = arguments)));
	REQUIRE(!sennit_process_wait(child, NULL, SENNIT_NEVER));
	sennit_event_set(&ready);
}

static void a_process(uint32_t workers)
{
	run(run_command, NULL, workers);
}

static sigset_t one_signal;

static void await_signal(void *unused)
{
	struct signalfd_siginfo info;
	sennit_signals         *signals;

	(void)unused;
	REQUIRE(!sennit_signals_open(&signals, &one_signal));
	REQUIRE(sennit_signals_wait(signals, &info, SENNIT_NEVER) == SIGUSR1);
	sennit_signals_close(signals);
	sennit_event_set(&ready);
}

static void a_signal(uint32_t workers)
{
	pid_t sender;

	sigemptyset(&one_signal);
	sigaddset(&one_signal, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &one_signal, NULL);
	sender = fork();
	if (!sender) {
		usleep(A_WHILE / SENNIT_MICROSECOND);
		kill(getppid(), SIGUSR1);
		_exit(0);
	}
	run(await_signal, NULL, workers);
	waitpid(sender, NULL, 0);
}

static void look_up(void *unused)
{
	struct addrinfo *found;

	(void)unused;
	REQUIRE(!sennit_resolve("127.0.0.1", "80", NULL, &found, SENNIT_NEVER));
	freeaddrinfo(found);
	REQUIRE(!sennit_sleep_until(sennit_after(A_WHILE)));
	sennit_event_set(&ready);
}

static void a_name(uint32_t workers)
{
	run(look_up, NULL, workers);
}

TEST(what_the_kernel_could_report_is_no_stall)
{
	static const struct stall_program all[] = {
		{ "a_pipe", a_pipe, NULL },
		{ "a_timer_of_the_kernel", a_timer_of_the_kernel, NULL },
		{ "a_process", a_process, NULL },
		{ "a_signal", a_signal, NULL },
		{ "a_name", a_name, NULL },
	};

	RUN_STALL_PROGRAMS(all);
}

/* The worker still has its poller, but nothing to poll. */
static void read_then_wait(void *fd)
{
	read_byte(fd);
	sennit_event_clear(&ready);
	await_event(&ready);
}

static void after_a_read(uint32_t workers)
{
	sennit_scheduler *s = stall_scheduler(workers);
	int               ends[2];

	REQUIRE(!pipe(ends) && write(ends[1], "x", 1) == 1);
	start_task(s, read_then_wait, &ends[0]);
	end_scheduler(s);
}

TEST(a_stall_after_input_is_one)
{
	static const struct stall_program all[] = {
		{ "after_a_read", after_a_read, "waits for event" },
	};

	if (has_strange_threads()) {
		print_message("another thread runs in each process\n");
		skip();
	}
	RUN_STALL_PROGRAMS(all);
}

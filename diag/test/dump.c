/* SPDX-License-Identifier: Apache-2.0 */
/* dump.c - a signal makes the program write its stacks. Without the call, no
 * signal does. */
#include "testing/with_workers.h"
#include "marks.h"

#include "sennit/dump.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#define NAME "a \"name\"\n\x1b[31m"

static atomic_bool  stop;
static sennit_event go;
static int          ends[2];

static void spin(void *unused)
{
	(void)unused;
	while (!atomic_load(&stop))
		;
}

static void await(void *unused)
{
	(void)unused;
	EXPECT(!sennit_event_wait(&go));
}

/* Read until the text contains `end`. Without it the test's alarm ends the
 * test. */
static char *read_until(const char *end)
{
	static char text[1 << 20];
	size_t      used = 0;

	text[0] = '\0';
	while (!strstr(text, end)) {
		ssize_t n = read(ends[0], text + used, sizeof(text) - used - 1);

		assert_true(n > 0);
		used += (size_t)n;
		text[used] = '\0';
	}
	return text;
}

static bool is_silent(void)
{
	struct pollfd p = { .fd = ends[0], .events = POLLIN };

	return poll(&p, 1, 0) == 0;
}

static void begin(struct world *w)
{
	assert_int_equal(pipe(ends), 0);
	sennit_event_init(&go, SENNIT_EVENT_MANUAL);
	atomic_store(&stop, false);
	assert_int_equal(sennit_function_set_name(await, NAME), 0);
	assert_int_equal(enqueue(w->s, await, NULL), 0);
	while (!fibers_of(w->s))
		sched_yield();
}

static void finish(void)
{
	atomic_store(&stop, true);
	sennit_event_set(&go);
	close(ends[0]);
	close(ends[1]);
}

TEST_WITH_ONE(a_signal_writes_the_stacks)
{
	const char *text;

	begin(w);
	assert_int_equal(
		sennit_dump_start(SIGUSR1, ends[1], SENNIT_STACKS_TEXT), 0);
	assert_int_equal(
		sennit_dump_start(SIGUSR1, ends[1], SENNIT_STACKS_TEXT),
		-EALREADY);
	assert_int_equal(kill(getpid(), SIGUSR1), 0);
	text = read_until("waits for event");
	/* The name is escaped before it reaches a terminal. */
	assert_non_null(strstr(text, "a \"name\"\\n\\x1b[31m ("));
	assert_null(strchr(text, '\x1b'));
	sennit_dump_stop();
	finish();
}

/* The worker of the waiting fiber stays busy. */
TEST_WITH_ONE(a_busy_worker_does_not_keep_it_from_writing)
{
	begin(w);
	assert_int_equal(enqueue(w->s, spin, NULL), 0);
	assert_int_equal(
		sennit_dump_start(SIGUSR1, ends[1], SENNIT_STACKS_TEXT), 0);
	assert_int_equal(kill(getpid(), SIGUSR1), 0);
	read_until("waits for event");
	sennit_dump_stop();
	finish();
}

TEST_WITH_ONE(signals_before_the_stop_are_answered)
{
	begin(w);
	for (int i = 0; i < 20; i++) {
		assert_int_equal(
			sennit_dump_start(SIGUSR2, ends[1], SENNIT_STACKS_JSON),
			0);
		assert_int_equal(raise(SIGUSR2), 0);
		sennit_dump_stop();
		assert_false(is_silent());
		read_until("\"error\": null}\n");
	}
	finish();
}

TEST_WITH_ONE(the_environment_names_the_signal)
{
	static const char *const names[] = { "SIGUSR2", "USR2" };
	char                     number[8];

	begin(w);
	snprintf(number, sizeof(number), "%d", SIGUSR2);
	for (int i = 0; i < 3; i++) {
		setenv("SENNIT_DUMP_SIGNAL", i < 2 ? names[i] : number, 1);
		assert_int_equal(sennit_dump_start(SENNIT_DUMP_ENVIRONMENT,
						   ends[1], SENNIT_STACKS_TEXT),
				 0);
		assert_int_equal(raise(SIGUSR2), 0);
		sennit_dump_stop();
		read_until("waits for event");
	}
	unsetenv("SENNIT_DUMP_SIGNAL");
	finish();
}

static bool is_default(int number)
{
	struct sigaction now;

	return !sigaction(number, NULL, &now) && now.sa_handler == SIG_DFL;
}

/* Neither loading the library nor a call without the variable installs a
 * handler. */
TEST_WITH_ONE(it_is_off_unless_asked_for)
{
	begin(w);
	setenv("SENNIT_DUMP_SIGNAL", "USR2", 1);
	assert_true(is_default(SIGUSR2));
	unsetenv("SENNIT_DUMP_SIGNAL");
	assert_int_equal(sennit_dump_start(SENNIT_DUMP_ENVIRONMENT, ends[1],
					   SENNIT_STACKS_TEXT),
			 0);
	assert_true(is_default(SIGUSR2));
	sennit_dump_stop();
	assert_true(is_silent());
	finish();
}

TEST_ALONE(a_wrong_signal_is_refused)
{
	static const int   numbers[] = { -1,      SIGKILL, SIGSTOP, SIGSEGV,
					 SIGABRT, SIGURG,  1000 };
	static const char *names[] = { "KILL", "x", "0", "-1", "3x", "65" };

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		assert_int_equal(
			sennit_dump_start(numbers[i], 2, SENNIT_STACKS_TEXT),
			-EINVAL);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		setenv("SENNIT_DUMP_SIGNAL", names[i], 1);
		assert_int_equal(sennit_dump_start(SENNIT_DUMP_ENVIRONMENT, 2,
						   SENNIT_STACKS_TEXT),
				 -EINVAL);
	}
	unsetenv("SENNIT_DUMP_SIGNAL");
}

TEST_WITH_ONE(stop_puts_the_earlier_handler_back)
{
	begin(w);
	assert_true(is_default(SIGUSR1));
	assert_int_equal(
		sennit_dump_start(SIGUSR1, ends[1], SENNIT_STACKS_TEXT), 0);
	assert_false(is_default(SIGUSR1));
	sennit_dump_stop();
	assert_true(is_default(SIGUSR1));
	sennit_dump_stop();
	finish();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* switches.c - the words of SENNIT_DEBUG in pairs, with a standard error that
 * is not read for a second. A program that ends by itself is not reported as
 * stalled, and one that stalls is, once. Also a healthy process that is stopped
 * for longer than any limit, and continues.
 */
#include "testing/stalls.h"
#include "testing/switched_on.h"

#include <fcntl.h>

static const char *const pairs[] = {
	"stall",
	"stall,watchdog=1",
	"watchdog=50,stall",
	"stall,dump",
	"stall,fatal",
	"stall,live=/tmp/sennit-switches-%ld",
	"stall,trace=/dev/null",
	"stall,profile=/dev/null",
	"stall,watchdog=1,live=/tmp/sennit-switches-%ld",
};

static void piece(void *unused)
{
	for (int i = 0; i < 10; i++) /* a stop ends at most one of the sleeps */
		usleep(30000);
	(void)unused;
}

/* Each task takes less than a third of the limit and needs no CPU, so the test
 * also holds on a busy machine. */
static void work_in_pieces(uint32_t workers)
{
	sennit_scheduler *s = stall_scheduler(workers);

	for (uint32_t i = 0; i < 8 * workers; i++)
		start_task(s, piece, NULL);
	end_scheduler(s);
}

enum { PAIRS = sizeof(pairs) / sizeof(pairs[0]), COUNTS = 3 };

static const uint32_t counts[COUNTS] = { 1, 2, 4 };

static void come_later(void *unused)
{
	(void)unused;
}

/* Compute for longer than two looks for stalls, so that the watchdog has
 * written by then, and its look is still in progress when the task ends. */
static void compute(void *scheduler)
{
	const sennit_time end = sennit_after(A_WHILE / 2);

	start_task(scheduler, come_later, NULL);
	while (sennit_now() < end)
		;
}

static void end_by_itself(uint32_t workers)
{
	sennit_scheduler *s = stall_scheduler(workers);

	for (uint32_t i = 0; i < workers; i++)
		start_task(s, compute, s);
	end_scheduler(s);
}

static void wait_for_it(void *event)
{
	await_event(event);
}

static void stall(uint32_t workers)
{
	static sennit_event never;
	sennit_scheduler   *s = stall_scheduler(workers);

	start_task(s, wait_for_it, &never);
	end_scheduler(s);
}

/* Fill the pipe of standard error. */
static void fill(int words)
{
	static const char dots[4096];
	const int         flags = fcntl(words, F_GETFL);

	fcntl(words, F_SETFL, flags | O_NONBLOCK);
	while (write(words, dots, sizeof(dots)) > 0)
		;
	while (write(words, dots, 1) > 0)
		;
	fcntl(words, F_SETFL, flags);
}

struct one {
	pid_t       pid;
	int         words;
	const char *pair;
};

static struct one begin_one(const char *pair, void (*run)(uint32_t workers),
			    uint32_t    workers)
{
	struct one c = { .pair = pair };
	char       word[128];

	c.pid = begin_heard_child(&c.words);
	if (c.pid)
		return c;
	alarm(120);
	/* NOLINTNEXTLINE: one number in each that has any */
	snprintf(word, sizeof(word), pair, (long)getpid());
	setenv("SENNIT_DEBUG", word, 1);
	fill(STDERR_FILENO);
	run(workers);
	exit(0);
}

/* Read what follows the dots, until these words or the end. */
static void read_after_dots(int words, const char *until, char *text,
			    size_t size)
{
	ssize_t n = 1;
	size_t  used = 0;
	char    c[4096];

	*text = '\0';
	while (n > 0 && !(until && strstr(text, until))) {
		n = read(words, c, sizeof(c));
		for (ssize_t i = 0; i < n && used < size - 1; i++)
			if (c[i])
				text[used++] = c[i];
		text[used] = '\0';
	}
	close(words);
}

/* Report whether the program printed the message as often as it should. A
 * program that stalls is killed. */
static bool did_right(const struct one *c, bool stalls)
{
	static char text[1 << 20];
	int         status;

	read_after_dots(c->words, stalls ? "waits for event" : NULL, text,
			sizeof(text));
	if (stalls)
		kill(c->pid, SIGKILL);
	status = await_child(c->pid);
	if (times_in(text, "sennit: stall:") == stalls && (stalls || !status))
		return true;
	print_error("%s: status %#x, it printed: %s\n", c->pair,
		    (unsigned)status, text);
	return false;
}

static bool is_silent(const struct one *c)
{
	char text[4096];
	int  status;

	read_after_dots(c->words, NULL, text, sizeof(text));
	status = await_child(c->pid);
	if (!*text && !status)
		return true;
	print_error("status %#x, it printed: %s\n", (unsigned)status, text);
	return false;
}

static void run_all(void (*run)(uint32_t workers), bool stalls)
{
	struct one all[PAIRS * COUNTS];
	size_t     n = 0, right = 0;

	for (size_t i = 0; i < PAIRS; i++)
		for (size_t k = 0; k < COUNTS; k++)
			all[n++] = begin_one(pairs[i], run, counts[k]);
	sleep(1); /* what is wrong with a slow reader shows meanwhile */
	for (size_t i = 0; i < n; i++)
		right += did_right(&all[i], stalls);
	assert_int_equal(right, n);
}

TEST(a_program_that_ends_is_not_stalled_beside_any_other_switch)
{
	run_all(end_by_itself, false);
}

TEST(a_program_that_stalls_says_so_beside_any_other_switch)
{
	if (has_strange_threads()) {
		print_message("another thread runs in each process\n");
		skip();
	}
	run_all(stall, true);
}

static void stop_for_longer_than_the_limit(const struct one *c, size_t count)
{
	for (size_t i = 0; i < count; i++)
		kill(c[i].pid, SIGSTOP);
	usleep(1500000);
	for (size_t i = 0; i < count; i++)
		kill(c[i].pid, SIGCONT);
	usleep(400000);
}

TEST(time_in_which_a_process_was_stopped_is_no_finding)
{
	struct one all[COUNTS];
	size_t     right = 0;

	for (size_t i = 0; i < COUNTS; i++)
		all[i] = begin_one("stall,watchdog=1000", work_in_pieces,
				   counts[i]);
	usleep(400000);
	stop_for_longer_than_the_limit(all, COUNTS);
	stop_for_longer_than_the_limit(all, COUNTS);
	for (size_t i = 0; i < COUNTS; i++)
		right += is_silent(&all[i]);
	assert_int_equal(right, COUNTS);
}

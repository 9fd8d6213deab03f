/* SPDX-License-Identifier: Apache-2.0 */
/* stalls.h - runs programs in child processes with SENNIT_DEBUG=stall, all at
 * once, on one, two and four workers: those that stall must say so, and those
 * that do not must print nothing and end.
 */
#ifndef SN_TEST_STALLS_H
#define SN_TEST_STALLS_H

#include "child.h"
#include "proc_self.h"

#include "base/compiler.h"

#include <sennit.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>

/* How long what is not stuck takes: several looks for stalls. */
#define A_WHILE (400 * SENNIT_MILLISECOND)

enum { PROGRAMS = 32, STALL_TEXT = 32768 };

struct stall_program {
	const char *name;
	void (*run)(uint32_t workers); /* in a child, which then ends */
	const char *says;              /* when it stalls; NULL: it does not */
};

/* SENNIT_DEBUG of the children. */
static const char *stall_words = "stall";

struct stall_child {
	const struct stall_program *program;
	pid_t                       pid;
	int                         words;
};

/* Whether another thread than the program's own runs in each process: that of a
 * sanitizer or an emulator. It could wake a fiber, so nothing stalls.
 * ThreadSanitizer starts its own with the first of the program. */
static inline bool has_strange_threads(void)
{
#ifdef SN_TSAN
	return true;
#else
	return threads_now() > 3; /* `.`, `..`, and this one */
#endif
}

static inline void require(bool holds, const char *claim)
{
	if (holds)
		return;
	fprintf(stderr, "required: %s\n", claim);
	_exit(3);
}
#define REQUIRE(claim) require((claim), #claim)

static inline sennit_scheduler *stall_scheduler(uint32_t workers)
{
	sennit_scheduler *s;

	REQUIRE(!sennit_scheduler_create(
		&s, SENNIT_CONFIG(.workers = workers, .name = "stuck")));
	return s;
}

static inline void start_task(sennit_scheduler *s, sennit_task_fn *run,
			      void *argument)
{
	const sennit_task task = { .run = run, .argument = argument };

	REQUIRE(!sennit_schedule_task_on(s, &task));
}

static inline void end_scheduler(sennit_scheduler *s)
{
	REQUIRE(!sennit_scheduler_shutdown(s, SENNIT_NEVER));
}

/* Wait on any thread, for ever or until somebody sets it. */
static inline void await_event(sennit_event *e)
{
	(void)!sennit_event_wait_until(e, SENNIT_NEVER);
}

static inline pthread_t start_thread(void *(*run)(void *), void *argument)
{
	pthread_t thread;

	REQUIRE(!pthread_create(&thread, NULL, run, argument));
	return thread;
}

static inline struct stall_child begin_stall_child(
	const struct stall_program *p, uint32_t workers)
{
	struct stall_child c = { .program = p };

	c.pid = begin_heard_child(&c.words);
	if (!c.pid) {
		alarm(120);
		setenv("SENNIT_DEBUG", stall_words, 1);
		p->run(workers);
		exit(0);
	}
	return c;
}

static inline size_t times_in(const char *text, const char *part)
{
	size_t n = 0;

	for (; (text = strstr(text, part)); text++)
		n++;
	return n;
}

/* Read until it says what it should, or ends. Returns whether it did right. */
static inline bool is_right(const struct stall_child *c)
{
	char        text[STALL_TEXT] = "";
	const char *says = c->program->says;
	size_t      used = 0;
	ssize_t     n = 1;
	int         status;

	while (n > 0 && !(says && strstr(text, says))) {
		n = read(c->words, text + used, sizeof(text) - 1 - used);
		used += n > 0 ? (size_t)n : 0;
		text[used] = '\0';
	}
	close(c->words);
	if (says)
		kill(c->pid, SIGKILL);
	status = await_child(c->pid);
	if (says ? times_in(text, "sennit: stall:") == 1 && strstr(text, says)
		 : !*text && !status)
		return true;
	print_error("%s: status %#x, it printed: %s\n", c->program->name,
		    (unsigned)status, text);
	return false;
}

static inline void run_stall_programs(const struct stall_program *all,
				      size_t                      count)
{
	struct stall_child children[3 * PROGRAMS];
	size_t             n = 0;
	size_t             right = 0;

	for (size_t i = 0; i < count; i++) {
		children[n++] = begin_stall_child(&all[i], 1);
		children[n++] = begin_stall_child(&all[i], 2);
		children[n++] = begin_stall_child(&all[i], 4);
	}
	for (size_t i = 0; i < n; i++)
		right += is_right(&children[i]);
	assert_int_equal(right, n);
}
#define RUN_STALL_PROGRAMS(all) \
	run_stall_programs(all, sizeof(all) / sizeof((all)[0]))

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* faults.c - a task that overflows its stack is named before the process ends,
 * and misuse is named. Each happens in a process of its own.
 */
#include "testing/dig.h"
#include "testing/test.h"
#include "posix/again.h"
#include "sennit.h"
#include <string.h>
#include <windows.h>

#include <stdlib.h>

/* Runs this program again, with the name of what it is to do, and
 * reads what that prints on standard error. */

struct fate {
	uint32_t status;
	char     text[8192];
};

static inline void run_again(const char *what, struct fate *f)
{
	f->status = run_program_again(what, f->text, sizeof(f->text));
}

/* Run one task in a scheduler of this configuration, until it has ended. */
static inline int run_task(const sennit_config *config, sennit_task_fn *task)
{
	sennit_scheduler *s;

	SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX);
	if (sennit_scheduler_create(&s, config) ||
	    sennit_schedule_task_on(s, &(const sennit_task){ .run = task }))
		return 1;
	return sennit_scheduler_shutdown(s, SENNIT_NEVER) ? 1 : 0;
}

/* What the system says of a process that overflowed its stack, and the C
 * library of one that called abort(). */
#define OVERFLOWED 0xc00000fd

static void run_off_the_stack(void *unused)
{
	(void)unused;
	(void)!dig(1);
}

/* The compiler calls __chkstk for such a frame, which touches its pages in
 * order, so that none steps over the guard. */
static void take_a_large_frame(void *unused)
{
	volatile char frame[512 * 1024];

	(void)unused;
	frame[0] = 1;
	(void)frame[0];
}

static void run_off_after_a_wait(void *unused)
{
	sennit_sleep(SENNIT_MILLISECOND);
	run_off_the_stack(unused);
}

static void unlock_what_is_free(void *unused)
{
	static sennit_mutex mutex;

	(void)unused;
	sennit_mutex_unlock(&mutex);
}

static void read_nowhere(void *unused)
{
	volatile char *nowhere = VirtualAlloc(NULL, 4096, MEM_RESERVE,
					      PAGE_NOACCESS);

	(void)unused;
	(void)nowhere[8];
}

static int commit(const char *what)
{
	const sennit_config *one = SENNIT_CONFIG(.workers = 1);

	sennit_function_set_name(run_off_the_stack, "digger");
	sennit_function_set_name(run_off_after_a_wait, "late_digger");
	sennit_function_set_name(take_a_large_frame, "spreader");
	if (!strcmp(what, "overflow"))
		return run_task(one, run_off_the_stack);
	if (!strcmp(what, "large"))
		return run_task(one, take_a_large_frame);
	if (!strcmp(what, "late"))
		return run_task(one, run_off_after_a_wait);
	if (!strcmp(what, "silent"))
		return run_task(
			SENNIT_CONFIG(.workers = 1,
				      .overflow = SENNIT_OVERFLOW_SILENT),
			run_off_the_stack);
	if (!strcmp(what, "unlock"))
		return run_task(one, unlock_what_is_free);
	return run_task(one, read_nowhere);
}

TEST(an_overflow_is_named)
{
	struct fate f;

	run_again("overflow", &f);
	assert_non_null(strstr(f.text, "stack overflow in task digger"));
	assert_non_null(strstr(f.text, "faults.exe+0x")); /* a backtrace */
	assert_int_equal(f.status, OVERFLOWED);
}

TEST(an_overflow_after_a_wait_is_named)
{
	struct fate f;

	run_again("late", &f);
	assert_non_null(strstr(f.text, "stack overflow in task late_digger"));
	assert_int_equal(f.status, OVERFLOWED);
}

TEST(an_overflow_by_one_frame_is_named)
{
	struct fate f;

	run_again("large", &f);
	assert_non_null(strstr(f.text, "stack overflow in task spreader"));
	assert_int_equal(f.status, OVERFLOWED);
}

TEST(an_overflow_can_be_silent)
{
	struct fate f;

	run_again("silent", &f);
	assert_null(strstr(f.text, "sennit:"));
	assert_int_equal(f.status, OVERFLOWED);
}

TEST(another_fault_is_not_an_overflow)
{
	struct fate f;

	run_again("nowhere", &f);
	assert_null(strstr(f.text, "sennit:"));
	assert_int_equal(f.status, EXCEPTION_ACCESS_VIOLATION);
}

TEST(misuse_is_named)
{
	struct fate f;

	run_again("unlock", &f);
	assert_non_null(strstr(f.text, "misuse of sennit_mutex_unlock"));
	assert_int_equal(f.status, ABORTED);
}

static int commit_if_told(void)
{
	if (test_argc > 1)
		exit(commit(test_argv[1]));
	return 0;
}

BEFORE_ALL(commit_if_told);

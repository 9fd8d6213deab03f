/* SPDX-License-Identifier: Apache-2.0 */
/* misuse_longjmp.c - longjmp() out of a task, to its thread's own stack or to
 * another task's; and what is no misuse: jumps within a task, and waits on a
 * stack that the program made.
 *
 * ThreadSanitizer looks for the jump's target among the fiber's own targets,
 * and crashes.
 */
#include "testing/misuse.h"

#include "arch/cpu.h"

static jmp_buf target;

static void jump(void *unused)
{
	longjmp(target, 1);
}

/* --- to the thread's own stack ------------------------------------------ */

static void jump_home(void)
{
	if (setjmp(target))
		return;
	must_schedule_here(jump, NULL);
	sennit_sleep(SENNIT_SECOND);
}

MISUSE_BY(leaving_a_task_for_the_thread_that_unbinds, "longjmp", jump_home(),
	  sennit_thread_unbind());
MISUSE_BY(leaving_a_task_for_the_thread_that_waits, "longjmp", jump_home(),
	  sennit_sleep(SENNIT_MILLISECOND));

/* --- to another task's stack -------------------------------------------- */

static void wait_after_jump(void *unused)
{
	if (!setjmp(target))
		must_schedule_here(jump, NULL);
	sennit_sleep(10 * SENNIT_MILLISECOND);
}

MISUSE_BY(leaving_a_task_for_another, "longjmp",
	  must_schedule(wait_after_jump, NULL), sennit_sleep(SENNIT_SECOND));

/* --- from the thread's own stack ---------------------------------------- */

#if !defined(SN_ASAN) /* ASan reports such a jump itself */

static void wait_to_be_entered(void *again)
{
	if (setjmp(target) && !*(bool *)again)
		return;
	sennit_sleep(100 * SENNIT_SECOND);
}

/* again: the task waits once more; otherwise it ends. */
static void enter_a_task(bool again)
{
	sennit_scheduler *s = sennit_scheduler_current();

	must_schedule_here(wait_to_be_entered, &again);
	EXPECT_SOON(fibers_of(s) == 1);
	longjmp(target, 1);
}

MISUSE_BY(leaving_the_thread_for_a_task_that_waits_does_not_hang, "longjmp",
	  enter_a_task(true));
MISUSE_BY(leaving_the_thread_for_a_task_that_ends_does_not_hang, "longjmp",
	  enter_a_task(false));
#endif

/* --- no misuse ---------------------------------------------------------- */

static void jump_within(void *unused)
{
	if (setjmp(target) < 3) {
		sennit_sleep(10 * SENNIT_MICROSECOND);
		longjmp(target, 3);
	}
	sennit_sleep(10 * SENNIT_MICROSECOND);
}

TEST_WITH_WORKERS(jumps_within_a_task_are_fine)
{
	in_a_task(jump_within, NULL);
	jump_within(NULL);
}

static arch_stack outer;

static arch_stack wait_inside(void *unused)
{
	sennit_sleep(10 * SENNIT_MICROSECOND);
	return outer;
}

static void wait_on_an_own_stack(void *memory)
{
	arch_start(&outer, (char *)memory + 65536, wait_inside, NULL,
		   arch_fp_control());
}

/* AddressSanitizer would have to be informed of the switch. */
TEST_WITH_WORKERS(a_task_may_wait_on_a_stack_of_its_own)
{
	void *memory;

#if defined(SN_ASAN)
	skip();
#endif
	memory = malloc(65536);
	in_a_task(wait_on_an_own_stack, memory);
	free(memory);
}

static int begin_all(void)
{
#if defined(SN_TSAN)
	printf("skipped: ThreadSanitizer does not follow such jumps\n");
	return 77;
#endif
	return 0;
}

BEFORE_ALL(begin_all);

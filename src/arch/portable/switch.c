/* SPDX-License-Identifier: Apache-2.0 */
/* switch.c - leave one stack for another by ucontext: slow (each switch asks
 * the kernel about signals), but right wherever libc has it. The unit test runs
 * the same cases on this and on the assembler.
 *
 * A ucontext also restores the signal mask, which arch.h leaves to the thread.
 * So whoever leaves puts its own into the context that resumes.
 */
#include "arch/arch.h"

#include "base/check.h"

#include <signal.h>
#include <ucontext.h>

/* Lives on the stack that it describes. */
struct suspended {
	ucontext_t context;
};

/* On the stack that starts another; entered on that other. */
struct launch {
	arch_entry *entry;
	void       *argument;
	uint64_t    control;
};

static void leave_for(struct suspended *s)
{
	CHECK(pthread_sigmask(SIG_SETMASK, NULL, &s->context.uc_sigmask) == 0,
	      "the signal mask cannot be read");
}

static void suspend(struct suspended *s, const ucontext_t *next)
{
	CHECK(swapcontext(&s->context, next) == 0, "swapcontext failed");
}

void arch_switch(arch_stack *save, arch_stack resume)
{
	struct suspended  self;
	struct suspended *next = resume;

	*save = &self;
	leave_for(next);
	suspend(&self, &next->context);
}

/* makecontext passes ints: the address comes in two halves. */
static void run(unsigned high, unsigned low)
{
	const struct launch *l = (void *)(uintptr_t)((uint64_t)high << 32 |
						     low);
	struct suspended    *next;

	arch_fp_set_control(l->control);
	next = l->entry(l->argument);
	leave_for(next);
	setcontext(&next->context);
	CHECK(0, "setcontext failed");
}

void arch_start(arch_stack *save, void *top, arch_entry *entry, void *argument,
		uint64_t control)
{
	struct launch    launch = { entry, argument, control };
	uint64_t         address = (uintptr_t)&launch;
	struct suspended self;
	ucontext_t       fresh;

	CHECK(getcontext(&fresh) == 0, "getcontext failed");
	fresh.uc_link = NULL;
	fresh.uc_stack.ss_sp = (char *)top - ARCH_STACK_MIN;
	fresh.uc_stack.ss_size = ARCH_STACK_MIN;
	makecontext(&fresh, (void (*)(void))run, 2, (unsigned)(address >> 32),
		    (unsigned)address);
	*save = &self;
	suspend(&self, &fresh);
}

/* A ucontext carries floating-point control with it whether asked to or not. */
void arch_switch_shared(arch_stack *save, arch_stack resume)
{
	arch_switch(save, resume);
}

void arch_start_shared(arch_stack *save, void *top, arch_entry *entry,
		       void *argument, uint64_t control)
{
	(void)control;
	arch_start(save, top, entry, argument, arch_fp_control());
}

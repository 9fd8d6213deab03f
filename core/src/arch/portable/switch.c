/* SPDX-License-Identifier: Apache-2.0 */
/* switch.c - context switch by ucontext: slow, because each switch calls the
 * kernel to set the signal mask, but correct wherever libc has ucontext. The
 * unit test runs the same cases on this and on the assembler versions.
 *
 * A ucontext also restores the signal mask, which by arch.h belongs to the
 * thread. Therefore the thread's current mask is stored into a context before
 * it resumes.
 */
#include "arch/cpu.h"

#include "base/compiler.h"

#include <signal.h>
#include <ucontext.h>

/* Lies on the stack that it describes. */
struct suspended {
	ucontext_t context;
};

/* Lies on the stack that starts another. The new stack reads it. */
struct launch {
	arch_entry *entry;
	void       *argument;
	uint64_t    control;
};

static void set_mask_for(struct suspended *s)
{
	CHECK(pthread_sigmask(SIG_SETMASK, NULL, &s->context.uc_sigmask) == 0,
	      "the signal mask cannot be read");
}

/* On i386 a ucontext has the control of the x87 alone. */
static void swap_to(struct suspended *s, const ucontext_t *next)
{
	const uint64_t control = arch_fp_control();

	CHECK(swapcontext(&s->context, next) == 0, "swapcontext failed");
	arch_fp_set_control(control);
}

void arch_switch(arch_stack *save, arch_stack resume)
{
	struct suspended  self;
	struct suspended *next = resume;

	*save = &self;
	set_mask_for(next);
	swap_to(&self, &next->context);
}

/* makecontext passes only ints, so the address is split in two. */
static void run(unsigned high, unsigned low)
{
	const struct launch *l = (void *)(uintptr_t)((uint64_t)high << 32 |
						     low);
	struct suspended    *next;

	arch_fp_set_control(l->control);
	next = l->entry(l->argument);
	set_mask_for(next);
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
	swap_to(&self, &fresh);
}

/* A ucontext always saves and restores floating-point control. */
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

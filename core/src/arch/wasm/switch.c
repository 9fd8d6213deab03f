/* SPDX-License-Identifier: Apache-2.0 */
/* switch.c - context switch by the fibers of emscripten (emscripten/fiber.h).
 *
 * WebAssembly keeps return addresses and local variables where no program can
 * reach them; what C calls the stack has only variables whose address is taken.
 * So Asyncify compiles every function that may be on a suspended stack so that
 * it can write its variables to memory and return, and later be called again
 * and read them. A switch therefore costs more the more frames the two stacks
 * have.
 *
 * That memory is the unused part of the stack itself, from its low end up. The
 * stack pointer of C stands still while the frames are written, so whatever
 * lies below it is free:
 *
 *	low                                                     top
 *	| frames of the machine grow up ...  ... C frames grow down |
 *
 * When the two meet, the machine ends the program: "unreachable".
 */
#include "arch/cpu.h"

#include "base/compiler.h"

#include <emscripten/fiber.h>
#include <emscripten/stack.h>

/* Left free at a stack's low end, where emscripten writes a mark in builds with
 * assertions. */
#define MARK 16

/* Lies on the stack that starts another. The new stack reads it. */
struct launch {
	arch_entry *entry;
	void       *argument;
};

/* Describes the running stack, which is about to be suspended. What
 * emscripten_fiber_init_from_current_context does, without a call of
 * JavaScript, and with the memory that is free now. */
static void describe(emscripten_fiber_t *self)
{
	const uintptr_t low = emscripten_stack_get_end();

	*self = (emscripten_fiber_t){
		.stack_base = (void *)emscripten_stack_get_base(),
		.stack_limit = (void *)low,
		.asyncify_data = {
			.stack_ptr = (void *)(low + MARK),
			.stack_limit = (void *)emscripten_stack_get_current(),
		},
	};
}

void arch_switch(arch_stack *save, arch_stack resume)
{
	emscripten_fiber_t self;

	*save = &self;
	describe(&self);
	emscripten_fiber_swap(&self, resume);
}

/* The last switch of a stack is never resumed. */
static void run(void *argument)
{
	const struct launch *l = argument;
	emscripten_fiber_t   self;
	arch_stack           next = l->entry(l->argument);

	describe(&self);
	emscripten_fiber_swap(&self, next);
	CHECK(0, "a stack that is idle was resumed");
}

static uintptr_t low_of(const void *top)
{
	const uintptr_t *note = top;

	return note[-1] == ~note[-2] ? note[-1]
				     : (uintptr_t)top - ARCH_STACK_MIN;
}

void arch_start(arch_stack *save, void *top, arch_entry *entry, void *argument,
		uint64_t control)
{
	struct launch      launch = { entry, argument };
	emscripten_fiber_t self;
	emscripten_fiber_t fresh = {
		.stack_base = (char *)top - LOW_NOTE,
		.stack_limit = (void *)low_of(top),
		.stack_ptr = (char *)top - LOW_NOTE,
		.entry = run,
		.user_data = &launch,
	};

	(void)control;
	*save = &self;
	describe(&self);
	emscripten_fiber_swap(&self, &fresh);
}

/* There is no floating-point control, so nothing to leave out. */
void arch_switch_shared(arch_stack *save, arch_stack resume)
{
	arch_switch(save, resume);
}

void arch_start_shared(arch_stack *save, void *top, arch_entry *entry,
		       void *argument, uint64_t control)
{
	arch_start(save, top, entry, argument, control);
}

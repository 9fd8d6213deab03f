/* SPDX-License-Identifier: Apache-2.0 */
/* switch.h - the two implementations that the switch tests run on: the switch
 * of this build, and, where libc has ucontext, the portable one.
 *
 * A test case gets the implementation as its state. Results from a started
 * stack are asserted on the main stack, because cmocka leaves a failed case by
 * longjmp.
 */
#ifndef SN_TEST_SWITCH_H
#define SN_TEST_SWITCH_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "arch/arch.h"

struct machine {
	void (*go)(arch_stack *save, arch_stack resume);
	void (*start)(arch_stack *save, void *top, arch_entry *entry, void *arg,
		      uint64_t control);
};

#define STACK_SIZE 262144

static _Alignas(16) unsigned char stacks[3][STACK_SIZE];

static inline void *top_of(unsigned index)
{
	return stacks[index] + STACK_SIZE;
}

static inline void start_on(const struct machine *m, arch_stack *save,
			    unsigned index, arch_entry *entry, void *argument)
{
	m->start(save, top_of(index), entry, argument, arch_fp_control());
}

/* The main stack and another stack, which run in turns. */
struct pair {
	const struct machine *machine;
	arch_stack            main;
	arch_stack            other;
	void                 *data;
	uint64_t              control; /* floating-point control of the other
				        * stack, at its start and end */
};

static inline void to_main(struct pair *p)
{
	p->machine->go(&p->other, p->main);
}

static inline void to_other(struct pair *p)
{
	p->machine->go(&p->main, p->other);
}

static inline void start_other_with(struct pair *p, void **state,
				    arch_entry *entry, void *data,
				    uint64_t control)
{
	p->machine = *state;
	p->data = data;
	p->control = control;
	p->machine->start(&p->main, top_of(0), entry, p, control);
}

static inline void start_other(struct pair *p, void **state, arch_entry *entry,
			       void *data)
{
	start_other_with(p, state, entry, data, arch_fp_control());
}

/* The end of an entry that has changed the floating-point control. */
static inline arch_stack leave_for_main(struct pair *p)
{
	arch_fp_set_control(p->control);
	return p->main;
}

static int run_on(const char *name, struct machine *machine);

/* Of the folder with_ucontext or without_ucontext: is_portable() and
 * run_on_portable(). */
#include "portable.h"

/* run_on() contains the test cases of the file. */
int main(void)
{
	struct machine built = { arch_switch, arch_start };

#ifdef SN_TEST_SHARED
	struct machine shared = { arch_switch_shared, arch_start_shared };

	if (run_on("shared", &shared))
		return 1;
#endif
	return run_on("built", &built) + run_on_portable();
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* switch.h - the two implementations that the switch tests run on: the switch
 * of this build, and, where libc has ucontext, the portable one.
 *
 * A test case gets the implementation, *m. Results from a started
 * stack are asserted on the main stack, because cmocka leaves a failed case by
 * longjmp.
 */
#ifndef SN_TEST_SWITCH_H
#define SN_TEST_SWITCH_H

#include "testing/test.h"

#include "arch/cpu.h"

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

static inline void start_other_with(struct pair *p, const struct machine *m,
				    arch_entry *entry, void *data,
				    uint64_t control)
{
	p->machine = m;
	p->data = data;
	p->control = control;
	p->machine->start(&p->main, top_of(0), entry, p, control);
}

static inline void start_other(struct pair *p, const struct machine *m,
			       arch_entry *entry, void *data)
{
	start_other_with(p, m, entry, data, arch_fp_control());
}

/* The end of an entry that has changed the floating-point control. */
static inline arch_stack leave_for_main(struct pair *p)
{
	arch_fp_set_control(p->control);
	return p->main;
}

static struct machine built = { arch_switch, arch_start };
#ifdef SN_TEST_SHARED
static struct machine shared = { arch_switch_shared, arch_start_shared };
#define ON_SHARED(f, setup, teardown) ON(f, shared, setup, teardown),
#else
#define ON_SHARED(f, setup, teardown)
#endif

/* Of the folder with_ucontext or without_ucontext: is_portable() and
 * ON_PORTABLE(). */
#include "portable.h"

#define ON(f, machine, setup, teardown)                                \
	{                                                              \
#f "_" #machine, f##_case, setup, teardown, &(machine) \
	}

/* f(m) on each. */
#define TEST_ON_EACH_BETWEEN(f, setup, teardown)             \
	TEST_ENTRIES(f, const struct machine *m,             \
		     ON_SHARED(f, setup, teardown)           \
			     ON_PORTABLE(f, setup, teardown) \
				     ON(f, built, setup, teardown))
#define TEST_ON_EACH(f) TEST_ON_EACH_BETWEEN(f, NULL, NULL)

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* stacks.h - the visit of all stacks, which also tells what is damaged. */
#ifndef SN_STACKS_H
#define SN_STACKS_H

#include "diag/damage.h"
#include "sennit/stacks.h"

struct stacks_visitor {
	void (*visit)(void *context, const sennit_stack *stack);
	/* Or NULL: is called first, when memory can be read. */
	void (*begin)(void *context, uintptr_t scheduler);
	/* Or NULL: see damage.h. Is called also between the fibers. */
	damage_teller *tell;
};

/* As sennit_stacks_visit. */
int sn_stacks_visit(sennit_scheduler *s, const struct stacks_visitor *by,
		    void *context);

#endif

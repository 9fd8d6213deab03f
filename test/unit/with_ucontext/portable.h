/* SPDX-License-Identifier: Apache-2.0 */
/* portable.h - the portable switch, compiled again under other names. */
#ifndef SN_TEST_PORTABLE_H
#define SN_TEST_PORTABLE_H

void portable_switch(arch_stack *save, arch_stack resume);
void portable_start(arch_stack *save, void *top, arch_entry *entry, void *arg,
		    uint64_t control);

void portable_switch_shared(arch_stack *save, arch_stack resume);
void portable_start_shared(arch_stack *save, void *top, arch_entry *entry,
			   void *arg, uint64_t control);

#define arch_switch        portable_switch
#define arch_start         portable_start
#define arch_switch_shared portable_switch_shared
#define arch_start_shared  portable_start_shared
#include "arch/portable/switch.c"
#undef arch_switch
#undef arch_start
#undef arch_switch_shared
#undef arch_start_shared

static inline bool is_portable(const struct machine *m)
{
	return m->go == portable_switch;
}

static struct machine portable = { portable_switch, portable_start };
#define ON_PORTABLE(f, setup, teardown) ON(f, portable, setup, teardown),

#endif

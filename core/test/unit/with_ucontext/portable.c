/* SPDX-License-Identifier: Apache-2.0 */
/* portable.c - the portable switch, compiled again under other names. */
#include "arch/cpu.h"

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

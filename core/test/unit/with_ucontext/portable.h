/* SPDX-License-Identifier: Apache-2.0 */
/* portable.h - the portable switch, under other names: see portable.c. */
#ifndef SN_TEST_PORTABLE_H
#define SN_TEST_PORTABLE_H

void portable_switch(arch_stack *save, arch_stack resume);
void portable_start(arch_stack *save, void *top, arch_entry *entry, void *arg,
		    uint64_t control);

static inline bool is_portable(const struct machine *m)
{
	return m->go == portable_switch;
}

static struct machine portable = { portable_switch, portable_start };
#define ON_PORTABLE(f, setup, teardown) ON(f, portable, setup, teardown),

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* linux_sp.h - the stack pointer that a signal has interrupted is not
 * known. */
#ifndef SN_LINUX_SP_H
#define SN_LINUX_SP_H

#include <stdint.h>
#include <ucontext.h>

static inline uintptr_t linux_sp(const ucontext_t *context)
{
	(void)context;
	return 0;
}

#endif

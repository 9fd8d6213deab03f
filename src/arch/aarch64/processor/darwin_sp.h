/* SPDX-License-Identifier: Apache-2.0 */
/* darwin_sp.h - the stack pointer that a signal of macOS has interrupted. */
#ifndef SN_DARWIN_SP_H
#define SN_DARWIN_SP_H

#include <mach/thread_status.h>
#include <stdint.h>
#include <sys/ucontext.h>

static inline uintptr_t darwin_sp(const ucontext_t *context)
{
	return arm_thread_state64_get_sp(context->uc_mcontext->__ss);
}

#endif

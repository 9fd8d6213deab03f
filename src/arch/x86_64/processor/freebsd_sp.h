/* SPDX-License-Identifier: Apache-2.0 */
/* freebsd_sp.h - the stack pointer that a signal of FreeBSD has interrupted. */
#ifndef SN_FREEBSD_SP_H
#define SN_FREEBSD_SP_H

#include <stdint.h>
#include <sys/ucontext.h>

static inline uintptr_t freebsd_sp(const ucontext_t *context)
{
	return (uintptr_t)context->uc_mcontext.mc_rsp;
}

#endif

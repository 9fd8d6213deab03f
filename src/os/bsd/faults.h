/* SPDX-License-Identifier: Apache-2.0 */
/* faults.h - what the fault handler of macOS and FreeBSD asks of the
 * system's own file. */
#ifndef SN_FAULTS_H
#define SN_FAULTS_H

#include <stdint.h>

/* The stack pointer in the context that a signal handler gets. */
uintptr_t os_context_sp(const void *context);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* fp.h - WebAssembly has no floating-point control: it rounds to nearest, and
 * nothing traps. */
#ifndef SN_FP_H
#define SN_FP_H

#include <stdint.h>

static inline uint64_t arch_fp_control(void)
{
	return 0;
}

static inline void arch_fp_set_control(uint64_t control)
{
	(void)control;
}

#endif

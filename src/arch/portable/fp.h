/* SPDX-License-Identifier: Apache-2.0 */
/* fp.h - floating-point control where we know no registers: the rounding
 * direction, which is all that C has a name for. */
#ifndef SN_FP_H
#define SN_FP_H

#include "base/compiler.h"

#include <fenv.h>

static inline uint64_t arch_fp_control(void)
{
	return (uint64_t)fegetround();
}

static inline void arch_fp_set_control(uint64_t control)
{
	if (unlikely(arch_fp_control() != control))
		fesetround((int)control);
}

#endif

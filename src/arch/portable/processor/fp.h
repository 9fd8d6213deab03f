/* SPDX-License-Identifier: Apache-2.0 */
/* fp.h - floating-point control on processors without code of their own: the
 * rounding direction, the only part that standard C can set. */
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

/* SPDX-License-Identifier: Apache-2.0 */
/* fp.h - floating-point control of x86-64. */
#ifndef SN_FP_H
#define SN_FP_H

#include "arch/x86_64/frame.h"
#include "arch/mxcsr.h"

_Static_assert(FP_FLAGS == MXCSR_FLAGS, "the same in C and in assembler");

#endif

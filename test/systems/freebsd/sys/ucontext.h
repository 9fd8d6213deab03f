/* SPDX-License-Identifier: Apache-2.0 */
/* ucontext.h - see tools/check-systems. */
#ifndef SN_TEST_UCONTEXT_H
#define SN_TEST_UCONTEXT_H

#include <stdint.h>

struct test_gpregs {
	uint64_t gp_sp;
};

typedef struct {
	struct {
		uint64_t           mc_rsp;
		struct test_gpregs mc_gpregs;
	} uc_mcontext;
} ucontext_t;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* ucontext.h - see tools/check-systems. */
#ifndef SN_TEST_UCONTEXT_H
#define SN_TEST_UCONTEXT_H

#include <stdint.h>

struct test_state {
	uint64_t __rsp, __sp;
};

struct test_mcontext {
	struct test_state __ss;
};

typedef struct {
	struct test_mcontext *uc_mcontext;
} ucontext_t;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* umtx.h - see tools/check-systems. */
#ifndef SN_TEST_UMTX_H
#define SN_TEST_UMTX_H

#include <stdint.h>
#include <time.h>

enum {
	UMTX_ABSTIME = 1,
	UMTX_OP_WAIT_UINT_PRIVATE = 15,
	UMTX_OP_WAKE_PRIVATE = 16,
};

struct _umtx_time {
	struct timespec _timeout;
	uint32_t        _flags;
	uint32_t        _clockid;
};

int _umtx_op(void *object, int operation, unsigned long value, void *size,
	     void *timeout);

#endif

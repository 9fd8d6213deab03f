/* SPDX-License-Identifier: Apache-2.0 */
/* wait_group.h - a wait group: a counter that tasks and threads wait on until
 * it is zero.
 *
 * A wait group with all bytes zero has a count of zero. A wait group needs no
 * destruction. shared.h has a reference-counted form.
 */
#ifndef SENNIT_WAIT_GROUP_H
#define SENNIT_WAIT_GROUP_H

#include "sennit/base.h"

#include <stdbool.h>

SENNIT_BEGIN

/* The largest count. */
#define SENNIT_WAIT_GROUP_MAX UINT32_C(0x1fffffff)

typedef struct sennit_wait_group {
	sennit_word state_;
	uint32_t    zero_;
	void       *waiters_;
} sennit_wait_group;

/* clang-format off */
#define SENNIT_WAIT_GROUP_INIT { { 0 }, 0, NULL }
/* clang-format on */

/* Initialise *g as a wait group with the given count. It is misuse to pass more
 * than SENNIT_WAIT_GROUP_MAX.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_wait_group_init(sennit_wait_group *g, uint32_t count);

/* Declare that *g is no longer used. This call is optional. It is misuse while
 * anyone waits for *g.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_wait_group_destroy(sennit_wait_group *g);

/* Add n to the count. It is misuse to exceed SENNIT_WAIT_GROUP_MAX.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_wait_group_add(sennit_wait_group *g, uint32_t n);

/* Subtract one from the count. If the count becomes zero, the call releases all
 * waiters, and any of them may free *g at once. It is misuse if the count is
 * zero already.
 * Returns whether this call made the count zero.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API bool sennit_wait_group_done(sennit_wait_group *g);

/* Wait until the count is zero or the deadline passes.
 * Returns 0, -ETIMEDOUT at the deadline, or -ECANCELED if the caller's group is
 * cancelled.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_wait_group_wait_until(
	sennit_wait_group *g, sennit_time deadline);

/* Wait until the count is zero.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API void sennit_wait_group_wait(sennit_wait_group *g);

SENNIT_END

#endif

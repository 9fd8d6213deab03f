/* SPDX-License-Identifier: Apache-2.0 */
/* wait_group.h - waits until a number of things are done.
 *
 * All zero is a wait group with nothing to wait for; nothing needs destroying.
 * shared.h has a reference-counted form.
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

/* Make *g a wait group of the given count. Misuse beyond SENNIT_WAIT_GROUP_MAX.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_wait_group_init(sennit_wait_group *g, uint32_t count);

/* Declare that *g is no longer used; optional. Misuse while it is waited for.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_wait_group_destroy(sennit_wait_group *g);

/* Add n to the count. Misuse beyond SENNIT_WAIT_GROUP_MAX.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_wait_group_add(sennit_wait_group *g, uint32_t n);

/* Take one from the count; reaching zero releases all who wait, and any of
 * them may free *g at once. Misuse below zero.
 * Returns whether this call reached zero.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API bool sennit_wait_group_done(sennit_wait_group *g);

/* Wait until the count is zero, or the deadline passes.
 * Returns 0, -ETIMEDOUT, or -ECANCELED.
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

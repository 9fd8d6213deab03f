/* SPDX-License-Identifier: Apache-2.0 */
/* semaphore.h - a number of permits to take and give.
 *
 * All zero is a semaphore without permits; nothing needs destroying. shared.h
 * has a reference-counted form. Permits
 * belong to nobody: who gives them need not have taken any.
 *
 * First come, first served: whoever waits is served before all who come later,
 * however few these want. So one that wants many is not starved by those that
 * want one; meanwhile permits may lie idle until there are enough for it.
 *
 * The bound: a waiter is passed by nobody who comes later. It has its permits
 * from the moment that they are given to it, also while its worker is busy with
 * a task; those behind it are served meanwhile as far as there are others.
 */
#ifndef SENNIT_SEMAPHORE_H
#define SENNIT_SEMAPHORE_H

#include "sennit/base.h"

SENNIT_BEGIN

/* The most permits. */
#define SENNIT_SEMAPHORE_MAX UINT32_C(0x1fffffff)

typedef struct sennit_semaphore {
	sennit_word state_;
	uint32_t    zero_;
	void       *waiters_;
} sennit_semaphore;

/* clang-format off */
#define SENNIT_SEMAPHORE_INIT { { 0 }, 0, NULL }
/* clang-format on */

/* Make *s a semaphore with `count` permits. Misuse beyond
 * SENNIT_SEMAPHORE_MAX.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_semaphore_init(sennit_semaphore *s, uint32_t count);

/* Declare that *s is no longer used; optional. Misuse while it is waited for.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_semaphore_destroy(sennit_semaphore *s);

/* Take n permits at once, waiting until the deadline for their being there and
 * for those who came before. Takes all or none; 0 permits are there at once.
 * Who gives up makes way for those behind. Misuse beyond SENNIT_SEMAPHORE_MAX.
 * Returns 0, -ETIMEDOUT or -ECANCELED.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_semaphore_take_until(
	sennit_semaphore *s, uint32_t n, sennit_time deadline);

/* Take n permits at once, waiting as long as it takes.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API void sennit_semaphore_take(sennit_semaphore *s, uint32_t n);

/* Give n permits, to those who have waited longest as far as they go. Who gets
 * the last that will ever be given may free *s at once. Misuse when there would
 * be more than SENNIT_SEMAPHORE_MAX.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_semaphore_give(sennit_semaphore *s, uint32_t n);

/* How many permits there are now; some may be waited for as part of more.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API uint32_t sennit_semaphore_count(const sennit_semaphore *s);

SENNIT_END

#endif

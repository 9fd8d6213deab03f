/* SPDX-License-Identifier: Apache-2.0 */
/* task.h - a task as the queues carry it: three words, by value.
 *
 *	meta	0                      a task; the caller owns the argument
 *		TASK_BLOCK, TASK_COPY  a task; its argument is a copy
 *		scope | TASK_INSIDE    a task inside the cancel scope; the
 *		                       caller owns the argument
 *		domain [| TASK_BLOCK,  a task in the domain, whose address is a
 *		TASK_COPY]             multiple of 64; tagged if the argument
 *		                       is a copy
 *		group | TASK_MEMBER    a member of the group, whose address is a
 *		                       multiple of 8; tagged likewise
 *		wait group | TASK_TIED a task tied to the wait group, whose
 *		                       address is a multiple of 8; the caller
 *		                       owns the argument
 */
#ifndef SN_TASK_H
#define SN_TASK_H

#include "sennit/group.h"
#include "sennit/task.h"
#include "sennit/wait_group.h"

#include <stdbool.h>

struct sennit_domain;

struct task {
	sennit_task_fn *run;
	void           *argument;
	uintptr_t       meta; /* how the argument is freed, and what the task
			       * belongs to */
};

#define TASK_BORROWED ((uintptr_t)0)
#define TASK_BLOCK    ((uintptr_t)1) /* copied into a block of the pool */
#define TASK_INSIDE   ((uintptr_t)2) /* in the scope, argument not copied */
#define TASK_COPY \
	((uintptr_t)3) /* copied into memory of the allocator,
				      * behind a struct task_copy */
#define TASK_MEMBER ((uintptr_t)4)
#define TASK_TIED   (TASK_MEMBER | TASK_INSIDE)
#define TASK_OWNED  ((uintptr_t)3) /* mask: how the argument is owned */
#define TASK_TAG    ((uintptr_t)7) /* mask: all tags */

/* The header in front of a copy from the allocator. */
struct task_copy {
	size_t size;                            /* bytes, of header and copy */
	size_t unused[16 / sizeof(size_t) - 1]; /* keeps the copy aligned to
						 * 16 bytes */
};

static inline sennit_group *sn_task_group(uintptr_t meta)
{
	return (sennit_group *)(meta & ~TASK_TAG);
}

static inline uintptr_t sn_task_member(const sennit_group *g)
{
	return (uintptr_t)g | TASK_MEMBER;
}

static inline bool sn_task_is_tied(uintptr_t meta)
{
	return (meta & TASK_TAG) == TASK_TIED;
}

static inline sennit_wait_group *sn_task_wait_group(uintptr_t meta)
{
	return (sennit_wait_group *)(meta & ~TASK_TAG);
}

static inline uintptr_t sn_task_tied(const sennit_wait_group *g)
{
	return (uintptr_t)g | TASK_TIED;
}

static inline struct sennit_cancel_scope *sn_task_scope(uintptr_t meta)
{
	return (struct sennit_cancel_scope *)(meta & ~TASK_TAG);
}

static inline uintptr_t sn_task_inside(const struct sennit_cancel_scope *scope)
{
	return (uintptr_t)scope | TASK_INSIDE;
}

/* For a meta with an address and no other tag: a task in a domain. */
static inline struct sennit_domain *sn_task_domain(uintptr_t meta)
{
	return (struct sennit_domain *)(meta & ~TASK_TAG);
}

/* A member function in the type of a task function, and back. */
static inline sennit_task_fn *sn_task_fn(sennit_member_fn *run)
{
	return (sennit_task_fn *)(void (*)(void))run;
}

static inline sennit_member_fn *sn_task_member_fn(sennit_task_fn *run)
{
	return (sennit_member_fn *)(void (*)(void))run;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* task.h - a task as the queues carry it: three words, by value, and a fourth
 * if tasks show where they were spawned, or if ThreadSanitizer is told what
 * each comes after (base/race.h).
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

#include "base/atomic.h"
#include "base/compiler.h"
#include "base/list.h"
#include "base/race.h"
#include "base/torture.h"
#include "sennit/base.h"
#include "sennit/group.h"
#include "sennit/task.h"
#include "sennit/wait_group.h"

#include <pthread.h>
#include <stdbool.h>

struct sennit_domain;

struct task {
	sennit_task_fn *run;
	void           *argument;
	uintptr_t       meta; /* how the argument is freed, and what the task
			       * belongs to */
#ifdef SENNIT_SPAWN_SITES
	const void *site; /* behind the call that spawned it; NULL: not known */
#endif
#ifdef SENNIT_RACE
	void *sent; /* of sn_race_sent(); NULL: not yet */
#endif
};

/* The task enters a queue, or moves to another one. */
static inline void sn_task_send(struct task *t)
{
#ifdef SENNIT_RACE
	if (!t->sent)
		t->sent = sn_race_sent();
#else
	(void)t;
#endif
}

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

/* --- spawn sites ---------------------------------------------------------- */

/* In a build with SENNIT_SPAWN_SITES a task says where the program has spawned
 * it, in a fourth word. In others these macros say nothing.
 *
 * SPAWN_CALL begins a public call that spawns. Until it returns, the tasks that
 * the thread makes with TASK have the address to which it returns as their
 * site. A call inside of another keeps the outer one's: that is the program's.
 * Between the two nothing of the program may run that waits, because the site
 * is the thread's, not the fiber's.
 *
 * SENNIT_FORK_SPAWN is compiled into the program, and writes three words. So
 * the tasks inside a scope, which are its own (sn_task_count_joined), have no
 * site, whatever stands in the slot. */
#ifdef SENNIT_SPAWN_SITES

extern _Thread_local const void *sn_spawn_site;

static inline const void *sn_spawn_begin(const void *site)
{
	const void *outer = sn_spawn_site;

	if (!outer)
		sn_spawn_site = site;
	return outer;
}

static inline void sn_spawn_end(const void *const *outer)
{
	sn_spawn_site = *outer;
}

#define SPAWN_CALL()                                   \
	__attribute__((cleanup(sn_spawn_end), unused)) \
	const void *outer_site = sn_spawn_begin(__builtin_return_address(0))
#define SITE_OF(TASK)  , (TASK).site
#define SITE_PARAMETER , const void *site
#define SITE_ARGUMENT  , site
#define SITE_SPAWNED   , sn_spawn_site

#else

#define SPAWN_CALL() ((void)0)
#define SITE_OF(TASK)
#define SITE_PARAMETER
#define SITE_ARGUMENT
#define SITE_SPAWNED

#endif

/* A new task. */
#define TASK(RUN, ARGUMENT, META) \
	((struct task){ (RUN), (ARGUMENT), (META)SITE_SPAWNED })

#ifdef SENNIT_RACE
#define SENT_OF(TASK) , (TASK).sent
#else
#define SENT_OF(TASK)
#endif

/* The same task as *t, word by word. */
#define TASK_AGAIN(T)                            \
	((struct task){ (T)->run, (T)->argument, \
			(T)->meta SITE_OF(*(T)) SENT_OF(*(T)) })

#endif

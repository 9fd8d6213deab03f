/* SPDX-License-Identifier: Apache-2.0 */
/* fiber.h - a stack that can be left and resumed.
 *
 *	low                                            top of the stack
 *	| guard |  ...  frames grow down  ...  | struct sennit_fiber |
 *
 * The record lies at the top of the stack that it describes, on the page that
 * is touched anyway; a bound thread's own stack has its record in the worker.
 * Records of stacks that lie far apart would meet in the same cache sets, so
 * each is shifted by its colour.
 *
 * A fiber belongs to one worker and is touched by its thread alone, but for
 * `link`, which a waker that has claimed the fiber's wait uses to hand it home,
 * and `wait.claim`.
 *
 * Idle stacks hold no context: sn_fiber_start calls the worker's loop on one,
 * and when the loop returns the stack is idle again (arch/arch.h).
 *
 * ASan, LSan, TSan and Valgrind are told of every stack and every switch here
 * and nowhere else.
 */
#ifndef SN_FIBER_H
#define SN_FIBER_H

#include "arch/arch.h"
#include "base/list.h"
#include "sched/waiter.h"
#include "sennit/fiber.h"

struct worker;

/* What fibers know of the worker they belong to: its first field. */
struct home {
	struct sennit_fiber *current; /* owner: the one that runs */
	struct sennit_fiber *left;    /* owner: the one that ran before */
	/* fixed: what an idle stack runs; returns the fiber to resume */
	struct sennit_fiber *(*loop)(struct worker *w);
	uint64_t fp_control; /* fixed: what tasks start with */
};

struct sennit_fiber {
	arch_stack    suspended; /* owner: where to resume */
	struct node   link;      /* handed: ready list, inbox, idle list */
	struct home  *home;      /* fixed: its worker's */
	char         *low;       /* fixed; NULL: a thread's own, bounds unknown */
	size_t        size;      /* fixed: bytes from low to the record */
	uint32_t      id;        /* fixed: unique among its worker's */
	struct waiter wait;      /* for sennit_fiber_wait */
	/* What tools know this stack as; unused words in plain builds. */
	void    *asan_fake;   /* owner */
	void    *tsan_fiber;  /* owner */
	unsigned valgrind_id; /* owner */
};

/* Make a fiber of the stack low[0..size-1]. */
struct sennit_fiber *sn_fiber_make(char *low, size_t size, struct home *home,
				   uint32_t id);
/* Forget an idle fiber, whose stack low[0..size-1] may then be reused. */
void sn_fiber_forget(struct sennit_fiber *f, size_t size);

/* Make *f stand for the calling thread's own stack. */
void sn_fiber_adopt_thread(struct sennit_fiber *f, struct home *home);

/* Leave `from`, which runs, for `to`, which is suspended. */
void sn_fiber_switch(struct sennit_fiber *from, struct sennit_fiber *to);

/* Leave `from`, which runs, and call the home's loop on the idle stack of `to`.
 * The fiber that the loop returns runs next. The loop begins with the home's
 * floating-point control and must return with it. */
void sn_fiber_start(struct sennit_fiber *from, struct sennit_fiber *to);

#endif

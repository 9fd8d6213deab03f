/* SPDX-License-Identifier: Apache-2.0 */
/* stack.h - a scheduler's supply of guarded stacks.
 *
 * Stacks come from slabs (slab.c) and stay mapped while the scheduler lives.
 * Stacks that were given back rest in a depot, last in first out, with their
 * contents. Trimmed stacks are clean again: they use no memory, but are still
 * guarded.
 *
 *	clean --take--> taken --give--> resting --take--> taken
 *	  ^               |                |
 *	  +--- return ----+----- trim -----+
 *
 * If the system has cheap guards, which need no mapping of their own, every
 * stack has one. Otherwise a guard splits the mapping, and the number of
 * mappings of a process is limited. The library uses at most a quarter of that
 * limit, except for a few stacks of each scheduler. Further stacks are refused,
 * unless canaries are allowed. They have one instead of a guard then; a changed
 * canary is found when the stack is next checked.
 *
 * The first slab may be that of a scheduler that has ended (slab.c). Its
 * clean stacks contain what was left there.
 *
 * Invariants
 *   - `low` of a stack never changes, and the stack's link says whether
 *     it is guarded. So the holder of a stack knows both without a lock.
 *   - made = taken + resting + stacks that are being wiped.
 *   - The link belongs to this module. A resting stack keeps the contents
 *     of [low, low + usable). A clean stack reads as zeros and uses no
 *     memory, unless it is unguarded or of an earlier scheduler.
 */
#ifndef SN_STACK_H
#define SN_STACK_H

#include "base/atomic.h"
#include "base/compiler.h"
#include "base/list.h"
#include "sennit/base.h"

#include <pthread.h>
#include <stdbool.h>

/* --- slabs ---------------------------------------------------------------- */

/* Mappings that hold many stacks each, the guards of the stacks, and the set of
 * clean stacks.
 *
 *	slab        [ stack | stack | stack | ... ]
 *	guarded     [ guard            | usable ...       | link ]
 *	unguarded   [ a gap   | canary | usable ...       | link ]
 *	                               ^ low              ^ low + usable
 *
 *	uncarved --guarded, by the batch--> clean --> taken --cleaned--> clean
 *	    ^                                                              |
 *	    +----------- all carved stacks of the slab are clean ----------+
 *
 * A clean stack uses no memory and reads as zeros, except for its guard or
 * canary; in a slab of an earlier scheduler it may be as that one left it. A
 * slab whose carved stacks are all clean and cheaply guarded is mapped anew at
 * the same address, which frees its page tables. The addresses stay mapped, so
 * late readers find zeros there. A stack that is taken again has the same
 * address and size, with a guard or without.
 *
 * The owner of a struct slabs holds its lock for every call except
 * sn_slabs_touch and sn_slabs_wipe.
 *
 * Invariants
 *   - `low` depends only on the slab and the stack's index in it.
 *   - Only if canaries are allowed is there a stack without a guard. It
 *     never gets one. A stack with a costly guard keeps it.
 *   - The link of a taken stack names its slab, and says whether the
 *     stack has a guard.
 *   - The system may list what it does for several stacks in the top page of
 *     the first of them, which is taken at once (os_guard, os_populate): below
 *     the record of a fiber, where late readers look.
 */

/* --- guards --------------------------------------------------------------- */

/* The guards below stacks.
 *
 * A cheap guard needs no mapping of its own. A costly one splits the mapping;
 * the process counts those, because the number of its mappings is limited. Some
 * of them are a holder's share, which it gives up with sn_guards_free.
 */

struct guards {
	uint32_t kind;    /* fixed: enum os_guard: what the system has */
	uint32_t limit;   /* maximum number of costly guards in the process;
			   * UINT32_MAX: not queried yet */
	uint32_t costly;  /* this holder's share of them */
	uint32_t assured; /* this share may be as large in any case */
};

void sn_guards_init(struct guards *g);
void sn_guards_free(struct guards *g);

/* Make cheap guards of `size` bytes at bottom + i * pitch for each i < count.
 * Returns false if the system refuses; some of them may then be there. */
bool sn_guards_make_cheap(const struct guards *g, void *bottom, size_t pitch,
			  size_t count, size_t size);

/* Make a costly guard, unless the process already has too many of them and the
 * share is as large as assured. With `must` only the system can refuse it. */
bool sn_guards_make_costly(struct guards *g, void *bottom, size_t size,
			   bool must);

/* Write once in the process to standard error that a stack got no guard. */
void sn_guards_tell_refused(struct guards *g);

/* sn_guards_leave takes costly guards out of the share; they stay counted.
 * sn_guards_adopt adds such guards to another share. sn_guards_drop ends their
 * count. */
void sn_guards_leave(struct guards *g, uint32_t costly);
void sn_guards_adopt(struct guards *g, uint32_t costly);
void sn_guards_drop(uint32_t costly);

/* --- slab ----------------------------------------------------------------- */

/* Stacks that are guarded at a time. */
#define STACK_BATCH 32

/* Bytes; keeps low + usable a multiple of 64. */
#define SLAB_LINK_ROOM 64

struct slab;

struct slabs {
	const sennit_allocator *memory; /* fixed */
	size_t                  page;   /* fixed */
	size_t                  gap;    /* fixed: bytes below a stack, its
					 * guard */
	size_t                  pitch;  /* fixed: bytes of one stack with its
					 * gap */
	bool canaries;                  /* fixed: a stack that can get no guard
					 * gets a canary; else it is refused */

	struct guards guards;
	struct slab  *newest;
	struct slab  *looked;    /* where the last search ended */
	uint64_t      bytes;     /* mapped bytes */
	uint32_t      clean;     /* clean stacks */
	uint32_t      carved;    /* carved stacks */
	uint32_t      uncarved;  /* uncarved stacks */
	uint32_t      unguarded; /* carved stacks without a guard */
	bool          refused;   /* the last stack that was to be carved got no
				  * guard */
};

/* Lies at the top of a stack, in a page that is in use anyway. At the bottom it
 * would cost one more page. */
struct stack_link {
	struct node  node;    /* belongs to the holder of the stack */
	struct slab *slab;    /* fixed while taken */
	bool         is_bare; /* fixed while taken: it has no guard */
};

/* Prepare *s; nothing is mapped yet. Both sizes are in bytes, must not be 0,
 * and are rounded up to pages. Returns 0, or -EINVAL for a size beyond the
 * address space. */
int sn_slabs_init(struct slabs *s, const sennit_allocator *memory,
		  size_t stack_size, size_t guard_size);
/* Unmap all slabs, except for one that the process keeps: see below. */
void sn_slabs_free(struct slabs *s);

/* Stacks that were taken, next to each other, and whose memory nobody has
 * touched yet. */
struct slab_run {
	char        *low;     /* the lowest usable address of the first */
	struct slab *slab;    /* for their links */
	uint32_t     count;   /* 0: none */
	bool         is_bare; /* for their links */
};

/* Take up to `wanted` clean stacks, at least one, unless there is no memory, or
 * no guard. `most`, at least 1, is the number of stacks that may still be
 * mapped. */
struct slab_run sn_slabs_take(struct slabs *s, uint32_t wanted, uint32_t most);

/* Reserve a clean or an uncarved stack without touching it; NULL when there is
 * no memory, or the system refuses a guard. It gets one even if the process has
 * too many of them. sn_slabs_take_aside then takes that stack. */
void           *sn_slabs_set_aside(struct slabs *s, uint32_t most);
struct slab_run sn_slabs_take_aside(struct slabs *s, void *bottom);

/* Write the links of stacks that were taken, and their canaries. Returns the
 * links as a chain. For whoever took them, without the lock: the system finds
 * memory meanwhile, for several at once, which takes longer than all other
 * steps. Like sn_slabs_take it uses little stack, as it runs on that of a fiber
 * which may never need more than one page. */
struct node *sn_slabs_touch(const struct slabs *s, const struct slab_run *run);

/* Return the memory of a taken stack to the system. Any thread, without the
 * lock. The caller must call sn_slabs_give afterwards. */
void sn_slabs_wipe(const struct slabs *s, void *low);

/* Mark a taken stack as clean after sn_slabs_wipe. `slab` is the slab that the
 * stack's link named before the wipe. */
void sn_slabs_give(struct slabs *s, struct slab *slab, void *low);

/* The number of usable bytes above `low`. low + usable is a multiple of 64. */
static inline size_t sn_slabs_usable(const struct slabs *s)
{
	return s->pitch - s->gap - SLAB_LINK_ROOM;
}

static inline struct stack_link *sn_slabs_link(const struct slabs *s, void *low)
{
	return (struct stack_link *)(void *)((char *)low + sn_slabs_usable(s));
}

/* Whether the address lies in any of the stacks, taken or not. */
bool sn_slabs_contain(const struct slabs *s, uintptr_t address);

/* Whether the taken stack has a canary that was changed. */
bool sn_slabs_is_overrun(const struct slabs *s, void *low);

/* --- kept slab ------------------------------------------------------------ */

/* The slab that the process keeps after the end of a scheduler, for the next
 * one, as libc keeps the stacks of threads.
 *
 *	empty --put--> full --take, drop--> empty
 *	   \--- busy, for some instructions ---/
 *
 * It is one mapping of at most KEPT_SLAB_MOST bytes, with its guards and with
 * what its stacks contain. It goes back to the system when a scheduler is
 * trimmed, and when another slab takes its place. A thread that finds it busy
 * does without. No lock is held, so a fork at any time leaves a child that
 * works: sn_kept_slab_fork.
 */

#define KEPT_SLAB_MOST ((size_t)2 << 20)

struct kept_slab {
	char    *base;
	size_t   pitch;  /* bytes of a stack with its gap */
	size_t   gap;    /* bytes of a guard */
	uint32_t count;  /* stacks */
	uint32_t carved; /* the first stacks, which have guards */
	uint32_t guards; /* those of them whose guards split the mapping; they
			  * stay counted */
};

/* Keep *k in place of the slab that is there, which goes back to the system.
 * Returns false if it cannot be kept now. Any thread. */
bool sn_kept_slab_put(const struct kept_slab *k);

/* Take the slab, if it has these sizes. Returns false if there is none. Any
 * thread. */
bool sn_kept_slab_take(struct kept_slab *k, size_t pitch, size_t gap);

/* Give the slab back to the system, if there is one. Any thread. */
void sn_kept_slab_drop(void);

/* In the child of a fork: a thread that was about to take or put it is gone. */
void sn_kept_slab_fork(void);

/* --- stacks --------------------------------------------------------------- */

struct stacks {
	uint32_t limit;   /* fixed */
	a_u32    scarce;  /* any: 1: the last request got fewer stacks than it
			  * asked for */
	a_u32    limited; /* any: 1: there is a limit, or a stack was refused:
			   * who has idle ones shares them. Never 0 again */

	_Alignas(CACHE_LINE) pthread_mutex_t lock;
	struct slabs slabs;   /* under lock, except for its fixed fields */
	struct node *depot;   /* under lock: the resting stacks */
	uint32_t     made;    /* under lock */
	uint32_t     resting; /* under lock: number of stacks in the depot */
	uint32_t     unused;  /* under lock: the minimum of `resting` since
			       * sn_stacks_unused */
	uint64_t     trimmed; /* under lock: number of stacks trimmed so far */
};

/* A consistent snapshot of the counts. */
struct stacks_count {
	uint32_t made;
	uint32_t resting;
	uint64_t trimmed;
	uint32_t unguarded; /* carved stacks without a guard */
	bool     refused;   /* the last new stack got no guard */
	uint64_t bytes;     /* all mapped bytes */
};

/* Prepare *s; nothing is mapped before the first stack is taken. Sizes are in
 * bytes and rounded up to pages: stack_size of a stack, guard_size of the guard
 * below it, which uses address space only. limit is the maximum number of
 * stacks at once, 0 for no limit. *memory must outlive *s. Returns 0, -EINVAL
 * for a size beyond the address space, or -ENOMEM. */
int sn_stacks_init(struct stacks *s, const sennit_allocator *memory,
		   size_t stack_size, size_t guard_size, uint32_t limit);

/* Unmap everything. All stacks must have been given back. */
void sn_stacks_free(struct stacks *s);

/* Take up to `max` stacks. Returns the links at their tops as a chain; NULL if
 * the limit is reached, or there is no memory or no guard. Any thread. */
struct node *sn_stacks_take(struct stacks *s, uint32_t max);

/* The lowest usable address of the stack that has this link. */
static inline void *sn_stack_of(const struct stacks *s, struct node *link)
{
	return (char *)container_of(link, struct stack_link, node) -
	       sn_slabs_usable(&s->slabs);
}

/* Whether the last request got no stack; a hint. Any thread. */
static inline bool sn_stacks_are_scarce(const struct stacks *s)
{
	return a_load_rlx(&s->scarce);
}

/* Whether idle stacks must be shared, because others may get none. Once true it
 * stays so. Any thread. */
static inline bool sn_stacks_are_limited(const struct stacks *s)
{
	return a_load_rlx(&s->limited); /* relaxed: a late answer is looked at
					 * again before a sleep */
}

/* Whether that may become true for lack of guards, or is true. Fixed. */
bool sn_stacks_may_be_limited(const struct stacks *s);

/* The same in two steps. sn_stacks_set_aside reserves one stack, untouched and
 * without a guard; NULL when there is none. sn_stacks_take_aside takes it and
 * never fails. sn_stacks_drop_aside drops it instead; no one gets that stack
 * then. Any thread. */
void *sn_stacks_set_aside(struct stacks *s);
void *sn_stacks_take_aside(struct stacks *s, void *bottom);
void  sn_stacks_drop_aside(struct stacks *s);

/* Give stacks back for others to take. Their contents are kept. Any thread. */
void sn_stacks_give(struct stacks *s, void *const low[], uint32_t count);

/* Give stacks back, and return their memory to the system. Any thread. */
void sn_stacks_return(struct stacks *s, void *const low[], uint32_t count);

/* Return the memory of up to `most` resting stacks, at most STACK_BATCH, to the
 * system. Returns their number. Any thread. */
uint32_t sn_stacks_trim(struct stacks *s, uint32_t most);

/* The number of resting stacks that were not needed since the last call. Any
 * thread. */
uint32_t sn_stacks_unused(struct stacks *s);

/* The number of usable bytes above `low`. low + usable is a multiple of 64. */
static inline size_t sn_stacks_usable(const struct stacks *s)
{
	return sn_slabs_usable(&s->slabs);
}

/* Any thread. */
struct stacks_count sn_stacks_count(struct stacks *s);

/* Whether the address lies in any of the stacks. Any thread. */
bool sn_stacks_contain(struct stacks *s, uintptr_t address);

/* Whether every stack has a guard page. Any thread. */
bool sn_stacks_guarded(struct stacks *s);

/* Whether the stack has a canary instead of a guard page. */
static inline bool sn_stack_has_canary(const struct stacks *s, void *low)
{
	return sn_slabs_link(&s->slabs, low)->is_bare;
}

/* Abort if the stack has a canary that was changed: the code that ran there
 * used more than the stack. For stacks that are reused without being given
 * back. */
void sn_stack_check(const struct stacks *s, void *low);

/* --- canary --------------------------------------------------------------- */

/* Words below a stack that has no guard page. A changed word shows that the
 * stack overflowed.
 *
 *	... | CANARY_WORDS words | low ...
 */

/* Write the canary below `low`, which is aligned to a word. */
void sn_canary_write(void *low);

/* Whether the canary is unchanged. */
bool sn_canary_is_whole(const void *low);

/* --- depth ---------------------------------------------------------------- */

/* How much of its stack each task used, by task function (stack high-water
 * marks).
 *
 *	low                                        high
 *	| paint paint paint paint | used ...        |
 *	                          ^ bottom
 *
 * A stack is painted before use: each word gets a value that depends on its
 * address, so that a copied word does not match. The lowest word that changed
 * shows how deep the frames reached. Then the used part is painted again for
 * the next task.
 *
 * The table has one entry per function and lives as long as the scheduler. It
 * is lock-free and probed linearly. Functions that find no free entry share the
 * last one.
 */

/* The number of functions with an entry of their own. */
#define STACK_DEPTH_FUNCTIONS 1024u

struct stack_depth {
	a_word function; /* any: 0 until taken, then fixed */
	a_u64  tasks;    /* any */
	a_u64  deepest;  /* any: bytes */
};

struct stack_depths {
	struct stack_depth
		of[STACK_DEPTH_FUNCTIONS + 1]; /* all zeros at first */
};

/* Record that a task of `function` used `bytes` bytes of stack. */
void sn_stack_depth_note(struct stack_depths *d, uintptr_t function,
			 size_t bytes);

/* Paint [low, high). Both are multiples of the word size; nothing there may be
 * in use. */
void sn_stack_depth_paint(char *low, char *high);

/* Paint from `low` up to a little below the caller's frame. */
void sn_stack_depth_paint_below(char *low);

/* The lowest word of [low, high) that has changed, or `high`. */
char *sn_stack_depth_bottom(char *low, char *high);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "stack/stack.h"
#include "stack/slab.h"

#include "base/compiler.h"
#include "base/torture.h"
#include "os/os.h"

#include <errno.h>
#include <stdint.h>

#ifdef SN_ASAN
#include <sanitizer/asan_interface.h>
#endif

void sn_stack_check(const struct stacks *s, void *low)
{
	CHECK(!sn_slabs_is_overrun(&s->slabs, low),
	      "stack overflow: a fiber used more than its stack");
}

int sn_stacks_init(struct stacks *s, const sennit_allocator *memory,
		   size_t stack_size, size_t guard_size, uint32_t limit)
{
	int err;

	*s = (struct stacks){ .limit = limit ? limit : UINT32_MAX };
	a_init(&s->limited, limit != 0);
	err = sn_slabs_init(&s->slabs, memory, stack_size, guard_size);
	return err ? err : -pthread_mutex_init(&s->lock, NULL);
}

bool sn_stacks_may_be_limited(const struct stacks *s)
{
	return s->limit != UINT32_MAX ||
	       (!s->slabs.canaries && s->slabs.guards.kind == OS_GUARD_MAPPING);
}

void sn_stacks_free(struct stacks *s)
{
	CHECK(s->resting == s->made,
	      "a stack is still in use after the end of its scheduler");
	sn_slabs_free(&s->slabs);
	pthread_mutex_destroy(&s->lock);
}

/* --- taking ------------------------------------------------------------- */

static void *take_resting(struct stacks *s)
{
	struct node *n = s->depot;
	void        *low = sn_stack_of(s, n);

	s->depot = n->next;
	if (--s->resting < s->unused)
		s->unused = s->resting;
#ifdef SN_ASAN
	__asan_unpoison_memory_region(low, sn_stacks_usable(s));
#endif
	return low;
}

/* A chain of up to `max` stacks that rest. NULL: there are none. */
static struct node *take_chain(struct stacks *s, uint32_t max)
{
	struct node  *chain = s->depot;
	struct node **end = &chain;

	for (; max && s->depot; max--) {
		end = &s->depot->next;
		(void)take_resting(s);
	}
	*end = NULL;
	return chain;
}

struct node *sn_stacks_take(struct stacks *s, uint32_t max)
{
	struct slab_run clean = { .count = 0 };
	struct node    *chain;
	bool            scarce, no_guard;

	os_lock(&s->lock);
	chain = take_chain(s, max);
	if (!chain && s->made < s->limit) {
		uint32_t most = s->limit - s->made;

		clean = sn_slabs_take(&s->slabs, max < most ? max : most, most);
	}
	s->made += clean.count;
	scarce = !chain && !clean.count;
	if (scarce != a_load_rlx(&s->scarce)) /* relaxed: it changes under
					       * lock */
		a_store_rlx(&s->scarce, scarce);
	if (scarce)
		a_store_rlx(&s->limited, 1);
	no_guard = scarce && s->slabs.no_guard;
	pthread_mutex_unlock(&s->lock);
	if (no_guard)
		sn_guards_tell_refused(&s->slabs.guards);
	return chain ? chain : sn_slabs_touch(&s->slabs, &clean);
}

void *sn_stacks_set_aside(struct stacks *s)
{
	void *bottom = NULL;

	os_lock(&s->lock);
	if (s->made < s->limit)
		bottom = sn_slabs_set_aside(&s->slabs, s->limit - s->made);
	s->made += bottom != NULL;
	pthread_mutex_unlock(&s->lock);
	return bottom;
}

void *sn_stacks_take_aside(struct stacks *s, void *bottom)
{
	struct slab_run taken;

	os_lock(&s->lock);
	taken = sn_slabs_take_aside(&s->slabs, bottom);
	pthread_mutex_unlock(&s->lock);
	return sn_stack_of(s, sn_slabs_touch(&s->slabs, &taken));
}

void sn_stacks_drop_aside(struct stacks *s)
{
	os_lock(&s->lock);
	s->made--;
	pthread_mutex_unlock(&s->lock);
}

/* --- giving back -------------------------------------------------------- */

static void rest_locked(struct stacks *s, void *low)
{
	struct node *n = &sn_slabs_link(&s->slabs, low)->node;

	n->next = s->depot;
	s->depot = n;
	s->resting++;
}

void sn_stacks_give(struct stacks *s, void *const low[], uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		sn_stack_check(s, low[i]);
	os_lock(&s->lock);
	for (uint32_t i = 0; i < count; i++)
		rest_locked(s, low[i]);
	pthread_mutex_unlock(&s->lock);
}

/* Wipes without the lock, because each wipe is a system call and other threads
 * need the lock. Stacks that the system does not take back, as they are locked
 * in memory, rest. Returns the number of the others. */
static uint32_t return_some(struct stacks *s, void *const low[], uint32_t count)
{
	struct slab *slab[STACK_BATCH];
	uint32_t     returned = 0;

	for (uint32_t i = 0; i < count; i++) {
		slab[i] = sn_slabs_link(&s->slabs, low[i])->slab;
		if (!sn_slabs_wipe(&s->slabs, low[i]))
			slab[i] = NULL;
	}
	TORTURE_POINT(); /* wiped, but not in the slab's set yet */
	os_lock(&s->lock);
	for (uint32_t i = 0; i < count; i++) {
		if (slab[i])
			sn_slabs_give(&s->slabs, slab[i], low[i]);
		else
			rest_locked(s, low[i]);
		returned += slab[i] != NULL;
	}
	s->made -= returned;
	s->trimmed += returned;
	pthread_mutex_unlock(&s->lock);
	return returned;
}

void sn_stacks_return(struct stacks *s, void *const low[], uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		sn_stack_check(s, low[i]);
	for (; count > STACK_BATCH; count -= STACK_BATCH, low += STACK_BATCH)
		return_some(s, low, STACK_BATCH);
	return_some(s, low, count);
}

uint32_t sn_stacks_trim(struct stacks *s, uint32_t most)
{
	void    *low[STACK_BATCH];
	uint32_t n = 0;

	os_lock(&s->lock);
	while (n < STACK_BATCH && n < most && s->depot)
		low[n++] = take_resting(s);
	pthread_mutex_unlock(&s->lock);
	return n ? return_some(s, low, n) : 0;
}

/* --- statistics --------------------------------------------------------- */

uint32_t sn_stacks_unused(struct stacks *s)
{
	uint32_t unused;

	os_lock(&s->lock);
	unused = s->unused;
	s->unused = s->resting;
	pthread_mutex_unlock(&s->lock);
	return unused;
}

struct stacks_count sn_stacks_count(struct stacks *s)
{
	struct stacks_count c;

	os_lock(&s->lock);
	c = (struct stacks_count){
		.made = s->made,
		.resting = s->resting,
		.trimmed = s->trimmed,
		.unguarded = s->slabs.unguarded,
		.no_guard = s->slabs.no_guard,
		.bytes = s->slabs.bytes,
	};
	pthread_mutex_unlock(&s->lock);
	return c;
}

bool sn_stacks_contain(struct stacks *s, uintptr_t address)
{
	bool contained;

	os_lock(&s->lock);
	contained = sn_slabs_contain(&s->slabs, address);
	pthread_mutex_unlock(&s->lock);
	return contained;
}

bool sn_stacks_guarded(struct stacks *s)
{
	bool guarded;

	os_lock(&s->lock);
	guarded = !s->slabs.unguarded;
	pthread_mutex_unlock(&s->lock);
	return guarded;
}

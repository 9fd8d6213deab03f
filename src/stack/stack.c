/* SPDX-License-Identifier: Apache-2.0 */
#include "stack/stack.h"

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
	struct stack_link *link = container_of(s->depot, struct stack_link,
					       node);
	void              *low = (char *)link - sn_stacks_usable(s);

	s->depot = link->node.next;
	if (--s->resting < s->unused)
		s->unused = s->resting;
#ifdef SN_ASAN
	__asan_unpoison_memory_region(low, sn_stacks_usable(s));
#endif
	return low;
}

static uint32_t take_clean(struct stacks *s, struct slab_stack taken[],
			   uint32_t max)
{
	uint32_t n;

	for (n = 0; n < max && s->made < s->limit; n++, s->made++) {
		if (!sn_slabs_take(&s->slabs, max - n, s->limit - s->made,
				   &taken[n]))
			break;
	}
	return n;
}

/* Touch stacks that were taken. For several the system finds memory at once:
 * the highest pages, which their holder uses first. */
static void touch(const struct stacks *s, const struct slab_stack taken[],
		  void *low[], uint32_t count)
{
	const size_t top = s->slabs.pitch - s->slabs.gap - s->slabs.page;
	void        *pages[STACK_BATCH];

	for (uint32_t i = 0; i < count; i++)
		pages[i] = taken[i].low + top;
	if (count > 1)
		os_populate(pages, count);
	for (uint32_t i = 0; i < count; i++)
		low[i] = sn_slabs_touch(&s->slabs, &taken[i]);
}

/* The same as sn_stacks_take, for at most STACK_BATCH stacks. */
static uint32_t take_some(struct stacks *s, void *low[], uint32_t max)
{
	struct slab_stack clean[STACK_BATCH];
	uint32_t          resting = 0;
	uint32_t          n;
	bool              refused;

	os_lock(&s->lock);
	while (resting < max && s->depot)
		low[resting++] = take_resting(s);
	n = resting + take_clean(s, clean, max - resting);
	if ((n < max) != a_load_rlx(&s->scarce)) /* relaxed: it changes under
						  * lock */
		a_store_rlx(&s->scarce, n < max);
	if (n < max)
		a_store_rlx(&s->limited, 1);
	refused = n < max && s->slabs.refused;
	pthread_mutex_unlock(&s->lock);
	touch(s, clean, low + resting, n - resting);
	if (refused)
		sn_guards_tell_refused(&s->slabs.guards);
	return n;
}

uint32_t sn_stacks_take(struct stacks *s, void *low[], uint32_t max)
{
	uint32_t n = 0, some, taken;

	do {
		some = max - n < STACK_BATCH ? max - n : STACK_BATCH;
		taken = take_some(s, low + n, some);
		n += taken;
	} while (taken == some && n < max);
	return n;
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
	struct slab_stack taken;

	os_lock(&s->lock);
	taken = sn_slabs_take_aside(&s->slabs, bottom);
	pthread_mutex_unlock(&s->lock);
	return sn_slabs_touch(&s->slabs, &taken);
}

void sn_stacks_drop_aside(struct stacks *s)
{
	os_lock(&s->lock);
	s->made--;
	pthread_mutex_unlock(&s->lock);
}

/* --- giving back -------------------------------------------------------- */

void sn_stacks_give(struct stacks *s, void *const low[], uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		sn_stack_check(s, low[i]);
	os_lock(&s->lock);
	for (uint32_t i = 0; i < count; i++) {
		struct node *n = &sn_slabs_link(&s->slabs, low[i])->node;

		n->next = s->depot;
		s->depot = n;
	}
	s->resting += count;
	pthread_mutex_unlock(&s->lock);
}

/* Wipes without the lock, because each wipe is a system call and other threads
 * need the lock. */
static void return_some(struct stacks *s, void *const low[], uint32_t count)
{
	struct slab *slab[STACK_BATCH];

	for (uint32_t i = 0; i < count; i++) {
		slab[i] = sn_slabs_link(&s->slabs, low[i])->slab;
		sn_slabs_wipe(&s->slabs, low[i]);
	}
	TORTURE_POINT(); /* wiped, but not in the slab's set yet */
	os_lock(&s->lock);
	for (uint32_t i = 0; i < count; i++)
		sn_slabs_give(&s->slabs, slab[i], low[i]);
	s->made -= count;
	s->trimmed += count;
	pthread_mutex_unlock(&s->lock);
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
	if (n)
		return_some(s, low, n);
	return n;
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
		.refused = s->slabs.refused,
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

/* --- canary --------------------------------------------------------------- */

/* 256 bytes: many, because frames leave gaps unwritten. */
enum { CANARY_WORDS = 256 / sizeof(uintptr_t) };

/* The value depends on the address, so that a copied piece of stack does not
 * match. */
static uintptr_t value_of(const uintptr_t *word)
{
	return (uintptr_t)UINT64_C(0x9e3779b97f4a7c15) ^ (uintptr_t)word;
}

void sn_canary_write(void *low)
{
	uintptr_t *word = (uintptr_t *)low - CANARY_WORDS;

	for (int i = 0; i < CANARY_WORDS; i++, word++)
		*word = value_of(word);
}

bool sn_canary_is_whole(const void *low)
{
	const uintptr_t *word = (const uintptr_t *)low - CANARY_WORDS;

	for (int i = 0; i < CANARY_WORDS; i++, word++) {
		if (*word != value_of(word))
			return false;
	}
	return true;
}

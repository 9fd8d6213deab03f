/* SPDX-License-Identifier: Apache-2.0 */
#include "core/stack.h"

#include "base/check.h"
#include "base/memory.h"

#include <errno.h>

#ifdef SN_ASAN
#include <sanitizer/asan_interface.h>
#endif

enum {
	LINK_ROOM = 64,      /* at the top, so that low + usable stays round */
	CANARY_WORDS = 32,   /* wide: frames leave holes */
	FIRST_SLAB = 8,      /* stacks; small programs stay small: what lies
			      * next to other mappings shares page tables */
	LARGEST_SLAB = 1024, /* stacks */
};

#define SLAB_BYTES ((size_t)64 << 20)

/* A mapping of `count` stacks; the first `carved` are or were fresh. */
struct slab {
	struct slab *next;
	char        *base;
	uint32_t     count;
	uint32_t     carved;
};

/* Guards of the whole process that split mappings. */
static a_u32 mapping_guards; /* any; only ever compared to a limit that leaves
			      * room, so relaxed is enough */

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* --- canaries ----------------------------------------------------------- */

static uintptr_t *canary_of(void *low)
{
	return (uintptr_t *)low - CANARY_WORDS;
}

/* Depends on the address, so that a copied stretch of stack does not pass. */
static uintptr_t canary_value(const uintptr_t *word)
{
	return (uintptr_t)UINT64_C(0x9e3779b97f4a7c15) ^ (uintptr_t)word;
}

static void write_canary(void *low)
{
	uintptr_t *word = canary_of(low);

	for (int i = 0; i < CANARY_WORDS; i++, word++)
		*word = canary_value(word);
}

static bool is_canary_whole(void *low)
{
	const uintptr_t *word = canary_of(low);

	for (int i = 0; i < CANARY_WORDS; i++, word++) {
		if (*word != canary_value(word))
			return false;
	}
	return true;
}

void sn_stack_check(const struct stacks *s, void *low)
{
	CHECK(!sn_stack_has_canary(s, low) || is_canary_whole(low),
	      "a fiber used more stack than it has");
}

/* --- guards ------------------------------------------------------------- */

/* How many guards of the process may split mappings. Asked for at the first
 * one, as most systems need none. */
static uint32_t mapping_limit(struct stacks *s)
{
	size_t guards;

	if (s->mapping_limit == UINT32_MAX) {
		guards = os_mapping_limit() / 4 / 2; /* each adds two */
		s->mapping_limit = guards < INT32_MAX ? (uint32_t)guards
						      : INT32_MAX;
	}
	return s->mapping_limit;
}

/* Guard by splitting the mapping, while the process may have more of those. */
static bool guard_by_mapping(struct stacks *s, void *bottom)
{
	if (a_add_rlx(&mapping_guards, 1) < mapping_limit(s) &&
	    !os_guard_pages(OS_GUARD_MAPPING, &bottom, 1)) {
		s->mapping_guards++;
		return true;
	}
	a_add_rlx(&mapping_guards, UINT32_MAX);
	return false;
}

/* Guard one page as well as possible. The cheap way is tried again for each:
 * after a failed batch some pages have their guard and would not bear a
 * canary. */
static bool guard_alone(struct stacks *s, void *bottom)
{
	return (s->kind == OS_GUARD_CHEAP &&
		!os_guard_pages(OS_GUARD_CHEAP, &bottom, 1)) ||
	       guard_by_mapping(s, bottom);
}

/* Without a guard the lowest usable address is moved off the page's start. */
static void *make_unguarded(struct stacks *s, void *bottom)
{
	void *low = (char *)bottom + s->page - LINK_ROOM;

	write_canary(low);
	s->unguarded++;
	return low;
}

static void guard(struct stacks *s, void *const bottom[], uint32_t count)
{
	bool all = s->kind == OS_GUARD_CHEAP &&
		   !os_guard_pages(OS_GUARD_CHEAP, bottom, count);

	for (uint32_t i = 0; i < count; i++) {
		if (all || guard_alone(s, bottom[i]))
			s->fresh[i] = (char *)bottom[i] + s->page;
		else
			s->fresh[i] = make_unguarded(s, bottom[i]);
	}
	s->fresh_count = count;
}

/* --- slabs -------------------------------------------------------------- */

/* How many stacks the next slab has: twice as many as the last, within the
 * largest slab, its bytes, and what the limit leaves. */
static uint32_t next_slab_count(const struct stacks *s)
{
	uint32_t count = s->slabs ? s->slabs->count * 2 : FIRST_SLAB;
	size_t   fit = SLAB_BYTES / s->pitch;

	count = least(count, LARGEST_SLAB);
	if (fit < count)
		count = fit ? (uint32_t)fit : 1;
	return least(count, s->limit - s->made);
}

/* Map as many stacks as the system gives of those wanted. */
static bool map_slab(struct slab *b, size_t pitch, uint32_t wanted)
{
	for (b->count = wanted; b->count; b->count /= 2) {
		b->base = os_map(pitch * b->count);
		if (b->base)
			return true;
	}
	return false;
}

static bool add_slab(struct stacks *s)
{
	struct slab *b = sn_memory_take(s->memory, sizeof(*b), sizeof(void *));

	if (!b)
		return false;
	if (!map_slab(b, s->pitch, next_slab_count(s))) {
		sn_memory_give(s->memory, b, sizeof(*b));
		return false;
	}
	b->next = s->slabs;
	s->slabs = b;
	return true;
}

/* Frames that never returned left their marks; a later mapping at this address
 * must not inherit them. */
static void remove_slab(struct stacks *s, struct slab *b)
{
#ifdef SN_ASAN
	__asan_unpoison_memory_region(b->base, s->pitch * b->carved);
#endif
	os_unmap(b->base, s->pitch * b->count);
	sn_memory_give(s->memory, b, sizeof(*b));
}

/* The slab to cut from; NULL: the limit is reached, or there is no memory. */
static struct slab *slab_with_room(struct stacks *s)
{
	if (s->made == s->limit)
		return NULL;
	if (s->slabs && s->slabs->carved < s->slabs->count)
		return s->slabs;
	return add_slab(s) ? s->slabs : NULL;
}

static void *cut(struct stacks *s, struct slab *b)
{
	return b->base + s->pitch * b->carved++;
}

/* Make some stacks fresh, at least one; false when the limit is reached or
 * there is no memory. Cheap guards cost less by the batch, so as many are made
 * as there have been, a batch at most; the others as they are wanted. */
static bool carve(struct stacks *s, uint32_t wanted)
{
	uint32_t     count = least(wanted, STACK_BATCH);
	void        *bottom[STACK_BATCH];
	struct slab *b = slab_with_room(s);

	if (!b)
		return false;
	if (s->kind == OS_GUARD_CHEAP && count < s->made)
		count = least(s->made, STACK_BATCH);
	count = least(count, b->count - b->carved);
	for (uint32_t i = 0; i < count; i++)
		bottom[i] = cut(s, b);
	guard(s, bottom, count);
	return true;
}

/* --- the depot ---------------------------------------------------------- */

/* At the top, where the page has been touched: the bottom would cost one. */
static struct node *link_of(const struct stacks *s, void *low)
{
	return (struct node *)(void *)((char *)low + sn_stacks_usable(s));
}

static void *low_of(const struct stacks *s, struct node *link)
{
	return (char *)link - sn_stacks_usable(s);
}

static uint32_t take_rested(struct stacks *s, void *low[], uint32_t max)
{
	uint32_t n = 0;

	for (; n < max && s->depot; n++) {
		low[n] = low_of(s, s->depot);
		s->depot = s->depot->next;
		s->resting--;
#ifdef SN_ASAN
		__asan_unpoison_memory_region(low[n], sn_stacks_usable(s));
#endif
	}
	return n;
}

static uint32_t take_fresh(struct stacks *s, void *low[], uint32_t max)
{
	uint32_t n = 0;

	while (n < max && (s->fresh_count || carve(s, max - n))) {
		low[n++] = s->fresh[--s->fresh_count];
		s->made++;
	}
	return n;
}

/* --- what others call --------------------------------------------------- */

/* Bytes from one stack to the next; 0 for a size that cannot be. */
static size_t pitch_of(size_t size, size_t page)
{
	size_t pitch;

	if (size > SIZE_MAX / 2)
		return 0;
	pitch = (size + page - 1) / page * page;
	if (page > pitch / 4)
		pitch += page;
	return pitch;
}

int sn_stacks_init(struct stacks *s, const sennit_allocator *memory,
		   size_t stack_size, uint32_t limit)
{
	size_t page = os_page_size();

	*s = (struct stacks){
		.memory = memory,
		.page = page,
		.pitch = pitch_of(stack_size, page),
		.limit = limit ? limit : UINT32_MAX,
		.mapping_limit = UINT32_MAX,
		.kind = os_guard_kind(),
	};
	if (!s->pitch)
		return -EINVAL;
	return -pthread_mutex_init(&s->lock, NULL);
}

void sn_stacks_free(struct stacks *s)
{
	CHECK(s->resting == s->made, "a stack outlives its scheduler");
	while (s->slabs) {
		struct slab *b = s->slabs;

		s->slabs = b->next;
		remove_slab(s, b);
	}
	a_add_rlx(&mapping_guards, 0 - s->mapping_guards);
	pthread_mutex_destroy(&s->lock);
}

uint32_t sn_stacks_take(struct stacks *s, void *low[], uint32_t max)
{
	uint32_t n;

	os_lock(&s->lock);
	n = take_rested(s, low, max);
	n += take_fresh(s, low + n, max - n);
	pthread_mutex_unlock(&s->lock);
	return n;
}

void *sn_stacks_set_aside(struct stacks *s)
{
	void        *bottom = NULL;
	struct slab *b;

	os_lock(&s->lock);
	b = slab_with_room(s);
	if (b) {
		bottom = cut(s, b);
		s->made++;
	}
	pthread_mutex_unlock(&s->lock);
	return bottom;
}

void *sn_stacks_take_aside(struct stacks *s, void *bottom)
{
	void *low;

	if (s->kind == OS_GUARD_CHEAP &&
	    !os_guard_pages(OS_GUARD_CHEAP, &bottom, 1))
		return (char *)bottom + s->page;
	os_lock(&s->lock);
	low = guard_by_mapping(s, bottom) ? (char *)bottom + s->page
					  : make_unguarded(s, bottom);
	pthread_mutex_unlock(&s->lock);
	return low;
}

void sn_stacks_drop_aside(struct stacks *s)
{
	os_lock(&s->lock);
	s->made--;
	pthread_mutex_unlock(&s->lock);
}

void sn_stacks_give(struct stacks *s, void *const low[], uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		sn_stack_check(s, low[i]);
	os_lock(&s->lock);
	for (uint32_t i = 0; i < count; i++) {
		struct node *link = link_of(s, low[i]);

		link->next = s->depot;
		s->depot = link;
	}
	s->resting += count;
	pthread_mutex_unlock(&s->lock);
}

size_t sn_stacks_usable(const struct stacks *s)
{
	return s->pitch - s->page - LINK_ROOM;
}

bool sn_stacks_contain(struct stacks *s, uintptr_t address)
{
	const struct slab *b;

	os_lock(&s->lock);
	for (b = s->slabs; b; b = b->next)
		if (address - (uintptr_t)b->base < s->pitch * b->count)
			break;
	pthread_mutex_unlock(&s->lock);
	return b;
}

uint32_t sn_stacks_made(struct stacks *s)
{
	uint32_t made;

	os_lock(&s->lock);
	made = s->made;
	pthread_mutex_unlock(&s->lock);
	return made;
}

bool sn_stacks_guarded(struct stacks *s)
{
	bool guarded;

	os_lock(&s->lock);
	guarded = !s->unguarded;
	pthread_mutex_unlock(&s->lock);
	return guarded;
}

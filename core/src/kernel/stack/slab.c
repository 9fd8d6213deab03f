/* SPDX-License-Identifier: Apache-2.0 */
#include "stack/slab.h"

#include "base/atomic.h"
#include "base/compiler.h"
#include "base/list.h"
#include "base/memory.h"
#include "base/torture.h"
#include "os/os.h"

#include <errno.h>
#include <unistd.h>

#ifdef SN_ASAN
#include <sanitizer/asan_interface.h>
#endif

/* Stacks. Few at first, so that small programs stay small: a small slab next to
 * other mappings shares their page tables. */
#define FIRST_SLAB   TORTURED(2u, 8u)
#define SLAB_MOST    1024u
#define LARGEST_SLAB TORTURED(8u, SLAB_MOST)
#define MAP_WORDS    (SLAB_MOST / 64)

#define SLAB_BYTES ((size_t)128 << 20)

struct slab {
	struct slab *next;
	char        *base;
	uint32_t     count;  /* stacks */
	uint32_t     carved; /* stacks that have been guarded */
	uint32_t     clean;  /* carved stacks that are clean */
	uint32_t     costly; /* carved stacks without a cheap guard */

	uint64_t is_clean[MAP_WORDS]; /* a bit per stack */
	uint64_t is_bare[MAP_WORDS];  /* a bit per stack: it has no guard, and
				       * never will */
};

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static char *bottom_of_stack(const struct slabs *s, const struct slab *b,
			     uint32_t i)
{
	return b->base + s->pitch * i;
}

/* The slab that contains the address, or NULL. */
static struct slab *slab_of(const struct slabs *s, uintptr_t address)
{
	struct slab *b = s->newest;

	while (b && address - (uintptr_t)b->base >= s->pitch * b->count)
		b = b->next;
	return b;
}

/* --- canaries ----------------------------------------------------------- */

/* Words below a stack that has no guard page. A changed word shows that the
 * stack overflowed.
 *
 *	... | CANARY_WORDS words | low ...
 */

/* 256 bytes: many, because frames leave gaps unwritten. */
enum { CANARY_WORDS = 256 / sizeof(uintptr_t) };

/* The value depends on the address, so that a copied piece of stack does not
 * match. */
static uintptr_t canary_of(const uintptr_t *word)
{
	return (uintptr_t)UINT64_C(0x9e3779b97f4a7c15) ^ (uintptr_t)word;
}

/* Write the canary below `low`, which is aligned to a word. */
static void write_canary(void *low)
{
	uintptr_t *word = (uintptr_t *)low - CANARY_WORDS;

	for (int i = 0; i < CANARY_WORDS; i++, word++)
		*word = canary_of(word);
}

static bool is_canary_whole(const void *low)
{
	const uintptr_t *word = (const uintptr_t *)low - CANARY_WORDS;

	for (int i = 0; i < CANARY_WORDS; i++, word++) {
		if (*word != canary_of(word))
			return false;
	}
	return true;
}

bool sn_slabs_is_overrun(const struct slabs *s, void *low)
{
	return sn_slabs_link(s, low)->is_bare && !is_canary_whole(low);
}

/* --- guards --------------------------------------------------------------- */

/* The number of costly guards in the process. It is only compared with a limit
 * that leaves a reserve, so relaxed is enough. */
static a_u32 costly_guards; /* any */

/* Costly guards that a holder gets even if others have used up the limit: a
 * scheduler must not stand still because another one has many idle stacks. */
#define ASSURED 64

/* Make cheap guards of `size` bytes at bottom + i * pitch for each i < count.
 * Returns false if the system refuses; some of them may then be there. */
static bool make_cheap_guards(const struct guards *g, void *bottom,
			      size_t pitch, size_t count, size_t size)
{
	return g->kind == OS_GUARD_CHEAP &&
	       !os_guard(OS_GUARD_CHEAP, bottom, pitch, count, size);
}

/* Queried at the first such guard, because most systems need none. */
static uint32_t guard_limit_of(struct guards *g)
{
	size_t guards;

	if (g->limit == UINT32_MAX) {
		guards = os_mapping_limit() / 4 / 2; /* each guard adds two
						      * mappings */
		g->limit = guards < INT32_MAX ? (uint32_t)guards : INT32_MAX;
	}
	return g->limit;
}

/* Make a costly guard, unless the process already has too many of them and the
 * share is as large as assured. With `must` only the system can refuse it. */
static bool make_costly_guard(struct guards *g, void *bottom, size_t size,
			      bool must)
{
	const bool room = a_add_rlx(&costly_guards, 1) < guard_limit_of(g);

	if (must)
		g->assured++; /* the others are as many as before */
	if ((room || must || g->costly < g->assured) &&
	    !os_guard(OS_GUARD_MAPPING, bottom, 0, 1, size)) {
		g->costly++;
		return true;
	}
	a_add_rlx(&costly_guards, UINT32_MAX);
	return false;
}

void sn_guards_tell_refused(struct guards *g)
{
	static a_u32 told; /* any; only one thread gets the 0 */

	if (!a_load_rlx(&told) && !a_add_rlx(&told, 1))
		os_print(STDERR_FILENO,
			 "sennit: no guard page for another stack: the process "
			 "has %u of at most %u guards, two mappings each; "
			 "tasks start when a stack is free. On Linux raise the "
			 "sysctl vm.max_map_count to 8 for each stack; see "
			 "sennit_config.guards\n",
			 a_load_rlx(&costly_guards), guard_limit_of(g));
}

/* Costly guards are gone. */
static void drop_guards(uint32_t costly)
{
	a_add_rlx(&costly_guards, 0 - costly);
}

/* --- kept slab ------------------------------------------------------------ */

/* A run that a seed repeats must not depend on the runs before it. */
#ifdef SENNIT_DETERMINISTIC
enum { KEEPS = 0 };
#else
enum { KEEPS = 1 };
#endif

struct kept_slab {
	char    *base;
	size_t   pitch;  /* bytes of a stack with its gap */
	size_t   gap;    /* bytes of a guard */
	uint32_t count;  /* stacks */
	uint32_t carved; /* the first stacks, which have guards */
	uint32_t guards; /* those of them whose guards split the mapping; they
			  * stay counted */
};

enum { EMPTY, BUSY, FULL };

static a_u32            kept_slab_state; /* any */
static struct kept_slab kept; /* of whoever has made kept_slab_state BUSY */

/* Change from one state to BUSY. Returns whether it was that state. */
static bool claim_kept_slab(uint32_t from)
{
	/* A stale value only means to do without the slab. */
	if (a_load_rlx(&kept_slab_state) != from)
		return false;
	return a_cas_acq(&kept_slab_state, &from,
			 BUSY); /* <- kept_slab.state */
}

static void release_kept_slab(uint32_t to)
{
	TORTURE_POINT(); /* busy */
	a_store_rel(&kept_slab_state,
		    to); /* -> kept_slab.state: the slab, its memory */
}

static void unmap(const struct kept_slab *k)
{
	const size_t size = k->pitch * k->count;

	sn_memory_show(k->base, size);
	os_unmap(k->base, size);
	drop_guards(k->guards);
}

/* Keep *k in place of the slab that is there, which goes back to the system.
 * Returns false if it cannot be kept now. Any thread. */
static bool put_kept_slab(const struct kept_slab *k)
{
	struct kept_slab old = { .base = NULL };

	if (!KEEPS)
		return false;
	if (!claim_kept_slab(EMPTY)) {
		if (!claim_kept_slab(FULL))
			return false;
		old = kept;
	}
	kept = *k;
	sn_memory_hide(k->base, k->pitch * k->count);
	release_kept_slab(FULL);
	if (old.base)
		unmap(&old);
	return true;
}

/* Take the slab, if it has these sizes. Returns false if there is none. Any
 * thread. */
static bool take_kept_slab(struct kept_slab *k, size_t pitch, size_t gap)
{
	bool fits;

	if (!claim_kept_slab(FULL))
		return false;
	fits = kept.pitch == pitch && kept.gap == gap;
	if (fits)
		*k = kept;
	release_kept_slab(fits ? EMPTY : FULL);
	if (fits)
		sn_memory_show(k->base, pitch * k->count);
	return fits;
}

void sn_kept_slab_drop(void)
{
	struct kept_slab k;

	if (!claim_kept_slab(FULL))
		return;
	k = kept;
	release_kept_slab(EMPTY);
	unmap(&k);
}

void sn_kept_slab_fork(void)
{
	if (a_load_rlx(&kept_slab_state) ==
	    BUSY) /* not raced: this thread is the only
					 * one */
		a_store_rlx(&kept_slab_state, EMPTY);
}

/* --- carving ------------------------------------------------------------ */

/* Guard stack i of b as well as possible. The cheap guard is retried for each
 * stack: after a failed batch some stacks have their guard, and a guarded page
 * cannot hold a canary. A stack that is guarded in part can hold one, because
 * guards are made from the lowest page up and the canary lies in the highest
 * page. Returns false if no canary is allowed either. `must`: see
 * make_costly_guard. */
static bool guard_alone(struct slabs *s, struct slab *b, uint32_t i, bool must)
{
	void *bottom = bottom_of_stack(s, b, i);
	bool  guarded;

	if (make_cheap_guards(&s->guards, bottom, 0, 1, s->gap))
		return true;
	guarded = make_costly_guard(&s->guards, bottom, s->gap, must);
	if (!guarded && !s->canaries)
		return false;
	b->costly++;
	if (!guarded) {
		sn_bit_set(b->is_bare, i);
		s->unguarded++;
	}
	return true;
}

/* Guard the next `count` stacks of b, or those before the first that gets no
 * guard. They are clean afterwards. */
static void carve(struct slabs *s, struct slab *b, uint32_t count)
{
	const bool all = make_cheap_guards(&s->guards,
					   bottom_of_stack(s, b, b->carved),
					   s->pitch, count, s->gap);
	uint32_t   n = 0;

	for (; n < count && (all || guard_alone(s, b, b->carved, false)); n++)
		sn_bit_set(b->is_clean, b->carved++);
	b->clean += n;
	s->clean += n;
	s->carved += n;
	s->uncarved -= n;
	s->no_guard = !n;
}

/* --- slabs -------------------------------------------------------------- */

/* The number of stacks in the next slab: twice as many as in the last one, but
 * at most LARGEST_SLAB, SLAB_BYTES, and `most`. */
static uint32_t next_slab_count(const struct slabs *s, uint32_t most)
{
	uint32_t count = s->newest ? s->newest->count * 2 : FIRST_SLAB;
	size_t   fit = SLAB_BYTES / s->pitch;

	count = least(count, LARGEST_SLAB);
	if (fit < count)
		count = fit ? (uint32_t)fit : 1;
	return least(count, most);
}

/* Map as many of the wanted stacks as the system allows. */
static bool map_slab(struct slab *b, size_t pitch, uint32_t wanted)
{
	for (b->count = wanted; b->count; b->count /= 2) {
		b->base = os_map(pitch * b->count);
		if (b->base)
			return true;
	}
	return false;
}

/* Let the first slab be the one that the process has kept, if it has one of
 * this size. */
static bool adopt_slab(struct slabs *s, struct slab *b, uint32_t count)
{
	struct kept_slab k;

	if (s->newest || count != FIRST_SLAB ||
	    !take_kept_slab(&k, s->pitch, s->gap))
		return false;
	b->base = k.base;
	b->count = k.count;
	b->costly = k.guards;
	s->guards.costly += k.guards;
	b->carved = k.carved;
	for (uint32_t i = 0; i < k.carved; i++)
		sn_bit_set(b->is_clean, i);
	b->clean = k.carved;
	s->clean += k.carved;
	s->carved += k.carved;
	return true;
}

static bool add_slab(struct slabs *s, uint32_t most)
{
	struct slab *b = sn_memory_take(s->memory, sizeof(*b), sizeof(void *));
	uint32_t     count = next_slab_count(s, most);

	if (!b)
		return false;
	if (!adopt_slab(s, b, count) && !map_slab(b, s->pitch, count)) {
		sn_memory_give(s->memory, b, sizeof(*b));
		return false;
	}
	b->next = s->newest;
	s->newest = b;
	s->looked = b;
	s->uncarved += b->count - b->carved;
	s->bytes += s->pitch * b->count;
	return true;
}

/* Whether all carved stacks of b have guards. */
static bool is_slab_guarded(const struct slab *b)
{
	for (uint32_t i = 0; i < b->carved; i++)
		if (sn_bit_is_set(b->is_bare, i))
			return false;
	return true;
}

/* Keep b, whose stacks nobody uses, for the next scheduler of the process. */
static bool keep_slab(struct slabs *s, struct slab *b)
{
	const struct kept_slab k = { b->base,  s->pitch,  s->gap,
				     b->count, b->carved, b->costly };

	if (b->count != FIRST_SLAB || s->pitch * b->count > KEPT_SLAB_MOST ||
	    !is_slab_guarded(b) || !put_kept_slab(&k))
		return false;
	s->guards.costly -= b->costly;
	sn_memory_give(s->memory, b, sizeof(*b));
	return true;
}

/* Frames that never returned left poisoned shadow memory. A later mapping at
 * this address must not inherit it. */
static void remove_slab(struct slabs *s, struct slab *b)
{
#ifdef SN_ASAN
	for (uint32_t i = 0; i < b->carved; i++)
		__asan_unpoison_memory_region(bottom_of_stack(s, b, i) + s->gap,
					      s->pitch - s->gap);
#endif
	os_unmap(b->base, s->pitch * b->count);
	sn_memory_give(s->memory, b, sizeof(*b));
}

/* All carved stacks of b are clean: map the slab again, so that none is carved.
 * If the system refuses, nothing changes. A slab with costly guards also stays,
 * because others could take its share of the mappings before these stacks are
 * needed again. */
static void renew(struct slabs *s, struct slab *b)
{
	if (b->costly || !os_map_anew(b->base, s->pitch * b->count))
		return;
	for (uint32_t i = 0; i < MAP_WORDS; i++)
		b->is_clean[i] = 0;
	s->clean -= b->clean;
	s->carved -= b->carved;
	s->uncarved += b->carved;
	b->clean = 0;
	b->carved = 0;
}

/* Find a slab with clean stacks, or one with uncarved stacks. There must be
 * one. The search continues where the last one ended, because callers take many
 * stacks in a row. */
static struct slab *find_slab(struct slabs *s, bool clean)
{
	struct slab *b = s->looked;

	while (clean ? !b->clean : b->carved == b->count)
		b = b->next ? b->next : s->newest;
	s->looked = b;
	return b;
}

/* Make at least one stack clean. Returns false when there is no memory, or no
 * guard. Cheap guards cost less in batches, so this makes as many new ones as
 * there are carved stacks, at most one batch. Other guards are made as
 * needed. */
static bool make_clean(struct slabs *s, uint32_t wanted, uint32_t most)
{
	uint32_t     count = least(wanted, STACK_BATCH);
	struct slab *b;

	if (s->guards.kind == OS_GUARD_CHEAP && count < s->carved)
		count = least(s->carved, STACK_BATCH);
	if (!s->uncarved && !add_slab(s, most))
		return false;
	if (s->clean) /* of the slab that was kept */
		return true;
	b = find_slab(s, false);
	carve(s, b, least(count, b->count - b->carved));
	return s->clean;
}

/* --- the calls of slab.h ------------------------------------------------ */

static size_t round_up_to_page(size_t bytes, size_t page)
{
	return (bytes + page - 1) / page * page;
}

int sn_slabs_init(struct slabs *s, const sennit_allocator *memory,
		  size_t stack_size, size_t guard_size)
{
	bool   none = os_guard_kind() == OS_GUARD_NONE;
	size_t page = os_page_size();
	/* A page has room for the canary. */
	size_t gap = none ? page : round_up_to_page(guard_size, page);

	if (stack_size > SIZE_MAX / 4 || guard_size > SIZE_MAX / 4)
		return -EINVAL;
	*s = (struct slabs){
		.memory = memory,
		.page = page,
		.gap = gap,
		.pitch = gap + round_up_to_page(stack_size, page),
		.canaries = none,
	};
	s->guards = (struct guards){ .kind = os_guard_kind(),
				     .limit = UINT32_MAX,
				     .assured = ASSURED };
	return 0;
}

void sn_slabs_free(struct slabs *s)
{
	while (s->newest) {
		struct slab *b = s->newest;

		s->newest = b->next;
		if (b->next || !keep_slab(s, b))
			remove_slab(s, b);
	}
	drop_guards(s->guards.costly);
}

static struct slab_run hand_out_stack(const struct slabs *s, struct slab *b,
				      uint32_t i)
{
	return (struct slab_run){
		.low = bottom_of_stack(s, b, i) + s->gap,
		.slab = b,
		.count = 1,
		.is_bare = sn_bit_is_set(b->is_bare, i),
	};
}

static struct node *touch_one(const struct slabs *s, const struct slab_run *run,
			      uint32_t i)
{
	char              *low = run->low + i * s->pitch;
	struct stack_link *link = sn_slabs_link(s, low);

	link->slab = run->slab;
	link->is_bare = run->is_bare;
	if (link->is_bare)
		write_canary(low);
	return &link->node;
}

struct node *sn_slabs_touch(const struct slabs *s, const struct slab_run *run)
{
	struct node *chain = NULL;

	if (run->count > 1)
		os_populate(run->low + s->pitch - s->gap - s->page, s->pitch,
			    run->count, s->page);
	for (uint32_t i = run->count; i; i--) {
		struct node *n = touch_one(s, run, i - 1);

		n->next = chain;
		chain = n;
	}
	return chain;
}

/* Stack i of b, which is clean, is taken. */
static void unset_clean(struct slabs *s, struct slab *b, uint32_t i)
{
	sn_bit_clear(b->is_clean, i);
	b->clean--;
	s->clean--;
}

/* Take any clean stack of b. There must be one. Returns its index. */
static uint32_t take_clean(struct slabs *s, struct slab *b)
{
	const uint32_t i = sn_bit_first(b->is_clean);

	unset_clean(s, b, i);
	return i;
}

/* Whether stack i of b is clean, and like the run. */
static bool continues(const struct slab_run *run, uint32_t i)
{
	const struct slab *b = run->slab;

	return i < b->count && sn_bit_is_set(b->is_clean, i) &&
	       sn_bit_is_set(b->is_bare, i) == run->is_bare;
}

struct slab_run sn_slabs_take(struct slabs *s, uint32_t wanted, uint32_t most)
{
	struct slab_run run = { .count = 0 };
	struct slab    *b;
	uint32_t        i;

	if (!s->clean && !make_clean(s, wanted, most))
		return run;
	b = find_slab(s, true);
	i = take_clean(s, b);
	run = hand_out_stack(s, b, i);
	for (; run.count < wanted && continues(&run, ++i); run.count++)
		unset_clean(s, b, i);
	return run;
}

/* Clean stacks, which have their guards already, come first. The guard is made
 * now, since the system may refuse a cheap one, too. Not in a batch, which
 * would touch a stack. */
void *sn_slabs_set_aside(struct slabs *s, uint32_t most)
{
	struct slab *b;

	if (!s->clean && !s->uncarved && !add_slab(s, most))
		return NULL;
	b = find_slab(s, s->clean);
	if (b->clean)
		return bottom_of_stack(s, b, take_clean(s, b));
	if (!guard_alone(s, b, b->carved, true))
		return NULL;
	s->carved++;
	s->uncarved--;
	return bottom_of_stack(s, b, b->carved++);
}

struct slab_run sn_slabs_take_aside(struct slabs *s, void *bottom)
{
	struct slab *b = slab_of(s, (uintptr_t)bottom);

	return hand_out_stack(
		s, b,
		(uint32_t)((size_t)((char *)bottom - b->base) / s->pitch));
}

bool sn_slabs_wipe(const struct slabs *s, void *low)
{
	const struct stack_link *link = sn_slabs_link(s, low);
	uintptr_t                top = (uintptr_t)link + SLAB_LINK_ROOM;
	uintptr_t first = (uintptr_t)low - (link->is_bare ? s->page : 0);

#ifdef SN_ASAN
	__asan_unpoison_memory_region((void *)first, top - first);
#endif
	if (os_discard((void *)first, top - first))
		return true;
	if (link->is_bare) /* its page may be gone; the link is in the last */
		write_canary(low);
	return false;
}

void sn_slabs_give(struct slabs *s, struct slab *slab, void *low)
{
	size_t at = (size_t)((char *)low - slab->base);

	sn_bit_set(slab->is_clean, (uint32_t)(at / s->pitch));
	s->clean++;
	if (++slab->clean == slab->carved)
		renew(s, slab);
}

bool sn_slabs_contain(const struct slabs *s, uintptr_t address)
{
	return slab_of(s, address);
}

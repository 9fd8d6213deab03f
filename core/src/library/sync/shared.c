/* SPDX-License-Identifier: Apache-2.0 */
/* shared.c - shared objects: a reference count in front of the object, in the
 * same memory block.
 *
 *	block   { allocator | size, end | references | mark } { object }
 *
 * The mark identifies a shared object. It is the word just before the object,
 * so checking an object that is not shared reads only memory close to it. The
 * mark is cleared before the block is freed.
 */
#include "base/atomic.h"
#include "base/compiler.h"
#include "base/memory.h"
#include "base/race.h"
#include "base/torture.h"
#include "sennit/shared.h"

struct head {
	_Alignas(16) sennit_allocator allocator; /* fixed */
	size_t                size;              /* fixed */
	sennit_shared_end_fn *end;               /* fixed */
	_Alignas(8) a_u32 references; /* any; aligned as what follows */
	uint32_t mark;                /* fixed until the last release */
};

#define MARK UINT32_C(0x5e221700)

_Static_assert(offsetof(struct head, mark) + sizeof(uint32_t) ==
		       sizeof(struct head),
	       "the object follows the mark");

void *sennit_shared_create(size_t size, sennit_shared_end_fn *end,
			   const sennit_allocator *allocator)
{
	const sennit_allocator *a = allocator ? allocator : &sn_memory_libc;
	struct head            *h;

	if (!size || size > SIZE_MAX - sizeof(*h) ||
	    !sn_memory_is_valid(allocator))
		return NULL;
	h = sn_memory_take(a, sizeof(*h) + size, _Alignof(struct head));
	if (!h)
		return NULL;
	h->allocator = *a;
	h->size = size;
	h->end = end;
	a_init(&h->references, 1);
	h->mark = MARK;
	return h + 1;
}

static struct head *head_of(void *object, const char *call)
{
	struct head *end = object;

	MISUSE(!end || end[-1].mark != MARK, call,
	       "not a shared object, or it has been freed");
	return end - 1;
}

void *sennit_shared_retain(void *object)
{
	struct head *h = head_of(object, "sennit_shared_retain");

	MISUSE(a_add_rlx(&h->references, 1) == UINT32_MAX,
	       "sennit_shared_retain", "there are UINT32_MAX references");
	return object;
}

/* Drop a reference. Returns whether it was the last one; then no other thread
 * uses the object. */
static bool drop_reference(struct head *h)
{
	sn_race_release(h);
	/* -> shared.release: what this user did <- shared.release: what all
	 * others did */
	if (a_sub_acqrel(&h->references, 1) != 1) {
		TORTURE_POINT(); /* the object may be gone */
		return false;
	}
	sn_race_acquire(h);
	return true;
}

void sennit_shared_release(void *object)
{
	struct head     *h = head_of(object, "sennit_shared_release");
	sennit_allocator a;

	if (!drop_reference(h))
		return;
	if (h->end)
		h->end(object);
	h->mark = 0;
	a = h->allocator;
	sn_memory_give(&a, h, sizeof(*h) + h->size);
}

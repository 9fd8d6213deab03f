/* SPDX-License-Identifier: Apache-2.0 */
/* shared.c - created objects: a reference count in front of the object, in the
 * same memory block.
 *
 *	block   { allocator | references | mark } { object }
 *
 * The mark identifies a created object and its type. It is the word just before
 * the object, so checking an object that was not created reads only memory
 * close to it. The mark is cleared before the block is freed.
 */
#include "sennit/shared.h"

#include "api/mutex_queue.h"
#include "base/atomic.h"
#include "base/check.h"
#include "base/memory.h"
#include "base/torture.h"
#include "fiber/wait_queue.h"

#include <errno.h>

struct head {
	sennit_allocator allocator;  /* fixed */
	a_u32            references; /* any */
	uint32_t         mark;       /* fixed until the last release */
};

#define MARK UINT32_C(0x5e221700)

/* What differs between the types. */
struct type {
	uint32_t    mark;
	uint32_t    size;
	size_t      state;  /* offset of its word, which has the queue bits */
	const char *retain; /* names of its public calls */
	const char *release;
};

#define TYPE(index, noun)                                              \
	{                                                              \
		.mark = MARK + (index), .size = sizeof(sennit_##noun), \
		.state = offsetof(sennit_##noun, state_),              \
		.retain = "sennit_" #noun "_retain",                   \
		.release = "sennit_" #noun "_release",                 \
	}

static const struct type event = TYPE(1, event);
static const struct type wait_group = TYPE(2, wait_group);
static const struct type semaphore = TYPE(3, semaphore);
static const struct type cond = TYPE(4, cond);
static const struct type mutex = TYPE(5, mutex);

_Static_assert(_Alignof(struct head) >= _Alignof(sennit_mutex) &&
		       offsetof(struct head, mark) + sizeof(uint32_t) ==
			       sizeof(struct head),
	       "the object is aligned, and follows the mark");

/* Create an object that is all zeros, and store its address in *object. */
static int create(void **object, const struct type *t,
		  const sennit_allocator *allocator)
{
	const sennit_allocator *a = allocator ? allocator : &sn_memory_libc;
	struct head            *h;

	if (!sn_memory_is_valid(allocator))
		return -EINVAL;
	h = sn_memory_take(a, sizeof(*h) + t->size, _Alignof(struct head));
	if (!h)
		return -ENOMEM;
	h->allocator = *a;
	a_init(&h->references, 1);
	h->mark = t->mark;
	*object = h + 1;
	return 0;
}

static struct head *head_of(void *object, const struct type *t,
			    const char *call)
{
	struct head *end = object;

	MISUSE(!end || end[-1].mark != t->mark, call,
	       "not a created object of this type, or it has been freed");
	return end - 1;
}

static void retain(void *object, const struct type *t)
{
	struct head *h = head_of(object, t, t->retain);

	MISUSE(a_add_rlx(&h->references, 1) == UINT32_MAX, t->retain,
	       "there are UINT32_MAX references");
}

/* Drop a reference. Returns whether it was the last one; then no other thread
 * uses the object. */
static bool let_go(void *object, const struct type *t)
{
	struct head *h = head_of(object, t, t->release);

	/* -> shared.release: what this user did <- shared.release: what all
	 * others did */
	if (a_sub_acqrel(&h->references, 1) != 1) {
		TORTURE_POINT(); /* the object may be gone */
		return false;
	}
	return true;
}

static void free_object(void *object, const struct type *t)
{
	struct head     *h = (struct head *)object - 1;
	sennit_allocator a = h->allocator;

	h->mark = 0;
	sn_memory_give(&a, h, sizeof(*h) + t->size);
}

static void release(void *object, const struct type *t)
{
	const sennit_word *word;

	if (!let_go(object, t))
		return;
	word = (const sennit_word *)((const char *)object + t->state);
	MISUSE(a_load_rlx(word) & WAIT_QUEUE_WAITERS, t->release,
	       "the last reference is released while a fiber or thread waits");
	free_object(object, t);
}

/* --- events ------------------------------------------------------------- */

int sennit_event_create(sennit_event **e, enum sennit_event_mode mode, bool set,
			const sennit_allocator *allocator)
{
	void *made;
	int   err = create(&made, &event, allocator);

	if (err)
		return err;
	*e = made;
	sennit_event_init(*e, mode, set);
	return 0;
}

sennit_event *sennit_event_retain(sennit_event *e)
{
	retain(e, &event);
	return e;
}

void sennit_event_release(sennit_event *e)
{
	release(e, &event);
}

/* --- wait groups -------------------------------------------------------- */

int sennit_wait_group_create(sennit_wait_group **g, uint32_t count,
			     const sennit_allocator *allocator)
{
	void *made;
	int   err;

	MISUSE(count > SENNIT_WAIT_GROUP_MAX, "sennit_wait_group_create",
	       "the count is above SENNIT_WAIT_GROUP_MAX");
	err = create(&made, &wait_group, allocator);
	if (err)
		return err;
	*g = made;
	sennit_wait_group_init(*g, count);
	return 0;
}

sennit_wait_group *sennit_wait_group_retain(sennit_wait_group *g)
{
	retain(g, &wait_group);
	return g;
}

void sennit_wait_group_release(sennit_wait_group *g)
{
	release(g, &wait_group);
}

/* --- semaphores --------------------------------------------------------- */

int sennit_semaphore_create(sennit_semaphore **s, uint32_t count,
			    const sennit_allocator *allocator)
{
	void *made;
	int   err;

	MISUSE(count > SENNIT_SEMAPHORE_MAX, "sennit_semaphore_create",
	       "the count is above SENNIT_SEMAPHORE_MAX");
	err = create(&made, &semaphore, allocator);
	if (err)
		return err;
	*s = made;
	sennit_semaphore_init(*s, count);
	return 0;
}

sennit_semaphore *sennit_semaphore_retain(sennit_semaphore *s)
{
	retain(s, &semaphore);
	return s;
}

void sennit_semaphore_release(sennit_semaphore *s)
{
	release(s, &semaphore);
}

/* --- condition variables ------------------------------------------------ */

int sennit_cond_create(sennit_cond **c, const sennit_allocator *allocator)
{
	void *made;
	int   err = create(&made, &cond, allocator);

	if (!err)
		*c = made;
	return err;
}

sennit_cond *sennit_cond_retain(sennit_cond *c)
{
	retain(c, &cond);
	return c;
}

void sennit_cond_release(sennit_cond *c)
{
	release(c, &cond);
}

/* --- mutexes ------------------------------------------------------------ */

int sennit_mutex_create(sennit_mutex **m, const sennit_allocator *allocator)
{
	void *made;
	int   err = create(&made, &mutex, allocator);

	if (!err)
		*m = made;
	return err;
}

sennit_mutex *sennit_mutex_retain(sennit_mutex *m)
{
	retain(m, &mutex);
	return m;
}

void sennit_mutex_release(sennit_mutex *m)
{
	if (!let_go(m, &mutex))
		return;
	MISUSE(!sn_mutex_is_unused(m), "sennit_mutex_release",
	       "the last reference is released while the mutex is locked or "
	       "waited for");
	free_object(m, &mutex);
}

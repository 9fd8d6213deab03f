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
#include "base/atomic.h"
#include "base/compiler.h"
#include "base/memory.h"
#include "base/torture.h"
#include "sched/state.h"
#include "sync/mutex.h"
#include "sync/pool.h"
#include "sennit/shared.h"

#include <errno.h>

struct head {
	sennit_allocator allocator;   /* fixed */
	_Alignas(8) a_u32 references; /* any; aligned as what follows */
	uint32_t mark;                /* fixed until the last release */
};

#define MARK UINT32_C(0x5e221700)

/* What differs between the types. */
struct type {
	uint32_t    mark;
	uint32_t    size;
	const char *retain; /* names of its public calls */
	const char *release;
	/* The last reference is gone: why it must not be yet, or NULL. */
	const char *(*use)(void *object);
	void (*destroy)(void *object); /* NULL: it owns nothing */
};

static const char *waited_for(const sennit_word *word)
{
	return a_load_rlx(word) & WAIT_QUEUE_WAITERS
		       ? "a fiber or thread still waits for it"
		       : NULL;
}

/* The type, its retain and its release. `why` is an expression in `x`, the
 * object: why the last release comes too early. */
#define COUNTED(index, noun, why, end)                                   \
	static const char *use_of_##noun(void *object)                   \
	{                                                                \
		sennit_##noun *x = object;                               \
                                                                         \
		return why;                                              \
	}                                                                \
                                                                         \
	static const struct type noun##_type = {                         \
		.mark = MARK + (index),                                  \
		.size = sizeof(sennit_##noun),                           \
		.retain = "sennit_" #noun "_retain",                     \
		.release = "sennit_" #noun "_release",                   \
		.use = use_of_##noun,                                    \
		.destroy = (end),                                        \
	};                                                               \
	_Static_assert(_Alignof(struct head) >= _Alignof(sennit_##noun), \
		       "it follows the head");                           \
                                                                         \
	sennit_##noun *sennit_##noun##_retain(sennit_##noun *x)          \
	{                                                                \
		retain(x, &noun##_type);                                 \
		return x;                                                \
	}                                                                \
                                                                         \
	void sennit_##noun##_release(sennit_##noun *x)                   \
	{                                                                \
		release(x, &noun##_type);                                \
	}

_Static_assert(offsetof(struct head, mark) + sizeof(uint32_t) ==
		       sizeof(struct head),
	       "the object follows the mark");

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

static void free_object(void *object, const struct type *t)
{
	struct head     *h = (struct head *)object - 1;
	sennit_allocator a = h->allocator;

	h->mark = 0;
	sn_memory_give(&a, h, sizeof(*h) + t->size);
}

static void release(void *object, const struct type *t)
{
	const char *why;

	if (!let_go(object, t))
		return;
	why = t->use(object);
	MISUSE(why, t->release, why);
	if (t->destroy)
		t->destroy(object);
	free_object(object, t);
}

/* --- what owns nothing --------------------------------------------------- */

COUNTED(1, event, waited_for(&x->state_), NULL)

int sennit_event_create(sennit_event **e, enum sennit_event_mode mode, bool set,
			const sennit_allocator *allocator)
{
	void *made;
	int   err = create(&made, &event_type, allocator);

	if (err)
		return err;
	*e = made;
	sennit_event_init(*e, mode, set);
	return 0;
}

COUNTED(2, wait_group, waited_for(&x->state_), NULL)

int sennit_wait_group_create(sennit_wait_group **g, uint32_t count,
			     const sennit_allocator *allocator)
{
	void *made;
	int   err;

	MISUSE(count > SENNIT_WAIT_GROUP_MAX, "sennit_wait_group_create",
	       "the count is above SENNIT_WAIT_GROUP_MAX");
	err = create(&made, &wait_group_type, allocator);
	if (err)
		return err;
	*g = made;
	sennit_wait_group_init(*g, count);
	return 0;
}

COUNTED(3, semaphore, waited_for(&x->state_), NULL)

int sennit_semaphore_create(sennit_semaphore **s, uint32_t count,
			    const sennit_allocator *allocator)
{
	void *made;
	int   err;

	MISUSE(count > SENNIT_SEMAPHORE_MAX, "sennit_semaphore_create",
	       "the count is above SENNIT_SEMAPHORE_MAX");
	err = create(&made, &semaphore_type, allocator);
	if (err)
		return err;
	*s = made;
	sennit_semaphore_init(*s, count);
	return 0;
}

COUNTED(4, cond, waited_for(&x->state_), NULL)

int sennit_cond_create(sennit_cond **c, const sennit_allocator *allocator)
{
	void *made;
	int   err = create(&made, &cond_type, allocator);

	if (!err)
		*c = made;
	return err;
}

COUNTED(5, mutex, sn_mutex_is_unused(x) ? NULL : "it is locked or waited for",
	NULL)

int sennit_mutex_create(sennit_mutex **m, const sennit_allocator *allocator)
{
	void *made;
	int   err = create(&made, &mutex_type, allocator);

	if (!err)
		*m = made;
	return err;
}

COUNTED(6, rwlock, a_load_rlx(&x->state_) ? "it is held or waited for" : NULL,
	NULL)

int sennit_rwlock_create(sennit_rwlock **l, const sennit_allocator *allocator)
{
	void *made;
	int   err = create(&made, &rwlock_type, allocator);

	if (!err)
		*l = made;
	return err;
}

COUNTED(7, barrier, waited_for(&x->state_), NULL)

int sennit_barrier_create(sennit_barrier **b, uint32_t parties,
			  const sennit_allocator *allocator)
{
	void *made;
	int   err;

	MISUSE(!parties || parties > SENNIT_BARRIER_MAX,
	       "sennit_barrier_create",
	       "the number of parties is 0 or above SENNIT_BARRIER_MAX");
	err = create(&made, &barrier_type, allocator);
	if (err)
		return err;
	*b = made;
	sennit_barrier_init(*b, parties);
	return 0;
}

COUNTED(8, ticket_queue, x->first_ ? "a ticket of the queue is not done" : NULL,
	NULL)

int sennit_ticket_queue_create(sennit_ticket_queue   **q,
			       const sennit_allocator *allocator)
{
	void *made;
	int   err = create(&made, &ticket_queue_type, allocator);

	if (!err)
		*q = made;
	return err;
}

COUNTED(9, future,
	x->last_ ? "a continuation still waits for it" : waited_for(&x->state_),
	NULL)

int sennit_future_create(sennit_future **f, const sennit_allocator *allocator)
{
	void *made;
	int   err = create(&made, &future_type, allocator);

	if (!err)
		*f = made;
	return err;
}

/* --- what owns memory ---------------------------------------------------- */

static void destroy_channel(void *channel)
{
	sennit_channel_destroy(channel);
}

COUNTED(10, channel,
	x->senders_ || x->receivers_ ? "a fiber or thread still waits in it"
				     : NULL,
	destroy_channel)

int sennit_channel_create(sennit_channel **c, uint32_t size, size_t capacity,
			  const sennit_allocator *allocator)
{
	void *made;
	int   err = create(&made, &channel_type, allocator);

	if (err)
		return err;
	err = sennit_channel_init(made, size, capacity, allocator);
	if (err)
		free_object(made, &channel_type);
	else
		*c = made;
	return err;
}

static void destroy_pool(void *pool)
{
	sennit_pool_destroy(pool);
}

COUNTED(11, pool, sn_pool_use(x), destroy_pool)

int sennit_pool_create(sennit_pool **p, const sennit_pool_config *config)
{
	void *made;
	int   err = create(&made, &pool_type, config->allocator);

	if (err)
		return err;
	err = sennit_pool_init(made, config);
	if (err)
		free_object(made, &pool_type);
	else
		*p = made;
	return err;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* channel.c - send, receive, close.
 *
 * Every operation takes the lock, so the WAITERS and RACED bits of the word are
 * not used.
 */
#include "flow/channel.h"

#include "base/compiler.h"
#include "base/memory.h"
#include "wait/wait.h"

#include <errno.h>
#include <string.h>

#define DESTROYED "the channel was destroyed"

static void start_channel(sennit_channel *c, size_t size,
			  const struct sennit_channel_buffer *store)
{
	a_init(&c->state_, 0);
	c->size_ = (uint32_t)size;
	c->senders_ = NULL;
	c->receivers_ = NULL;
	c->store_ = *store;
	memset(c->reserved_, 0, sizeof(c->reserved_));
}

int sennit_channel_init(sennit_channel *c, size_t capacity, size_t size,
			const sennit_allocator *allocator)
{
	struct sennit_channel_buffer store;
	int                          err;

	if (size > UINT32_MAX)
		return -EINVAL;
	err = sn_channel_buffer_init(&store, (uint32_t)size, capacity,
				     allocator);
	if (!err)
		start_channel(c, size, &store);
	return err;
}

int sennit_channel_init_in(sennit_channel *c, void *memory, size_t capacity,
			   size_t size)
{
	const struct sennit_channel_buffer store = { .capacity_ = capacity,
						     .oldest_ = memory };

	if (size > UINT32_MAX || !capacity ||
	    capacity == SENNIT_CHANNEL_UNBOUNDED)
		return -EINVAL;
	start_channel(c, size, &store);
	return 0;
}

/* Without memory of an allocator there is nothing to end. */
void sennit_channel_destroy(sennit_channel *c)
{
	uint32_t                     word = sn_wait_queue_lock(&c->state_);
	struct sennit_channel_buffer store = c->store_;

	MISUSE(c->senders_ || c->receivers_, "sennit_channel_destroy",
	       "a fiber or thread still waits in the channel");
	MISUSE(word & CHANNEL_ENDED, "sennit_channel_destroy", DESTROYED);
	if (store.allocator_.release) {
		memset(&c->store_, 0, sizeof(c->store_));
		word |= CHANNEL_CLOSED | CHANNEL_ENDED;
	}
	sn_wait_queue_unlock(&c->state_, word);
	sn_channel_buffer_free(&store, c->size_);
}

/* --- steps, with the lock ----------------------------------------------- */

static bool is_closed(sennit_channel *c)
{
	/* not raced: it changes only under the lock */
	const uint32_t word = a_load_rlx(&c->state_);

	if (likely(!(word & CHANNEL_CLOSED)))
		return false;
	MISUSE(word & CHANNEL_ENDED, "a channel", DESTROYED);
	return true;
}

/* The wait n has been claimed. If it is a select, it may free the channel as
 * soon as it runs, so its part on the other side must be unlinked first. */
static void unlink_other_side(struct waiter *n, void **other)
{
	struct channel_part *other_side = NULL;

	if (n->whole != n)
		other_side =
			container_of(n, struct channel_part, n)->other_side;
	if (other_side && other_side->n.is.linked)
		sn_wait_queue_leave(other, &other_side->n);
}

/* Claim the first waiter on one side. `other` is the list of the other side. */
static struct waiter *take_waiter(void **list, void **other)
{
	struct waiter *n = sn_wait_take_one(list);

	if (n && unlikely(n->is.raced))
		unlink_other_side(n, other);
	return n;
}

static void plan_copy(struct deal *d, void *to, const void *from, uint32_t size)
{
	d->to = to;
	d->from = from;
	d->size = size;
}

int sn_channel_try_send(sennit_channel *c, const void *value, struct deal *d)
{
	d->to = NULL;
	d->block = NULL;
	d->partner = NULL;
	if (is_closed(c)) {
		sn_race_acquire(c);
		return -EPIPE;
	}
	d->partner = take_waiter(&c->receivers_, &c->senders_);
	if (d->partner) {
		if (!c->store_.capacity_) /* it has received before this ends */
			sn_race_acquire(d->partner);
		plan_copy(d, d->partner->place, value, c->size_);
		return 0;
	}
	if (!sn_channel_buffer_has_room(&c->store_, c->size_))
		return sn_channel_buffer_is_unbounded(&c->store_) ? -ENOMEM
								  : -EAGAIN;
	sn_channel_buffer_put(&c->store_, value, c->size_);
	return 0;
}

/* The first waiting sender fills the place that becomes free. */
static void take_stored(sennit_channel *c, void *value, struct deal *d)
{
	d->block = sn_channel_buffer_take(&c->store_, value, c->size_);
	if (d->block) {
		d->size = c->size_;
		d->allocator = c->store_.allocator_;
	}
	d->partner = take_waiter(&c->senders_, &c->receivers_);
	if (d->partner) {
		sn_race_acquire(d->partner);
		sn_channel_buffer_put(&c->store_, d->partner->place, c->size_);
	}
}

int sn_channel_try_receive(sennit_channel *c, void *value, struct deal *d)
{
	d->to = NULL;
	d->block = NULL;
	if (c->store_.count_) {
		take_stored(c, value, d);
		return 0;
	}
	d->partner = take_waiter(&c->senders_, &c->receivers_);
	if (d->partner) {
		sn_race_acquire(d->partner);
		plan_copy(d, value, d->partner->place, c->size_);
		return 0;
	}
	if (!is_closed(c))
		return -EAGAIN;
	sn_race_acquire(c);
	return -EPIPE;
}

void sn_channel_conclude(const struct deal *d)
{
	TORTURE_POINT(); /* claimed; the channel may be gone */
	if (d->to)
		sn_channel_buffer_copy(d->to, d->from, d->size);
	if (d->partner) {
		d->partner->is.handed = true;
		sn_wake(d->partner);
	}
	if (unlikely(d->block))
		sn_channel_buffer_free_block(&d->allocator, d->block, d->size);
}

int sn_channel_grow(sennit_channel *c)
{
	struct block *b = sn_channel_buffer_make_block(&c->store_, c->size_);
	uint32_t      word;

	if (!b)
		return -ENOMEM;
	word = sn_wait_queue_lock(&c->state_);
	if (!c->store_.spare_) {
		c->store_.spare_ = b;
		b = NULL;
	}
	sn_wait_queue_unlock(&c->state_, word);
	if (b) /* another sender was first; the channel still exists, the caller
	        * uses it */
		sn_channel_buffer_free_block(&c->store_.allocator_, b,
					     c->size_);
	return 0;
}

/* --- calls -------------------------------------------------------------- */

/* Wait in *list. Lock held on entry. */
static int wait_in_channel_queue(sennit_channel *c, void **list, void *value,
				 uint32_t word, sennit_time deadline)
{
	struct waiter *n = sn_waiter_own(deadline);
	int            err;

	n->place = value;
	sn_wait_show(n, SENNIT_WAITS_FOR_CHANNEL, c, deadline);
	(void)sn_wait_queue_join(list, n, false);
	sn_race_release(n);
	sn_wait_queue_unlock(&c->state_, word);
	err = sn_wait_in(&c->state_, list, n, deadline);
	if (err)
		return err;
	return n->is.handed ? 0 : -EPIPE;
}

/* Unlock after a step that was not done, and return the call's error. */
static int end_step(sennit_channel *c, uint32_t word, int err)
{
	sn_wait_queue_unlock(&c->state_, word);
	return err == -EAGAIN ? -ETIMEDOUT : err;
}

static ALWAYS_INLINE int send_until(sennit_channel *c, const void *value,
				    sennit_time deadline)
{
	struct deal d;
	uint32_t    word;
	int         err;

	for (;;) {
		word = sn_wait_queue_lock(&c->state_);
		err = sn_channel_try_send(c, value, &d);
		if (err == -EAGAIN && deadline) {
			err = wait_in_channel_queue(c, &c->senders_,
						    (void *)(uintptr_t)value,
						    word, deadline);
			NO_TAIL_CALL(err);
			return err;
		}
		err = end_step(c, word, err);
		if (err != -ENOMEM)
			break;
		err = sn_channel_grow(c);
		if (err)
			return err;
	}
	if (!err)
		sn_channel_conclude(&d);
	return err;
}

int sennit_channel_send_until(sennit_channel *c, const void *value,
			      sennit_time deadline)
{
	return send_until(c, value, deadline);
}

int sennit_channel_send(sennit_channel *c, const void *value)
{
	return send_until(c, value, SENNIT_NEVER);
}

static ALWAYS_INLINE int receive_until(sennit_channel *c, void *value,
				       sennit_time deadline)
{
	struct deal d;
	uint32_t    word = sn_wait_queue_lock(&c->state_);
	int         err = sn_channel_try_receive(c, value, &d);

	if (err == -EAGAIN && deadline) {
		err = wait_in_channel_queue(c, &c->receivers_, value, word,
					    deadline);
		NO_TAIL_CALL(err);
		return err;
	}
	err = end_step(c, word, err);
	if (!err)
		sn_channel_conclude(&d);
	return err;
}

int sennit_channel_receive_until(sennit_channel *c, void *value,
				 sennit_time deadline)
{
	return receive_until(c, value, deadline);
}

int sennit_channel_receive(sennit_channel *c, void *value)
{
	return receive_until(c, value, SENNIT_NEVER);
}

void sennit_channel_close(sennit_channel *c)
{
	uint32_t     word = sn_wait_queue_lock(&c->state_);
	struct link *senders = sn_wait_take_all_raced(&c->senders_);
	struct link *receivers = sn_wait_take_all_raced(&c->receivers_);

	sn_race_release(c);
	sn_wait_queue_unlock(&c->state_, word | CHANNEL_CLOSED);
	sn_wake_all(senders);
	sn_wake_all(receivers);
}

size_t sennit_channel_length(const sennit_channel *c)
{
	/* The lock is all that changes. */
	sennit_word   *state = (sennit_word *)(uintptr_t)&c->state_;
	const uint32_t word = sn_wait_queue_lock(state);
	const size_t   count = c->store_.count_;

	sn_wait_queue_unlock(state, word);
	return count;
}

size_t sennit_channel_capacity(const sennit_channel *c)
{
	return c->store_.capacity_;
}

bool sennit_channel_is_closed(const sennit_channel *c)
{
	/* Stale at once in any case. */
	return a_load_rlx(&c->state_) & CHANNEL_CLOSED;
}

/* --- channel buffer ------------------------------------------------------- */

/* A ring of values without size needs an address, too, so it has 1 byte. */
static size_t ring_bytes(size_t capacity, uint32_t size)
{
	return size ? capacity * size : 1;
}

int sn_channel_buffer_init(struct sennit_channel_buffer *s, uint32_t size,
			   size_t capacity, const sennit_allocator *allocator)
{
	void  *ring = NULL;
	size_t bytes;

	if (!sn_memory_is_valid(allocator))
		return -EINVAL;
	if (!allocator)
		allocator = &sn_memory_libc;
	if (capacity && capacity != SENNIT_CHANNEL_UNBOUNDED) {
		if (__builtin_mul_overflow(capacity, size, &bytes))
			return -ENOMEM;
		ring = sn_memory_take(allocator, ring_bytes(capacity, size),
				      CACHE_LINE);
		if (!ring)
			return -ENOMEM;
	}
	*s = (struct sennit_channel_buffer){ .capacity_ = capacity,
					     .oldest_ = ring,
					     .allocator_ = *allocator };
	return 0;
}

static size_t block_bytes(uint32_t size)
{
	return sizeof(struct block) + sn_channel_buffer_places(size) * size;
}

struct block *sn_channel_buffer_make_block(
	const struct sennit_channel_buffer *s, uint32_t size)
{
	return sn_memory_take(&s->allocator_, block_bytes(size),
			      _Alignof(struct block));
}

void sn_channel_buffer_free_block(const sennit_allocator *a, struct block *b,
				  uint32_t size)
{
	sn_memory_give(a, b, block_bytes(size));
}

void sn_channel_buffer_free(struct sennit_channel_buffer *s, uint32_t size)
{
	struct block *b = s->oldest_;

	if (!s->allocator_.release)
		return; /* the program owns the memory */
	if (!sn_channel_buffer_is_unbounded(s)) {
		sn_memory_give(&s->allocator_, s->oldest_,
			       ring_bytes(s->capacity_, size));
		return;
	}
	while (b) {
		struct block *next = b->next;

		sn_channel_buffer_free_block(&s->allocator_, b, size);
		b = next;
	}
	sn_channel_buffer_free_block(&s->allocator_, s->spare_, size);
}

static bool newest_is_full(const struct sennit_channel_buffer *s, uint32_t size)
{
	return !s->newest_ || s->last_ == sn_channel_buffer_places(size);
}

bool sn_channel_buffer_has_room(const struct sennit_channel_buffer *s,
				uint32_t                            size)
{
	if (sn_channel_buffer_is_unbounded(s))
		return s->spare_ || !newest_is_full(s, size);
	return s->count_ < s->capacity_;
}

static void append_spare(struct sennit_channel_buffer *s)
{
	struct block *b = s->spare_;
	struct block *newest = s->newest_;

	b->next = NULL;
	if (newest)
		newest->next = b;
	else
		s->oldest_ = b;
	s->newest_ = b;
	s->spare_ = NULL;
	s->last_ = 0;
}

/* The place for the next value. */
static char *new_place(struct sennit_channel_buffer *s, uint32_t size)
{
	size_t i;

	if (sn_channel_buffer_is_unbounded(s)) {
		if (newest_is_full(s, size))
			append_spare(s);
		return ((struct block *)s->newest_)->places + s->last_++ * size;
	}
	i = s->last_++;
	if (s->last_ == s->capacity_)
		s->last_ = 0;
	return (char *)s->oldest_ + i * size;
}

/* For race.h: what is done with a place is ordered, by whomever. */
static inline void pass_place(const void *place)
{
	sn_race_acquire(place);
	sn_race_release(place);
	(void)place;
}

void sn_channel_buffer_put(struct sennit_channel_buffer *s, const void *value,
			   uint32_t size)
{
	void *place = new_place(s, size);

	pass_place(place);
	sn_channel_buffer_copy(place, value, size);
	s->count_++;
}

/* Remove the oldest value, which has been copied, from the oldest block. */
static struct block *remove_oldest_place(struct sennit_channel_buffer *s,
					 uint32_t                      size)
{
	struct block *b = s->oldest_;

	s->first_++;
	if (!s->count_) {
		s->first_ = 0; /* this is the only block, and empty */
		s->last_ = 0;
		return NULL;
	}
	if (s->first_ < sn_channel_buffer_places(size))
		return NULL;
	s->first_ = 0;
	s->oldest_ = b->next;
	if (s->spare_)
		return b;
	s->spare_ = b;
	return NULL;
}

struct block *sn_channel_buffer_take(struct sennit_channel_buffer *s,
				     void *value, uint32_t size)
{
	const char *place;

	s->count_--;
	if (sn_channel_buffer_is_unbounded(s)) {
		const struct block *b = s->oldest_;

		place = b->places + s->first_ * size;
		pass_place(place);
		sn_channel_buffer_copy(value, place, size);
		return remove_oldest_place(s, size);
	}
	place = (char *)s->oldest_ + s->first_ * size;
	pass_place(place);
	sn_channel_buffer_copy(value, place, size);
	if (++s->first_ == s->capacity_)
		s->first_ = 0;
	return NULL;
}

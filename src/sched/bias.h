/* SPDX-License-Identifier: Apache-2.0 */
/* bias.h - a word that belongs to one worker for as long as no other thread
 * comes: the worker changes it by plain stores.
 *
 *	word   { BIASED | the owner's slot : 15 | the primitive's bits : 16 }
 *	mark   { REVOKED | ... }   beside the word, changed by others atomically
 *	slot   of the owner: `inside`, the object that it works on
 *
 *	owner     inside = object; REVOKED? word = ...; inside = NULL
 *	others    mark |= REVOKED; process barrier; until inside != object;
 *	          word &= ~BIASED
 *
 * The first two steps of the owner are not fenced. The barrier of the others
 * is: either they see `inside`, or the owner sees REVOKED. An owner that sees
 * REVOKED, or that gives the bias up, clears BIASED as others do. REVOKED stays
 * for the object's life, and a word becomes BIASED only without REVOKED, while
 * the claimer excludes everybody else. So each object is biased once at most,
 * and revoked once at most.
 *
 * Between sn_bias_enter and sn_bias_leave the owner executes a handful of
 * instructions, without a call, a wait or a loop. Its store to the word is its
 * last access to the object, which may then be gone.
 *
 * Slots are never freed. The bias belongs to the slot: a worker that gets the
 * slot of one that has ended owns what that one owned.
 *
 * See docs/design/mutex.md. Checked by test/model/bias.pml.
 */
#ifndef SN_BIAS_H
#define SN_BIAS_H

#include "arch/arch.h"
#include "base/atomic.h"
#include "base/torture.h"
#include "sennit/base.h"

#define BIASED         UINT32_C(0x80000000) /* of the word */
#define BIAS_REVOKED   UINT32_C(0x80000000) /* of the mark */
#define BIAS_NUMBER    16                   /* where the slot's number begins */
#define BIAS_PRIMITIVE UINT32_C(0xffff)     /* the primitive's bits */

/* The number of workers that may own objects. More own nothing. */
#define BIAS_SLOTS TORTURED(32, 512)

/* A worker may claim an object after it has used it this often without another
 * in between. With each bias that it lost the number doubles, BIAS_DOUBLINGS
 * times at most. */
#define BIAS_CLAIM     TORTURED(4u, 1024u)
#define BIAS_DOUBLINGS TORTURED(1u, 10u)

struct bias_slot {
	_Alignas(CACHE_LINE) a_ptr inside; /* owner writes: the object that it
					    * works on, or NULL */
	a_u32 lost; /* any: number of biases that were revoked */
};

/* The number of objects that a worker remembers as its own. One that it has
 * forgotten it gives up when it uses it next. */
#define BIAS_OBJECTS TORTURED(1, 32)

/* A worker's part. */
struct bias {
	struct bias_slot *slot;    /* owner: fixed once it has one; NULL: it
				    * owns nothing */
	uint32_t          word;    /* owner, as slot: a word that it owns;
				    * BIASED alone, which no word is: it owns
				    * nothing */
	uint32_t          refused; /* owner: claims since the last */
	bool              works;   /* fixed: it may get a slot */
	const void       *objects[BIAS_OBJECTS]; /* owner: its own, by their
						  * address; may be gone, or
						  * another's */
};

/* What the owner needs to work on an object, in registers. */
static inline struct bias sn_bias_own(const struct bias *b)
{
	return (struct bias){ .slot = b->slot, .word = b->word };
}

/* Where *object is remembered. */
static inline const void **sn_bias_place(struct bias *b, const void *object)
{
	return &b->objects[(uintptr_t)object / 16 % BIAS_OBJECTS];
}

/* Prepare *b. It may get a slot if `works`: os_process_barrier() works. It gets
 * one when it first claims something, because most threads that bind for a
 * short while never do. */
void sn_bias_init(struct bias *b, bool works);
/* Give the slot back, if any. The worker's thread has ended, or is the
 * caller. */
void sn_bias_free(struct bias *b);

/* In the child of a fork: no other thread is inside an object there. */
void sn_bias_fork(void);

/* Whether a claim is due, and b has a slot for it. Call this for each
 * BIAS_CLAIM uses. */
COLD bool sn_bias_may_claim(struct bias *b);

/* The word, which is zero besides `bits`, as b's own. */
static inline uint32_t sn_bias_word(const struct bias *b, uint32_t bits)
{
	return b->word | bits;
}

/* Whether the word is b's own. It may have been revoked. */
static inline bool sn_bias_is_own(const struct bias *b, uint32_t word)
{
	return (word & ~BIAS_PRIMITIVE) == b->word;
}

/* Begin to work on *object, whose word is b's own. Returns false if that was
 * revoked: the caller then calls sn_bias_revoke. */
static ALWAYS_INLINE bool sn_bias_enter(const struct bias *b, void *object,
					sennit_word *mark)
{
	a_store_rlx(&b->slot->inside, object);
	a_compiler_fence(); /* <-> bias.inside: inside, before the look */
	TORTURE_POINT();
	if (likely(!(a_load_rlx(mark) & BIAS_REVOKED)))
		return true;
	/* -> bias.left: nothing */
	a_store_rel(&b->slot->inside, NULL);
	return false;
}

/* The object's word has been stored. */
static ALWAYS_INLINE void sn_bias_leave(const struct bias *b)
{
	TORTURE_POINT();
	/* -> bias.left: the word */
	a_store_rel(&b->slot->inside, NULL);
	a_compiler_fence(); /* what a lock protects is used afterwards */
}

/* Make the word of *object nobody's, for good. `own` is the caller's part, or
 * NULL on an unbound thread. Waits until the owner has left the object: a few
 * instructions of the owner's thread, once the system runs it. */
COLD void sn_bias_revoke(const struct bias *own, sennit_word *word,
			 sennit_word *mark, const void *object);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/bias.h"

#include "os/os.h"

#include <string.h>

/* How a revoker waits for an owner whose thread does not run: SPINS looks, then
 * YIELDS times another thread's turn. Then it sleeps, so that an owner of lower
 * priority runs at last. */
#define SPINS       TORTURED(2, 64)
#define YIELDS      TORTURED(2, 32)
#define FIRST_SLEEP (50 * SENNIT_MICROSECOND)
#define LAST_SLEEP  SENNIT_MILLISECOND

static struct bias_slot slots[BIAS_SLOTS + 1];  /* none has number 0 */
static a_u32            taken[BIAS_SLOTS / 32]; /* any: a bit for each */

/* --- slots -------------------------------------------------------------- */

/* A free slot's number, which the caller has taken. 0: none is free. */
static uint32_t take(void)
{
	for (uint32_t i = 0; i < BIAS_SLOTS / 32; i++) {
		uint32_t bits = a_load_rlx(&taken[i]); /* the CAS checks it */

		while (~bits) {
			uint32_t bit = (uint32_t)__builtin_ctz(~bits);

			/* <- bias.slot */
			if (a_cas_weak_acq(&taken[i], &bits,
					   bits | UINT32_C(1) << bit))
				return i * 32 + bit + 1;
		}
	}
	return 0;
}

void sn_bias_init(struct bias *b, bool works)
{
	b->slot = NULL;
	b->word = BIASED;
	b->refused = 0;
	b->works = ARCH_HAS_BIAS && works;
	memset(b->objects, 0, sizeof(b->objects));
}

/* Get a slot, if there is one. */
static bool get_slot(struct bias *b)
{
	uint32_t number = b->works ? take() : 0;

	if (!number)
		return false;
	b->slot = &slots[number];
	b->word = BIASED | number << BIAS_NUMBER;
	/* What the slot's last worker lost does not count. */
	a_store_rlx(&b->slot->lost, 0);
	return true;
}

void sn_bias_free(struct bias *b)
{
	uint32_t number = (b->word & ~BIASED) >> BIAS_NUMBER;

	if (!b->slot)
		return;
	b->slot = NULL;
	number--;
	/* -> bias.slot: the objects that it owns <- bias.slot */
	a_and_acqrel(&taken[number / 32], ~(UINT32_C(1) << number % 32));
}

/* The system may have forgotten that the parent registered for the barrier. */
void sn_bias_fork(void)
{
	bool used = false;

	for (uint32_t i = 0; i < BIAS_SLOTS / 32; i++)
		used |= a_load_rlx(&taken[i]) != 0; /* the only thread */
	if (!used)
		return;
	(void)os_process_barrier_init();
	for (uint32_t i = 1; i <= BIAS_SLOTS; i++)
		if (a_load_rlx(&slots[i].inside)) /* the only thread */
			a_store_rlx(&slots[i].inside, NULL);
}

/* --- claims ------------------------------------------------------------- */

bool sn_bias_may_claim(struct bias *b)
{
	uint32_t lost;

	if (!b->slot && !get_slot(b))
		return false;
	lost = a_load_rlx(&b->slot->lost); /* stale: one claim too early */
	if (lost > BIAS_DOUBLINGS)
		lost = BIAS_DOUBLINGS;
	if (++b->refused < UINT32_C(1) << lost)
		return false;
	b->refused = 0;
	return true;
}

/* --- revocation --------------------------------------------------------- */

static void nap(uint64_t nanoseconds)
{
	static a_u32 never; /* nobody changes it */

	(void)!os_word_wait(&never, 0, os_after(nanoseconds));
}

static void await(struct bias_slot *slot, const void *object)
{
	uint64_t sleep = FIRST_SLEEP;

	/* <- bias.left */
	for (uint32_t i = 1; a_load_acq(&slot->inside) == object; i++) {
		if (i < SPINS) {
			a_pause();
		} else if (i < SPINS + YIELDS) {
			os_thread_yield();
		} else {
			nap(sleep);
			if (sleep < LAST_SLEEP)
				sleep *= 2;
		}
	}
}

void sn_bias_revoke(const struct bias *own, sennit_word *word,
		    sennit_word *mark, const void *object)
{
	/* <- bias.word: what the claimer stored in the mark comes before
	 * REVOKED, which would be lost otherwise */
	uint32_t          seen = a_load_acq(word);
	struct bias_slot *slot;

	if (!(seen & BIASED))
		return;
	slot = &slots[(seen & ~BIASED) >> BIAS_NUMBER];
	/* <-> bias.inside: REVOKED, before the look who is inside */
	if (!(a_or_acqrel(mark, BIAS_REVOKED) & BIAS_REVOKED))
		a_add_rlx(&slot->lost, 1);
	TORTURE_POINT();
	if (!own || own->slot != slot) {
		os_process_barrier();
		await(slot, object);
	}
	/* Another thread may have done it meanwhile, and others may have used
	 * the word since. */
	while (seen & BIASED) {
		/* -> bias.word: what the owner did <- bias.word */
		if (a_cas_weak_acqrel(word, &seen, seen & BIAS_PRIMITIVE))
			break;
	}
}

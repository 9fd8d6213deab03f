/* SPDX-License-Identifier: Apache-2.0 */
#include "sync/mutex_bias.h"

#include "base/torture.h"
#include "sync/mutex.h"

void sn_mutex_claim(sennit_mutex *m)
{
	uint32_t held = HELD;

	a_store_rlx(&m->worker_, sn_mutex_mark());
	if (!sn_self || !sn_bias_may_claim(&sn_self->bias))
		return;
	*sn_bias_place(&sn_self->bias, m) = m;
	TORTURE_POINT();
	/* -> bias.word: worker_, the mark, stored before anybody revokes */
	(void)!a_cas_rel(&m->state_, &held, sn_bias_word(&sn_self->bias, HELD));
}

uint32_t sn_mutex_lock_queue(sennit_mutex *m)
{
	uint32_t spins = 0;

	for (;;) {
		uint32_t word = a_load_rlx(&m->state_); /* a guess; the CAS
							 * checks it */

		if (unlikely(word & BIASED))
			sn_mutex_unbias(m);
		else if (sn_wait_queue_try(&m->state_, word, &spins))
			return word;
	}
}

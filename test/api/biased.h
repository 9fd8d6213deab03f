/* SPDX-License-Identifier: Apache-2.0 */
/* biased.h - makes a mutex one worker's own (sched/bias.h), for tests of both
 * forms. */
#ifndef SN_TEST_BIASED_H
#define SN_TEST_BIASED_H

#include "sync/mutex_bias.h"
#include "sync/mutex.h"

static inline bool is_biased(sennit_mutex *m)
{
	return a_load_rlx(&m->state_) & BIASED;
}

/* Uses of a mutex after which a worker that has lost nothing has it. */
#define USES_TO_BIAS (2 * BIAS_CLAIM)

/* The calling worker may claim again as soon as one that has lost nothing. */
static inline void forget_losses(void)
{
	if (!sn_self || !sn_self->bias.slot)
		return;
	a_store_rlx(&sn_self->bias.slot->lost, 0);
	sn_self->bias.refused = 0;
}

/* Use *m until it is the calling worker's own. Returns false where nothing is
 * biased: on other processors, or without the process barrier. */
static inline bool bias_it(sennit_mutex *m)
{
	if (!sn_self || !sn_self->bias.slot)
		return false;
	forget_losses();
	for (unsigned i = 0; !is_biased(m) && i < USES_TO_BIAS; i++) {
		sennit_mutex_lock(m);
		sennit_mutex_unlock(m);
	}
	return is_biased(m);
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "api/mutex_look.h"

#include "api/mutex_bias.h"
#include "api/mutex_queue.h"
#include "os/os.h"

/* A look at the lock fetches its cache line from the worker that uses it, which
 * costs about 100 ns. One look that finds it free means little: while another
 * worker locks and unlocks it in a loop, the lock is free half of the time. The
 * lock counts as free if it is still free after FREE_PAUSES, within which such
 * a worker would have locked it again. */
#define HELD_PAUSES 2
#define FREE_PAUSES 8
#define LOOKS       TORTURED(3, 32) /* in a row: about 800 ns */
#define FREE_COMER \
	2 /* looks in a row that must find it free, before queueing
		       * up */
#define FREE_GUARD \
	4 /* the same for a guard, which will be handed the lock
		       * anyway */

/* GUARD_NS is how long a guard looks, SECOND_LOOK when it looks for the second
 * time. After that the interval doubles with each look. So a free lock stays
 * free for at most as long again as the guard has waited. */
#define GUARD_NS    TORTURED(0, 20 * SENNIT_MICROSECOND)
#define SECOND_LOOK TORTURED(0, 4 * SENNIT_MICROSECOND)

bool sn_mutex_barge(sennit_mutex *m)
{
	uint32_t word = a_load_rlx(&m->state_);

	while (!(word & (HELD | WAIT_QUEUE_LOCKED))) {
		if (unlikely(word & BIASED)) {
			sn_mutex_unbias(m);
			word = a_load_rlx(&m->state_); /* the CAS checks it */
			continue;
		}
		/* <- mutex.unlock */
		if (a_cas_weak_acq(&m->state_, &word, word | HELD))
			return true;
	}
	return false;
}

bool sn_mutex_is_busy(void)
{
	const struct worker *w = sn_self;

	return w && (sn_run_queue_has_ready(&w->run) ||
		     sn_mailbox_has_fibers(&w->mail) ||
		     sn_mailbox_has_tasks(&w->mail) ||
		     sn_run_queue_has_task(&w->run));
}

/* Whether the holder runs on the caller's worker: then it cannot unlock while
 * the caller looks. A stale answer costs one wait, or some useless looks. */
static bool is_held_here(sennit_mutex *m)
{
	uint32_t mine = sn_mutex_mark();
	uint32_t last = a_load_rlx(&m->worker_) & ~BIAS_REVOKED;

	return mine && (mine ^ last) < STREAK;
}

static void pause_for(uint32_t pauses)
{
	for (uint32_t i = 0; i < pauses; i++)
		a_pause();
}

/* Look up to LOOKS times. Take the lock when `times` looks in a row have found
 * it free. */
static bool look(sennit_mutex *m, uint32_t times)
{
	uint32_t free = 0;

	if (is_held_here(m))
		return false;
	for (uint32_t i = 0; i < LOOKS; i++) {
		/* A stale value costs one look. */
		bool held = a_load_rlx(&m->state_) & (HELD | WAIT_QUEUE_LOCKED);

		if (held && free)
			return false;
		if (!held && ++free == times)
			return sn_mutex_barge(m);
		pause_for(held ? HELD_PAUSES : FREE_PAUSES);
	}
	return false;
}

/* Do not look at the lock until `then`. Returns false if the worker has other
 * work. */
static bool pause_until(sennit_time then)
{
	do {
		if (sn_mutex_is_busy())
			return false;
		a_pause();
	} while (os_now() < then);
	return true;
}

bool sn_mutex_look(sennit_mutex *m)
{
	return look(m, FREE_COMER);
}

bool sn_mutex_look_long(sennit_mutex *m, sennit_time deadline)
{
	sennit_time now = os_now();
	sennit_time end = now + GUARD_NS;
	sennit_time step = SECOND_LOOK;

	if (end > deadline)
		end = deadline;
	for (;; step *= 2) {
		if (look(m, FREE_GUARD))
			return true;
		if (!pause_until(now + step))
			return false;
		now = os_now();
		if (now >= end)
			return false;
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
/* queue.c - a waiter that returns from a wait frees the primitive at once. The
 * signaller must not access it afterwards.
 *
 * Detected in every order: a waiter that is released before the queue is
 * unlocked. Detected only by a checker: an unlock that does not release, or a
 * lock that does not acquire (wait_queue.unlock). */
#include "litmus.h"

#include "wait/wait.h"

#define SET   WAIT_QUEUE_OWN
#define FREED UINT32_C(0xdeadbee0)

_Thread_local struct worker *sn_self; /* the waiter is of none */

uint32_t sn_wait_queue_spin(uint32_t spins)
{
	os_thread_give_way(spins);
	return spins + 1;
}

static sennit_word   word; /* the primitive: an event that is set once */
static void         *list;
static struct waiter waiter;
static a_u32         woken;

static void before(void)
{
	a_init(&word, 0);
	a_init(&woken, 0);
	list = NULL;
	waiter = (struct waiter){ .home = WAITER_NO_HOME };
}

static void *wait_and_free(void *unused)
{
	uint32_t state = sn_wait_queue_lock(&word);

	if (state & SET) {
		sn_wait_queue_unlock(&word, state);
	} else {
		state |= sn_wait_queue_join(&list, &waiter, false);
		sn_wait_queue_unlock(&word, state);
		LITMUS_AWAIT(a_load_acq(&woken));
	}
	list = &word;
	a_store_rlx(&word, FREED);
	return unused;
}

static void *set(void *unused)
{
	uint32_t       state = sn_wait_queue_lock(&word) | SET;
	struct waiter *n = NULL;

	if (list) {
		n = sn_wait_queue_first(list);
		sn_wait_queue_leave(&list, n);
	}
	sn_wait_queue_unlock(&word, sn_wait_queue_bits(list, state));
	if (n)
		a_store_rel(&woken, 1);
	return unused;
}

static void after(void)
{
	assert(a_load_rlx(&word) == FREED);
}

LITMUS_MAIN_2(before, wait_and_free, set, after)

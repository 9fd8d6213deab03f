/* SPDX-License-Identifier: Apache-2.0 */
/* parking.c - a worker looks for work a last time and sleeps, another thread
 * makes work and looks who sleeps: one of them sees the other, and the counts
 * are right in the end.
 *
 * Shown in every order: a worker that counts itself though its bit was taken
 * (withdraw). By store buffers, on x86, in some runs, which hang for a minute:
 * a wake without its fence. To a checker alone: an announcement without its
 * fence, as on x86 each read-modify-write is one (park.sleep); a token that
 * does not release what it was set for (park.token). */
#include "litmus.h"

#include "core/parking.c"

static struct parking  parking;
static struct sleeper  sleeper;
static struct sleeper *sleepers[] = { &sleeper };
static a_u32           work;
static uint32_t        made; /* plain: comes with the work, or the token */

static void before(void)
{
	sn_parking_init(&parking, sleepers, 1);
	sn_sleeper_init(&sleeper, &parking, 0);
	a_init(&work, 0);
	made = 0;
}

static void *worker(void *unused)
{
	sn_parking_announce(&sleeper, false);
	if (a_load_acq(&work))
		sn_parking_withdraw(&sleeper);
	else /* for ever, if the maker has not seen the bit */
		sn_parking_sleep(&sleeper, SENNIT_NEVER);
	assert(made == 1);
	assert(a_load_rlx(&work));
	sn_parking_found(&parking);
	return unused;
}

static void *maker(void *unused)
{
	made = 1;
	a_store_rel(&work, 1);
	sn_parking_wake(&sleeper);
	return unused;
}

static void after(void)
{
	assert(a_load_rlx(&parking.counts) == 0);
	assert(a_load_rlx(&parking.asleep[0]) == 0);
}

LITMUS_MAIN_2(before, worker, maker, after)

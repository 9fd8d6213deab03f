/* SPDX-License-Identifier: Apache-2.0 */
/* parking.c - a worker looks for work one last time and sleeps, while another
 * thread publishes work and looks for sleepers. At least one must see the
 * other, and the counts must be right in the end.
 *
 * Detected in every order: a worker that counts itself although its bit was
 * taken (withdraw). Detected in some runs by store buffers, on x86, as a hang
 * of one minute: a wake without its fence. Detected only by a checker: an
 * announcement without its fence, because on x86 each read-modify-write is a
 * fence (park.sleep); a token that does not release the data it was set for
 * (park.token). */
#include "litmus.h"

#include "park/parking.c"

static struct parking  parking;
static struct sleeper  sleeper;
static struct sleeper *sleepers[] = { &sleeper };
static a_u32           work;
static uint32_t        made; /* plain: published by the work or the token */

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
	else /* sleeps for ever if the producer has not seen the bit */
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
	assert(a_load_rlx(&parking.idle[0]) == 0);
}

LITMUS_MAIN_2(before, worker, maker, after)

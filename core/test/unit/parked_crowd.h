/* SPDX-License-Identifier: Apache-2.0 */
/* parked_crowd.h - the workers of a scheduler, as parking sees them. */
#ifndef SN_TEST_PARKED_CROWD_H
#define SN_TEST_PARKED_CROWD_H

#include "park/parking.h"
#include "os/os.h"

#include "testing/test.h"

#define PASSED 1 /* a deadline long past */

enum { MOST = 130 };

/* The workers of a scheduler, as parking sees them. */
struct crowd {
	struct parking  parking;
	struct sleeper *sleepers[MOST];
	struct sleeper  bodies[MOST];
};

static inline struct crowd *crowd_of(uint32_t workers)
{
	static struct crowd c;

	sn_parking_init(&c.parking, c.sleepers, workers);
	for (uint32_t i = 0; i < workers; i++) {
		sn_sleeper_init(&c.bodies[i], &c.parking, i);
		c.sleepers[i] = &c.bodies[i];
	}
	return &c;
}

static inline void assert_counts(const struct crowd *c, uint32_t searchers,
				 uint32_t sleepers)
{
	const struct parking *p = &c->parking;
	const uint64_t        counts = a_load_rlx(&p->counts);

	assert_int_equal(counts >> 32, searchers);
	assert_int_equal((uint32_t)counts, sleepers);
	assert_int_equal(sn_parking_has_sleepers(p), sleepers != 0);
	assert_int_equal(sn_parking_is_hungry(p), sleepers && !searchers);
}

static inline void announce(struct crowd *c, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++)
		sn_parking_announce(c->sleepers[i], false);
}

static inline bool is_woken(struct crowd *c, uint32_t index)
{
	return sn_parking_sleep(c->sleepers[index], PASSED);
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* simulated_choices.c - the simulation's configuration, its random choices, and
 * the record of its events. */
#include "simulated/network.h"

#include "sennit/simulation.h"

#include <errno.h>

#ifdef SENNIT_DETERMINISTIC

#include "base/sized.h"
#include "sennit/deterministic.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define DELAY_MAX (100 * SENNIT_MICROSECOND)
#define BUFFER    4096u
#define MILLION   1000000u

/* One in this many transfers may be partial. */
#define PARTS 4u

/* The size of the first release's configuration. */
#define CONFIG_FIRST SIZE_THROUGH(sennit_simulation_config, stalls)
ENDS_WITH(sennit_simulation_config, stalls);

#define DIGEST_BEGIN UINT64_C(0xcbf29ce484222325)
#define DIGEST_PRIME UINT64_C(0x100000001b3)

static pthread_mutex_t          choices_lock = PTHREAD_MUTEX_INITIALIZER;
static sennit_simulation_config chosen = { .delay_max_ns = DELAY_MAX,
					   .buffer = BUFFER };
static uint64_t                 digest = DIGEST_BEGIN;

void sn_simulated_lock(void)
{
	pthread_mutex_lock(&choices_lock);
}

void sn_simulated_unlock(void)
{
	pthread_mutex_unlock(&choices_lock);
}

const sennit_simulation_config *sn_simulated_config(void)
{
	return &chosen;
}

int sn_simulated_configure(const sennit_simulation_config *wanted)
{
	const sennit_simulation_config defaults = { .size = sizeof(defaults) };
	sennit_simulation_config       c;
	int                            err;

	err = sn_sized_read(&c, sizeof(c), wanted ? wanted : &defaults,
			    CONFIG_FIRST);
	if (err)
		return err;
	if (!c.delay_max_ns)
		c.delay_max_ns = DELAY_MAX;
	if (c.delay_max_ns < c.delay_min_ns ||
	    c.delay_max_ns > SENNIT_NEVER / 4) /* no overflow */
		return -EINVAL;
	if (!c.buffer)
		c.buffer = BUFFER;
	chosen = c;
	digest = DIGEST_BEGIN;
	return 0;
}

bool sn_simulated_happens(uint32_t in_a_million)
{
	return in_a_million && sennit_explore_choose(MILLION) < in_a_million;
}

sennit_time sn_simulated_arrival(void)
{
	const sennit_time range = chosen.delay_max_ns - chosen.delay_min_ns;
	const uint32_t    steps = range < MILLION ? (uint32_t)range : MILLION;
	sennit_time       delay = chosen.delay_min_ns;

	if (steps)
		delay += range / steps * sennit_explore_choose(steps + 1);
	return sennit_after(delay);
}

uint32_t sn_simulated_part(uint32_t all)
{
	if (chosen.whole || all < 2 || sennit_explore_choose(PARTS))
		return all;
	return 1 + sennit_explore_choose(all);
}

/* --- record of events --------------------------------------------------- */

static void add(uint64_t number)
{
	digest = (digest ^ number) * DIGEST_PRIME;
}

static bool is_printed(void)
{
	static int printed = -1;

	if (printed < 0)
		printed = getenv("SENNIT_SIMULATION_TRACE") != NULL;
	return printed;
}

void sn_simulated_note(const char *what, uint32_t end, uint64_t number)
{
	const sennit_time now = sennit_now();

	for (const char *c = what; *c; c++)
		add((unsigned char)*c);
	add(end);
	add(number);
	add(now);
	if (is_printed())
		fprintf(stderr,
			"network: %" PRIu64 ".%06" PRIu64 " socket %" PRIu32
			": %s %" PRIu64 "\n",
			now / SENNIT_MILLISECOND, now % SENNIT_MILLISECOND, end,
			what, number);
}

uint64_t sn_simulated_digest(void)
{
	return digest;
}

#endif

/* --- simulation ----------------------------------------------------------- */

#ifdef SENNIT_DETERMINISTIC

int sennit_simulation_begin(const sennit_simulation_config *config)
{
	int err = -EBUSY;

	sn_simulated_lock();
	if (!sn_simulated_waits())
		err = sn_simulated_configure(config);
	if (!err)
		sn_simulated_forget_all();
	sn_simulated_unlock();
	return err;
}

int sennit_simulation_pair(int fds[2])
{
	return sn_simulated_pair(fds);
}

int sennit_simulation_reset(int fd)
{
	struct simulated_end *e;
	int                   err = 0;

	sn_simulated_lock();
	e = sn_simulated_find(fd, &err);
	if (e && !e->peer)
		err = -ENOTCONN;
	if (!err)
		sn_simulated_reset_both(e);
	sn_simulated_unlock();
	return err;
}

uint64_t sennit_simulation_digest(void)
{
	uint64_t now;

	sn_simulated_lock();
	now = sn_simulated_digest();
	sn_simulated_unlock();
	return now;
}

#else

int sennit_simulation_begin(const sennit_simulation_config *config)
{
	(void)config;
	return -ENOSYS;
}

int sennit_simulation_pair(int fds[2])
{
	(void)fds;
	return -ENOSYS;
}

int sennit_simulation_reset(int fd)
{
	(void)fd;
	return -ENOSYS;
}

uint64_t sennit_simulation_digest(void)
{
	return 0;
}

#endif

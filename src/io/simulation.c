/* SPDX-License-Identifier: Apache-2.0 */
#include "sennit/simulation.h"

#include "io/simulated_choices.h"
#include "io/simulated_connect.h"
#include "io/simulated_waits.h"

#include <errno.h>

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
	uint64_t digest;

	sn_simulated_lock();
	digest = sn_simulated_digest();
	sn_simulated_unlock();
	return digest;
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

/* SPDX-License-Identifier: Apache-2.0 */
#include "io/simulated_waits.h"

#ifdef SENNIT_DETERMINISTIC

#include "base/list.h"
#include "sennit/deterministic.h"

static struct simulated_wait *waits;

struct simulated_wait *sn_simulated_waits(void)
{
	return waits;
}

void sn_simulated_wait_link(struct simulated_wait *w)
{
	SN_LIST_PUSH(&waits, w);
	w->linked = true;
}

void sn_simulated_wait_unlink(struct simulated_wait *w)
{
	if (!w->linked)
		return;
	SN_LIST_REMOVE(w);
	w->linked = false;
}

bool sn_simulated_wait_has(const struct simulated_wait *w, int fd)
{
	for (size_t i = 0; i < w->count; i++)
		if (w->fds[i].fd == fd)
			return true;
	return false;
}

/* The turn orders it: one thread runs at a time. */
static void rouse(struct simulated_wait *w)
{
	a_store_rlx(w->word, 1);
	sennit_point_wake((const uint32_t *)&w->word->value_);
}

void sn_simulated_touch(int fd)
{
	for (struct simulated_wait *w = waits; fd >= 0 && w; w = w->next)
		if (sn_simulated_wait_has(w, fd))
			rouse(w);
}

void sn_simulated_end_waits(int fd)
{
	for (struct simulated_wait *w = waits; fd >= 0 && w; w = w->next) {
		if (!sn_simulated_wait_has(w, fd))
			continue;
		w->closed = true;
		rouse(w);
	}
}

#endif

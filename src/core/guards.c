/* SPDX-License-Identifier: Apache-2.0 */
#include "core/guards.h"

/* The number of costly guards in the process. */
static a_u32 all; /* any; only compared with a limit that leaves a reserve, so
		   * relaxed is enough */

void sn_guards_init(struct guards *g)
{
	*g = (struct guards){ .kind = os_guard_kind(), .limit = UINT32_MAX };
}

void sn_guards_free(struct guards *g)
{
	sn_guards_drop(g->costly);
	g->costly = 0;
}

bool sn_guards_make_cheap(const struct guards *g, void *bottom, size_t pitch,
			  size_t count, size_t size)
{
	return g->kind == OS_GUARD_CHEAP &&
	       !os_guard(OS_GUARD_CHEAP, bottom, pitch, count, size);
}

/* Queried at the first such guard, because most systems need none. */
static uint32_t limit_of(struct guards *g)
{
	size_t guards;

	if (g->limit == UINT32_MAX) {
		guards = os_mapping_limit() / 4 / 2; /* each guard adds two
						      * mappings */
		g->limit = guards < INT32_MAX ? (uint32_t)guards : INT32_MAX;
	}
	return g->limit;
}

bool sn_guards_make_costly(struct guards *g, void *bottom, size_t size)
{
	if (a_add_rlx(&all, 1) < limit_of(g) &&
	    !os_guard(OS_GUARD_MAPPING, bottom, 0, 1, size)) {
		g->costly++;
		return true;
	}
	a_add_rlx(&all, UINT32_MAX);
	return false;
}

void sn_guards_leave(struct guards *g, uint32_t costly)
{
	g->costly -= costly;
}

void sn_guards_adopt(struct guards *g, uint32_t costly)
{
	g->costly += costly;
}

void sn_guards_drop(uint32_t costly)
{
	a_add_rlx(&all, 0 - costly);
}

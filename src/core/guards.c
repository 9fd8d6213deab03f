/* SPDX-License-Identifier: Apache-2.0 */
#include "core/guards.h"

#include <unistd.h>

/* The number of costly guards in the process. */
static a_u32 all; /* any; only compared with a limit that leaves a reserve, so
		   * relaxed is enough */

/* Costly guards that a holder gets even if others have used up the limit: a
 * scheduler must not stand still because another one has many idle stacks. */
#define ASSURED 64

void sn_guards_init(struct guards *g)
{
	*g = (struct guards){ .kind = os_guard_kind(),
			      .limit = UINT32_MAX,
			      .assured = ASSURED };
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

bool sn_guards_make_costly(struct guards *g, void *bottom, size_t size,
			   bool must)
{
	const bool room = a_add_rlx(&all, 1) < limit_of(g);

	if (must)
		g->assured++; /* the others are as many as before */
	if ((room || must || g->costly < g->assured) &&
	    !os_guard(OS_GUARD_MAPPING, bottom, 0, 1, size)) {
		g->costly++;
		return true;
	}
	a_add_rlx(&all, UINT32_MAX);
	return false;
}

void sn_guards_tell_refused(struct guards *g)
{
	static a_u32 told; /* any; only one thread gets the 0 */

	if (!a_load_rlx(&told) && !a_add_rlx(&told, 1))
		os_print(STDERR_FILENO,
			 "sennit: no guard page for another stack: the process "
			 "has %u of at most %u guards, two mappings each; "
			 "tasks start when a stack is free. On Linux raise the "
			 "sysctl vm.max_map_count to 8 for each stack; see "
			 "sennit_config.guards\n",
			 a_load_rlx(&all), limit_of(g));
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

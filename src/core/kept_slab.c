/* SPDX-License-Identifier: Apache-2.0 */
#include "core/kept_slab.h"

#include "base/atomic.h"
#include "base/memory.h"
#include "base/torture.h"
#include "core/guards.h"

/* A run that a seed repeats must not depend on the runs before it. */
#ifdef SENNIT_DETERMINISTIC
enum { KEEPS = 0 };
#else
enum { KEEPS = 1 };
#endif

enum { EMPTY, BUSY, FULL };

static a_u32            state; /* any */
static struct kept_slab kept;  /* of whoever has made `state` BUSY */

/* Change from one state to BUSY. Returns whether it was that state. */
static bool begin(uint32_t from)
{
	/* A stale value only means to do without the slab. */
	if (a_load_rlx(&state) != from)
		return false;
	return a_cas_acq(&state, &from, BUSY); /* <- kept_slab.state */
}

static void end(uint32_t to)
{
	TORTURE_POINT();         /* busy */
	a_store_rel(&state, to); /* -> kept_slab.state: the slab, its memory */
}

static void unmap(const struct kept_slab *k)
{
	const size_t size = k->pitch * k->count;

	sn_memory_show(k->base, size);
	os_unmap(k->base, size);
	sn_guards_drop(k->guards);
}

bool sn_kept_slab_put(const struct kept_slab *k)
{
	struct kept_slab old = { .base = NULL };

	if (!KEEPS)
		return false;
	if (!begin(EMPTY)) {
		if (!begin(FULL))
			return false;
		old = kept;
	}
	kept = *k;
	sn_memory_hide(k->base, k->pitch * k->count);
	end(FULL);
	if (old.base)
		unmap(&old);
	return true;
}

bool sn_kept_slab_take(struct kept_slab *k, size_t pitch, size_t gap)
{
	bool fits;

	if (!begin(FULL))
		return false;
	fits = kept.pitch == pitch && kept.gap == gap;
	if (fits)
		*k = kept;
	end(fits ? EMPTY : FULL);
	if (fits)
		sn_memory_show(k->base, pitch * k->count);
	return fits;
}

void sn_kept_slab_drop(void)
{
	struct kept_slab k;

	if (!begin(FULL))
		return;
	k = kept;
	end(EMPTY);
	unmap(&k);
}

void sn_kept_slab_fork(void)
{
	if (a_load_rlx(&state) == BUSY) /* not raced: this thread is the only
					 * one */
		a_store_rlx(&state, EMPTY);
}

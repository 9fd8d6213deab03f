/* SPDX-License-Identifier: Apache-2.0 */
/* guards.h - the guards below stacks.
 *
 * A cheap guard needs no mapping of its own. A costly one splits the mapping;
 * the process counts those, because the number of its mappings is limited. Some
 * of them are a holder's share, which it gives up with sn_guards_free.
 */
#ifndef SN_GUARDS_H
#define SN_GUARDS_H

#include "os/os.h"

#include <stdbool.h>

struct guards {
	enum os_guard kind;   /* fixed: what the system has */
	uint32_t      limit;  /* maximum number of costly guards in the process;
			     * UINT32_MAX: not queried yet */
	uint32_t      costly; /* this holder's share of them */
	uint32_t      assured; /* this share may be as large in any case */
};

void sn_guards_init(struct guards *g);
void sn_guards_free(struct guards *g);

/* Make cheap guards of `size` bytes at bottom + i * pitch for each i < count.
 * Returns false if the system refuses; some of them may then be there. */
bool sn_guards_make_cheap(const struct guards *g, void *bottom, size_t pitch,
			  size_t count, size_t size);

/* Make a costly guard, unless the process already has too many of them and the
 * share is as large as assured. With `must` only the system can refuse it. */
bool sn_guards_make_costly(struct guards *g, void *bottom, size_t size,
			   bool must);

/* Write once in the process to standard error that a stack got no guard. */
void sn_guards_tell_refused(struct guards *g);

/* sn_guards_leave takes costly guards out of the share; they stay counted.
 * sn_guards_adopt adds such guards to another share. sn_guards_drop ends their
 * count. */
void sn_guards_leave(struct guards *g, uint32_t costly);
void sn_guards_adopt(struct guards *g, uint32_t costly);
void sn_guards_drop(uint32_t costly);

#endif

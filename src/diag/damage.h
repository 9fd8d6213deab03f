/* SPDX-License-Identifier: Apache-2.0 */
/* damage.h - what a visit of all fibers finds damaged, told in a line each.
 *
 * A record that ends while it is read looks damaged as well. So what seems
 * damaged is told only if it is still listed where it was found. */
#ifndef SN_DAMAGE_H
#define SN_DAMAGE_H

#include "diag/fiber_record.h"

#define DAMAGE_LINE 256u

typedef void damage_teller(void *context, const char *line);

struct damage {
	damage_teller *tell; /* NULL: nobody is told */
	void          *context;
	bool     is_given; /* the caller named the scheduler: it is there */
	unsigned count;    /* so far */
	struct address_list again;
};

/* Something of the scheduler's is damaged, or, unless worker is 0, of that
 * worker's, if they are still there. `name` is the scheduler's. */
void sn_damage_add(struct damage *d, uintptr_t scheduler, uintptr_t worker,
		   const char *name, const char *what, uintptr_t at);

/* The fiber was listed by the worker, and its record made no sense. Whether
 * that lasts. */
bool sn_damage_is_lasting(struct damage *d, const struct worker_record *w,
			  uintptr_t fiber);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* shrink.h - a program that fails, and the smallest one that still does. */
#ifndef SN_PROGRAM_SHRINK_H
#define SN_PROGRAM_SHRINK_H

#include "program.h"

struct failure {
	uint64_t seed;           /* of the program */
	uint64_t schedule;       /* of the program as it is now */
	uint64_t first_schedule; /* of the whole program */
	char     text[8192];     /* what it said */
};

/* Runs programs from this seed on in child processes: `count` of them, or for
 * `seconds`, each under `schedules` schedules, or under the one `schedule`.
 * Returns whether one failed. */
bool find_failure(struct failure *f, uint64_t seed, uint64_t schedule,
		  unsigned schedules, unsigned count, unsigned seconds);

/* Cuts *p as far as it still fails. */
void shrink(struct program *p, struct failure *f);

#endif

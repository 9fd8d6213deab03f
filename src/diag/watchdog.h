/* SPDX-License-Identifier: Apache-2.0 */
/* watchdog.h - which fibers have done one thing for too long.
 *
 * A look is a report at one time. What a fiber does is known by its turn
 * (sennit_report_entry.turn). Times are counted from the first look that saw
 * it, so they are never too long. The caller passes the time, so tests need no
 * clock.
 */
#ifndef SN_WATCHDOG_H
#define SN_WATCHDOG_H

#include "sennit/watchdog.h"

enum suspect_kind {
	SUSPECT_TASK = 0, /* runs while others are ready */
	SUSPECT_READY,
	SUSPECT_CALL,
	SUSPECT_KINDS,
	SUSPECT_WORK = SUSPECT_KINDS /* no suspect: its thread has other work */
};

struct suspect {
	enum suspect_kind   kind;
	bool                used;  /* this slot of the table */
	bool                told;  /* its line has been written */
	sennit_time         first; /* the first look that saw it */
	sennit_report_entry entry; /* of the first look; its name is `name` */
	char                name[SENNIT_NAME_SIZE];
};

/* Slots of a table, a power of two, and how many of them may be used. */
enum { SUSPECT_SLOTS = 8192, SUSPECT_MAX = SENNIT_WATCHDOG_FIBERS };

struct suspect_table {
	struct suspect slots[SUSPECT_SLOTS];
	uint32_t       count;
};

struct suspects {
	sennit_time           limits[SUSPECT_KINDS]; /* 0: not watched */
	sennit_time           now;                   /* of the current look */
	struct suspect_table  tables[2];
	struct suspect_table *current, *before; /* of this look, the last */
	uint32_t              at; /* slot where sn_suspects_next goes on */
	sennit_time           lines[SENNIT_WATCHDOG_LINES]; /* times of the
							     * last lines */
	uint32_t              line; /* index of the oldest of them */
};

/* *s must be zeros. */
void sn_suspects_init(struct suspects               *s,
		      const sennit_watchdog_options *options);

/* A look begins: entries of the report follow. `now` must not be 0. */
void sn_suspects_begin(struct suspects *s, sennit_time now);
void sn_suspects_add(struct suspects *s, const sennit_report_entry *e);

/* After the look: the next suspect whose line is due and permitted. It counts
 * as told. NULL: none. */
const struct suspect *sn_suspects_next(struct suspects *s);

/* Watch *s, which the caller holds, for tasks and ready fibers that take longer
 * than `ms`, until it ends, and write to standard error. Returns 0, -ENOMEM, or
 * -EAGAIN if the system refuses the thread. */
SENNIT_MUST_USE int sn_watchdog_follow(sennit_scheduler *s, uint32_t ms);

/* --- watchdog line -------------------------------------------------------- */

/* The line of a watchdog about one suspect. */

/* Write the line of *n, which has lasted for `lasted`. */
void sn_watchdog_line_write(sennit_scheduler              *s,
			    const sennit_watchdog_options *options,
			    const struct suspect *n, sennit_time lasted);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* watchdog.h - which fibers have done one thing for too long.
 *
 * A look is a report at one time. What a fiber does is known by its turn
 * (sennit_report_entry.turn): one turn in two looks is one thing all the time
 * between them. So nothing is judged by two states that may not belong
 * together. Times are counted from the first look that saw it, so they are
 * never too long. The caller passes the time, so tests need no clock.
 */
#ifndef SN_WATCHDOG_H
#define SN_WATCHDOG_H

#include "sennit/scheduler.h"
#include "sennit/watchdog.h"
#include "sennit/wait_graph.h"

#include <stdbool.h>

enum suspect_kind {
	SUSPECT_TASK = 0, /* runs */
	SUSPECT_READY,
	SUSPECT_WAIT,
	SUSPECT_WORK /* no suspect: its thread has other work */
};

struct suspect {
	enum suspect_kind   kind;
	bool                used;  /* this slot of the table */
	bool                told;  /* it is in a finding */
	sennit_time         first; /* the first look that saw it */
	sennit_time         limit; /* 0: none of its own */
	uint64_t            cpu;   /* RUNNING: nanoseconds that its thread had
				    * used then */
	sennit_report_entry entry; /* of the first look; its name is `name` */
	char                name[SENNIT_NAME_SIZE];
};

/* Slots of a table, a power of two, and how many of them may be used. */
enum { SUSPECT_SLOTS = 8192, SUSPECT_MAX = SENNIT_WATCHDOG_FIBERS };

struct suspect_table {
	struct suspect slots[SUSPECT_SLOTS];
	uint32_t       count;
};

/* A deadlock is known by the turn of one of its fibers, always the same one. */
struct seen_deadlock {
	uint32_t    thread, fiber;
	uint64_t    turn;
	sennit_time first;
	bool        told;
};

enum { SEEN_DEADLOCKS = 64 };

struct suspects {
	const sennit_watchdog_options *options;
	sennit_time                    now; /* of the current look */
	struct suspect_table           tables[2];
	struct suspect_table *current, *before; /* of this look, the last */
	uint32_t              at; /* slot where sn_suspects_next goes on */
	uint32_t    waiting, ready, queued; /* entries of this look; tasks */
	bool        stood_still;            /* it is told */
	bool        calls_are_stuck;        /* that is told */
	sennit_time lines[SENNIT_WATCHDOG_LINES]; /* times of the last
						   * findings */
	uint32_t    line; /* index of the oldest of them */

	struct seen_deadlock deadlocks[2][SEEN_DEADLOCKS];
	uint32_t             deadlock_counts[2];
	uint32_t             deadlocks_now; /* index of the current set */
	sennit_time          deadlocks_at;  /* when it was taken; 0: never */
};

/* *s must be zeros. *options stays. */
void sn_suspects_init(struct suspects               *s,
		      const sennit_watchdog_options *options);

/* A look begins: entries of the report follow. `now` must not be 0. */
void sn_suspects_begin(struct suspects *s, sennit_time now);
void sn_suspects_add(struct suspects *s, const sennit_report_entry *e);

/* After the look: the next suspect whose finding is due and permitted. It
 * counts as told. NULL: none. */
const struct suspect *sn_suspects_next(struct suspects *s);

/* After the look: the next task that has run for the limit of a standstill,
 * from slot *at on. NULL: none. */
const struct suspect *sn_suspects_stuck(const struct suspects *s, uint32_t *at);

/* After the look, of a scheduler with that many workers: whether the finding of
 * a standstill is due and permitted. It counts as told. */
bool sn_suspects_stand_still(struct suspects *s, uint32_t workers);

/* After the look: whether the finding that blocking calls are stuck is due and
 * permitted. It counts as told. */
bool sn_suspects_calls_are_stuck(struct suspects *s, const sennit_stats *stats);

/* Of another wait than n's, whether it exceeds its limit and is for the same
 * object. */
bool sn_suspects_is_alike(const struct suspects *s, const struct suspect *n,
			  const struct suspect *other);

/* Whether it is time to look for deadlocks. If so, the look begins. */
bool sn_suspects_begin_deadlocks(struct suspects *s);

/* The look has found a deadlock; *e is one of its fibers, always the same one.
 * Returns whether its finding is due and permitted, and how long it has lasted.
 * It counts as told. */
bool sn_suspects_add_deadlock(struct suspects *s, const sennit_report_entry *e,
			      sennit_time *lasted);

/* Watch *s, which the caller holds, until it ends, and write to standard error:
 * tasks and ready fibers that take longer than `ms`; and, of ten times as long
 * and a second at least, standstills, deadlocks and waits for locks. Returns 0,
 * -ENOMEM, or -EAGAIN if the system refuses the thread. */
SENNIT_MUST_USE int sn_watchdog_follow(sennit_scheduler *s, uint32_t ms);

/* --- findings ------------------------------------------------------------- */

/* Nanoseconds of CPU that the thread has used; 0: the system does not say. */
uint64_t sn_finding_cpu(uint32_t thread);

/* Write the finding of *n, which has lasted until s->now. */
void sn_finding_write_suspect(sennit_scheduler      *scheduler,
			      const struct suspects *s,
			      const struct suspect  *n);

void sn_finding_write_standstill(sennit_scheduler      *scheduler,
				 const struct suspects *s, uint32_t workers);

void sn_finding_write_stuck_calls(const struct suspects *s,
				  const sennit_stats    *stats);

/* A deadlock: its edges, in their order, `count` of them, of which there is
 * room for some. */
enum { FINDING_EDGES = 16 };

struct finding_edge {
	sennit_report_entry waiter;
	char                name[SENNIT_NAME_SIZE];
	char                scheduler[SENNIT_NAME_SIZE];
	uint32_t            relation;
};

void sn_finding_write_deadlock(const sennit_watchdog_options *options,
			       const struct finding_edge *edges, uint32_t count,
			       sennit_time lasted);

#endif

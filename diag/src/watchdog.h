/* SPDX-License-Identifier: Apache-2.0 */
/* watchdog.h - finds fibers that do one thing for too long.
 *
 * A look is one reading of the report. A turn (sennit_report_entry.turn)
 * identifies what a fiber does: if two looks see the same turn, the fiber did
 * the same thing all the time between them. So no decision depends on two
 * states that do not belong together. Durations count from the first look that
 * saw the turn, so they are never too long. The caller passes the time, so
 * tests need no clock.
 *
 * A process may be stopped: by SIGSTOP, by a debugger, with its cgroup or its
 * machine. Then a look is late, and what it sees has not lasted as long as the
 * system's clock says. So durations are measured with a clock that advances
 * from one look to the next by at most the usual interval.
 */
#ifndef SN_WATCHDOG_H
#define SN_WATCHDOG_H

#include "sennit/scheduler.h"
#include "sennit/watchdog.h"
#include "sennit/wait_graph.h"

#include <stdbool.h>

enum suspect_kind {
	SUSPECT_TASK = 0, /* it runs */
	SUSPECT_READY,
	SUSPECT_WAIT,
	SUSPECT_WORK /* not a suspect: work that waits for its thread */
};

struct suspect {
	enum suspect_kind   kind;
	bool                used;     /* this slot of the table is used */
	bool                reported; /* a finding has reported it */
	sennit_time         first;    /* first look that saw it, by `clock` */
	sennit_time         limit;    /* 0: no limit of its own */
	uint64_t            cpu;      /* RUNNING: CPU time in ns that its thread
				    * had used at that look */
	sennit_report_entry entry;    /* the entry at the first look; its name
				    * points to `name` */
	char                name[SENNIT_TASK_NAME_SIZE];
};

/* The number of slots of a table, a power of two, and the maximum number of
 * used slots. */
enum { SUSPECT_SLOTS = 8192, SUSPECT_MAX = SENNIT_WATCHDOG_FIBERS };

struct suspect_table {
	struct suspect slots[SUSPECT_SLOTS];
	uint32_t       count;
};

/* A deadlock. It is identified by the turn of one of its fibers, always the
 * same one. */
struct seen_deadlock {
	uint32_t    thread, fiber;
	uint64_t    turn;
	sennit_time first; /* by `clock` */
	bool        reported;
};

enum { SEEN_DEADLOCKS = 64 };

struct suspects {
	const sennit_watchdog_options *options;
	sennit_time                    now;     /* time of the current look */
	sennit_time                    elapsed; /* since the previous look */
	sennit_time                    clock;   /* see above */
	struct suspect_table           tables[2];
	struct suspect_table *current, *before; /* of this look, of the previous
						 * one */
	uint32_t              at; /* the slot at which sn_suspects_next
				   * continues */
	uint32_t    waiting, ready, queued; /* entries of this look; `queued`:
					     * tasks */
	bool        stood_still;            /* it is reported */
	bool        calls_are_stuck;        /* that is reported */
	sennit_time calls_first; /* first look after one of them progressed, by
				  * `clock` */
	sennit_time lines[SENNIT_WATCHDOG_LINES]; /* times of the latest
						   * findings */
	uint32_t    line; /* index of the oldest of them */

	struct seen_deadlock deadlocks[2][SEEN_DEADLOCKS];
	uint32_t             deadlock_counts[2];
	uint32_t             deadlocks_now; /* index of the current set */
	sennit_time          deadlocks_at;  /* time of the look that made it; 0:
					     * none */
};

/* Initialise *s, which must be zeros. *options must outlive *s. */
void sn_suspects_init(struct suspects               *s,
		      const sennit_watchdog_options *options);

/* Begin a look. The entries of the report follow. `now` must not be 0. `usual`
 * is the expected time since the previous look. */
void sn_suspects_begin(struct suspects *s, sennit_time now, sennit_time usual);
void sn_suspects_add(struct suspects *s, const sennit_report_entry *e);

/* After the look: return the next suspect whose finding is due and permitted,
 * and mark it as reported. NULL: none. */
const struct suspect *sn_suspects_next(struct suspects *s);

/* After the look: return the next task that has run for the limit of a
 * standstill, from slot *at on. NULL: none. */
const struct suspect *sn_suspects_stuck(const struct suspects *s, uint32_t *at);

/* After the look, for a scheduler with `workers` workers: report whether the
 * finding of a standstill is due and permitted. It is then marked as
 * reported. */
bool sn_suspects_stand_still(struct suspects *s, uint32_t workers);

/* After the look: report whether the finding that blocking calls are stuck is
 * due and permitted. It is then marked as reported. */
bool sn_suspects_calls_are_stuck(struct suspects *s, const sennit_stats *stats);

/* Report whether `other` is another wait than n's, exceeds its limit and is for
 * the same object. */
bool sn_suspects_is_alike(const struct suspects *s, const struct suspect *n,
			  const struct suspect *other);

/* Report whether it is time to look for deadlocks. If so, a look for deadlocks
 * begins. */
bool sn_suspects_begin_deadlocks(struct suspects *s);

/* Add a deadlock that the look has found. *e is one of its fibers, always the
 * same one. *lasted becomes how long it has lasted. Returns whether its finding
 * is due and permitted. It is then marked as reported. */
bool sn_suspects_add_deadlock(struct suspects *s, const sennit_report_entry *e,
			      sennit_time *lasted);

/* Watch *s, to which the caller has a reference, until it ends, and write
 * findings to standard error: for tasks and ready fibers that take longer than
 * `ms`, and for standstills, deadlocks and lock waits that take longer than ten
 * times `ms` and a second. Returns 0, -ENOMEM, or -EAGAIN if the system refuses
 * the thread. */
SENNIT_MUST_USE int sn_watchdog_follow(sennit_scheduler *s, uint32_t ms);

/* --- findings ------------------------------------------------------------- */

/* Return the CPU time in ns that the thread has used; 0: not known. */
uint64_t sn_finding_cpu(uint32_t thread);

/* Write the finding of *n, which has lasted until s->now. */
void sn_finding_write_suspect(sennit_scheduler      *scheduler,
			      const struct suspects *s,
			      const struct suspect  *n);

void sn_finding_write_standstill(sennit_scheduler      *scheduler,
				 const struct suspects *s, uint32_t workers);

void sn_finding_write_stuck_calls(const struct suspects *s,
				  const sennit_stats    *stats);

/* A deadlock of `count` edges, in order. There is room for the first
 * FINDING_EDGES. */
enum { FINDING_EDGES = 16 };

struct finding_edge {
	sennit_report_entry waiter;
	char                name[SENNIT_TASK_NAME_SIZE];
	char                scheduler[SENNIT_TASK_NAME_SIZE];
	uint32_t            relation;
};

void sn_finding_write_deadlock(const sennit_watchdog_options *options,
			       const struct finding_edge *edges, uint32_t count,
			       sennit_time lasted);

#endif

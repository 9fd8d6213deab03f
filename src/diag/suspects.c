/* SPDX-License-Identifier: Apache-2.0 */
#include "diag/suspects.h"

#include <string.h>

_Static_assert(SUSPECT_MAX <= SUSPECT_SLOTS / 2, "searches stay short");

/* --- the tables --------------------------------------------------------- */

static bool is_same(const struct suspect *n, enum suspect_kind kind,
		    const sennit_report_entry *e)
{
	return n->kind == kind && n->entry.thread == e->thread &&
	       n->entry.fiber == e->fiber && n->entry.turn == e->turn;
}

/* The slot of such a suspect, or the free one where it belongs. */
static struct suspect *slot_of(struct suspect_table *t, enum suspect_kind kind,
			       const sennit_report_entry *e)
{
	uint32_t at = (e->thread * 31 + e->fiber * 4 + kind) * 0x9e3779b9u >> 8;

	for (;; at++) {
		struct suspect *n = &t->slots[at % SUSPECT_SLOTS];

		if (!n->used || is_same(n, kind, e))
			return n;
	}
}

static void keep(struct suspects *s, enum suspect_kind kind,
		 const sennit_report_entry *e)
{
	const struct suspect *old = slot_of(s->before, kind, e);
	struct suspect       *n = slot_of(s->current, kind, e);

	if (n->used || s->current->count == SUSPECT_MAX)
		return;
	s->current->count++;
	if (old->used) {
		*n = *old;
	} else {
		n->used = true;
		n->kind = kind;
		n->first = s->now;
		n->entry = *e;
		if (e->name)
			strncpy(n->name, e->name, sizeof(n->name) - 1);
	}
	n->entry.name = e->name ? n->name : NULL;
}

/* --- a look ------------------------------------------------------------- */

void sn_suspects_init(struct suspects               *s,
		      const sennit_watchdog_options *options)
{
	s->limits[SUSPECT_TASK] = options->task_ms * SENNIT_MILLISECOND;
	s->limits[SUSPECT_READY] = options->ready_ms * SENNIT_MILLISECOND;
	s->limits[SUSPECT_CALL] = options->call_ms * SENNIT_MILLISECOND;
	s->current = &s->tables[0];
	s->before = &s->tables[1];
}

void sn_suspects_begin(struct suspects *s, sennit_time now)
{
	struct suspect_table *t = s->before;

	s->before = s->current;
	s->current = t;
	if (t->count)
		memset(t, 0, sizeof(*t));
	s->now = now;
	s->at = 0;
}

/* What runs on `thread` keeps other work waiting. */
static void keep_work(struct suspects *s, uint32_t thread)
{
	const sennit_report_entry work = { .thread = thread };

	if (s->limits[SUSPECT_TASK])
		keep(s, SUSPECT_WORK, &work);
}

/* Its worker has not looked at its timers since the deadline. It only lacks a
 * turn, as a ready fiber does. */
static bool is_overdue(const struct suspects *s, const sennit_report_entry *e)
{
	return e->state == SENNIT_REPORT_BLOCKED && e->deadline &&
	       e->deadline < s->now;
}

void sn_suspects_add(struct suspects *s, const sennit_report_entry *e)
{
	const bool is_call = e->state == SENNIT_REPORT_BLOCKED &&
			     e->waits_for == SENNIT_WAITS_FOR_CALL;
	const bool is_ready = e->state == SENNIT_REPORT_READY ||
			      is_overdue(s, e);

	if (is_ready || e->state == SENNIT_REPORT_QUEUED)
		keep_work(s, e->thread);
	/* Without a task it is a bound thread that may be anywhere. */
	if (e->state == SENNIT_REPORT_RUNNING && e->task &&
	    s->limits[SUSPECT_TASK])
		keep(s, SUSPECT_TASK, e);
	else if (is_ready && s->limits[SUSPECT_READY])
		keep(s, SUSPECT_READY, e);
	else if (is_call && s->limits[SUSPECT_CALL])
		keep(s, SUSPECT_CALL, e);
}

/* --- lines -------------------------------------------------------------- */

static bool is_due(struct suspects *s, const struct suspect *n)
{
	const sennit_report_entry work = { .thread = n->entry.thread };

	if (!n->used || n->told || n->kind == SUSPECT_WORK ||
	    s->now - n->first < s->limits[n->kind])
		return false;
	return n->kind != SUSPECT_TASK ||
	       slot_of(s->current, SUSPECT_WORK, &work)->used;
}

/* The oldest of the last lines must be out of the window. */
static bool may_write(const struct suspects *s)
{
	const sennit_time oldest = s->lines[s->line];

	return !oldest || s->now - oldest >= SENNIT_WATCHDOG_WINDOW;
}

const struct suspect *sn_suspects_next(struct suspects *s)
{
	for (; s->at < SUSPECT_SLOTS && may_write(s); s->at++) {
		struct suspect *n = &s->current->slots[s->at];

		if (!is_due(s, n))
			continue;
		n->told = true;
		s->lines[s->line] = s->now;
		s->line = (s->line + 1) % SENNIT_WATCHDOG_LINES;
		return n;
	}
	return NULL;
}

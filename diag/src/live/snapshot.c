/* SPDX-License-Identifier: Apache-2.0 */
/* snapshot.c - the JSON text of a snapshot. */
#include "live/live.h"

#include "base/text.h"
#include "sennit/detail/debugger.h"
#include "sennit/symbol.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void sn_live_snapshot_reset(struct live_snapshot *p)
{
	p->looks = 0;
	for (uint32_t i = 0; i < LIVE_SCHEDULERS; i++)
		p->samples[i].of = NULL;
}

/* --- looking ------------------------------------------------------------- */

/* Get references to the schedulers to look at. */
static size_t retain(const struct live_snapshot *p, sennit_scheduler *out[])
{
	if (p->only)
		return !sennit_weak_scheduler_lock(p->only, out);
	return sennit_schedulers_get(out, LIVE_SCHEDULERS);
}

/* Return the sample of s, or an unused one. A new scheduler at the address of
 * an ended one starts from 0. */
static struct live_sample *sample_of(struct live_snapshot *p,
				     sennit_scheduler     *s)
{
	struct live_sample *unused = NULL;

	for (uint32_t i = 0; i < LIVE_SCHEDULERS; i++) {
		if (p->samples[i].of == s)
			return &p->samples[i];
		/* Those not seen in the last look have ended. */
		if (!p->samples[i].of || p->samples[i].look + 1 < p->looks)
			unused = &p->samples[i];
	}
	if (unused)
		sn_live_sample_reset(unused, s);
	return unused;
}

static void look_at(struct live_snapshot *p, sennit_scheduler *s)
{
	struct live_sample *m = sample_of(p, s);

	if (!m)
		return;
	m->look = p->looks;
	sn_live_sample_update(m);
	if (m->stats.tasks < m->mark.tasks)
		sn_live_sample_reset(m, NULL);
}

void sn_live_snapshot_update(struct live_snapshot *p)
{
	sennit_scheduler *s[LIVE_SCHEDULERS];
	size_t            count;

	sennit_debug_calls.look(true); /* before there is a reference */
	count = retain(p, s);
	p->looks++;
	for (size_t i = 0; i < count; i++) {
		look_at(p, s[i]);
		sennit_scheduler_release(s[i]);
	}
	sennit_debug_calls.look(false);
}

static bool is_seen(const struct live_snapshot *p, const struct live_sample *m)
{
	return m->of && m->look == p->looks;
}

bool sn_live_snapshot_is_warm(const struct live_snapshot *p)
{
	for (uint32_t i = 0; i < LIVE_SCHEDULERS; i++)
		if (is_seen(p, &p->samples[i]) && !p->samples[i].warm)
			return false;
	return p->looks;
}

/* --- text ---------------------------------------------------------------- */

/* Write the names of a task and of its function, as members. */
static void write_task(struct live_text *t, sennit_task_fn *run,
		       const char *name)
{
	char symbol[128] = "";

	if (run)
		sennit_symbol_print((const void *)(uintptr_t)run, symbol,
				    sizeof(symbol));
	sn_live_text_add(t, "\"task\":");
	sn_live_text_quote(t, name);
	sn_live_text_add(t, ",\"function\":");
	sn_live_text_quote(t, symbol);
}

/* Return the number of a worker; -1: a bound thread. */
static int64_t number(uint32_t worker)
{
	return worker == UINT32_MAX ? -1 : (int64_t)worker;
}

static void write_worker(struct live_text *t, const struct live_worker *w)
{
	static const char *const states[] = { "absent", "busy", "searching",
					      "asleep" };

	sn_live_text_add(t,
			 "{\"worker\":%" PRId64 ",\"thread\":%" PRIu32
			 ",\"state\":\"%s\"",
			 number(w->now.worker), w->now.thread,
			 states[w->now.state]);
	if (w->now.worker != UINT32_MAX)
		sn_live_text_add(t, ",\"busy_permille\":%" PRIu32, w->busy);
	sn_live_text_add(t,
			 ",\"tasks_per_s\":%" PRIu64 ",\"queued\":%" PRIu32
			 ",\"fibers\":%" PRIu64 "}",
			 w->tasks_per_s, w->now.queued, w->now.fibers);
}

static void write_workers(struct live_text *t, const struct live_sample *m)
{
	sn_live_text_add(t, "\"workers\":[");
	for (uint32_t i = 0; i < m->worker_count; i++) {
		sn_live_text_add(t, i ? "," : "");
		write_worker(t, &m->workers[i]);
	}
	sn_live_text_add(t, "],\"workers_left_out\":%" PRIu32,
			 m->workers_left_out);
}

static void write_hot(struct live_text *t, const struct live_sample *m)
{
	uint32_t order[LIVE_HOT];
	uint32_t count = sn_live_sample_hottest(m, order, LIVE_HOT);

	sn_live_text_add(t, "\"hot\":[");
	for (uint32_t i = 0; i < count; i++) {
		const struct live_task *task = &m->tasks[order[i]];

		sn_live_text_add(t, i ? ",{" : "{");
		write_task(t, task->run, task->name);
		sn_live_text_add(t, ",\"run_permille\":%" PRIu64 "}",
				 task->average * 1000 / LIVE_ONE);
	}
	sn_live_text_add(t, "]");
}

static const char *kind_of(uint32_t waits_for)
{
	const struct sennit_debug_descriptor *d = &sennit_debug_descriptor;

	return waits_for < d->waits_count ? d->waits[waits_for] : "?";
}

static uint64_t span(sennit_time from, sennit_time to)
{
	return to > from ? to - from : 0;
}

/* Write the object: an address or a descriptor. "": the wait has no object. */
static void write_object(struct live_text *t, const sennit_report_entry *e)
{
	uintptr_t object = (uintptr_t)e->object;

	if (e->waits_for == SENNIT_WAITS_FOR_IO)
		sn_live_text_add(t, ",\"object\":\"%d\"", (int)object);
	else if (object)
		sn_live_text_add(t, ",\"object\":\"%#" PRIxPTR "\"", object);
	else
		sn_live_text_add(t, ",\"object\":\"\"");
}

static void write_waiter(struct live_text *t, const struct live_waiter *w,
			 sennit_time now)
{
	const sennit_report_entry *e = &w->entry;

	sn_live_text_add(t,
			 "{\"worker\":%" PRId64 ",\"thread\":%" PRIu32
			 ",\"fiber\":%" PRIu32 ",",
			 number(e->worker), e->thread, e->fiber);
	write_task(t, e->task, w->name);
	sn_live_text_add(t, ",\"waits_for\":");
	sn_live_text_quote(t, kind_of(e->waits_for));
	write_object(t, e);
	sn_live_text_add(t, ",\"for_ns\":%" PRIu64, span(e->since, now));
	if (e->deadline != SENNIT_NEVER)
		sn_live_text_add(t, ",\"left_ns\":%" PRIu64,
				 span(now, e->deadline));
	sn_live_text_add(t, "}");
}

static void write_waiters(struct live_text *t, const struct live_sample *m)
{
	sennit_time now = sennit_now();

	sn_live_text_add(t, "\"waiters\":[");
	for (uint32_t i = 0; i < m->waiter_count; i++) {
		sn_live_text_add(t, i ? "," : "");
		write_waiter(t, &m->waiters[i], now);
	}
	sn_live_text_add(t, "]");
}

static void write_totals(struct live_text *t, const struct live_sample *m)
{
	const sennit_stats *s = &m->stats;

	sn_live_text_add(
		t,
		",\"threads\":%" PRIu64 ",\"tasks\":%" PRIu64
		",\"tasks_per_s\":%" PRIu64 ",\"steals_per_s\":%" PRIu64
		",\"blocks_per_s\":%" PRIu64 ",\"parks_per_s\":%" PRIu64,
		s->threads, s->tasks, m->tasks_per_s, m->steals_per_s,
		m->blocks_per_s, m->parks_per_s);
	sn_live_text_add(t,
			 ",\"running\":%" PRIu64 ",\"ready\":%" PRIu64
			 ",\"blocked\":%" PRIu64 ",\"queued\":%" PRIu64
			 ",\"stacks\":%" PRIu64 ",\"stacks_idle\":%" PRIu64
			 ",\"stack_bytes\":%" PRIu64
			 ",\"blocking_threads\":%" PRIu64 ",",
			 m->running, m->ready, m->blocked, m->queued, s->stacks,
			 s->stacks_idle, s->stack_bytes, s->blocking_threads);
}

/* Write the latencies that have values in the last period. */
static void write_latencies(struct live_text *t, const struct live_latencies *l)
{
	bool any = false;

	sn_live_text_add(t, "\"latencies\":[");
	for (uint32_t i = 0; i < l->count; i++) {
		const struct live_latency *r = &l->of[i];

		if (!r->count)
			continue;
		sn_live_text_add(t, any ? ",{\"name\":" : "{\"name\":");
		sn_live_text_quote(t, r->name);
		sn_live_text_add(t, ",\"kind\":");
		sn_live_text_quote(t, r->kind);
		sn_live_text_add(t,
				 ",\"count\":%" PRIu64 ",\"p50_ns\":%" PRIu64
				 ",\"p99_ns\":%" PRIu64 "}",
				 r->count, r->p50, r->p99);
		any = true;
	}
	sn_live_text_add(t, "]");
}

static void write_scheduler(struct live_text *t, const struct live_sample *m)
{
	sn_live_text_add(t, "{\"name\":");
	sn_live_text_quote(t, m->name);
	write_totals(t, m);
	write_workers(t, m);
	sn_live_text_add(t, ",");
	write_hot(t, m);
	sn_live_text_add(t, ",");
	write_waiters(t, m);
	sn_live_text_add(t, ",");
	write_latencies(t, &m->latencies);
	sn_live_text_add(t, "}");
}

void sn_live_snapshot_write(const struct live_snapshot *p, struct live_text *t)
{
	bool any = false;

	sn_live_text_add(t,
			 "{\"sennit_live\":%d,\"type\":\"snapshot\","
			 "\"time_ns\":%" PRIu64 ",\"schedulers\":[",
			 LIVE_VERSION, sennit_now());
	for (uint32_t i = 0; i < LIVE_SCHEDULERS; i++) {
		const struct live_sample *m = &p->samples[i];

		if (!is_seen(p, m))
			continue;
		sn_live_text_add(t, any ? "," : "");
		write_scheduler(t, m);
		any = true;
	}
	sn_live_text_add(t, "]}\n");
}

/* --- live text ------------------------------------------------------------ */

/* The maximum length of an escaped string. */
#define LONGEST 256

void sn_live_text_add(struct live_text *t, const char *format, ...)
{
	size_t  room = t->size - t->used;
	va_list arguments;
	int     n;

	va_start(arguments, format);
	n = vsnprintf(t->at + t->used, room, format, arguments);
	va_end(arguments);
	if (n < 0 || (size_t)n >= room)
		t->cut = true;
	else
		t->used += (size_t)n;
}

void sn_live_text_quote(struct live_text *t, const char *string)
{
	char   harmless[LONGEST];
	char   quoted[2 * LONGEST];
	size_t used = 0;

	sn_escape(harmless, sizeof(harmless), string);
	for (const char *c = harmless; *c; c++) {
		if (*c == '"' || *c == '\\')
			quoted[used++] = '\\';
		quoted[used++] = *c;
	}
	sn_live_text_add(t, "\"%.*s\"", (int)used, quoted);
}

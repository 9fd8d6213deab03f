/* SPDX-License-Identifier: Apache-2.0 */
#include "diag/watchdog_line.h"

#include "base/escape.h"
#include "base/write_all.h"
#include "sennit/stacks.h"
#include "sennit/symbol.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

struct line {
	size_t used;
	char   text[2048];
};

__attribute__((format(printf, 2, 3))) static void add(struct line *l,
						      const char  *format, ...)
{
	const size_t room = sizeof(l->text) - l->used;
	va_list      arguments;
	int          n;

	va_start(arguments, format);
	n = vsnprintf(l->text + l->used, room, format, arguments);
	va_end(arguments);
	if (n > 0)
		l->used += (size_t)n < room ? (size_t)n : room - 1;
}

static void add_function(struct line *l, const void *address)
{
	char function[128];

	sennit_symbol_print(address, function, sizeof(function));
	add(l, "%s", function);
}

static void add_place(struct line *l, const sennit_report_entry *e)
{
	if (e->worker == SENNIT_REPORT_BOUND)
		add(l, "thread %u, bound", e->thread);
	else
		add(l, "worker %u, thread %u", e->worker, e->thread);
	add(l, ", fiber %u: ", e->fiber);
}

static void add_task(struct line *l, const sennit_report_entry *e)
{
	char name[4 * SENNIT_NAME_SIZE];

	if (e->name) {
		sn_escape(name, sizeof(name), e->name);
		add(l, "%s (", name);
	}
	if (e->task)
		add_function(l, (const void *)(uintptr_t)e->task);
	else
		add(l, "its own stack");
	if (e->name)
		add(l, ")");
}

static void add_reason(struct line *l, const struct suspect *n,
		       sennit_time lasted)
{
	const uint64_t ms = lasted / SENNIT_MILLISECOND;

	switch (n->kind) {
	case SUSPECT_TASK:
		add(l, " runs for %" PRIu64 " ms while others are ready", ms);
		break;
	case SUSPECT_READY:
		add(l,
		    n->entry.state == SENNIT_REPORT_BLOCKED
			    ? " is overdue for %" PRIu64 " ms"
			    : " is ready for %" PRIu64 " ms",
		    ms);
		break;
	default:
		add(l, " waits for %" PRIu64 " ms for a blocking call of ", ms);
		add_function(l, n->entry.object);
	}
}

/* --- the backtrace ------------------------------------------------------ */

/* Frames shown at most. */
#define FRAMES 24

struct trace {
	struct line          *line;
	const struct suspect *suspect;
};

/* Whether both are about the same wait, or the same running task. */
static bool is_same(const sennit_report_entry *a, const sennit_report_entry *b)
{
	return a->thread == b->thread && a->fiber == b->fiber &&
	       a->task == b->task && a->state == b->state &&
	       (a->state == SENNIT_REPORT_RUNNING || a->since == b->since);
}

/* If the fiber has gone on since, its stack says nothing. */
static void add_frames(void *context, const sennit_stack *stack)
{
	const struct trace *t = context;

	if (!is_same(stack->fiber, &t->suspect->entry))
		return;
	for (uint32_t i = 0; i < stack->count && i < FRAMES; i++) {
		/* A return address may be the first byte of the next
		 * function. */
		const char *at = stack->frames[i];
		const bool  is_exact = !i &&
				      stack->source == SENNIT_STACK_SAMPLED;

		add(t->line, i ? " < " : ": ");
		add_function(t->line, is_exact ? at : at - 1);
	}
}

static void add_trace(struct line *l, sennit_scheduler *s,
		      const struct suspect *n)
{
	struct trace t = { l, n };

	/* A line without a backtrace is better than none. */
	(void)!sennit_stacks_visit(s, add_frames, &t);
}

/* --- the line ----------------------------------------------------------- */

void sn_watchdog_line_write(sennit_scheduler              *s,
			    const sennit_watchdog_options *options,
			    const struct suspect *n, sennit_time lasted)
{
	struct line l = { .used = 0 };

	add(&l, "sennit watchdog: ");
	add_place(&l, &n->entry);
	add_task(&l, &n->entry);
	add_reason(&l, n, lasted);
	add_trace(&l, s, n);
	if (options->line) {
		options->line(options->context, l.text);
		return;
	}
	l.used = l.used < sizeof(l.text) - 1 ? l.used : sizeof(l.text) - 2;
	l.text[l.used] = '\n';
	(void)sn_write_all(options->fd, l.text, l.used + 1);
}

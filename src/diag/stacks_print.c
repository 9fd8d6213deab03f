/* SPDX-License-Identifier: Apache-2.0 */
#include "diag/deadlocks.h"
#include "diag/stacks.h"
#include "diag/stacks_page.h"
#include "sennit/debugger.h"
#include "sennit/symbol.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#define SYMBOL  256
#define DAMAGES 8u /* the lines that JSON has room for */

static const char *const states[] = { "running", "ready", "blocked" };
static const char *const sources[] = { "suspended", "sampled", "unsampled",
				       "changed" };

struct print {
	struct stacks_page page;
	struct deadlocks   deadlocks;
	uint32_t           count;   /* fibers so far */
	uint32_t           damages; /* lines in `damage` */
	char               damage[DAMAGES][DAMAGE_LINE];
};

/* What a report says of the wait. */
static const char *wait_of(const sennit_report_entry *e)
{
	return e->waits_for < sennit_debug_descriptor.waits_count
		       ? sennit_debug_descriptor.waits[e->waits_for]
		       : "unknown";
}

/* The name of a frame: a return address may be the first one behind its
 * function, so look at the call. */
static void symbol_of(const sennit_stack *s, uint32_t i, char text[SYMBOL])
{
	const bool at_call = i || s->source == SENNIT_STACK_SUSPENDED;

	sennit_symbol_print((const char *)s->frames[i] - at_call, text, SYMBOL);
}

/* --- text --------------------------------------------------------------- */

static void print_place(struct stacks_page *p, const sennit_stack *s)
{
	const sennit_report_entry *e = s->fiber;

	sn_stacks_page_add_name(p, s->scheduler);
	if (e->worker == SENNIT_REPORT_BOUND)
		sn_stacks_page_add(p, " thread %u, bound", e->thread);
	else
		sn_stacks_page_add(p, " worker %u, thread %u", e->worker,
				   e->thread);
	sn_stacks_page_add(p, ", fiber %u: ", e->fiber);
}

static void print_task(struct stacks_page *p, const sennit_report_entry *e)
{
	char function[SYMBOL] = "its own stack";

	if (e->task)
		sennit_symbol_print((const void *)(uintptr_t)e->task, function,
				    sizeof(function));
	if (!e->name) {
		sn_stacks_page_add(p, "%s", function);
		return;
	}
	sn_stacks_page_add_name(p, e->name);
	sn_stacks_page_add(p, " (%s)", function);
}

static void print_state(struct stacks_page *p, const sennit_report_entry *e)
{
	const sennit_time now = sennit_now();
	const uint64_t    ms = now > e->since
				       ? (now - e->since) / SENNIT_MILLISECOND
				       : 0;

	if (e->state == SENNIT_REPORT_RUNNING)
		sn_stacks_page_add(p, "runs");
	else if (e->state == SENNIT_REPORT_READY)
		sn_stacks_page_add(p, "is ready");
	else
		sn_stacks_page_add(p, "waits for %s", wait_of(e));
	if (e->state == SENNIT_REPORT_BLOCKED &&
	    e->waits_for == SENNIT_WAITS_FOR_IO)
		sn_stacks_page_add(p, " %d", (int)(intptr_t)e->object);
	else if (e->state == SENNIT_REPORT_BLOCKED && e->object)
		sn_stacks_page_add(p, " %p", e->object);
	sn_stacks_page_add(p, ", for %" PRIu64 " ms", ms);
}

static void print_deadlock(struct stacks_page         *p,
			   const struct deadlock_wait *wait)
{
	sn_stacks_page_add(p, "  deadlock %u: it is held by ", wait->number);
	if (wait->holder_worker == SENNIT_REPORT_BOUND)
		sn_stacks_page_add(p, "thread %u", wait->holder_thread);
	else
		sn_stacks_page_add(p, "worker %u", wait->holder_worker);
	sn_stacks_page_add(p, ", fiber %u\n", wait->holder_fiber);
}

static void print_text(void *context, const sennit_stack *s)
{
	struct print               *print = context;
	struct stacks_page         *p = &print->page;
	const struct deadlock_wait *wait = sn_deadlocks_of(&print->deadlocks,
							   s->fiber);
	char                        symbol[SYMBOL];

	print->count++;
	print_place(p, s);
	print_task(p, s->fiber);
	sn_stacks_page_add(p, ": ");
	print_state(p, s->fiber);
	sn_stacks_page_add(p, "\n");
	if (wait)
		print_deadlock(p, wait);
	for (uint32_t i = 0; i < s->count; i++) {
		symbol_of(s, i, symbol);
		sn_stacks_page_add(p, "  #%-2u %#018" PRIxPTR " %s\n", i,
				   (uintptr_t)s->frames[i], symbol);
	}
	if (s->source == SENNIT_STACK_UNSAMPLED)
		sn_stacks_page_add(p, "  its thread did not say where it is\n");
	else if (s->source == SENNIT_STACK_CHANGED)
		sn_stacks_page_add(p, "  it has moved on\n");
	sn_stacks_page_add(p, "\n");
}

static void print_damage(void *context, const char *line)
{
	struct stacks_page *p = &((struct print *)context)->page;

	sn_stacks_page_add(p, "damaged: ");
	sn_stacks_page_add_name(p, line);
	sn_stacks_page_add(p, "\n\n");
}

/* --- JSON --------------------------------------------------------------- */

static void add_fiber(struct stacks_page *p, const sennit_stack *s)
{
	const sennit_report_entry *e = s->fiber;
	char                       function[SYMBOL];

	if (e->task)
		sennit_symbol_print((const void *)(uintptr_t)e->task, function,
				    sizeof(function));
	sn_stacks_page_add(p, "{\"scheduler\": ");
	sn_stacks_page_add_string(p, s->scheduler);
	if (e->worker == SENNIT_REPORT_BOUND)
		sn_stacks_page_add(p, ", \"worker\": null");
	else
		sn_stacks_page_add(p, ", \"worker\": %u", e->worker);
	sn_stacks_page_add(p,
			   ", \"thread\": %u, \"fiber\": %u, \"state\": \"%s\"",
			   e->thread, e->fiber, states[e->state]);
	sn_stacks_page_add(p, ", \"name\": ");
	sn_stacks_page_add_string(p, e->name);
	sn_stacks_page_add(p, ", \"task\": ");
	if (e->task)
		sn_stacks_page_add_quoted(p, function);
	else
		sn_stacks_page_add(p, "null");
}

static void add_wait(struct stacks_page *p, const sennit_report_entry *e)
{
	sn_stacks_page_add(p, ", \"waits_for\": ");
	sn_stacks_page_add_string(p, e->waits_for ? wait_of(e) : NULL);
	if (e->object)
		sn_stacks_page_add(p, ", \"object\": \"%#" PRIxPTR "\"",
				   (uintptr_t)e->object);
	else
		sn_stacks_page_add(p, ", \"object\": null");
	sn_stacks_page_add(p, ", \"since_ns\": %" PRIu64, e->since);
	if (e->deadline == SENNIT_NEVER)
		sn_stacks_page_add(p, ", \"deadline_ns\": null");
	else
		sn_stacks_page_add(p, ", \"deadline_ns\": %" PRIu64,
				   e->deadline);
}

static void add_deadlock(struct stacks_page         *p,
			 const struct deadlock_wait *wait)
{
	if (!wait) {
		sn_stacks_page_add(p, ", \"deadlock\": null");
		return;
	}
	sn_stacks_page_add(p, ", \"deadlock\": {\"number\": %u, ",
			   wait->number);
	if (wait->holder_worker == SENNIT_REPORT_BOUND)
		sn_stacks_page_add(p, "\"holder_worker\": null, ");
	else
		sn_stacks_page_add(p, "\"holder_worker\": %u, ",
				   wait->holder_worker);
	sn_stacks_page_add(p, "\"holder_thread\": %u, \"holder_fiber\": %u}",
			   wait->holder_thread, wait->holder_fiber);
}

static void print_json(void *context, const sennit_stack *s)
{
	struct print       *print = context;
	struct stacks_page *p = &print->page;
	char                symbol[SYMBOL];

	sn_stacks_page_add(p, "%s", print->count++ ? ", " : "");
	add_fiber(p, s);
	add_wait(p, s->fiber);
	add_deadlock(p, sn_deadlocks_of(&print->deadlocks, s->fiber));
	sn_stacks_page_add(p, ", \"stack\": \"%s\", \"frames\": [",
			   sources[s->source]);
	for (uint32_t i = 0; i < s->count; i++) {
		symbol_of(s, i, symbol);
		sn_stacks_page_add(
			p, "%s{\"address\": \"%#" PRIxPTR "\", \"symbol\": ",
			i ? ", " : "", (uintptr_t)s->frames[i]);
		sn_stacks_page_add_quoted(p, symbol);
		sn_stacks_page_add(p, "}");
	}
	sn_stacks_page_add(p, "]}");
}

/* The list of fibers is open. */
static void keep_damage(void *context, const char *line)
{
	struct print *print = context;

	if (print->damages < DAMAGES)
		strcpy(print->damage[print->damages++], line);
}

static void end_json(struct print *print, int err)
{
	struct stacks_page *p = &print->page;

	sn_stacks_page_add(p, "], \"damages\": [");
	for (uint32_t i = 0; i < print->damages; i++) {
		sn_stacks_page_add(p, "%s", i ? ", " : "");
		sn_stacks_page_add_string(p, print->damage[i]);
	}
	sn_stacks_page_add(p, "], \"error\": ");
	sn_stacks_page_add_string(p, err ? strerror(-err) : NULL);
	sn_stacks_page_add(p, "}\n");
}

static void end_text(struct print *print, int err)
{
	if (err && err != -EFAULT)
		sn_stacks_page_add(&print->page, "stacks cannot be read: %s\n",
				   strerror(-err));
	else if (!err && !print->count)
		sn_stacks_page_add(&print->page, "nothing runs or waits\n");
}

/* --- all ---------------------------------------------------------------- */

static void find_deadlocks(void *context, uintptr_t scheduler)
{
	sn_deadlocks_find(&((struct print *)context)->deadlocks, scheduler);
}

static const struct stacks_visitor as_text = {
	.visit = print_text,
	.begin = find_deadlocks,
	.tell = print_damage,
};

static const struct stacks_visitor as_json = {
	.visit = print_json,
	.begin = find_deadlocks,
	.tell = keep_damage,
};

int sennit_stacks_print(sennit_scheduler *s, int fd,
			enum sennit_stacks_format format)
{
	const bool   json = format == SENNIT_STACKS_JSON;
	struct print print = { .page = { .fd = fd } };
	int          err;

	if (json)
		sn_stacks_page_add(&print.page,
				   "{\"format\": \"sennit-stacks\", "
				   "\"version\": %d, \"time_ns\": %" PRIu64
				   ", \"fibers\": [",
				   1, sennit_now());
	err = sn_stacks_visit(s, json ? &as_json : &as_text, &print);
	if (json)
		end_json(&print, err);
	else
		end_text(&print, err);
	sn_deadlocks_free(&print.deadlocks);
	sn_stacks_page_end(&print.page);
	return err ? err : print.page.error;
}

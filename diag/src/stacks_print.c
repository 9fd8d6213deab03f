/* SPDX-License-Identifier: Apache-2.0 */
/* stacks_print.c - prints the stacks of all fibers, as text and as JSON, with
 * their deadlocks. */
#include "stacks.h"

#include "base/wait_cycles.h"
#include "fibers.h"
#include "last_words.h"
#include "merged.h"
#include "unwind.h"
#include "sennit/detail/debugger.h"
#include "sennit/symbol.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define PRINT_SYMBOL 320
#define JSON_DAMAGES 8u /* the number of lines that JSON keeps */

struct print {
	struct stacks_page page;
	struct symbols     symbols;
	struct symbols     sites; /* with has_lines set */
	struct deadlocks   deadlocks;
	uint32_t           count;   /* fibers so far */
	uint32_t           damages; /* number of lines in `damage` */
	char               damage[JSON_DAMAGES][DAMAGE_LINE];
};

/* --- words -------------------------------------------------------------- */

bool sn_stacks_format(const char *name, enum sennit_stacks_format *format)
{
	static const char *const names[] = {
		[SENNIT_STACKS_TEXT] = "text",
		[SENNIT_STACKS_JSON] = "json",
		[SENNIT_STACKS_MERGED] = "merged",
		[SENNIT_STACKS_MERGED_JSON] = "merged-json",
		[SENNIT_STACKS_PPROF] = "pprof",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i])) {
			*format = (enum sennit_stacks_format)i;
			return true;
		}
	return false;
}

/* Return the words of a report for the wait. */
const char *sn_stacks_wait(uint32_t waits_for)
{
	return waits_for < sennit_debug_descriptor.waits_count
		       ? sennit_debug_descriptor.waits[waits_for]
		       : "unknown";
}

const char *sn_stacks_state(uint32_t state)
{
	static const char *const words[] = { "running", "ready", "blocked" };

	return words[state];
}

const char *sn_stacks_source(uint32_t source)
{
	static const char *const words[] = { "suspended", "sampled",
					     "unsampled", "changed" };

	return words[source];
}

const char *sn_stacks_rest(uint32_t rest)
{
	static const char *const words[] = { "none", "deeper", "lost" };

	return words[rest];
}

void sn_stacks_page_add_call(struct stacks_page *p, uint32_t thread,
			     uint32_t count, uint32_t rest, uint32_t i)
{
	if (count && !i && thread)
		sn_stacks_page_add(p, "  thread %u makes the call:\n", thread);
	else if (count && !i)
		sn_stacks_page_add(p, "  a thread makes the call:\n");
	if (count && rest && i == count - 1)
		sn_stacks_page_add(p, "  frames are not known\n");
	if (count && i == count)
		sn_stacks_page_add(p, "  called by:\n");
}

void sn_stacks_page_add_rest(struct stacks_page *p, uint32_t source,
			     uint32_t rest)
{
	if (source == SENNIT_STACK_UNSAMPLED)
		sn_stacks_page_add(p,
				   "  its thread did not answer the signal\n");
	else if (source == SENNIT_STACK_CHANGED)
		sn_stacks_page_add(p, "  it ran while its stack was copied\n");
	else if (rest == SENNIT_STACK_DEEPER)
		sn_stacks_page_add(
			p,
			"  it is deeper: at most %d frames or 32 KiB "
			"are shown\n",
			SENNIT_STACK_FRAMES);
	else if (rest == SENNIT_STACK_LOST)
		sn_stacks_page_add(p, "  the caller is not known\n");
}

void sn_stacks_page_add_end(struct stacks_page *p, const char *missing, int err)
{
	if (missing[0])
		sn_stacks_page_add(p, "names are missing: %s\n", missing);
	if (err && err != -EFAULT)
		sn_stacks_page_add(p, "stacks cannot be read: %s\n",
				   strerror(-err));
}

/* --- symbols ------------------------------------------------------------ */

/* Write the name of a frame. A return address may be the first one after its
 * function, so look up the call before it. */
static void symbol_of(struct print *print, const sennit_stack *s, uint32_t i,
		      char text[PRINT_SYMBOL])
{
	const bool at_call = sn_stacks_is_call(s->source, s->call_count, i);

	sn_symbol_write(sn_symbols_find(&print->symbols,
					(uintptr_t)s->frames[i] - at_call),
			text, PRINT_SYMBOL);
}

static void task_symbol(struct print *print, const sennit_report_entry *e,
			char text[PRINT_SYMBOL])
{
	sn_symbol_write(sn_symbols_find(&print->symbols, (uintptr_t)e->task),
			text, PRINT_SYMBOL);
}

/* --- spawn sites -------------------------------------------------------- */

/* Find the location of the call, which is before its return address. */
static const struct symbol *find_site(struct symbols *symbols, const void *site,
				      char text[PRINT_SYMBOL])
{
	const struct symbol *s = sn_symbols_find(symbols, (uintptr_t)site - 1);

	sn_symbol_write(s, text, PRINT_SYMBOL);
	return s;
}

void sn_stacks_page_add_site(struct stacks_page *p, struct symbols *symbols,
			     const void *site)
{
	char                 text[PRINT_SYMBOL];
	const struct symbol *s = find_site(symbols, site, text);

	if (s->line)
		sn_stacks_page_add(p, "%s (%s:%u)",
				   s->is_function ? s->name : text, s->file,
				   s->line);
	else
		sn_stacks_page_add(p, "%s", text);
}

void sn_stacks_page_add_frame(struct stacks_page *p, struct symbols *symbols,
			      uintptr_t frame, uintptr_t place)
{
	const struct symbol *s = sn_symbols_find(symbols, place);
	char                 text[PRINT_SYMBOL];

	sn_symbol_write(s, text, PRINT_SYMBOL);
	sn_stacks_page_add(
		p, "{\"address\": \"%#" PRIxPTR "\", \"symbol\": ", frame);
	sn_stacks_page_add_quoted(p, text);
	sn_stacks_page_add(p, ", \"file\": ");
	if (s->line)
		sn_stacks_page_add_quoted(p, s->file);
	else
		sn_stacks_page_add(p, "null");
	sn_stacks_page_add(p, ", \"line\": ");
	if (s->line)
		sn_stacks_page_add(p, "%u}", s->line);
	else
		sn_stacks_page_add(p, "null}");
}

void sn_stacks_page_add_site_member(struct stacks_page *p,
				    struct symbols *symbols, const void *site)
{
	sn_stacks_page_add(p, ", \"spawned_at\": ");
	if (site)
		sn_stacks_page_add_frame(p, symbols, (uintptr_t)site,
					 (uintptr_t)site - 1);
	else
		sn_stacks_page_add(p, "null");
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

static void print_fiber_task(struct print *print, const sennit_report_entry *e)
{
	struct stacks_page *p = &print->page;
	char                function[PRINT_SYMBOL] = "its own stack";

	if (e->task)
		task_symbol(print, e, function);
	if (!e->name) {
		sn_stacks_page_add(p, "%s", function);
		return;
	}
	sn_stacks_page_add_name(p, e->name);
	sn_stacks_page_add(p, " (%s)", function);
}

/* Add the function of a blocking call. */
static void add_called(struct stacks_page *p, const void *function)
{
	char name[PRINT_SYMBOL];

	sennit_symbol_print(function, name, sizeof(name));
	sn_stacks_page_add(p, " of %s", name);
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
		sn_stacks_page_add(p, "waits for %s",
				   sn_stacks_wait(e->waits_for));
	if (e->state == SENNIT_REPORT_BLOCKED &&
	    e->waits_for == SENNIT_WAITS_FOR_IO)
		sn_stacks_page_add(p, " %d", (int)(intptr_t)e->object);
	else if (e->state == SENNIT_REPORT_BLOCKED &&
		 e->waits_for == SENNIT_WAITS_FOR_CALL)
		add_called(p, e->object);
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

/* Whether a frame is of a public call that programs make. I/O calls wait by
 * those of sennit/poller.h. */
static bool is_programs_call(struct print *print, const sennit_stack *s,
			     uint32_t i)
{
	const bool at_call = sn_stacks_is_call(s->source, s->call_count, i);
	const struct symbol *symbol = sn_symbols_find(
		&print->symbols, (uintptr_t)s->frames[i] - at_call);

	return symbol->is_function &&
	       !strncmp(symbol->name, "sennit_", strlen("sennit_")) &&
	       strncmp(symbol->name, "sennit_poller_",
		       strlen("sennit_poller_"));
}

/* The first frame of a fiber that is shown to people: of the public call that
 * waits. The frames inside of it are the library's, and the same in most
 * waits. Without that name, all frames are shown. */
static uint32_t find_waiting_call(struct print *print, const sennit_stack *s)
{
	if (s->fiber->state == SENNIT_REPORT_BLOCKED)
		for (uint32_t i = s->call_count; i < s->count; i++)
			if (is_programs_call(print, s, i))
				return i;
	return s->call_count;
}

static void print_stack_text(void *context, const sennit_stack *s)
{
	struct print               *print = context;
	struct stacks_page         *p = &print->page;
	const struct deadlock_wait *wait = sn_deadlocks_of(&print->deadlocks,
							   s->fiber);
	char                        symbol[PRINT_SYMBOL];
	uint32_t                    call, number = 0;

	print->count++;
	print_place(p, s);
	print_fiber_task(print, s->fiber);
	sn_stacks_page_add(p, ": ");
	print_state(p, s->fiber);
	sn_stacks_page_add(p, "\n");
	if (s->fiber->spawned_at) {
		sn_stacks_page_add(p, "  spawned at ");
		sn_stacks_page_add_site(p, &print->sites, s->fiber->spawned_at);
		sn_stacks_page_add(p, "\n");
	}
	if (wait)
		print_deadlock(p, wait);
	call = find_waiting_call(print, s);
	for (uint32_t i = 0; i < s->count; i++) {
		sn_stacks_page_add_call(p, s->call_thread, s->call_count,
					s->call_rest, i);
		if (i == s->call_count)
			i = call;
		symbol_of(print, s, i, symbol);
		sn_stacks_page_add(p, "  #%-2u %#018" PRIxPTR " %s\n", number++,
				   (uintptr_t)s->frames[i], symbol);
	}
	sn_stacks_page_add_rest(p, s->source, s->rest);
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

static void add_json_fiber(struct print *print, const sennit_stack *s)
{
	struct stacks_page        *p = &print->page;
	const sennit_report_entry *e = s->fiber;
	char                       function[PRINT_SYMBOL];

	if (e->task)
		task_symbol(print, e, function);
	sn_stacks_page_add(p, "{\"scheduler\": ");
	sn_stacks_page_add_string(p, s->scheduler);
	if (e->worker == SENNIT_REPORT_BOUND)
		sn_stacks_page_add(p, ", \"worker\": null");
	else
		sn_stacks_page_add(p, ", \"worker\": %u", e->worker);
	sn_stacks_page_add(p,
			   ", \"thread\": %u, \"fiber\": %u, \"state\": \"%s\"",
			   e->thread, e->fiber, sn_stacks_state(e->state));
	sn_stacks_page_add(p, ", \"name\": ");
	sn_stacks_page_add_string(p, e->name);
	sn_stacks_page_add(p, ", \"task\": ");
	if (e->task)
		sn_stacks_page_add_quoted(p, function);
	else
		sn_stacks_page_add(p, "null");
	sn_stacks_page_add_site_member(p, &print->sites, e->spawned_at);
}

void sn_stacks_page_add_wait(struct stacks_page *p, uint32_t waits_for,
			     const void *object)
{
	sn_stacks_page_add(p, ", \"waits_for\": ");
	sn_stacks_page_add_string(p,
				  waits_for ? sn_stacks_wait(waits_for) : NULL);
	if (object)
		sn_stacks_page_add(p, ", \"object\": \"%#" PRIxPTR "\"",
				   (uintptr_t)object);
	else
		sn_stacks_page_add(p, ", \"object\": null");
}

static void add_wait(struct stacks_page *p, const sennit_report_entry *e)
{
	sn_stacks_page_add_wait(p, e->waits_for, e->object);
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

static void print_stack_json(void *context, const sennit_stack *s)
{
	struct print       *print = context;
	struct stacks_page *p = &print->page;
	char                symbol[PRINT_SYMBOL];

	sn_stacks_page_add(p, "%s", print->count++ ? ", " : "");
	add_json_fiber(print, s);
	add_wait(p, s->fiber);
	add_deadlock(p, sn_deadlocks_of(&print->deadlocks, s->fiber));
	sn_stacks_page_add(p, ", \"stack\": \"%s\", \"frames\": [",
			   sn_stacks_source(s->source));
	for (uint32_t i = 0; i < s->count; i++) {
		symbol_of(print, s, i, symbol);
		sn_stacks_page_add(
			p, "%s{\"address\": \"%#" PRIxPTR "\", \"symbol\": ",
			i ? ", " : "", (uintptr_t)s->frames[i]);
		sn_stacks_page_add_quoted(p, symbol);
		sn_stacks_page_add(p, "}");
	}
	sn_stacks_page_add(
		p, "], \"rest\": \"%s\", \"call\": ", sn_stacks_rest(s->rest));
	if (s->call_thread)
		sn_stacks_page_add(p,
				   "{\"thread\": %u, \"frames\": %u, "
				   "\"rest\": \"%s\"}}",
				   s->call_thread, s->call_count,
				   sn_stacks_rest(s->call_rest));
	else
		sn_stacks_page_add(p, "null}");
}

/* The list of fibers is still open, so keep the line for later. */
static void keep_json_damage(void *context, const char *line)
{
	struct print *print = context;

	if (print->damages < JSON_DAMAGES)
		strcpy(print->damage[print->damages++], line);
}

static void end_json(struct print *print, const char *missing, int err)
{
	struct stacks_page *p = &print->page;

	sn_stacks_page_add(p, "], \"damages\": [");
	for (uint32_t i = 0; i < print->damages; i++) {
		sn_stacks_page_add(p, "%s", i ? ", " : "");
		sn_stacks_page_add_string(p, print->damage[i]);
	}
	sn_stacks_page_add(p, "], \"names_missing\": ");
	sn_stacks_page_add_string(p, missing[0] ? missing : NULL);
	sn_stacks_page_add(p, ", \"error\": ");
	sn_stacks_page_add_string(p, err ? strerror(-err) : NULL);
	sn_stacks_page_add(p, "}\n");
}

static void end_text(struct print *print, const char *missing, int err)
{
	sn_stacks_page_add_end(&print->page, missing, err);
	if (!err && !print->count)
		sn_stacks_page_add(&print->page, "nothing runs or waits\n");
}

/* --- printing it all ---------------------------------------------------- */

static void find_deadlocks(void *context, uintptr_t scheduler)
{
	sn_deadlocks_find(&((struct print *)context)->deadlocks, scheduler);
}

static const struct stacks_visitor as_text = {
	.visit = print_stack_text,
	.begin = find_deadlocks,
	.on_damage = print_damage,
};

static const struct stacks_visitor as_json = {
	.visit = print_stack_json,
	.begin = find_deadlocks,
	.on_damage = keep_json_damage,
};

/* A program that links the archive for SENNIT_DEBUG alone asks for
 * sennit_stacks_print. Where the archive has a member for each file, as with
 * link-time optimisation, that must bring the constructor of tools.c. */
__attribute__((used)) static const char *const with_tools =
	&sn_tools_are_linked;

int sennit_stacks_print(sennit_scheduler *s, int fd, uint32_t format)
{
	const bool   json = format == SENNIT_STACKS_JSON;
	struct print print = { .page = { .fd = fd },
			       .sites = { .has_lines = true } };
	char         missing[256];
	int          err;

	if (format >= SENNIT_STACKS_MERGED)
		return sn_merged_print(s, fd, format);
	if (json)
		sn_stacks_page_add(&print.page,
				   "{\"format\": \"sennit-stacks\", "
				   "\"version\": %d, \"time_ns\": %" PRIu64
				   ", \"fibers\": [",
				   1, sennit_now());
	err = sn_stacks_visit(s, json ? &as_json : &as_text, &print);
	sn_program_image_open(missing, sizeof(missing));
	if (json)
		end_json(&print, missing, err);
	else
		end_text(&print, missing, err);
	sn_deadlocks_free(&print.deadlocks);
	sn_symbols_free(&print.symbols);
	sn_symbols_free(&print.sites);
	sn_stacks_page_end(&print.page);
	return err ? err : print.page.error;
}

/* --- deadlocks ------------------------------------------------------------ */

/* Three walks of the wait-for graph over copied records.
 *
 * The walk inside the library keeps the fibers in their waits while it reads
 * their locks. This walk reads the lock's memory with a call that cannot fault,
 * and uses what it read only if the fiber was in the same wait before and
 * after. So it takes no lock, and damaged records do no harm. */

struct deadlock_search {
	struct deadlocks   *found;
	struct wait_graph   graph;
	struct address_list workers; /* of the scheduler */
	struct address_list fibers;  /* of the worker */
};

/* --- the deadlocks that were found -------------------------------------- */

static struct deadlock_wait *append_deadlock_wait(struct deadlocks *d)
{
	if (d->count == d->capacity) {
		const size_t          capacity = 2 * d->capacity + 16;
		struct deadlock_wait *waits = sn_last_words_resize(
			d->waits, capacity * sizeof(*waits));

		if (!waits)
			return NULL;
		d->waits = waits;
		d->capacity = capacity;
	}
	return &d->waits[d->count++];
}

static void keep_deadlock_wait(struct deadlocks *d, uint32_t number,
			       const sennit_report_entry *waiter,
			       const sennit_report_entry *holder)
{
	struct deadlock_wait *wait = append_deadlock_wait(d);

	if (!wait)
		return;
	*wait = (struct deadlock_wait){
		.number = number,
		.thread = waiter->thread,
		.fiber = waiter->fiber,
		.object = waiter->object,
		.since = waiter->since,
		.holder_worker = holder->worker,
		.holder_thread = holder->thread,
		.holder_fiber = holder->fiber,
	};
}

static void keep_cycles(struct deadlocks *d, const struct wait_graph *g)
{
	for (uint32_t i = 0; i < g->count; i++) {
		const struct graph_node *n = &g->nodes[i];

		if (n->cycle)
			keep_deadlock_wait(
				d, n->cycle, &n->entry,
				&sn_wait_nodes_at(g, n->after)->entry);
	}
}

/* --- the walks ---------------------------------------------------------- */

static void collect(struct wait_graph *g, const struct worker_record *w,
		    uintptr_t at)
{
	struct graph_node  *n = &g->nodes[g->count];
	struct fiber_record f;

	if (g->count == g->room || !sn_fiber_record_read(&f, at) ||
	    f.worker != w->at ||
	    (!sn_fiber_record_is_alive(&f) && at != w->main))
		return;
	sn_fiber_record_report(&f, w, &n->entry);
	n->entry.name = NULL; /* f is a local variable */
	n->fiber = (const void *)at;
	n->identity = (void *)f.identity;
	n->doing = f.doing;
	n->steady = n->entry.state == SENNIT_REPORT_BLOCKED;
	g->count++;
	sn_wait_nodes_enter(g, n);
}

/* Read n's record again. Returns false if it cannot be read. */
static bool read_again(struct graph_node *n, struct fiber_record *f)
{
	if (sn_fiber_record_read(f, (uintptr_t)n->fiber))
		return true;
	n->steady = false;
	return false;
}

static void own(struct graph_node *n)
{
	struct fiber_record f;

	if (!read_again(n, &f))
		return;
	n->scope = (void *)f.scope;
	memcpy(n->reads, f.reads, sizeof(n->reads));
	if (!sn_wait_nodes_is_steady(n, f.doing) || !f.owner)
		return;
	n->owned = sn_own_memory_read(&n->owner, f.owner, sizeof(n->owner)) &&
		   n->owner;
	if (n->entry.waits_for == SENNIT_WAITS_FOR_RWLOCK &&
	    sn_own_memory_read(&n->counted, (uintptr_t)n->entry.object,
			       sizeof(n->counted)))
		n->counted /= sennit_debug_waits.rwlock_reader;
}

static void confirm(struct graph_node *n)
{
	struct fiber_record f;

	if (read_again(n, &f))
		(void)sn_wait_nodes_is_steady(n, f.doing);
}

/* The barriers make each walk begin after the previous one has ended. */
static void walk_again(struct wait_graph *g)
{
	sn_own_memory_barrier();
	for (uint32_t i = 0; i < g->count; i++)
		own(&g->nodes[i]);
	sn_own_memory_barrier();
	for (uint32_t i = 0; i < g->count; i++)
		confirm(&g->nodes[i]);
}

/* --- schedulers --------------------------------------------------------- */

/* Call collect for each fiber of the scheduler, or only count the fibers.
 * Returns their number. */
static uint32_t walk_scheduler(struct deadlock_search *s, uintptr_t scheduler,
			       bool count_only)
{
	struct worker_record w;
	uint32_t             count = 0;

	if (!sn_record_list_workers(&s->workers, scheduler))
		return 0;
	for (size_t i = 0; i < s->workers.count; i++) {
		if (!sn_worker_record_read(&w, s->workers.items[i]) ||
		    !sn_record_list_fibers(&s->fibers, w.at))
			continue;
		count += (uint32_t)s->fibers.count + 1;
		if (count_only)
			continue;
		if (w.index == UINT32_MAX)
			collect(&s->graph, &w, w.main);
		for (size_t k = 0; k < s->fibers.count; k++)
			collect(&s->graph, &w, s->fibers.items[k]);
	}
	return count;
}

static uint32_t walk_all(struct deadlock_search    *s,
			 const struct address_list *all, bool count_only)
{
	uint32_t count = 0;

	for (size_t i = 0; i < all->count; i++)
		count += walk_scheduler(s, all->items[i], count_only);
	return count;
}

static void find_waits(struct deadlock_search    *s,
		       const struct address_list *all)
{
	const uint32_t room = walk_all(s, all, true) + 64; /* fibers that start
							    * meanwhile */
	void *memory = sn_last_words_resize(NULL, sn_wait_nodes_bytes(room));

	if (!memory)
		return;
	memset(memory, 0, sn_wait_nodes_bytes(room));
	sn_wait_nodes_init(&s->graph, memory, room);
	walk_all(s, all, false);
	walk_again(&s->graph);
	sn_wait_nodes_link(&s->graph);
	sn_wait_cycles_find(&s->graph);
	keep_cycles(s->found, &s->graph);
	sn_last_words_free(memory);
}

void sn_deadlocks_find(struct deadlocks *d, uintptr_t scheduler)
{
	struct deadlock_search s = { .found = d };
	struct address_list    all = { .items = NULL };
	struct address_list    one = { .items = &scheduler, .count = 1 };

	*d = (struct deadlocks){ .waits = NULL };
	if (scheduler)
		find_waits(&s, &one);
	else if (sn_record_list_schedulers(&all))
		find_waits(&s, &all);
	sn_address_list_free(&all);
	sn_address_list_free(&s.workers);
	sn_address_list_free(&s.fibers);
}

const struct deadlock_wait *sn_deadlocks_of(const struct deadlocks    *d,
					    const sennit_report_entry *e)
{
	for (size_t i = 0; i < d->count; i++) {
		const struct deadlock_wait *w = &d->waits[i];

		if (w->thread == e->thread && w->fiber == e->fiber &&
		    w->object == e->object && w->since == e->since &&
		    e->state == SENNIT_REPORT_BLOCKED)
			return w;
	}
	return NULL;
}

void sn_deadlocks_free(struct deadlocks *d)
{
	sn_last_words_free(d->waits);
}

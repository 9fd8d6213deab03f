/* SPDX-License-Identifier: Apache-2.0 */
#include "merged.h"

#include "base/compiler.h"
#include "pprof.h"
#include "stacks.h"
#include "sennit/detail/debugger.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define MERGED_SYMBOL  320
#define MERGED_DAMAGES 8u /* the number of lines that are kept */

/* --- groups --------------------------------------------------------------- */

/* Fibers that do the same at the same place: they have the same task function,
 * spawn site, frames and state, and wait for the same kind of object. */
struct group {
	uint64_t    hash;
	uint64_t    count;
	uint64_t    waited;    /* ns, the sum of all fibers */
	size_t      frames_at; /* in the table's frames */
	uint32_t    frame_count, source, rest;
	uint32_t    call_count, call_rest;
	uint32_t    state, waits_for;
	uintptr_t   task;
	const void *site;   /* return address of the call that spawned it; NULL:
			     * not known */
	const void *object; /* NULL: none, or several different ones */
	bool        has_several;

	/* The fiber that has been in this state for the longest time. */
	uint32_t    worker, thread, fiber;
	sennit_time since;
	char        scheduler[SENNIT_TASK_NAME_SIZE];
	char        name[64]; /* "": none */
};

/* Groups are found by a hash of what they share. All memory is in one mapping,
 * which is doubled when it is full. If that fails, the table stays as it is,
 * and fibers that have no group are counted. */
struct groups {
	struct group *groups;
	uintptr_t    *frames;
	uint32_t     *index; /* 2 * room slots: number of a group + 1; 0:
			      * free */
	size_t        count, room;
	size_t        frame_count; /* of GROUP_FRAMES * room */
	uint64_t      fibers, left_out;
	sennit_time   now;
};

#define GROUP_FRAMES 24u /* the number for which each group has room */
#define FEW_GROUPS   128u

/* The first table, which needs no allocation. */
static struct {
	struct group groups[FEW_GROUPS];
	uintptr_t    frames[GROUP_FRAMES * FEW_GROUPS];
	uint32_t     index[2 * FEW_GROUPS];
} few;

static size_t bytes_of(size_t room)
{
	return room * (sizeof(struct group) + GROUP_FRAMES * sizeof(uintptr_t) +
		       2 * sizeof(uint32_t));
}

static void groups_init(struct groups *g)
{
	memset(few.index, 0, sizeof(few.index));
	*g = (struct groups){
		.groups = few.groups,
		.frames = few.frames,
		.index = few.index,
		.room = FEW_GROUPS,
		.now = sennit_now(),
	};
}

static void groups_free(struct groups *g)
{
	if (g->groups != few.groups)
		munmap(g->groups, bytes_of(g->room));
}

/* Return the next slot to probe for the hash. *at is 0 at first. */
static uint32_t *next_place(const struct groups *g, uint64_t hash, size_t *at)
{
	return &g->index[(hash + (*at)++) & (2 * g->room - 1)];
}

static void enter(struct groups *g, uint32_t number)
{
	uint32_t *place;
	size_t    at = 0;

	do
		place = next_place(g, g->groups[number].hash, &at);
	while (*place);
	*place = number + 1;
}

/* Double the table. Returns false if there is no memory. */
static bool grow_groups(struct groups *g)
{
	struct groups larger = *g;
	void         *p;

	larger.room = 2 * g->room;
	p = mmap(NULL, bytes_of(larger.room), PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return false;
	larger.groups = p;
	larger.frames = (uintptr_t *)(larger.groups + larger.room);
	larger.index = (uint32_t *)(larger.frames + GROUP_FRAMES * larger.room);
	memcpy(larger.groups, g->groups, g->count * sizeof(*g->groups));
	memcpy(larger.frames, g->frames, g->frame_count * sizeof(*g->frames));
	for (uint32_t i = 0; i < g->count; i++)
		enter(&larger, i);
	groups_free(g);
	*g = larger;
	return true;
}

static uint64_t mix_hash(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 29;
}

/* The innermost frames of a suspended fiber, which belong to the scheduler and
 * differ without meaning. Fibers switch in suspend() of sched/loop.c, at
 * several places. Where the switch cannot be inlined, it has a frame, too. */
#if defined(SN_ASAN) || defined(SN_TSAN)
#define SWITCH_FRAMES 2u
#else
#define SWITCH_FRAMES 1u
#endif

/* Return the index of the first frame to compare. */
static uint32_t first_of(const sennit_stack *s)
{
	return s->source == SENNIT_STACK_SUSPENDED && s->count > SWITCH_FRAMES
		       ? SWITCH_FRAMES
		       : 0;
}

static uint64_t hash_stack(const sennit_stack *s)
{
	const sennit_report_entry *e = s->fiber;
	uint64_t hash = mix_hash(s->count, (uintptr_t)e->task);

	hash = mix_hash(hash, (uintptr_t)e->spawned_at);
	hash = mix_hash(hash, (uint64_t)s->source << 32 | s->rest);
	hash = mix_hash(hash, (uint64_t)s->call_count << 32 | s->call_rest);
	hash = mix_hash(hash, (uint64_t)e->state << 32 | e->waits_for);
	for (uint32_t i = first_of(s); i < s->count; i++)
		hash = mix_hash(hash, (uintptr_t)s->frames[i]);
	return hash;
}

static bool is_of(const struct groups *g, const struct group *o,
		  const sennit_stack *s, uint64_t hash)
{
	const sennit_report_entry *e = s->fiber;
	const uint32_t             first = first_of(s);

	return o->hash == hash && o->frame_count == s->count &&
	       o->source == s->source && o->rest == s->rest &&
	       o->call_count == s->call_count && o->call_rest == s->call_rest &&
	       o->state == e->state && o->waits_for == e->waits_for &&
	       o->task == (uintptr_t)e->task && o->site == e->spawned_at &&
	       (!s->count ||
		!memcmp(g->frames + o->frames_at + first, s->frames + first,
			(s->count - first) * sizeof(*g->frames)));
}

/* Return the group of the stack, and create it if there is none. NULL: no
 * memory. */
static struct group *group_of(struct groups *g, const sennit_stack *s)
{
	const uint64_t hash = hash_stack(s);
	struct group  *o;
	uint32_t      *place;
	size_t         at = 0;

	while (*(place = next_place(g, hash, &at)))
		if (is_of(g, &g->groups[*place - 1], s, hash))
			return &g->groups[*place - 1];
	while (g->count == g->room ||
	       s->count > GROUP_FRAMES * g->room - g->frame_count)
		if (!grow_groups(g))
			return NULL;
	o = &g->groups[g->count];
	*o = (struct group){
		.hash = hash,
		.frames_at = g->frame_count,
		.frame_count = s->count,
		.source = s->source,
		.rest = s->rest,
		.call_count = s->call_count,
		.call_rest = s->call_rest,
		.state = s->fiber->state,
		.waits_for = s->fiber->waits_for,
		.task = (uintptr_t)s->fiber->task,
		.site = s->fiber->spawned_at,
		.object = s->fiber->object,
		.since = SENNIT_NEVER,
	};
	if (s->count)
		memcpy(g->frames + g->frame_count, s->frames,
		       s->count * sizeof(*g->frames));
	g->frame_count += s->count;
	enter(g, (uint32_t)g->count++);
	return o;
}

static void copy_group_name(char *to, size_t size, const char *name)
{
	snprintf(to, size, "%s", name ? name : "");
}

static uint64_t time_since(const struct groups *g, sennit_time since)
{
	return g->now > since ? g->now - since : 0;
}

static void count_in(struct groups *g, const sennit_stack *s)
{
	const sennit_report_entry *e = s->fiber;
	struct group              *o = group_of(g, s);

	g->fibers++;
	if (!o) {
		g->left_out++;
		return;
	}
	o->count++;
	o->waited += time_since(g, e->since);
	if (o->object != e->object) {
		o->object = NULL;
		o->has_several = true;
	}
	if (e->since >= o->since)
		return;
	o->since = e->since;
	o->worker = e->worker;
	o->thread = e->thread;
	o->fiber = e->fiber;
	copy_group_name(o->scheduler, sizeof(o->scheduler), s->scheduler);
	copy_group_name(o->name, sizeof(o->name), e->name);
}

/* Order groups by size, the largest first, then by longest wait. */
static int compare(const void *left, const void *right)
{
	const struct group *l = left, *r = right;

	if (l->count != r->count)
		return l->count > r->count ? -1 : 1;
	return (l->since > r->since) - (l->since < r->since);
}

/* --- printing ------------------------------------------------------------- */

struct merged {
	struct groups      groups;
	struct stacks_page page;
	struct symbols     symbols;
	char               missing[256]; /* why names are missing; "": they are
					  * not */
	uint32_t           damages;
	char               damage[MERGED_DAMAGES][DAMAGE_LINE];
	struct pprof       pprof;
};

/* Static: too large for the stack of a fiber, and needed without memory. */
static pthread_mutex_t merged_lock = PTHREAD_MUTEX_INITIALIZER;
static struct merged   merged; /* under the lock */

/* Return the address of the frame's instruction. For a return address, that is
 * within the call. */
static uintptr_t place_of(const struct merged *m, const struct group *o,
			  uint32_t i)
{
	const bool at_call = sn_stacks_is_call(o->source, o->call_count, i);

	return m->groups.frames[o->frames_at + i] - at_call;
}

static const struct symbol *write_symbol(struct merged *m, uintptr_t address,
					 char text[MERGED_SYMBOL])
{
	const struct symbol *s = sn_symbols_find(&m->symbols, address);

	sn_symbol_write(s, text, MERGED_SYMBOL);
	return s;
}

/* --- text ----------------------------------------------------------------- */

/* Print the function of a blocking call. */
static void print_called(struct merged *m, const void *function)
{
	char text[MERGED_SYMBOL];

	write_symbol(m, (uintptr_t)function, text);
	sn_stacks_page_add(&m->page, " of %s", text);
}

static void print_what(struct merged *m, const struct group *o)
{
	struct stacks_page *p = &m->page;

	if (o->state == SENNIT_REPORT_RUNNING)
		sn_stacks_page_add(p, "run");
	else if (o->state == SENNIT_REPORT_READY)
		sn_stacks_page_add(p, "are ready");
	else
		sn_stacks_page_add(p, "wait for %s",
				   sn_stacks_wait(o->waits_for));
	if (o->state != SENNIT_REPORT_BLOCKED)
		return;
	if (o->has_several)
		sn_stacks_page_add(p, ", of several");
	else if (o->waits_for == SENNIT_WAITS_FOR_IO)
		sn_stacks_page_add(p, " %d", (int)(intptr_t)o->object);
	else if (o->waits_for == SENNIT_WAITS_FOR_CALL)
		print_called(m, o->object);
	else if (o->object)
		sn_stacks_page_add(p, " %p", o->object);
}

static void print_longest(struct merged *m, const struct group *o)
{
	struct stacks_page *p = &m->page;

	sn_stacks_page_add(p, ", longest %" PRIu64 " ms: ",
			   time_since(&m->groups, o->since) /
				   SENNIT_MILLISECOND);
	sn_stacks_page_add_name(p, o->scheduler);
	if (o->worker == SENNIT_REPORT_BOUND)
		sn_stacks_page_add(p, " thread %u, bound", o->thread);
	else
		sn_stacks_page_add(p, " worker %u, thread %u", o->worker,
				   o->thread);
	sn_stacks_page_add(p, ", fiber %u\n", o->fiber);
}

static void print_group_task(struct merged *m, const struct group *o)
{
	char function[MERGED_SYMBOL] = "its own stack";

	if (o->task)
		write_symbol(m, o->task, function);
	sn_stacks_page_add(&m->page, "%" PRIu64 " of ", o->count);
	if (o->name[0] && o->count == 1) {
		sn_stacks_page_add_name(&m->page, o->name);
		sn_stacks_page_add(&m->page, " (%s) ", function);
	} else {
		sn_stacks_page_add(&m->page, "%s ", function);
	}
}

static void print_frame(struct merged *m, const struct group *o, uint32_t i)
{
	char                 text[MERGED_SYMBOL];
	const struct symbol *s = write_symbol(m, place_of(m, o, i), text);

	sn_stacks_page_add(&m->page, "  #%-2u %#018" PRIxPTR " ", i,
			   m->groups.frames[o->frames_at + i]);
	sn_stacks_page_add(&m->page, "%s", text);
	if (s->line)
		sn_stacks_page_add(&m->page, " at %s:%u", s->file, s->line);
	sn_stacks_page_add(&m->page, "\n");
}

static void print_group(struct merged *m, const struct group *o)
{
	print_group_task(m, o);
	print_what(m, o);
	print_longest(m, o);
	if (o->site) {
		sn_stacks_page_add(&m->page, "  spawned at ");
		sn_stacks_page_add_site(&m->page, &m->symbols, o->site);
		sn_stacks_page_add(&m->page, "\n");
	}
	for (uint32_t i = 0; i < o->frame_count; i++) {
		sn_stacks_page_add_call(&m->page, 0, o->call_count,
					o->call_rest, i);
		print_frame(m, o, i);
	}
	sn_stacks_page_add_rest(&m->page, o->source, o->rest);
	sn_stacks_page_add(&m->page, "\n");
}

static void print_merged_text(struct merged *m, int err)
{
	const struct groups *g = &m->groups;
	struct stacks_page  *p = &m->page;

	sn_stacks_page_add(p, "%" PRIu64 " fibers, %zu stacks\n\n", g->fibers,
			   g->count);
	for (size_t i = 0; i < g->count; i++)
		print_group(m, &g->groups[i]);
	if (g->left_out)
		sn_stacks_page_add(
			p, "no memory for the stacks of %" PRIu64 " fibers\n",
			g->left_out);
	for (uint32_t i = 0; i < m->damages; i++) {
		sn_stacks_page_add(p, "damaged: ");
		sn_stacks_page_add_name(p, m->damage[i]);
		sn_stacks_page_add(p, "\n");
	}
	sn_stacks_page_add_end(p, m->missing, err);
}

/* --- JSON ----------------------------------------------------------------- */

static void add_longest(struct stacks_page *p, const struct group *o)
{
	sn_stacks_page_add(p, ", \"longest\": {\"scheduler\": ");
	sn_stacks_page_add_string(p, o->scheduler);
	if (o->worker == SENNIT_REPORT_BOUND)
		sn_stacks_page_add(p, ", \"worker\": null");
	else
		sn_stacks_page_add(p, ", \"worker\": %u", o->worker);
	sn_stacks_page_add(
		p, ", \"thread\": %u, \"fiber\": %u, \"since_ns\": %" PRIu64,
		o->thread, o->fiber, o->since);
	sn_stacks_page_add(p, ", \"name\": ");
	sn_stacks_page_add_string(p, o->name[0] ? o->name : NULL);
	sn_stacks_page_add(p, "}");
}

static void add_group(struct merged *m, const struct group *o)
{
	struct stacks_page *p = &m->page;
	char                text[MERGED_SYMBOL];

	sn_stacks_page_add(p, "{\"count\": %" PRIu64 ", \"state\": \"%s\"",
			   o->count, sn_stacks_state(o->state));
	sn_stacks_page_add(p, ", \"task\": ");
	if (o->task) {
		write_symbol(m, o->task, text);
		sn_stacks_page_add_quoted(p, text);
	} else {
		sn_stacks_page_add(p, "null");
	}
	sn_stacks_page_add_site_member(p, &m->symbols, o->site);
	sn_stacks_page_add_wait(p, o->waits_for, o->object);
	sn_stacks_page_add(p, ", \"waited_ns\": %" PRIu64, o->waited);
	sn_stacks_page_add(p, ", \"longest_ns\": %" PRIu64,
			   time_since(&m->groups, o->since));
	add_longest(p, o);
	sn_stacks_page_add(p, ", \"stack\": \"%s\", \"rest\": \"%s\"",
			   sn_stacks_source(o->source),
			   sn_stacks_rest(o->rest));
	sn_stacks_page_add(p, ", \"call_frames\": %u, \"call_rest\": \"%s\"",
			   o->call_count, sn_stacks_rest(o->call_rest));
	sn_stacks_page_add(p, ", \"frames\": [");
	for (uint32_t i = 0; i < o->frame_count; i++) {
		sn_stacks_page_add(p, "%s", i ? ", " : "");
		sn_stacks_page_add_frame(p, &m->symbols,
					 m->groups.frames[o->frames_at + i],
					 place_of(m, o, i));
	}
	sn_stacks_page_add(p, "]}");
}

static void print_merged_json(struct merged *m, int err)
{
	const struct groups *g = &m->groups;
	struct stacks_page  *p = &m->page;

	sn_stacks_page_add(p,
			   "{\"format\": \"sennit-merged-stacks\", "
			   "\"version\": 1, \"time_ns\": %" PRIu64,
			   g->now);
	sn_stacks_page_add(p,
			   ", \"fibers\": %" PRIu64 ", \"left_out\": %" PRIu64
			   ", \"groups\": [",
			   g->fibers, g->left_out);
	for (size_t i = 0; i < g->count; i++) {
		sn_stacks_page_add(p, "%s", i ? ", " : "");
		add_group(m, &g->groups[i]);
	}
	sn_stacks_page_add(p, "], \"damages\": [");
	for (uint32_t i = 0; i < m->damages; i++) {
		sn_stacks_page_add(p, "%s", i ? ", " : "");
		sn_stacks_page_add_string(p, m->damage[i]);
	}
	sn_stacks_page_add(p, "], \"names_missing\": ");
	sn_stacks_page_add_string(p, m->missing[0] ? m->missing : NULL);
	sn_stacks_page_add(p, ", \"error\": ");
	sn_stacks_page_add_string(p, err ? strerror(-err) : NULL);
	sn_stacks_page_add(p, "}\n");
}

/* --- pprof ---------------------------------------------------------------- */

static void find_group_place(void *context, uint64_t address,
			     struct pprof_place *place)
{
	struct merged       *m = context;
	const struct symbol *s = sn_symbols_find(&m->symbols,
						 (uintptr_t)address);

	if (!s->is_function)
		return;
	*place = (struct pprof_place){
		.function = s->name,
		.file = s->line ? s->file : NULL,
		.line = s->line,
		.begin = s->begin,
	};
}

static void add_group_sample(struct merged *m, const struct group *o)
{
	const bool    waits = o->state == SENNIT_REPORT_BLOCKED;
	const int64_t values[] = { waits ? (int64_t)o->waited : 0,
				   (int64_t)o->count };
	uint64_t           frames[SENNIT_STACK_FRAMES];
	char               task[MERGED_SYMBOL] = "its own stack";
	char               site[MERGED_SYMBOL];
	struct pprof_label labels[6] = {
		{ .key = "task", .text = task },
		{ .key = "state", .text = sn_stacks_state(o->state) },
		{ .key = "stack", .text = sn_stacks_rest(o->rest) },
		{ .key = "longest",
		  .number = (int64_t)time_since(&m->groups, o->since),
		  .unit = "nanoseconds" },
	};
	size_t count = 4;

	if (o->task)
		write_symbol(m, o->task, task);
	if (o->waits_for)
		labels[count++] = (struct pprof_label){
			.key = "waits_for",
			.text = sn_stacks_wait(o->waits_for),
		};
	if (o->site) {
		write_symbol(m, (uintptr_t)o->site - 1, site);
		labels[count++] = (struct pprof_label){
			.key = "spawned_at",
			.text = site,
		};
	}
	for (uint32_t i = 0; i < o->frame_count; i++)
		frames[i] = place_of(m, o, i);
	sn_pprof_add_sample(&m->pprof, values, frames, o->frame_count, labels,
			    count);
}

static int print_pprof(struct merged *m, int fd, int err)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	sn_pprof_begin(&m->pprof,
		       &(struct pprof_about){
			       .find = find_group_place,
			       .context = m,
			       .fd = fd,
			       .time_ns = (uint64_t)t.tv_sec * 1000000000 +
					  (uint64_t)t.tv_nsec,
			       .period_type = { "fibers", "count" },
			       .period = 1,
			       .value_count = 2,
			       /* pprof shows the last value by default */
			       .values = { { "wait", "nanoseconds" },
					   { "fibers", "count" } },
			       .comment = err             ? strerror(-err)
					  : m->missing[0] ? m->missing
							  : NULL,
		       });
	sn_pprof_add_own_images(&m->pprof);
	for (size_t i = 0; i < m->groups.count; i++)
		add_group_sample(m, &m->groups.groups[i]);
	return sn_pprof_end(&m->pprof);
}

/* --- printing it all ------------------------------------------------------ */

static void visit(void *context, const sennit_stack *s)
{
	count_in(&((struct merged *)context)->groups, s);
}

static void keep_merged_damage(void *context, const char *line)
{
	struct merged *m = context;

	if (m->damages < MERGED_DAMAGES)
		strcpy(m->damage[m->damages++], line);
}

static int print(struct merged *m, int fd, enum sennit_stacks_format format,
		 int err)
{
	if (format == SENNIT_STACKS_PPROF)
		return print_pprof(m, fd, err);
	if (format == SENNIT_STACKS_MERGED_JSON)
		print_merged_json(m, err);
	else
		print_merged_text(m, err);
	return sn_stacks_page_end(&m->page);
}

int sn_merged_print(sennit_scheduler *s, int fd,
		    enum sennit_stacks_format format)
{
	static const struct stacks_visitor by = {
		.visit = visit, .on_damage = keep_merged_damage
	};
	struct merged *m = &merged;
	int            err, written;

	pthread_mutex_lock(&merged_lock);
	groups_init(&m->groups);
	m->page = (struct stacks_page){ .fd = fd };
	m->symbols = (struct symbols){ .has_lines = true };
	m->damages = 0;
	err = sn_stacks_visit(s, &by, m);
	sn_program_image_open(m->missing, sizeof(m->missing));
	qsort(m->groups.groups, m->groups.count, sizeof(*m->groups.groups),
	      compare);
	written = print(m, fd, format, err);
	sn_symbols_free(&m->symbols);
	groups_free(&m->groups);
	pthread_mutex_unlock(&merged_lock);
	return err ? err : written;
}

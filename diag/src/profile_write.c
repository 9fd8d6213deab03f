/* SPDX-License-Identifier: Apache-2.0 */
/* profile_write.c - writes a profile: as pprof, as folded stacks, as text. */
#include "base/text.h"
#include "fibers.h"
#include "pprof.h"
#include "profile.h"
#include "stacks.h"
#include "sennit/detail/debugger.h"
#include "sennit/symbol.h"

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROFILE_NAME 256u

/* --- sums --------------------------------------------------------------- */

/* The sum of what all threads have recorded of one stack. */
struct sum {
	uint64_t   count, ns, longest;
	uint64_t   hash;
	uintptr_t *key; /* owned */
	uint32_t   words;
};

/* A place in the code, with its name. */
struct code {
	uintptr_t address, begin;
	char     *name; /* escaped */
};

struct record {
	enum sennit_profile_kind kind;
	struct profile_times     times;
	uint64_t                 lost, lost_ns;
	struct sum              *sums;
	size_t                   count, room;
	struct code             *codes; /* by address */
	size_t                   code_count;
	struct symbols           lines;  /* locations for pprof */
	bool                     failed; /* no memory */
};

static struct sum *add_sum(struct record *r, const uintptr_t *key,
			   uint32_t words)
{
	struct sum *s;

	if (r->count == r->room) {
		size_t room = r->room ? 2 * r->room : 256;

		s = realloc(r->sums, room * sizeof(*s));
		if (!s)
			return NULL;
		r->sums = s;
		r->room = room;
	}
	s = &r->sums[r->count];
	*s = (struct sum){ .words = words,
			   .key = malloc(words * sizeof(*key)) };
	if (!s->key)
		return NULL;
	memcpy(s->key, key, words * sizeof(*key));
	r->count++;
	return s;
}

static void merge_site(struct record *r, const struct sites *s,
		       const struct site *site)
{
	const uintptr_t *key = s->words + site->at;
	struct sum      *sum;

	if (r->kind == SENNIT_PROFILE_LOCKS &&
	    !sn_profile_is_lock(key[SITE_KIND]))
		return;
	sum = add_sum(r, key, site->words);
	if (!sum) {
		r->failed = true;
		return;
	}
	sum->count = a_load_rlx(&site->count);
	sum->ns = a_load_rlx(&site->ns);
	sum->longest = a_load_rlx(&site->longest);
}

static void add_sites(void *record, const struct sites *s)
{
	struct record *r = record;
	const uint32_t used = a_load_acq(&s->used); /* <- sites.used */

	for (uint32_t i = 0; i < used && !r->failed; i++)
		merge_site(r, s, &s->sites[i]);
	r->lost += a_load_rlx(&s->lost);
	r->lost_ns += a_load_rlx(&s->lost_ns);
}

/* Add the lost samples as a stack, so that sums are right. */
static void add_lost(struct record *r)
{
	uintptr_t   key[SITE_FRAMES + 1] = { 0 };
	struct sum *sum;

	if (!r->lost)
		return;
	key[SITE_FRAMES] = FRAME_LOST;
	sum = add_sum(r, key, SITE_FRAMES + 1);
	if (sum) {
		sum->count = r->lost;
		sum->ns = r->lost_ns;
	} else {
		r->failed = true;
	}
}

static int compare_keys(const void *a, const void *b)
{
	const struct sum *x = a, *y = b;

	if (x->words != y->words)
		return x->words < y->words ? -1 : 1;
	return memcmp(x->key, y->key, x->words * sizeof(*x->key));
}

/* Order by time, the largest first. */
static int compare_time(const void *a, const void *b)
{
	const struct sum *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return compare_keys(a, b);
}

/* qsort() accepts no null pointer, not even for no elements. */
static void sort(void *elements, size_t count, size_t size,
		 int (*compare)(const void *a, const void *b))
{
	if (count)
		qsort(elements, count, size, compare);
}

/* Merge equal stacks. */
static void merge(struct record *r)
{
	size_t kept = 0;

	sort(r->sums, r->count, sizeof(*r->sums), compare_keys);
	for (size_t i = 0; i < r->count; i++) {
		struct sum *s = &r->sums[i];
		struct sum *to = &r->sums[kept ? kept - 1 : 0];

		if (!kept || compare_keys(to, s)) {
			r->sums[kept++] = *s;
			continue;
		}
		to->count += s->count;
		to->ns += s->ns;
		if (s->longest > to->longest)
			to->longest = s->longest;
		free(s->key);
	}
	r->count = kept;
}

/* --- names -------------------------------------------------------------- */

static int compare_codes(const void *a, const void *b)
{
	const struct code *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

/* Find the name of the function around the address, without an offset. */
static void find_name(struct code *c)
{
	char      name[PROFILE_NAME], text[PROFILE_NAME];
	uintptr_t offset = 0;
	Dl_info   at;

	if (c->address < FRAMES_OTHER) {
		c->name = strdup(c->address == FRAME_UNKNOWN
					 ? "[callers unknown]"
					 : "[no room: lost]");
		return;
	}
	if (dladdr((void *)c->address, &at) && at.dli_sname) {
		sn_escape(text, sizeof(text), at.dli_sname);
		c->begin = (uintptr_t)at.dli_saddr;
	} else if (sn_program_image_name(c->address, name, sizeof(name),
					 &offset)) {
		sn_escape(text, sizeof(text), name);
		c->begin = c->address - offset;
	} else {
		sennit_symbol_print((void *)c->address, text, sizeof(text));
	}
	c->name = strdup(text);
}

static void name_codes(struct record *r)
{
	size_t kept = 0;

	sort(r->codes, r->code_count, sizeof(*r->codes), compare_codes);
	for (size_t i = 0; i < r->code_count; i++) {
		struct code c = r->codes[i];

		if (kept && r->codes[kept - 1].address == c.address)
			continue;
		find_name(&c);
		r->failed |= !c.name;
		r->codes[kept++] = c;
	}
	r->code_count = kept;
}

/* Find the names of the addresses of all frames and tasks. */
static void collect_codes(struct record *r)
{
	size_t count = 0;

	for (size_t i = 0; i < r->count; i++)
		count += r->sums[i].words;
	r->codes = calloc(count + 1, sizeof(*r->codes));
	if (!r->codes) {
		r->failed = true;
		return;
	}
	for (size_t i = 0; i < r->count; i++) {
		const struct sum *s = &r->sums[i];

		if (s->key[SITE_TASK])
			r->codes[r->code_count++].address = s->key[SITE_TASK];
		for (uint32_t k = SITE_FRAMES; k < s->words; k++)
			r->codes[r->code_count++].address = s->key[k];
	}
	name_codes(r);
}

/* Return the entry of an address that was collected, or of the first address of
 * a function. */
static const struct code *code_at(const struct record *r, uintptr_t address)
{
	size_t low = 0, high = r->code_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (r->codes[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return &r->codes[low];
}

static bool begins(const char *name, const char *with)
{
	return !strncmp(name, with, strlen(with));
}

/* --- the program's part of a stack -------------------------------------- */

/* Return the file that contains the address, or NULL. */
static const void *file_base_of(uintptr_t address)
{
	Dl_info at;

	return dladdr((void *)address, &at) ? at.dli_fbase : NULL;
}

/* Return the index after the inner frames that may belong to the two
 * libraries. */
static uint32_t count_library(const struct sum *s, uint32_t end)
{
	const void *program = file_base_of(s->key[SITE_TASK]);
	const void *core = file_base_of((uintptr_t)&sennit_fiber_running);
	const void *own = file_base_of((uintptr_t)&count_library);
	uint32_t    i = SITE_FRAMES;

	if (program == core || program == own)
		return end; /* a static build: libraries and program cannot be
			     * distinguished */
	while (i < end && (file_base_of(s->key[i]) == core ||
			   file_base_of(s->key[i]) == own))
		i++;
	return i;
}

/* Return the index of the frame of the public call that waits, else of the
 * first frame. */
static uint32_t find_call(const struct record *r, const struct sum *s,
			  uint32_t end)
{
	const uint32_t last = count_library(s, end);

	for (uint32_t i = SITE_FRAMES; i < last; i++)
		if (begins(code_at(r, s->key[i])->name, "sennit_"))
			return i;
	return last < end && last > SITE_FRAMES ? last - 1 : SITE_FRAMES;
}

/* Return the index after the outermost frame of the task's function, else the
 * end. */
static uint32_t find_task(const struct record *r, const struct sum *s)
{
	const uintptr_t task = s->key[SITE_TASK];

	for (uint32_t i = s->words; task && i-- > SITE_FRAMES;)
		if (code_at(r, s->key[i])->begin == task)
			return i + 1;
	return s->words;
}

/* Remove the frames of the library, so that all paths through one public call
 * are the same stack. */
static void trim(const struct record *r, struct sum *s)
{
	uint32_t end = find_task(r, s);
	uint32_t from = SITE_FRAMES;

	if (r->kind != SENNIT_PROFILE_CPU)
		from = find_call(r, s, end);
	s->words = SITE_FRAMES + end - from;
	memmove(s->key + SITE_FRAMES, s->key + from,
		(end - from) * sizeof(*s->key));
}

/* Replace `count` inner frames by the start of their functions, so that the
 * position in the function does not matter. */
static void blur_addresses(const struct record *r, struct sum *s,
			   uint32_t count)
{
	for (uint32_t i = SITE_FRAMES; i < s->words && count--; i++)
		if (code_at(r, s->key[i])->begin)
			s->key[i] = code_at(r, s->key[i])->begin;
}

/* --- reading ------------------------------------------------------------ */

/* blurred: only the functions of all stacks matter, not the addresses in
 * them. */
static int read_profile(struct record *r, bool blurred)
{
	int err = sn_profile_visit(r->kind, &r->times, add_sites, r);

	if (err)
		return err;
	add_lost(r);
	if (!r->failed)
		merge(r); /* before the names, which take longest */
	if (!r->failed)
		collect_codes(r);
	if (r->failed)
		return -ENOMEM;
	for (size_t i = 0; i < r->count; i++) {
		trim(r, &r->sums[i]);
		blur_addresses(r, &r->sums[i],
			       blurred                         ? UINT32_MAX
			       : r->kind != SENNIT_PROFILE_CPU ? 1
							       : 0);
	}
	merge(r);
	sort(r->sums, r->count, sizeof(*r->sums), compare_time);
	return 0;
}

static void free_record(struct record *r)
{
	for (size_t i = 0; i < r->count; i++)
		free(r->sums[i].key);
	for (size_t i = 0; i < r->code_count; i++)
		free(r->codes[i].name);
	free(r->sums);
	free(r->codes);
	sn_symbols_free(&r->lines);
}

/* --- words -------------------------------------------------------------- */

/* Write the name of the task's function. */
static void task_text(const struct record *r, const struct sum *s, char *text,
		      size_t size)
{
	const uintptr_t task = s->key[SITE_TASK];
	char            name[PROFILE_NAME];

	sn_record_function_name(task, name, sizeof(name));
	if (name[0])
		sn_escape(text, size, name);
	else
		snprintf(text, size, "%s",
			 task ? code_at(r, task)->name : "[no task]");
}

/* Write the name that the task has set, escaped; "": none. */
static void name_text(const struct sum *s, char *text, size_t size)
{
	char name[SENNIT_TASK_NAME_SIZE];

	memcpy(name, s->key + SITE_NAME, sizeof(name));
	name[sizeof(name) - 1] = '\0';
	sn_escape(text, size, name);
}

static const char *kind_text(const struct sum *s)
{
	const uintptr_t kind = s->key[SITE_KIND];

	return kind && kind < sennit_debug_descriptor.waits_count
		       ? sennit_debug_descriptor.waits[kind]
		       : "";
}

/* --- pprof ---------------------------------------------------------------- */

static void find_profile_place(void *record, uint64_t address,
			       struct pprof_place *place)
{
	struct record       *r = record;
	const struct code   *c = code_at(r, (uintptr_t)address);
	const struct symbol *s;

	place->function = c->name;
	place->begin = c->begin;
	if (address < FRAMES_OTHER)
		return;
	s = sn_symbols_find(&r->lines, (uintptr_t)address);
	place->file = s->line ? s->file : NULL;
	place->line = s->line;
}

static void add_profile_sample(struct pprof *p, const struct record *r,
			       const struct sum *s)
{
	const int64_t      values[] = { (int64_t)s->count, (int64_t)s->ns };
	struct pprof_label labels[4];
	uint64_t           frames[SITE_MOST - SITE_FRAMES];
	const size_t       count = s->words - SITE_FRAMES;
	size_t             n = 0;
	char               task[PROFILE_NAME], name[PROFILE_NAME];

	task_text(r, s, task, sizeof(task));
	name_text(s, name, sizeof(name));
	labels[n++] = (struct pprof_label){ .key = "task", .text = task };
	if (name[0])
		labels[n++] = (struct pprof_label){ .key = "name",
						    .text = name };
	if (*kind_text(s))
		labels[n++] = (struct pprof_label){ .key = "kind",
						    .text = kind_text(s) };
	if (r->kind != SENNIT_PROFILE_CPU)
		labels[n++] =
			(struct pprof_label){ .key = "longest",
					      .number = (int64_t)s->longest,
					      .unit = "nanoseconds" };
	for (size_t i = 0; i < count; i++)
		frames[i] = s->key[SITE_FRAMES + i];
	sn_pprof_add_sample(p, values, frames, count, labels, n);
}

static int write_pprof(int fd, struct record *r)
{
	const bool         cpu = r->kind == SENNIT_PROFILE_CPU;
	char               comment[128];
	int                err;
	struct pprof_about about = {
		.find = find_profile_place,
		.context = r,
		.fd = fd,
		.time_ns = r->times.began_ns,
		.duration_ns = r->times.duration_ns,
		.value_count = 2,
		.values = { { cpu ? "samples" : "waits", "count" },
			    { cpu ? "cpu" : "wait", "nanoseconds" } },
		.comment = comment,
	};
	struct pprof *p = malloc(sizeof(*p));

	if (!p)
		return -ENOMEM;
	if (cpu) {
		about.period_type = about.values[1];
		about.period = 1000000000 / r->times.hertz;
	}
	snprintf(comment, sizeof(comment),
		 "lost: %" PRIu64 ", %" PRIu64 " ns; threads without a timer: "
		 "%" PRIu32,
		 r->lost, r->lost_ns, r->times.untimed);
	sn_pprof_begin(p, &about);
	sn_pprof_add_own_images(p);
	for (size_t i = 0; i < r->count; i++)
		add_profile_sample(p, r, &r->sums[i]);
	err = sn_pprof_end(p);
	free(p);
	return err;
}

/* --- folded stacks -------------------------------------------------------- */

/* Semicolons separate frames, and the last blank separates the number. */
static void add_folded_frame(struct stacks_page *p, const char *name)
{
	char text[PROFILE_NAME];

	snprintf(text, sizeof(text), "%s", name);
	for (char *c = text; *c; c++)
		if (*c == ';')
			*c = ':';
	sn_stacks_page_add(p, "%s", text);
}

static void add_folded(struct stacks_page *p, const struct record *r,
		       const struct sum *s)
{
	char text[PROFILE_NAME];

	task_text(r, s, text, sizeof(text));
	add_folded_frame(p, text);
	name_text(s, text, sizeof(text));
	if (text[0]) {
		sn_stacks_page_add(p, ";");
		add_folded_frame(p, text);
	}
	for (uint32_t i = s->words; i-- > SITE_FRAMES;) {
		/* The task's own function is already written. */
		if (i == s->words - 1 && s->key[SITE_TASK] &&
		    code_at(r, s->key[i])->begin == s->key[SITE_TASK])
			continue;
		sn_stacks_page_add(p, ";");
		add_folded_frame(p, code_at(r, s->key[i])->name);
	}
	if (*kind_text(s))
		sn_stacks_page_add(p, ";[%s]", kind_text(s));
	sn_stacks_page_add(p, " %" PRIu64 "\n", s->ns);
}

/* --- text ----------------------------------------------------------------- */

#define MS 1000000

static void add_time(struct stacks_page *p, uint64_t ns)
{
	sn_stacks_page_add(p, "%9" PRIu64 ".%03u ", ns / MS,
			   (unsigned)(ns % MS / 1000));
}

static void add_head(struct stacks_page *p, const struct record *r)
{
	const bool cpu = r->kind == SENNIT_PROFILE_CPU;
	uint64_t   count = 0, ns = 0;

	for (size_t i = 0; i < r->count; i++) {
		count += r->sums[i].count;
		ns += r->sums[i].ns;
	}
	sn_stacks_page_add(
		p, "%s: %" PRIu64 " %s, %" PRIu64 " ms, in %" PRIu64 " ms",
		cpu                               ? "CPU"
		: r->kind == SENNIT_PROFILE_LOCKS ? "locks"
						  : "waits",
		count, cpu ? "samples" : "waits", ns / MS,
		r->times.duration_ns / MS);
	if (cpu)
		sn_stacks_page_add(p, ", at %" PRIu32 " Hz", r->times.hertz);
	sn_stacks_page_add(p, "; lost: %" PRIu64 ", %" PRIu64 " ms", r->lost,
			   r->lost_ns / MS);
	if (r->times.untimed)
		sn_stacks_page_add(p, "; threads without a timer: %" PRIu32,
				   r->times.untimed);
	sn_stacks_page_add(p, "\n\n%13s ", "total ms");
	if (!cpu)
		sn_stacks_page_add(p, "%13s ", "longest ms");
	sn_stacks_page_add(p, "%9s  %s\n", "count", "what, stack");
}

/* A frame of a wait is a call. A function may have several, so print its
 * offset. */
static void add_place(struct stacks_page *p, const struct record *r,
		      uintptr_t address)
{
	const struct code *c = code_at(r, address);

	sn_stacks_page_add(p, "%s", c->name);
	if (c->begin && c->begin != address && r->kind != SENNIT_PROFILE_CPU)
		sn_stacks_page_add(p, "+%#" PRIxPTR, address - c->begin);
}

static void add_line(struct stacks_page *p, const struct record *r,
		     const struct sum *s)
{
	char text[PROFILE_NAME];

	add_time(p, s->ns);
	if (r->kind != SENNIT_PROFILE_CPU)
		add_time(p, s->longest);
	sn_stacks_page_add(p, "%9" PRIu64 "  ", s->count);
	if (*kind_text(s))
		sn_stacks_page_add(p, "%s, ", kind_text(s));
	task_text(r, s, text, sizeof(text));
	sn_stacks_page_add(p, "%s", text);
	name_text(s, text, sizeof(text));
	if (text[0])
		sn_stacks_page_add(p, " '%s'", text);
	sn_stacks_page_add(p, ": ");
	for (uint32_t i = SITE_FRAMES; i < s->words; i++) {
		if (i > SITE_FRAMES)
			sn_stacks_page_add(p, " < ");
		add_place(p, r, s->key[i]);
	}
	sn_stacks_page_add(p, "\n");
}

static int write_lines(int fd, const struct record *r, bool folded)
{
	struct stacks_page *p = calloc(1, sizeof(*p));
	int                 err;

	if (!p)
		return -ENOMEM;
	p->fd = fd;
	if (!folded)
		add_head(p, r);
	for (size_t i = 0; i < r->count; i++)
		if (folded)
			add_folded(p, r, &r->sums[i]);
		else
			add_line(p, r, &r->sums[i]);
	err = sn_stacks_page_end(p);
	free(p);
	return err;
}

/* --- the call ----------------------------------------------------------- */

static bool is_one(uint32_t kind)
{
	return kind == SENNIT_PROFILE_CPU || kind == SENNIT_PROFILE_WAITS ||
	       kind == SENNIT_PROFILE_LOCKS;
}

int sennit_profile_write(int fd, uint32_t kind, uint32_t format)
{
	struct record r = { .kind = kind, .lines = { .has_lines = true } };
	int           err;

	if (!is_one((uint32_t)kind) || (uint32_t)format > SENNIT_PROFILE_TEXT)
		return -EINVAL;
	err = read_profile(&r, format == SENNIT_PROFILE_FOLDED ||
				       (format == SENNIT_PROFILE_TEXT &&
					kind == SENNIT_PROFILE_CPU));
	if (!err)
		err = format == SENNIT_PROFILE_PPROF
			      ? write_pprof(fd, &r)
			      : write_lines(fd, &r,
					    format == SENNIT_PROFILE_FOLDED);
	free_record(&r);
	return err;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/file.h"

#include "trace/array.h"
#include "trace/timeline.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The bytes that have not been read. */
struct rest {
	const unsigned char *at;
	size_t               size;
};

/* Copy the first `size` bytes and skip them and their padding. */
static bool take(struct rest *r, void *out, size_t size)
{
	size_t padded = (size + 7) & ~(size_t)7;

	if (size > r->size)
		return false;
	memcpy(out, r->at, size);
	if (padded > r->size)
		padded = r->size;
	r->at += padded;
	r->size -= padded;
	return true;
}

static void parse_events(struct file *f, uint64_t count, struct rest r)
{
	struct sennit_trace_event e;
	uint32_t                  at;

	while (count && take(&r, &e, sizeof(e))) {
		at = ARRAY_ADD(f->events, f->event_count);
		f->events[at] = (struct file_event){ .time = e.time,
						     .a = e.a,
						     .b = e.b,
						     .ring = f->ring_count - 1,
						     .order = at,
						     .fiber = e.fiber,
						     .kind = e.kind,
						     .detail = e.detail };
		count--;
	}
	if (count)
		f->is_cut = true;
}

static void parse_ring(struct file *f, struct rest r)
{
	struct sennit_trace_ring ring;
	uint32_t                 at;

	if (!take(&r, &ring, sizeof(ring))) {
		f->is_cut = true;
		return;
	}
	at = ARRAY_ADD(f->rings, f->ring_count);
	f->rings[at] = (struct file_ring){ ring.ring, ring.kind, ring.thread,
					   ring.lost };
	parse_events(f, ring.count, r);
}

static void parse_strings(struct file *f, struct rest r)
{
	struct sennit_trace_string s;
	size_t                     padded;
	uint32_t                   at;

	while (take(&r, &s, sizeof(s)) && s.length <= r.size) {
		at = ARRAY_ADD(f->strings, f->string_count);
		f->strings[at] = (struct file_string){
			s.key, s.kind,
			names_add(&f->names, (const char *)r.at, s.length)
		};
		padded = ((size_t)s.length + 7) & ~(size_t)7;
		if (padded > r.size)
			padded = r.size;
		r.at += padded;
		r.size -= padded;
	}
}

/* Its ring is still a number, not an index. */
static void parse_fibers(struct file *f, struct rest r)
{
	struct sennit_trace_fiber x;
	uint32_t                  at;

	while (take(&r, &x, sizeof(x))) {
		at = ARRAY_ADD(f->fibers, f->fiber_count);
		f->fibers[at] = (struct file_fiber){
			.ring = x.ring,
			.fiber = x.fiber,
			.task = x.task,
			.flow = x.flow,
			.since = (int64_t)x.since,
			.waits_for = x.waits_for,
			.name = x.name[0] ? names_add(&f->names, x.name,
						      sizeof(x.name))
					  : TIMELINE_NONE
		};
	}
}

/* Returns false after the last section that can be read. */
static bool parse_section(struct file *f, struct rest *r)
{
	struct sennit_trace_section s;
	struct rest                 contents;

	f->is_cut = true;
	if (!take(r, &s, sizeof(s)))
		return false;
	if (s.type == SENNIT_TRACE_SECTION_END) {
		f->is_cut = false;
		return false;
	}
	/* Read as much as there is of a section that was cut off. */
	contents = (struct rest){ r->at,
				  s.size < r->size ? (size_t)s.size : r->size };
	if (s.type == SENNIT_TRACE_SECTION_RING)
		parse_ring(f, contents);
	else if (s.type == SENNIT_TRACE_SECTION_STRINGS)
		parse_strings(f, contents);
	else if (s.type == SENNIT_TRACE_SECTION_FIBERS)
		parse_fibers(f, contents);
	else if (s.type == SENNIT_TRACE_SECTION_MAPS)
		maps_add(&f->maps, contents.at, contents.size);
	contents.size = (contents.size + 7) & ~(size_t)7;
	if (s.size > r->size || contents.size > r->size)
		return false;
	r->at += contents.size;
	r->size -= contents.size;
	return true;
}

static int compare_events(const void *a, const void *b)
{
	const struct file_event *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static int compare_strings(const void *a, const void *b)
{
	const struct file_string *x = a, *y = b;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return x->key < y->key ? -1 : x->key > y->key;
}

/* Convert ticks to nanoseconds since the begin of the recording, limited to
 * 2^62, so that differences do not overflow. */
static int64_t nanoseconds(uint64_t ticks, const struct sennit_trace_file *h)
{
	double passed = (double)(int64_t)(ticks - h->begin_ticks);
	double most = (double)(INT64_C(1) << 62);

	if (h->end_ticks != h->begin_ticks)
		passed *= (double)(int64_t)(h->end_ns - h->begin_ns) /
			  (double)(int64_t)(h->end_ticks - h->begin_ticks);
	return (int64_t)(passed > most    ? most
			 : passed > -most ? passed
					  : -most);
}

/* The times are at most 2^62 before or after 0. */
static int64_t since_first(const struct file *f, int64_t time)
{
	bool is_far = f->first < 0 && time > INT64_MAX + f->first;

	return is_far ? INT64_MAX : time - f->first;
}

int64_t file_time(const struct file *f, uint64_t ticks)
{
	return since_first(f, nanoseconds(ticks, &f->head));
}

int64_t file_time_ns(const struct file *f, uint64_t ns)
{
	int64_t most = INT64_C(1) << 62;
	int64_t time = (int64_t)(ns - f->head.begin_ns);

	return since_first(f, time > most ? most : time < -most ? -most : time);
}

static int compare_fibers(const void *a, const void *b)
{
	const struct file_fiber *x = a, *y = b;

	if (x->ring != y->ring)
		return x->ring < y->ring ? -1 : 1;
	return x->fiber < y->fiber ? -1 : x->fiber > y->fiber;
}

/* Leave out those of rings that are not in the file. */
static void sort_fibers(struct file *f)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < f->fiber_count; i++) {
		struct file_fiber x = f->fibers[i];
		uint32_t          ring = 0;

		while (ring < f->ring_count && f->rings[ring].number != x.ring)
			ring++;
		if (ring == f->ring_count)
			continue;
		x.ring = ring;
		x.since = file_time_ns(f, (uint64_t)x.since);
		f->fibers[count++] = x;
	}
	f->fiber_count = count;
	if (count)
		qsort(f->fibers, count, sizeof(*f->fibers), compare_fibers);
}

/* Make the times nanoseconds since the first one. */
static void convert_times(struct file *f)
{
	const struct sennit_trace_file *h = &f->head;
	int64_t                         first = INT64_MAX, now = 0;
	uint32_t                        ring = UINT32_MAX;

	for (uint32_t i = 0; i < f->event_count; i++) {
		struct file_event *e = &f->events[i];
		int64_t            time = nanoseconds(e->time, h);

		now = e->ring == ring && time < now ? now : time;
		ring = e->ring;
		e->time = (uint64_t)now;
		if (now < first)
			first = now;
	}
	for (uint32_t i = 0; i < f->event_count; i++)
		f->events[i].time -= (uint64_t)first;
	f->first = f->event_count ? first : 0;
}

static const char *parse_head(struct file *f, struct sennit_trace_file *h,
			      struct rest *r)
{
	if (r->size < sizeof(h->magic) ||
	    memcmp(r->at, SENNIT_TRACE_MAGIC, sizeof(h->magic)))
		return "not a trace of sennit";
	if (r->size < sizeof(*h))
		return "the file ends within its head";
	memcpy(h, r->at, sizeof(*h));
	if (h->byte_order != SENNIT_TRACE_BYTE_ORDER)
		return "written with the other byte order";
	if (h->version != SENNIT_TRACE_VERSION)
		return "a version of the format that this program does not "
		       "know";
	if (h->size < sizeof(*h) || h->size > r->size ||
	    h->event_size != sizeof(struct sennit_trace_event))
		return "the head is damaged";
	r->at += h->size;
	r->size -= h->size;
	f->workers = h->workers;
	return NULL;
}

const char *file_parse(struct file *f, const unsigned char *bytes, size_t size)
{
	struct rest r = { bytes, size };
	const char *wrong;

	memset(f, 0, sizeof(*f));
	wrong = parse_head(f, &f->head, &r);
	if (wrong)
		return wrong;
	while (parse_section(f, &r))
		;
	maps_parse(&f->maps);
	convert_times(f);
	sort_fibers(f);
	if (f->event_count)
		qsort(f->events, f->event_count, sizeof(*f->events),
		      compare_events);
	if (f->string_count)
		qsort(f->strings, f->string_count, sizeof(*f->strings),
		      compare_strings);
	return NULL;
}

void file_free(struct file *f)
{
	free(f->rings);
	free(f->strings);
	free(f->events);
	free(f->fibers);
	maps_free(&f->maps);
	names_free_index(&f->names);
}

static uint32_t name_address(struct file *f, uint64_t address)
{
	const struct map *m = maps_find(&f->maps, address);
	char              text[4096];

	if (m)
		snprintf(text, sizeof(text), "%.4000s+0x%" PRIx64, m->name,
			 address - m->base);
	else
		snprintf(text, sizeof(text), "0x%" PRIx64, address);
	return names_add(&f->names, text, strlen(text));
}

uint32_t file_name(struct file *f, uint32_t kind, uint64_t key)
{
	struct file_string  wanted = { key, kind, 0 };
	struct file_string *found = NULL;
	char                text[24];

	if (f->string_count)
		found = bsearch(&wanted, f->strings, f->string_count,
				sizeof(wanted), compare_strings);
	if (found)
		return found->name;
	if (kind == SENNIT_TRACE_STRING_FUNCTION)
		return name_address(f, key);
	snprintf(text, sizeof(text), "0x%" PRIx64, key);
	return names_put(&f->names, text);
}

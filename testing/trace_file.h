/* SPDX-License-Identifier: Apache-2.0 */
/* trace_file.h - reads a file of sennit/trace_format.h, and checks its form. */
#ifndef SN_TEST_TRACE_FILE_H
#define SN_TEST_TRACE_FILE_H

#include "sennit/trace.h"
#include "sennit/trace_format.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* An event and where it happened. */
struct seen {
	struct sennit_trace_event e;
	uint32_t                  ring;
	uint32_t                  kind; /* of the ring */
};

struct trace_file {
	const char                      *wrong; /* NULL: the form is right */
	struct sennit_trace_file         head;
	struct sennit_trace_ring         rings[64];
	size_t                           ring_count;
	struct seen                     *events; /* ring by ring */
	size_t                           count;
	size_t                           none;   /* events that were left out */
	const struct sennit_trace_fiber *fibers; /* in the bytes */
	size_t                           fiber_count;
	unsigned                         maps; /* sections of that kind */
	char                            *bytes;
	size_t                           size;
};

/* The fiber of the list that waits for the object, or NULL. */
static inline const struct sennit_trace_fiber *trace_file_fiber(
	const struct trace_file *f, const void *object)
{
	for (size_t i = 0; i < f->fiber_count; i++)
		if (f->fibers[i].object == (uintptr_t)object)
			return &f->fibers[i];
	return NULL;
}

static inline void keep_event(struct trace_file *f, const char *at,
			      const struct sennit_trace_ring *ring)
{
	struct seen *s = &f->events[f->count];

	memcpy(&s->e, at, sizeof(s->e));
	s->ring = ring->ring;
	s->kind = ring->kind;
	if (s->e.kind == SENNIT_TRACED_NONE) {
		f->none++;
		return;
	}
	if (f->count && s[-1].ring == s->ring && s[-1].e.time > s->e.time)
		f->wrong = "times decrease";
	f->count++;
}

static inline void read_ring(struct trace_file *f, const char *at, size_t size)
{
	struct sennit_trace_ring *ring = &f->rings[f->ring_count++];

	memcpy(ring, at, sizeof(*ring));
	if (size != sizeof(*ring) + ring->count * f->head.event_size ||
	    ring->count + ring->lost != ring->written)
		f->wrong = "a ring's size";
	for (uint64_t i = 0; i < ring->count && !f->wrong; i++)
		keep_event(f, at + sizeof(*ring) + i * f->head.event_size,
			   ring);
}

static inline void read_fibers(struct trace_file *f, const char *at,
			       size_t size)
{
	if (size % sizeof(*f->fibers))
		f->wrong = "the list's size";
	f->fibers = (const struct sennit_trace_fiber *)(const void *)at;
	f->fiber_count = size / sizeof(*f->fibers);
}

static inline void read_sections(struct trace_file *f)
{
	struct sennit_trace_section section = { .type = UINT32_MAX };
	size_t                      at = f->head.size;

	while (!f->wrong && section.type != SENNIT_TRACE_SECTION_END) {
		if (at + sizeof(section) > f->size) {
			f->wrong = "no end";
			return;
		}
		memcpy(&section, f->bytes + at, sizeof(section));
		at += sizeof(section);
		if (section.size > f->size - at)
			f->wrong = "a section is cut off";
		else if (section.type == SENNIT_TRACE_SECTION_RING)
			read_ring(f, f->bytes + at, (size_t)section.size);
		else if (section.type == SENNIT_TRACE_SECTION_FIBERS)
			read_fibers(f, f->bytes + at, (size_t)section.size);
		f->maps += section.type == SENNIT_TRACE_SECTION_MAPS;
		at += ((size_t)section.size + 7) & ~(size_t)7;
	}
	if (!f->wrong && at != f->size)
		f->wrong = "bytes behind the end";
}

/* Read the file from its beginning. trace_file_free() frees what it takes. */
static inline void trace_file_read(struct trace_file *f, int fd)
{
	memset(f, 0, sizeof(*f));
	f->size = (size_t)lseek(fd, 0, SEEK_END);
	f->bytes = malloc(f->size + 1);
	f->events = malloc(2 * f->size + sizeof(*f->events));
	if (!f->bytes || !f->events)
		abort();
	if (pread(fd, f->bytes, f->size, 0) != (ssize_t)f->size ||
	    f->size < sizeof(f->head)) {
		f->wrong = "too short";
		return;
	}
	memcpy(&f->head, f->bytes, sizeof(f->head));
	if (memcmp(f->head.magic, SENNIT_TRACE_MAGIC, 8) ||
	    f->head.byte_order != SENNIT_TRACE_BYTE_ORDER ||
	    f->head.version != SENNIT_TRACE_VERSION ||
	    f->head.size != sizeof(f->head) ||
	    f->head.event_size != sizeof(struct sennit_trace_event))
		f->wrong = "the head";
	read_sections(f);
}

static inline void trace_file_free(struct trace_file *f)
{
	free(f->bytes);
	free(f->events);
}

/* The string of the key, terminated, into text. Returns whether it is there. */
static inline bool trace_file_string(const struct trace_file *f, uint32_t kind,
				     uint64_t key, char text[64])
{
	struct sennit_trace_section section;

	for (size_t at = f->head.size; at + sizeof(section) <= f->size;
	     at += sizeof(section) +
		   (((size_t)section.size + 7) & ~(size_t)7)) {
		struct sennit_trace_string s;

		memcpy(&section, f->bytes + at, sizeof(section));
		if (section.type != SENNIT_TRACE_SECTION_STRINGS)
			continue;
		memcpy(&s, f->bytes + at + sizeof(section), sizeof(s));
		if (s.kind != kind || s.key != key)
			continue;
		snprintf(text, 64, "%.*s", (int)s.length,
			 f->bytes + at + sizeof(section) + sizeof(s));
		return true;
	}
	return false;
}

/* The number of events of a kind with this `a`. ANY: with any. */
#define ANY UINT64_MAX
static inline size_t trace_file_count(const struct trace_file *f, uint32_t kind,
				      uint64_t a)
{
	size_t n = 0;

	for (size_t i = 0; i < f->count; i++)
		n += f->events[i].e.kind == kind &&
		     (a == ANY || f->events[i].e.a == a);
	return n;
}

/* The event after *from of a kind with this flow. NULL: there is none. */
static inline const struct seen *trace_file_next(const struct trace_file *f,
						 const struct seen       *from,
						 uint32_t kind, uint64_t flow)
{
	const struct seen *s = from ? from + 1 : f->events;

	for (; s < f->events + f->count; s++)
		if (s->e.kind == kind && (flow == ANY || s->e.b == flow))
			return s;
	return NULL;
}

#endif

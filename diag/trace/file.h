/* SPDX-License-Identifier: Apache-2.0 */
/* file.h - reads the format of sennit/trace_format.h.
 *
 * The file is not trusted: sizes and counts are checked against the bytes that
 * exist, and numbers out of range are ignored or shown as they are.
 */
#ifndef APPS_TRACE_FILE_H
#define APPS_TRACE_FILE_H

#include "trace/maps.h"
#include "trace/names.h"

#include <sennit/trace_format.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct file_ring {
	uint32_t number;
	uint32_t kind; /* enum sennit_trace_ring_kind */
	uint32_t thread;
	uint64_t lost;
};

struct file_string {
	uint64_t key;
	uint32_t kind; /* enum sennit_trace_string_kind */
	uint32_t name; /* of names */
};

struct file_event {
	uint64_t time; /* ns since the first event of the file; never decreasing
		        * within a ring */
	uint64_t a, b;
	uint32_t order; /* position in the file */
	uint32_t ring;  /* index of rings */
	uint32_t fiber;
	uint16_t kind; /* enum sennit_trace_kind, or an unknown kind */
	uint16_t detail;
};

/* A fiber that had a task when the file was written. */
struct file_fiber {
	uint32_t ring; /* index of rings */
	uint32_t fiber;
	uint64_t task;  /* address of the function */
	uint64_t flow;  /* of its wait; 0: it runs */
	int64_t  since; /* ns since the first event: begin of the wait */
	uint32_t waits_for;
	uint32_t name; /* the name that the task has set, or NONE */
};

struct file {
	struct file_ring   *rings;
	struct file_string *strings; /* sorted by kind and key */
	struct file_event  *events;  /* sorted by time, then by position */
	struct file_fiber  *fibers;  /* sorted by ring and number */
	uint32_t            ring_count, string_count, event_count, fiber_count;
	struct sennit_trace_file head;
	int64_t      first; /* time of the first event; see file_time() */
	struct names names;
	struct maps  maps;
	uint32_t     workers;
	bool         is_cut;
};

/* Parse `size` bytes. Returns NULL, or an error message, in which case there is
 * nothing to free. A file that is cut off is not an error. */
const char *file_parse(struct file *f, const unsigned char *bytes, size_t size);

/* Return a time of the file, in ticks or in nanoseconds of the system's clock,
 * as nanoseconds since the first event. */
int64_t file_time(const struct file *f, uint64_t ticks);
int64_t file_time_ns(const struct file *f, uint64_t ns);

/* Free everything except the texts of names. */
void file_free(struct file *f);

/* Return the index of the name of a function, span or counter. A function
 * without a name is named by its file and offset, or its address; others by the
 * key. */
uint32_t file_name(struct file *f, uint32_t kind, uint64_t key);

#endif

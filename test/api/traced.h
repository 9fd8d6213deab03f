/* SPDX-License-Identifier: Apache-2.0 */
/* traced.h - a scheduler whose events are recorded, and its trace as a file. */
#ifndef SN_TEST_TRACED_H
#define SN_TEST_TRACED_H

#include "../trace_file.h"
#include "with_workers.h"

/* The trace of s as a file. */
static inline struct trace_file trace_of(sennit_scheduler *s)
{
	struct trace_file f;
	FILE             *file = tmpfile();

	assert_non_null(file);
	assert_int_equal(sennit_trace_write(s, fileno(file)), 0);
	trace_file_read(&f, fileno(file));
	fclose(file);
	if (f.wrong)
		fail_msg("the file is wrong: %s", f.wrong);
	return f;
}

static inline void start(sennit_scheduler *s)
{
	assert_int_equal(sennit_trace_start(s, NULL), 0);
}

#endif

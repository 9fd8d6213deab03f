/* SPDX-License-Identifier: Apache-2.0 */
/* misuse_stream.c - a stream that is left open ends the process with one line
 * that names the call. */
#include "operations.h"

#include "../api/misuse.h"

#include "sennit/stream.h"

static void commit_leave_open(const struct offence *o)
{
	sennit_stream *s;
	void          *bytes;
	int            fds[2];

	(void)o;
	open_sockets(fds);
	if (sennit_stream_open(&s, fds[0]) ||
	    sennit_stream_next(s, &bytes, 0) != -ETIMEDOUT)
		_exit(4);
	sennit_unbind();
}

TEST_WITH_COUNTS(leaving_a_stream_open)
{
	assert_misuse(w, "sennit_stream_open", commit_leave_open);
}

USES_BACKEND;

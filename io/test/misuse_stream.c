/* SPDX-License-Identifier: Apache-2.0 */
/* misuse_stream.c - a stream that is left open ends the process with one line
 * that names the call. */
#include "operations.h"

#include "testing/misuse.h"

#include "sennit/stream.h"

MISUSE_TEST(leaving_a_stream_open, "sennit_stream_open")
{
	sennit_stream *s;
	void          *bytes;
	int            fds[2];

	open_sockets(fds);
	if (sennit_stream_open(&s, fds[0]) ||
	    sennit_stream_next(s, &bytes, 0) != -ETIMEDOUT)
		_exit(4);
	sennit_thread_unbind();
}

USES_BACKEND;

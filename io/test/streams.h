/* SPDX-License-Identifier: Apache-2.0 */
/* streams.h - helpers for tests of streams. */
#ifndef SN_TEST_STREAMS_H
#define SN_TEST_STREAMS_H

#include "operations.h"

#include "sennit/stream.h"

static inline sennit_stream *must_open(int fd)
{
	sennit_stream *s = NULL;

	EXPECT(sennit_stream_open(&s, fd) == 0);
	must(s, "sennit_stream_open");
	return s;
}

static inline void close_both(int fds[2])
{
	close(fds[0]);
	if (fds[1] >= 0)
		close(fds[1]);
}

static inline void expect_ab(sennit_stream *s, sennit_time deadline)
{
	void     *bytes = NULL;
	ptrdiff_t n = sennit_stream_next(s, &bytes, deadline);

	EXPECT(n == 2);
	EXPECT(n != 2 || !memcmp(bytes, "ab", 2));
}

struct waiting {
	int         fds[2];
	ptrdiff_t   result;
	atomic_bool over;
};

static inline void wait_in_stream(void *argument)
{
	struct waiting *x = argument;
	sennit_stream  *s = must_open(x->fds[0]);
	void           *bytes;

	x->result = sennit_stream_next(s, &bytes, SENNIT_NEVER);
	if (x->result == -ECANCELED && x->fds[1] >= 0) {
		give_two_bytes(x->fds);
		expect_ab(s, SENNIT_NEVER); /* must receive bytes */
	}
	sennit_stream_close(s);
	atomic_store(&x->over, true);
}

/* --- bytes that depend on their offset ----------------------------------- */

static inline char nth(size_t i)
{
	return (char)(i * 7 + i / 256);
}

static inline void check_pattern(const char *bytes, size_t at, size_t size)
{
	bool right = true;

	for (size_t i = 0; i < size; i++)
		right = right && bytes[i] == nth(at + i);
	EXPECT(right);
}

#endif

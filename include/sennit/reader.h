/* SPDX-License-Identifier: Apache-2.0 */
/* reader.h - a buffered reader: lines, and pieces of a known size.
 *
 *	sennit_reader reader;
 *	char          room[4096], *line;
 *	ptrdiff_t     n;
 *
 *	sennit_reader_init(&reader, fd, room, sizeof(room));
 *	while ((n = sennit_read_line(&reader, &line, SENNIT_NEVER)) >= 0)
 *		handle(line, (size_t)n);
 *	sennit_reader_end(&reader); // n is -ENODATA: the end
 *
 * In libsennit-io. A reader reads ahead, from a descriptor, a stream (stream.h)
 * or a function, into memory that the caller passes or the reader allocates.
 * Nobody else may read from there meanwhile.
 *
 * No byte is lost. What has come and was not taken stays in the reader, also
 * after -ETIMEDOUT, -ECANCELED and every other error. A call that ended with
 * -ETIMEDOUT, -ECANCELED or -ENOMEM can be repeated. A deadline holds for the
 * whole call, however often it has to read. A call that finds what it wants in
 * the reader does not wait, and returns it also in a cancelled group.
 *
 * A call that ends with -ENODATA has come to the end of the source. The next
 * one reads again: from a terminal or a growing file there may be more.
 *
 * A reader is used by one fiber or thread at a time; the reader of a stream by
 * the stream's opener only. A call may access *reader until it returns.
 */
#ifndef SENNIT_READER_H
#define SENNIT_READER_H

#include "sennit/base.h"

SENNIT_BEGIN

struct sennit_stream;

/* Where a reader reads: up to `size` bytes, more than 0, into *to, by the
 * deadline. Returns how many, 0 at the end, or a negative errno value, after
 * which no byte is lost, like sennit_read(). */
typedef ptrdiff_t sennit_reader_fn(void *source, void *to, size_t size,
				   sennit_time deadline);

typedef struct sennit_reader {
	sennit_reader_fn *read_; /* NULL: of a stream */
	void             *source_;
	char             *bytes_; /* of room_ bytes; NULL: not allocated */
	size_t            room_;
	size_t            from_, to_; /* in bytes_: come and not taken */
	char             *piece_;     /* the stream's, not in bytes_ yet */
	size_t            left_;
	int               owns_; /* bytes_ is its own */
} sennit_reader;

/* Begin to read from fd by sennit_read(). The caller keeps fd, and *memory,
 * which must stay until sennit_reader_end(). size, more than 0, bounds what a
 * call can find: a line with its end, what sennit_read_until() and
 * sennit_reader_peek() return. memory may be NULL: then the reader allocates
 * `size` bytes when it first needs them, and calls may return -ENOMEM.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_reader_init(sennit_reader *reader, int fd, void *memory,
				   size_t size);

/* Begin to read from a stream, which the caller keeps, and closes after
 * sennit_reader_end(). If memory is NULL, the reader has none while it waits
 * and has no bytes. The rest is as for sennit_reader_init().
 *
 * From: fiber, thread, the opener.  Blocks: no.  */
SENNIT_API void sennit_reader_init_stream(sennit_reader        *reader,
					  struct sennit_stream *stream,
					  void *memory, size_t size);

/* Begin to read by calling read(source, ...): from a TLS connection, from what
 * another reader unpacks. The rest is as for sennit_reader_init().
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_reader_init_source(sennit_reader    *reader,
					  sennit_reader_fn *read, void *source,
					  void *memory, size_t size);

/* End reading and free what the reader has allocated. Bytes that were read
 * ahead and not taken are lost.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_reader_end(sennit_reader *reader);

/* Take the next line, and store its address in *line. A line ends with '\n' or
 * '\r' '\n', which are not part of it; the last one may have no end. A zero
 * byte is stored behind it. The line stays valid, and is the caller's to
 * change, until the next call with the reader.
 * Returns its length, 0 for an empty one; -ENODATA if no more come; -EMSGSIZE
 * if the reader is full and has no end of a line, which sennit_reader_read()
 * then takes piece by piece; or a negative errno of the source.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE ptrdiff_t sennit_read_line(sennit_reader *reader,
						      char         **line,
						      sennit_time    deadline);

/* Take the bytes up to the next one that is `delimiter`, and store their
 * address in *bytes. They stay valid, and are the caller's to change, until the
 * next call with the reader.
 * Returns how many they are, the delimiter among them; -ENODATA if the end
 * comes first, and -EMSGSIZE if the reader is full and has no delimiter: the
 * bytes stay in the reader; or a negative errno of the source.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE ptrdiff_t sennit_read_until(sennit_reader *reader,
						       char           delimiter,
						       void         **bytes,
						       sennit_time    deadline);

/* Take up to `size` bytes into *to: what the reader has, or else what comes
 * next. Returns how many, at least one unless size is 0; 0 at the end; or a
 * negative errno of the source.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE ptrdiff_t sennit_reader_read(sennit_reader *reader,
							void *to, size_t size,
							sennit_time deadline);

/* Take `size` bytes into *to. *done of them are there already: the call goes on
 * behind them and raises *done, so after an error the same call continues.
 * done may be NULL for none. It is misuse if *done is more than size.
 * Returns 0, -ENODATA if the end comes first, or a negative errno of the
 * source.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_reader_exactly(sennit_reader *reader,
						     void *to, size_t size,
						     size_t     *done,
						     sennit_time deadline);

/* Look at what comes next and take nothing: wait until the reader has at least
 * `least` bytes, and store their address in *bytes. They stay valid until the
 * next call with the reader, and may be changed. With 0 the call does not wait.
 * Returns how many bytes there are, maybe more than `least`; -ENODATA if the
 * end comes first; -EMSGSIZE if the reader has no room for so many; or a
 * negative errno of the source.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE ptrdiff_t sennit_reader_peek(sennit_reader *reader,
							size_t         least,
							void         **bytes,
							sennit_time deadline);

/* Take `size` bytes and forget them. It is misuse if sennit_reader_peek() would
 * find fewer without waiting.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_reader_skip(sennit_reader *reader, size_t size);

SENNIT_END

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* reader.h - a buffered reader: lines, and pieces of a known size.
 *
 *	sennit_reader reader;
 *	char          room[4096], *line;
 *	ptrdiff_t     n;
 *
 *	sennit_reader_init(&reader, fd, room, sizeof(room));
 *	while ((n = sennit_reader_read_line(&reader, &line, SENNIT_NEVER)) >= 0)
 *		handle(line, (size_t)n);
 *	sennit_reader_destroy(&reader); // n is -ENODATA: the end
 *
 * In libsennit-io. A reader reads ahead from a descriptor, a stream (stream.h)
 * or a function, into memory that the caller passes or the reader allocates.
 * Nothing else may read from that source meanwhile.
 *
 * No byte is lost. Bytes that were received and not taken stay in the reader,
 * also after -ETIMEDOUT, -ECANCELED and any other error. A call that ended with
 * -ETIMEDOUT, -ECANCELED or -ENOMEM can be repeated. A deadline applies to the
 * whole call, however many reads it needs. If the reader already has what a
 * call asks for, the call returns it without waiting, also in a cancelled
 * group.
 *
 * A call that returns -ENODATA has reached the end of the source. The next call
 * reads again, because a terminal or a growing file may have more data.
 *
 * Only one fiber or thread at a time may use a reader. Only the opener of a
 * stream may use the reader of that stream. A call may access *reader until it
 * returns.
 */
#ifndef SENNIT_READER_H
#define SENNIT_READER_H

#include "sennit/base.h"

SENNIT_BEGIN

struct sennit_stream;

/* The source of a reader. Reads up to `size` bytes, more than 0, into *to
 * before the deadline. Returns the number of bytes, 0 at the end, or a negative
 * errno value after which no byte is lost, as sennit_read() does. */
typedef ptrdiff_t sennit_reader_fn(void *source, void *to, size_t size,
				   sennit_time deadline);

typedef struct sennit_reader {
	sennit_reader_fn *read_; /* NULL: the source is a stream */
	void             *source_;
	char             *bytes_; /* room_ bytes; NULL: not allocated */
	size_t            room_;
	size_t            from_, to_; /* in bytes_: received and not taken */
	char             *piece_;     /* in the stream's buffer, not yet in
				       * bytes_ */
	size_t            left_;
	uint32_t          owns_; /* the reader allocates and frees bytes_ */
	uint32_t          reserved_;
	void             *more_[2]; /* reserved */
} sennit_reader;

/* Initialise a reader that reads from fd by sennit_read(). The caller keeps fd
 * and *memory, both of which must remain valid until sennit_reader_destroy().
 * size, in bytes and more than 0, limits what a call can find: a line with its
 * end, and what sennit_reader_read_delimited() and sennit_reader_peek() return.
 * If memory is NULL, the reader allocates `size` bytes when it first needs
 * them, and calls may return -ENOMEM.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_reader_init(sennit_reader *reader, int fd, void *memory,
				   size_t size);

/* Initialise a reader that reads from a stream. The caller keeps the stream,
 * and closes it after sennit_reader_destroy(). If memory is NULL, the reader
 * has no memory while it is empty and waits. The other parameters are as for
 * sennit_reader_init().
 *
 * From: fiber, thread, the opener.  Blocks: no.  */
SENNIT_API void sennit_reader_init_stream(sennit_reader        *reader,
					  struct sennit_stream *stream,
					  void *memory, size_t size);

/* Initialise a reader that reads by calling read(source, ...), for example from
 * a TLS connection or from a decompressor. The other parameters are as for
 * sennit_reader_init().
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_reader_init_source(sennit_reader    *reader,
					  sennit_reader_fn *read, void *source,
					  void *memory, size_t size);

/* End a reader and free the memory that it has allocated. Bytes that were read
 * ahead and not taken are lost. Ending a reader again does nothing. Reading
 * with an ended reader is misuse.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_reader_destroy(sennit_reader *reader);

/* Take the next line, and store its address in *line. A line ends with '\n' or
 * "\r\n", which are not part of the result. The last line may be unterminated.
 * A zero byte is stored after the line. The line stays valid, and the caller
 * may change it, until the next call with the reader.
 * Returns the length of the line in bytes, 0 for an empty line; -ENODATA if
 * there are no more lines; -EMSGSIZE if the reader is full and contains no line
 * end, in which case sennit_reader_read() can take the bytes in pieces; or a
 * negative errno of the source.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE ptrdiff_t sennit_reader_read_line(
	sennit_reader *reader, char **line, sennit_time deadline);

/* Take the bytes up to and including the next `delimiter`, and store their
 * address in *bytes. They stay valid, and the caller may change them, until the
 * next call with the reader.
 * Returns the number of bytes, including the delimiter; -ENODATA if the end
 * comes first, and -EMSGSIZE if the reader is full and contains no delimiter:
 * in both cases the bytes stay in the reader; or a negative errno of the
 * source.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE ptrdiff_t
sennit_reader_read_delimited(sennit_reader *reader, char delimiter,
			     void **bytes, sennit_time deadline);

/* Take up to `size` bytes into *to: bytes that the reader already has, or else
 * bytes of the next read. Returns the number of bytes, at least one unless size
 * is 0; 0 at the end; or a negative errno of the source.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE ptrdiff_t sennit_reader_read(sennit_reader *reader,
							void *to, size_t size,
							sennit_time deadline);

/* Take exactly `size` bytes into *to. *done is the number of bytes that are
 * already there. The call continues after them and increases *done, so after an
 * error the same call can be repeated to continue. If done is NULL, the call
 * starts at 0. It is misuse if *done is more than size.
 * Returns 0, -ENODATA if the end comes first, or a negative errno of the
 * source.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_reader_read_exactly(sennit_reader *reader,
							  void *to, size_t size,
							  size_t     *done,
							  sennit_time deadline);

/* Wait until the reader has at least `least` bytes, and store their address in
 * *bytes without taking them. The bytes stay valid until the next call with the
 * reader, and the caller may change them. If least is 0, the call does not
 * wait.
 * Returns the number of bytes in the reader, which may be more than `least`;
 * -ENODATA if the end comes first; -EMSGSIZE if `least` is more than the size
 * of the reader; or a negative errno of the source.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE ptrdiff_t sennit_reader_peek(sennit_reader *reader,
							size_t         least,
							void         **bytes,
							sennit_time deadline);

/* Take `size` bytes and discard them. It is misuse if sennit_reader_peek()
 * would find fewer bytes without waiting.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_reader_skip(sennit_reader *reader, size_t size);

SENNIT_END

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* reader.c - a buffered reader. Its received bytes are bytes_[from_...to_]. A
 * reader of a stream also has piece_: the rest of the stream's buffer, which
 * follows them.
 */
#include "engine/perform.h"
#include "sennit/io.h"
#include "sennit/reader.h"
#include "sennit/stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* --- begin, end --------------------------------------------------------- */

static ptrdiff_t read_descriptor(void *source, void *to, size_t size,
				 sennit_time deadline)
{
	return sennit_read((int)(intptr_t)source, to, size, deadline);
}

static void init_reader(sennit_reader *r, sennit_reader_fn *read, void *source,
			void *memory, size_t size)
{
	if (!size)
		sn_io_misuse("sennit_reader_init", "size is 0");
	*r = (sennit_reader){ .read_ = read,
			      .source_ = source,
			      .bytes_ = memory,
			      .room_ = size,
			      .owns_ = !memory };
}

void sennit_reader_init(sennit_reader *r, int fd, void *memory, size_t size)
{
	init_reader(r, read_descriptor, (void *)(intptr_t)fd, memory, size);
}

void sennit_reader_init_stream(sennit_reader *r, sennit_stream *stream,
			       void *memory, size_t size)
{
	init_reader(r, NULL, stream, memory, size);
}

void sennit_reader_init_source(sennit_reader *r, sennit_reader_fn *read,
			       void *source, void *memory, size_t size)
{
	init_reader(r, read, source, memory, size);
}

static void free_reader_memory(sennit_reader *r)
{
	if (!r->owns_)
		return;
	free(r->bytes_);
	r->bytes_ = NULL;
	r->from_ = r->to_ = 0;
}

static void release_piece(sennit_reader *r)
{
	if (r->piece_)
		sennit_stream_give_back(r->source_);
	r->piece_ = NULL;
	r->left_ = 0;
}

static ptrdiff_t read_after_end(void *source, void *bytes, size_t size,
				sennit_time deadline)
{
	(void)source;
	(void)bytes;
	(void)size;
	(void)deadline;
	sn_io_misuse("sennit_reader_destroy",
		     "the reader is used after it has ended");
}

void sennit_reader_destroy(sennit_reader *r)
{
	release_piece(r);
	free_reader_memory(r);
	r->read_ = read_after_end;
}

/* --- receiving ---------------------------------------------------------- */

static size_t buffered_size(const sennit_reader *r)
{
	return r->to_ - r->from_;
}

static char *buffered_bytes(const sennit_reader *r)
{
	return r->bytes_ ? r->bytes_ + r->from_ : NULL;
}

/* Wait for a buffer of the stream. If the reader is empty, its memory is freed
 * first, unless it is the caller's. Returns more than 0, 0 at the end, or a
 * negative errno. */
static ptrdiff_t wait_for_piece(sennit_reader *r, sennit_time deadline)
{
	void     *piece;
	ptrdiff_t n;

	if (r->left_)
		return 1;
	if (!buffered_size(r))
		free_reader_memory(r);
	n = sennit_stream_next(r->source_, &piece, deadline);
	if (n > 0) {
		r->piece_ = piece;
		r->left_ = (size_t)n;
	}
	return n;
}

static ptrdiff_t copy_from_piece(sennit_reader *r, void *to, size_t size)
{
	size_t n = size < r->left_ ? size : r->left_;

	memcpy(to, r->piece_, n);
	r->piece_ += n;
	r->left_ -= n;
	if (!r->left_)
		release_piece(r);
	return (ptrdiff_t)n;
}

/* Allocate memory if there is none, and make room after the buffered bytes. The
 * buffer must not be full. */
static int make_reader_room(sennit_reader *r)
{
	if (!r->bytes_)
		r->bytes_ = malloc(r->room_);
	if (!r->bytes_)
		return -ENOMEM;
	if (r->from_ == r->to_ || r->to_ == r->room_) {
		memmove(r->bytes_, buffered_bytes(r), buffered_size(r));
		r->to_ -= r->from_;
		r->from_ = 0;
	}
	return 0;
}

/* Receive more bytes. Returns more than 0 if some have come, 0 at the end, or a
 * negative errno. */
static ptrdiff_t fill_reader(sennit_reader *r, sennit_time deadline)
{
	ptrdiff_t n;

	if (buffered_size(r) == r->room_)
		return -EMSGSIZE;
	if (!r->read_) {
		n = wait_for_piece(r, deadline);
		if (n <= 0)
			return n;
	}
	n = make_reader_room(r);
	if (n)
		return n;
	n = r->read_
		    ? r->read_(r->source_, r->bytes_ + r->to_,
			       r->room_ - r->to_, deadline)
		    : copy_from_piece(r, r->bytes_ + r->to_, r->room_ - r->to_);
	if (n > 0)
		r->to_ += (size_t)n;
	return n;
}

/* --- up to a byte ------------------------------------------------------- */

/* Receive until there is a delimiter. Returns the size of the bytes up to and
 * including it, 0 at the end of the source, or a negative errno. */
static ptrdiff_t find_delimiter(sennit_reader *r, char delimiter,
				sennit_time deadline)
{
	size_t    looked = 0;
	ptrdiff_t n;

	do {
		const size_t size = buffered_size(r);
		const char  *at = buffered_bytes(r);
		const char *end = size > looked ? memchr(at + looked, delimiter,
							 size - looked)
						: NULL;

		if (end)
			return end + 1 - at;
		looked = size;
		n = fill_reader(r, deadline);
	} while (n > 0);
	return n;
}

static char *consume_bytes(sennit_reader *r, size_t size)
{
	char *at = buffered_bytes(r);

	r->from_ += size;
	return at;
}

ptrdiff_t sennit_reader_read_delimited(sennit_reader *r, char delimiter,
				       void **bytes, sennit_time deadline)
{
	ptrdiff_t n = find_delimiter(r, delimiter, deadline);

	if (n <= 0)
		return n ? n : -ENODATA;
	*bytes = consume_bytes(r, (size_t)n);
	return n;
}

/* Return the unterminated last line. There is room for its zero byte, because
 * find_delimiter() does not reach the end of the source when the reader is
 * full. */
static ptrdiff_t take_last_line(sennit_reader *r, char **line)
{
	size_t size = buffered_size(r);

	if (!size)
		return -ENODATA;
	(void)make_reader_room(r); /* cannot fail: memory is allocated */
	*line = consume_bytes(r, size);
	(*line)[size] = '\0';
	return (ptrdiff_t)size;
}

ptrdiff_t sennit_reader_read_line(sennit_reader *r, char **line,
				  sennit_time deadline)
{
	ptrdiff_t n = find_delimiter(r, '\n', deadline);
	char     *at;

	if (n <= 0)
		return n ? n : take_last_line(r, line);
	at = consume_bytes(r, (size_t)n--);
	if (n && at[n - 1] == '\r')
		n--;
	at[n] = '\0';
	*line = at;
	return n;
}

/* --- counted bytes ------------------------------------------------------ */

ptrdiff_t sennit_reader_read(sennit_reader *r, void *to, size_t size,
			     sennit_time deadline)
{
	ptrdiff_t n;

	if (!size)
		return 0;
	if (!buffered_size(r) && !r->read_) {
		n = wait_for_piece(r, deadline);
		return n > 0 ? copy_from_piece(r, to, size) : n;
	}
	if (!buffered_size(r) && size >= r->room_)
		return KEEP_FRAME(r->read_(r->source_, to, size, deadline));
	n = buffered_size(r) ? 1 : fill_reader(r, deadline);
	if (n <= 0)
		return n;
	if (size > buffered_size(r))
		size = buffered_size(r);
	memcpy(to, consume_bytes(r, size), size);
	return (ptrdiff_t)size;
}

static ptrdiff_t read_some_of_reader(void *reader, void *to, size_t size,
				     sennit_time deadline)
{
	return sennit_reader_read(reader, to, size, deadline);
}

int sennit_reader_read_exactly(sennit_reader *r, void *to, size_t size,
			       size_t *done, sennit_time deadline)
{
	return sn_io_all("sennit_reader_read_exactly", read_some_of_reader, r,
			 to, size, done, deadline);
}

ptrdiff_t sennit_reader_peek(sennit_reader *r, size_t least, void **bytes,
			     sennit_time deadline)
{
	if (least > r->room_)
		return -EMSGSIZE;
	while (buffered_size(r) < least) {
		ptrdiff_t n = fill_reader(r, deadline);

		if (n <= 0)
			return n ? n : -ENODATA;
	}
	*bytes = buffered_bytes(r);
	return (ptrdiff_t)buffered_size(r);
}

void sennit_reader_skip(sennit_reader *r, size_t size)
{
	if (size > buffered_size(r))
		sn_io_misuse("sennit_reader_skip",
			     "size is more than the reader has buffered");
	(void)consume_bytes(r, size);
}

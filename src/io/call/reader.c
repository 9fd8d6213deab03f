/* SPDX-License-Identifier: Apache-2.0 */
/* reader.c - what has come lies in bytes_[from_...to_]; of a stream, what has
 * not found room there yet lies behind it, in the stream's buffer.
 */
#include "io/engine/perform.h"
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

static void begin(sennit_reader *r, sennit_reader_fn *read, void *source,
		  void *memory, size_t size)
{
	if (!size)
		sn_io_misuse("sennit_reader_init", "it has room for 0 bytes");
	*r = (sennit_reader){ .read_ = read,
			      .source_ = source,
			      .bytes_ = memory,
			      .room_ = size,
			      .owns_ = !memory };
}

void sennit_reader_init(sennit_reader *r, int fd, void *memory, size_t size)
{
	begin(r, read_descriptor, (void *)(intptr_t)fd, memory, size);
}

void sennit_reader_init_stream(sennit_reader *r, sennit_stream *stream,
			       void *memory, size_t size)
{
	begin(r, NULL, stream, memory, size);
}

void sennit_reader_init_source(sennit_reader *r, sennit_reader_fn *read,
			       void *source, void *memory, size_t size)
{
	begin(r, read, source, memory, size);
}

static void free_memory(sennit_reader *r)
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
		sennit_stream_release(r->source_);
	r->piece_ = NULL;
	r->left_ = 0;
}

void sennit_reader_end(sennit_reader *r)
{
	release_piece(r);
	free_memory(r);
}

/* --- bytes come --------------------------------------------------------- */

static size_t there(const sennit_reader *r)
{
	return r->to_ - r->from_;
}

static char *first(const sennit_reader *r)
{
	return r->bytes_ ? r->bytes_ + r->from_ : NULL;
}

/* Wait for a piece of the stream, without memory if nothing is in it. Returns
 * more than 0, 0 at the end, or a negative errno. */
static ptrdiff_t await_piece(sennit_reader *r, sennit_time deadline)
{
	void     *piece;
	ptrdiff_t n;

	if (r->left_)
		return 1;
	if (!there(r))
		free_memory(r);
	n = sennit_stream_next(r->source_, &piece, deadline);
	if (n > 0) {
		r->piece_ = piece;
		r->left_ = (size_t)n;
	}
	return n;
}

static ptrdiff_t take_piece(sennit_reader *r, void *to, size_t size)
{
	size_t n = size < r->left_ ? size : r->left_;

	memcpy(to, r->piece_, n);
	r->piece_ += n;
	r->left_ -= n;
	if (!r->left_)
		release_piece(r);
	return (ptrdiff_t)n;
}

/* Memory, and room in it behind what is there, which does not fill it. */
static int make_room(sennit_reader *r)
{
	if (!r->bytes_)
		r->bytes_ = malloc(r->room_);
	if (!r->bytes_)
		return -ENOMEM;
	if (r->from_ == r->to_ || r->to_ == r->room_) {
		memmove(r->bytes_, first(r), there(r));
		r->to_ -= r->from_;
		r->from_ = 0;
	}
	return 0;
}

/* Returns more than 0 if bytes have come, 0 at the end, or a negative errno. */
static ptrdiff_t fill(sennit_reader *r, sennit_time deadline)
{
	ptrdiff_t n;

	if (there(r) == r->room_)
		return -EMSGSIZE;
	if (!r->read_) {
		n = await_piece(r, deadline);
		if (n <= 0)
			return n;
	}
	n = make_room(r);
	if (n)
		return n;
	n = r->read_ ? r->read_(r->source_, r->bytes_ + r->to_,
				r->room_ - r->to_, deadline)
		     : take_piece(r, r->bytes_ + r->to_, r->room_ - r->to_);
	if (n > 0)
		r->to_ += (size_t)n;
	return n;
}

/* --- up to a byte ------------------------------------------------------- */

/* Returns the size of what ends with the delimiter, 0 at the end of the source,
 * or a negative errno. */
static ptrdiff_t find(sennit_reader *r, char delimiter, sennit_time deadline)
{
	size_t    looked = 0;
	ptrdiff_t n;

	do {
		const size_t size = there(r);
		const char  *at = first(r);
		const char *end = size > looked ? memchr(at + looked, delimiter,
							 size - looked)
						: NULL;

		if (end)
			return end + 1 - at;
		looked = size;
		n = fill(r, deadline);
	} while (n > 0);
	return n;
}

static char *take(sennit_reader *r, size_t size)
{
	char *at = first(r);

	r->from_ += size;
	return at;
}

ptrdiff_t sennit_read_until(sennit_reader *r, char delimiter, void **bytes,
			    sennit_time deadline)
{
	ptrdiff_t n = find(r, delimiter, deadline);

	if (n <= 0)
		return n ? n : -ENODATA;
	*bytes = take(r, (size_t)n);
	return n;
}

/* What stands behind the last end of a line. There is room for a zero: it does
 * not fill the reader. */
static ptrdiff_t take_last_line(sennit_reader *r, char **line)
{
	size_t size = there(r);

	if (!size)
		return -ENODATA;
	(void)make_room(r); /* there is memory */
	*line = take(r, size);
	(*line)[size] = '\0';
	return (ptrdiff_t)size;
}

ptrdiff_t sennit_read_line(sennit_reader *r, char **line, sennit_time deadline)
{
	ptrdiff_t n = find(r, '\n', deadline);
	char     *at;

	if (n <= 0)
		return n ? n : take_last_line(r, line);
	at = take(r, (size_t)n--);
	if (n && at[n - 1] == '\r')
		n--;
	at[n] = '\0';
	*line = at;
	return n;
}

/* --- so many ------------------------------------------------------------ */

ptrdiff_t sennit_reader_read(sennit_reader *r, void *to, size_t size,
			     sennit_time deadline)
{
	ptrdiff_t n;

	if (!size)
		return 0;
	if (!there(r) && !r->read_) {
		n = await_piece(r, deadline);
		return n > 0 ? take_piece(r, to, size) : n;
	}
	if (!there(r) && size >= r->room_)
		return KEEP_FRAME(r->read_(r->source_, to, size, deadline));
	n = there(r) ? 1 : fill(r, deadline);
	if (n <= 0)
		return n;
	if (size > there(r))
		size = there(r);
	memcpy(to, take(r, size), size);
	return (ptrdiff_t)size;
}

static ptrdiff_t read_some(void *reader, void *to, size_t size,
			   sennit_time deadline)
{
	return sennit_reader_read(reader, to, size, deadline);
}

int sennit_reader_exactly(sennit_reader *r, void *to, size_t size, size_t *done,
			  sennit_time deadline)
{
	return sn_io_all("sennit_reader_exactly", read_some, r, to, size, done,
			 deadline);
}

ptrdiff_t sennit_reader_peek(sennit_reader *r, size_t least, void **bytes,
			     sennit_time deadline)
{
	if (least > r->room_)
		return -EMSGSIZE;
	while (there(r) < least) {
		ptrdiff_t n = fill(r, deadline);

		if (n <= 0)
			return n ? n : -ENODATA;
	}
	*bytes = first(r);
	return (ptrdiff_t)there(r);
}

void sennit_reader_skip(sennit_reader *r, size_t size)
{
	if (size > there(r))
		sn_io_misuse("sennit_reader_skip",
			     "the reader has fewer bytes");
	(void)take(r, size);
}

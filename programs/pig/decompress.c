/* SPDX-License-Identifier: Apache-2.0 */
/* decompress.c - decompresses the members of a gzip file, one after the
 * other. */
#include "pig/decompress.h"
#include "file/transfer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { ROOM = 64 << 10 };

struct inflater {
	z_stream             z;
	int                  from, to;
	bool                 ended; /* the input has ended */
	struct decompressed *done;
	unsigned char        in[ROOM], out[ROOM];
};

/* Read after the `kept` bytes at the front of the buffer. Returns 0 or a
 * negative errno value. */
static int read_more(struct inflater *f, size_t kept)
{
	const ssize_t got = file_read(f->from, f->in + kept, ROOM - kept);

	if (got < 0) {
		f->done->on_read = true;
		return (int)got;
	}
	f->ended = !got;
	f->done->in += (size_t)got;
	f->z.next_in = f->in;
	f->z.avail_in = (uInt)(kept + (size_t)got);
	return 0;
}

/* Read if the buffer is empty. */
static int refill(struct inflater *f)
{
	return f->z.avail_in || f->ended ? 0 : read_more(f, 0);
}

static int wrong(struct inflater *f, const char *what)
{
	f->done->wrong = what;
	return -EBADMSG;
}

static int inflate_some(struct inflater *f, bool *is_end)
{
	size_t size;
	int    result;

	f->z.next_out = f->out;
	f->z.avail_out = ROOM;
	result = inflate(&f->z, Z_NO_FLUSH);
	*is_end = result == Z_STREAM_END;
	if (result == Z_MEM_ERROR)
		return -ENOMEM;
	if (result == Z_NEED_DICT || result == Z_DATA_ERROR)
		return wrong(f, f->z.msg ? f->z.msg : "invalid data");
	size = ROOM - f->z.avail_out;
	if (!size && !*is_end && f->ended)
		return wrong(f, "unexpected end of file");
	f->done->out += size;
	return f->to < 0 ? 0 : file_write(f->to, f->out, size);
}

static int inflate_member(struct inflater *f)
{
	bool is_end = false;
	int  error = 0;

	while (!error && !is_end) {
		error = refill(f);
		if (!error)
			error = inflate_some(f, &is_end);
	}
	return error;
}

/* Move the first two bytes of a member to the front of the buffer. Returns how
 * many there are, or a negative errno value. */
static int look_ahead(struct inflater *f)
{
	int error;

	if (f->z.avail_in >= 2 || f->ended)
		return (int)f->z.avail_in;
	memmove(f->in, f->z.next_in, f->z.avail_in);
	error = read_more(f, f->z.avail_in);
	return error ? error : (int)f->z.avail_in;
}

static bool is_member(const struct inflater *f)
{
	return f->z.avail_in >= 2 && f->z.next_in[0] == 0x1f &&
	       f->z.next_in[1] == 0x8b;
}

/* Read to the end of data that are not a member. */
static int skip_rest(struct inflater *f)
{
	int error = 0;

	while (!error && f->z.avail_in) {
		for (uInt i = 0; i < f->z.avail_in; i++)
			if (f->z.next_in[i])
				f->done->has_garbage = true;
		f->z.avail_in = 0;
		error = refill(f);
	}
	return error;
}

static int inflate_members(struct inflater *f)
{
	int error = look_ahead(f);

	if (error < 0)
		return error;
	if (!f->z.avail_in)
		return wrong(f, "unexpected end of file");
	if (!is_member(f))
		return wrong(f, "not in gzip format");
	do {
		error = inflate_member(f);
		if (error)
			return error;
		error = look_ahead(f);
		if (error < 0)
			return error;
		inflateReset(&f->z);
	} while (is_member(f));
	return skip_rest(f);
}

int decompress_stream(int from, int to, struct decompressed *done)
{
	struct inflater *f = calloc(1, sizeof(*f));
	int              error = -ENOMEM;

	*done = (struct decompressed){ .in = 0 };
	if (!f)
		return -ENOMEM;
	f->from = from;
	f->to = to;
	f->done = done;
	f->z.next_in = f->in;
	if (inflateInit2(&f->z, MAX_WBITS + 16) == Z_OK) {
		error = inflate_members(f);
		inflateEnd(&f->z);
	}
	free(f);
	return error;
}

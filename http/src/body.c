/* SPDX-License-Identifier: Apache-2.0 */
/* body.c - the bodies of messages, and their chunks. */
#include "body.h"

/* The maximum number of bytes of sizes, extensions and trailers in a body,
 * beyond 16 for each chunk and two for each byte of data. They cost time and
 * carry no data.
 */
#define EXTRA_MAX 4096

void sn_http_body_begin(struct body *b, const sennit_http_head *h,
			uint64_t limit)
{
	*b = (struct body){ .limit = limit };
	if (h->flags & SENNIT_HTTP_CHUNKED) {
		b->state = CHUNK_FIRST;
	} else if (h->length == SENNIT_HTTP_UNKNOWN) {
		b->state = BODY_CLOSE;
	} else if (h->length) {
		b->state = BODY_LENGTH;
		b->left = h->length;
		if (h->length > limit)
			b->status = 413;
	}
}

/* --- chunks, byte by byte ----------------------------------------------- */

static int hex_digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static void reject(struct body *b, uint32_t status)
{
	b->status = status;
}

static void expect(struct body *b, char c, char wanted, enum body_state next)
{
	if (c == wanted)
		b->state = next;
	else
		reject(b, 400);
}

static void count_extra(struct body *b)
{
	if (++b->extra > EXTRA_MAX)
		reject(b, 431);
}

static void take_size(struct body *b, char c)
{
	int digit = hex_digit_of(c);

	if (digit >= 0) {
		if (b->left > UINT64_MAX >> 8)
			reject(b, 413);
		b->left = b->left * 16 + (unsigned)digit;
		b->state = CHUNK_SIZE;
		if (b->left > b->limit - b->total)
			reject(b, 413);
		count_extra(b);
	} else if (b->state == CHUNK_FIRST) {
		reject(b, 400);
	} else if (c == ';') {
		b->state = CHUNK_EXTENSION;
	} else {
		expect(b, c, '\r', CHUNK_LF);
	}
}

static bool is_control(char c)
{
	return ((unsigned char)c < 0x20 && c != '\t') || c == 0x7f;
}

static void take_extension(struct body *b, char c)
{
	count_extra(b);
	if (c == '\r')
		b->state = CHUNK_LF;
	else if (is_control(c))
		reject(b, 400);
}

static void take_trailer(struct body *b, char c)
{
	bool first = b->state == TRAILER_FIRST;

	count_extra(b);
	if (b->state == TRAILER_VALUE) {
		if (c == '\r')
			b->state = TRAILER_LF;
		else if (is_control(c))
			reject(b, 400);
	} else if (first && c == '\r') {
		b->state = TRAILER_END_LF;
	} else if (!first && c == ':') {
		b->state = TRAILER_VALUE;
	} else if (c <= ' ' || c == ':' || c == 0x7f) {
		reject(b, 400);
	} else {
		b->state = TRAILER_NAME;
	}
}

static void allow_extra(struct body *b, uint64_t bytes)
{
	b->extra -= bytes < b->extra ? (uint32_t)bytes : b->extra;
}

/* Take a byte that is not data. */
static void take_byte(struct body *b, char c)
{
	switch (b->state) {
	case CHUNK_FIRST:
	case CHUNK_SIZE:
		take_size(b, c);
		break;
	case CHUNK_EXTENSION:
		take_extension(b, c);
		break;
	case CHUNK_LF:
		expect(b, c, '\n', b->left ? CHUNK_DATA : TRAILER_FIRST);
		break;
	case CHUNK_DATA_CR:
		allow_extra(b, 16);
		expect(b, c, '\r', CHUNK_DATA_LF);
		break;
	case CHUNK_DATA_LF:
		expect(b, c, '\n', CHUNK_FIRST);
		break;
	case TRAILER_LF:
		expect(b, c, '\n', TRAILER_FIRST);
		break;
	case TRAILER_END_LF:
		expect(b, c, '\n', BODY_DONE);
		break;
	default:
		take_trailer(b, c);
	}
}

/* --- data --------------------------------------------------------------- */

static size_t take_data(struct body *b, const char *bytes, size_t size,
			sennit_http_text *data)
{
	size_t n = size;

	if (b->state == BODY_CLOSE) {
		if (n > b->limit - b->total)
			reject(b, 413);
	} else {
		n = b->left < size ? (size_t)b->left : size;
		b->left -= n;
	}
	if (b->status)
		return 0;
	b->total += n;
	allow_extra(b, 2 * (uint64_t)n);
	if (b->state == BODY_LENGTH && !b->left)
		b->state = BODY_DONE;
	else if (b->state == CHUNK_DATA && !b->left)
		b->state = CHUNK_DATA_CR;
	*data = (sennit_http_text){ bytes, n };
	return n;
}

static bool at_data(const struct body *b)
{
	return b->state == BODY_LENGTH || b->state == BODY_CLOSE ||
	       b->state == CHUNK_DATA;
}

size_t sn_http_body_take(struct body *b, const char *bytes, size_t size,
			 sennit_http_text *data)
{
	size_t n = 0;

	*data = (sennit_http_text){ NULL, 0 };
	while (n < size && !b->status && b->state != BODY_DONE) {
		if (at_data(b))
			return n + take_data(b, bytes + n, size - n, data);
		take_byte(b, bytes[n++]);
	}
	return n;
}

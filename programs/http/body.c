/* SPDX-License-Identifier: Apache-2.0 */
#include "http/body.h"

/* The maximum number of bytes of sizes, extensions and trailers in a body,
 * beyond 16 for each chunk and two for each byte of data. They cost time and
 * carry no data.
 */
#define EXTRA_MAX 4096

void http_body_begin(struct http_body *b, const struct http_head *h,
		     const struct http_limits *limits)
{
	*b = (struct http_body){ .limit = limits->body };
	if (h->chunked) {
		b->state = HTTP_CHUNK_FIRST;
	} else if (h->has_length && h->length) {
		b->state = HTTP_BODY_LENGTH;
		b->left = h->length;
		if (h->length > limits->body)
			b->status = 413;
	}
}

/* --- chunks, byte by byte ----------------------------------------------- */

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static void refuse(struct http_body *b, int status)
{
	b->status = status;
}

static void expect(struct http_body *b, char c, char wanted,
		   enum http_body_state next)
{
	if (c == wanted)
		b->state = next;
	else
		refuse(b, 400);
}

static void count_extra(struct http_body *b)
{
	if (++b->extra > EXTRA_MAX)
		refuse(b, 431);
}

static void take_size(struct http_body *b, char c)
{
	int digit = digit_of(c);

	if (digit >= 0) {
		if (b->left > UINT64_MAX >> 8)
			refuse(b, 413);
		b->left = b->left * 16 + (unsigned)digit;
		b->state = HTTP_CHUNK_SIZE;
		if (b->left > b->limit - b->total)
			refuse(b, 413);
		count_extra(b);
	} else if (b->state == HTTP_CHUNK_FIRST) {
		refuse(b, 400);
	} else if (c == ';') {
		b->state = HTTP_CHUNK_EXTENSION;
	} else {
		expect(b, c, '\r', HTTP_CHUNK_LF);
	}
}

static bool is_control(char c)
{
	return ((unsigned char)c < 0x20 && c != '\t') || c == 0x7f;
}

static void take_extension(struct http_body *b, char c)
{
	count_extra(b);
	if (c == '\r')
		b->state = HTTP_CHUNK_LF;
	else if (is_control(c))
		refuse(b, 400);
}

static void take_trailer(struct http_body *b, char c)
{
	bool first = b->state == HTTP_TRAILER_FIRST;

	count_extra(b);
	if (b->state == HTTP_TRAILER_VALUE) {
		if (c == '\r')
			b->state = HTTP_TRAILER_LF;
		else if (is_control(c))
			refuse(b, 400);
	} else if (first && c == '\r') {
		b->state = HTTP_TRAILER_END_LF;
	} else if (!first && c == ':') {
		b->state = HTTP_TRAILER_VALUE;
	} else if (c <= ' ' || c == ':' || c == 0x7f) {
		refuse(b, 400);
	} else {
		b->state = HTTP_TRAILER_NAME;
	}
}

static void allow_extra(struct http_body *b, uint64_t bytes)
{
	b->extra -= bytes < b->extra ? (uint32_t)bytes : b->extra;
}

/* Take a byte that is not data. */
static void take_byte(struct http_body *b, char c)
{
	switch (b->state) {
	case HTTP_CHUNK_FIRST:
	case HTTP_CHUNK_SIZE:
		take_size(b, c);
		break;
	case HTTP_CHUNK_EXTENSION:
		take_extension(b, c);
		break;
	case HTTP_CHUNK_LF:
		expect(b, c, '\n',
		       b->left ? HTTP_CHUNK_DATA : HTTP_TRAILER_FIRST);
		break;
	case HTTP_CHUNK_DATA_CR:
		allow_extra(b, 16);
		expect(b, c, '\r', HTTP_CHUNK_DATA_LF);
		break;
	case HTTP_CHUNK_DATA_LF:
		expect(b, c, '\n', HTTP_CHUNK_FIRST);
		break;
	case HTTP_TRAILER_LF:
		expect(b, c, '\n', HTTP_TRAILER_FIRST);
		break;
	case HTTP_TRAILER_END_LF:
		expect(b, c, '\n', HTTP_BODY_DONE);
		break;
	default:
		take_trailer(b, c);
	}
}

/* --- data --------------------------------------------------------------- */

static size_t take_data(struct http_body *b, const char *bytes, size_t size,
			struct http_text *data)
{
	size_t n = size;

	if (b->state != HTTP_BODY_CLOSE) {
		n = b->left < size ? (size_t)b->left : size;
		b->left -= n;
	}
	b->total += n;
	allow_extra(b, 2 * (uint64_t)n);
	if (b->state == HTTP_BODY_LENGTH && !b->left)
		b->state = HTTP_BODY_DONE;
	else if (b->state == HTTP_CHUNK_DATA && !b->left)
		b->state = HTTP_CHUNK_DATA_CR;
	*data = (struct http_text){ bytes, n };
	return n;
}

static bool at_data(const struct http_body *b)
{
	return b->state == HTTP_BODY_LENGTH || b->state == HTTP_BODY_CLOSE ||
	       b->state == HTTP_CHUNK_DATA;
}

size_t http_body_take(struct http_body *b, const char *bytes, size_t size,
		      struct http_text *data)
{
	size_t n = 0;

	*data = (struct http_text){ NULL, 0 };
	while (n < size && !b->status && b->state != HTTP_BODY_DONE) {
		if (at_data(b))
			return n + take_data(b, bytes + n, size - n, data);
		take_byte(b, bytes[n++]);
	}
	return n;
}

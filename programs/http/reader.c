/* SPDX-License-Identifier: Apache-2.0 */
#include "http/reader.h"

#include <errno.h>
#include <string.h>

/* Receive after the bytes in the buffer, which has room. */
static bool receive(struct http_reader *r, bool idle, sennit_time deadline)
{
	ptrdiff_t n;

	if (r->before && !r->err)
		r->err = r->before(r->context);
	if (r->err)
		return false;
	n = http_stream_recv(r->s, r->bytes + r->to, r->room - r->to,
			     idle && !r->owed, deadline);
	if (n > 0)
		r->to += (size_t)n;
	else
		r->err = n ? (int)n : -ENODATA;
	return n > 0;
}

void http_reader_move_up(struct http_reader *r)
{
	memmove(r->bytes, r->bytes + r->from, r->to - r->from);
	r->to -= r->from;
	r->from = 0;
}

/* --- heads -------------------------------------------------------------- */

/* Skip one empty line before a message, which old clients send after a body.
 * Returns false if it is not yet known whether the line is empty. */
static bool skip_empty_line(struct http_reader *r, bool *skipped)
{
	const char *at = r->bytes + r->from;

	if (*skipped || r->from == r->to || *at != '\r')
		return true;
	if (r->to - r->from < 2)
		return false;
	*skipped = true;
	if (at[1] == '\n')
		r->from += 2;
	return true;
}

/* Receive bytes of a head. The patience begins with the head's first byte;
 * before that *deadline is SENNIT_NEVER. */
static bool receive_head(struct http_reader *r, uint64_t idle,
			 uint64_t patience, sennit_time *deadline)
{
	bool nothing = r->from == r->to;

	if (r->from)
		http_reader_move_up(r);
	if (!nothing && *deadline == SENNIT_NEVER)
		*deadline = sennit_after(patience);
	return receive(r, nothing, nothing ? sennit_after(idle) : *deadline);
}

long http_reader_head(struct http_reader *r, const struct http_limits *limits,
		      uint64_t idle, uint64_t patience)
{
	struct http_scan scan = { 0 };
	sennit_time      deadline = SENNIT_NEVER;
	bool             skipped = false;
	long             size = 0;

	do {
		if (skip_empty_line(r, &skipped) && r->to > r->from)
			size = http_head_find(&scan, r->bytes + r->from,
					      r->to - r->from, limits);
	} while (!size && receive_head(r, idle, patience, &deadline));
	if (!size && r->err == -ETIMEDOUT && r->to > r->from)
		return -408;
	return size;
}

static int parse(const struct http_reader *r, struct http_head *head,
		 const struct http_limits *limits, long size)
{
	return http_head_parse(head, r->bytes + r->from, (size_t)size, limits);
}

int http_reader_request(struct http_reader *r, struct http_head *head,
			const struct http_limits *limits, long size)
{
	int status;

	http_head_clear(head, r->bytes + r->from, r->to - r->from);
	if (size < 0)
		return (int)-size;
	status = parse(r, head, limits, size);
	if (!status && r->from && (head->chunked || head->length)) {
		http_reader_move_up(r);
		status = parse(r, head, limits, size);
	}
	if (!status)
		r->from += (size_t)size;
	return status;
}

/* --- bodies ------------------------------------------------------------- */

int http_reader_body(struct http_reader *r, struct http_body *b, size_t keep,
		     sennit_time deadline, struct http_text *data)
{
	*data = (struct http_text){ NULL, 0 };
	if (b->state == HTTP_BODY_DONE && !b->status)
		return 0;
	if (r->from == r->to) {
		r->from = r->to = keep;
		if (!b->status && !receive(r, false, deadline))
			return r->err;
	}
	if (!b->status)
		r->from += http_body_take(b, r->bytes + r->from,
					  r->to - r->from, data);
	return b->status ? -EPROTO : 1;
}

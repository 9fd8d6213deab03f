/* SPDX-License-Identifier: Apache-2.0 */
/* receive.c - requests and answers, as they come. */
#include "connection.h"

#include "sennit/group.h"

#include <errno.h>
#include <string.h>

/* The maximum number of interim answers (1xx). */
#define INTERIM_MAX 32

/* --- bytes -------------------------------------------------------------- */

static sennit_time own_deadline(uint64_t time)
{
	return time == UINT64_MAX ? SENNIT_NEVER : sennit_after(time);
}

/* A server may answer and end the connection before it has the whole request.
 * Its answer may have come although sending has failed. */
static bool has_early_answer(const sennit_http *h)
{
	return h->client && h->out_err && h->asked;
}

/* Send what the peer may wait for, and receive after the bytes in the buffer,
 * which has room. `own` is the time that the peer has. Returns 0; -ETIME if the
 * peer was too slow; -ENODATA at the end; or another negative errno value. */
static int receive(sennit_http *h, sennit_time own, sennit_time deadline)
{
	ptrdiff_t n;
	int       err;

	if (h->in_err)
		return h->in_err;
	err = h->client && h->out_err ? 0 : sennit_http_flush(h, deadline);
	if (err)
		return err;
	n = h->link.receive(h->link.context, h->bytes + h->to, h->room - h->to,
			    own < deadline ? own : deadline);
	if (n > 0) {
		h->to += (size_t)n;
		return 0;
	}
	if (n == -ETIMEDOUT) /* perhaps at the deadline of the group */
		return own < deadline && !sennit_check_cancelled() ? -ETIME
								   : -ETIMEDOUT;
	if (n == -ECANCELED)
		return -ECANCELED;
	return h->in_err = n ? (int)n : -ENODATA;
}

/* Wait for the first byte of a request, or until the server stops. Returns 1; 0
 * if it stops; -ETIME if the peer was too slow; or another negative errno
 * value. */
static int await_request(sennit_http *h, sennit_time own, sennit_time deadline)
{
	int err = sennit_http_flush(h, deadline);

	if (err)
		return err;
	err = sn_http_socket_await(h, own < deadline ? own : deadline);
	return err == -ETIMEDOUT && own <= deadline ? -ETIME : err;
}

static void move_up(sennit_http *h)
{
	memmove(h->bytes, h->bytes + h->from, h->to - h->from);
	h->to -= h->from;
	h->from = 0;
}

void sn_http_begin_again(sennit_http *h)
{
	h->from = h->to = h->keep_to = 0;
	h->in_err = h->out_err = 0;
	h->scan = (struct scan){ 0 };
	h->skipped = false;
	h->body = (struct body){ 0 };
	h->interim = 0;
	h->refused = 0;
	h->used = 0;
	h->asked = false;
	h->keep = true;
}

/* --- refusals ----------------------------------------------------------- */

static int error_of(uint32_t status)
{
	return status == 413 || status == 414 || status == 431 ? -EMSGSIZE
							       : -EPROTO;
}

/* The message is refused, and the connection ends. A server answers unless it
 * has. Returns err. */
static int refuse(sennit_http *h, uint32_t status, int err, bool may_answer,
		  sennit_time deadline)
{
	h->refused = status;
	h->in_err = err;
	h->keep = false;
	h->linger = true;
	h->may_continue = false;
	h->requested = false;
	if (may_answer)
		sn_http_answer_error(h, status, deadline);
	return err;
}

/* Likewise, while its body is read. */
static int refuse_body(sennit_http *h, uint32_t status, int err,
		       sennit_time deadline)
{
	return refuse(h, status, err, h->requested, deadline);
}

/* --- heads -------------------------------------------------------------- */

/* Skip one empty line before a message, which old clients send after a body.
 * Returns false if it is not yet known whether the line is empty. */
static bool skip_empty_line(sennit_http *h)
{
	const char *at = h->bytes + h->from;

	if (h->skipped || h->from == h->to || *at != '\r')
		return true;
	if (h->to - h->from < 2)
		return false;
	h->skipped = true;
	if (at[1] == '\n')
		h->from += 2;
	return true;
}

/* Receive bytes of a head. Its time begins with its first byte. Returns 1, or
 * what sennit_http_next() returns. */
static int receive_head(sennit_http *h, sennit_time deadline)
{
	const bool   nothing = h->from == h->to;
	sennit_time *own = nothing ? &h->idle_until : &h->head_until;
	int          err;

	if (h->from)
		move_up(h);
	if (!*own)
		*own = own_deadline(nothing ? h->idle : h->wait);
	err = nothing && h->stop ? await_request(h, *own, deadline) : 1;
	if (err > 0)
		err = receive(h, *own, deadline);
	else if (!err)
		err = -ETIME; /* as if it had been idle for too long */
	if (err == -ETIME && !nothing)
		return refuse(h, 408, -EPROTO, !h->client, deadline);
	if (!err)
		return 1;
	if (nothing && (err == -ETIME || err == -ENODATA)) {
		h->keep = false;
		return 0;
	}
	return err;
}

/* Wait for the end of a head. Returns its size, which is negative if it is a
 * status; or 0 and *result, which is that of sennit_http_next(). */
static long find_head(sennit_http *h, int *result, sennit_time deadline)
{
	long size = 0;

	do {
		if (skip_empty_line(h) && h->to > h->from)
			size = sn_http_head_find(&h->scan, h->bytes + h->from,
						 h->to - h->from, &h->limits);
		if (size)
			break;
		*result = receive_head(h, deadline);
	} while (*result > 0);
	return size;
}

/* The answer to some requests has no body, whatever its head says. */
static bool has_no_body(const sennit_http *h)
{
	const uint32_t status = h->head.out.status;

	return h->client && (h->head_only || status == 204 || status == 304 ||
			     status / 100 == 1);
}

/* The head is complete: prepare for its body. Returns 0 or a status. */
static uint32_t begin_body(sennit_http *h)
{
	const sennit_http_text expect = h->head.expect;

	sn_http_body_begin(&h->body, &h->head.out, h->body_limit);
	if (has_no_body(h))
		h->body = (struct body){ 0 };
	if (h->body.status)
		return h->body.status;
	if (h->client) {
		h->keep = !h->out_err &&
			  (h->head.out.flags & SENNIT_HTTP_KEPT) &&
			  h->body.state != BODY_CLOSE;
		return 0;
	}
	if (expect.at && !sennit_http_text_is(expect, "100-continue"))
		return 417;
	h->may_continue = expect.at && h->head.out.minor &&
			  h->body.state != BODY_DONE;
	h->head_only = sennit_http_text_is(h->head.out.method, "HEAD");
	return 0;
}

/* Take a head of so many bytes. Returns 0 or a status. */
static uint32_t take_head(sennit_http *h, size_t size)
{
	uint32_t status;

	status = sn_http_head_parse(&h->head, h->bytes + h->from, size);
	if (status)
		return status;
	if (h->from && h->head.out.length) {
		sn_http_head_move(&h->head, h->from);
		move_up(h);
	}
	h->from += size;
	h->keep_to = h->from;
	h->scan = (struct scan){ 0 };
	h->skipped = false;
	h->idle_until = h->head_until = 0;
	return begin_body(h);
}

/* Wait for a head. Returns 1, or what sennit_http_next() returns. */
static int next_head(sennit_http *h, sennit_time deadline)
{
	int      result = 0;
	long     size = find_head(h, &result, deadline);
	uint32_t status;

	if (!size)
		return result;
	if (size > 0) {
		status = take_head(h, (size_t)size);
	} else {
		sn_http_head_clear(&h->head, h->bytes + h->from,
				   h->to - h->from);
		status = (uint32_t)-size;
	}
	if (status)
		return refuse(h, status, error_of(status), !h->client,
			      deadline);
	return 1;
}

/* Wait for an answer, after interim ones. */
static int next_answer(sennit_http *h, sennit_time deadline)
{
	int result;

	do {
		result = next_head(h, deadline);
		if (result <= 0)
			return result;
		if (h->head.out.status / 100 != 1) {
			h->interim = 0;
			return 1;
		}
	} while (h->head.out.status != 101 && ++h->interim <= INTERIM_MAX);
	return refuse(h, 502, -EPROTO, false, deadline);
}

/* Drop what is left of the last answer. Returns 0 or a negative errno value. */
static int drop_body(sennit_http *h, sennit_time deadline)
{
	sennit_http_text part;
	ptrdiff_t        n;

	do
		n = sennit_http_read(h, &part, deadline);
	while (n > 0);
	return (int)n;
}

int sennit_http_next(sennit_http *h, const sennit_http_head **head,
		     sennit_time deadline)
{
	int result;

	if (h->requested)
		sn_library_misuse("sennit_http_next",
				  "the last request has no answer");
	sn_http_drop_failed(h);
	if (h->sending != NOTHING)
		sn_library_misuse("sennit_http_next",
				  "the body that has begun has not ended");
	result = h->client ? drop_body(h, deadline) : 0;
	if (result)
		return result;
	if (!h->keep && !has_early_answer(h))
		return sennit_http_flush(h, deadline);
	h->refused = 0;
	result = h->client ? next_answer(h, deadline) : next_head(h, deadline);
	if (result <= 0)
		return result;
	h->requested = !h->client;
	h->asked = false;
	*head = &h->head.out;
	return 1;
}

uint32_t sennit_http_refused(const sennit_http       *h,
			     const sennit_http_head **head)
{
	if (h->refused && head)
		*head = &h->head.out;
	return h->refused;
}

/* --- bodies ------------------------------------------------------------- */

static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";

/* Receive bytes of a body. Returns 1, or what sennit_http_read() returns. */
static int receive_body(sennit_http *h, sennit_time own, sennit_time deadline)
{
	int err = 0;

	h->from = h->to = h->keep_to;
	if (h->may_continue && h->requested)
		err = sn_http_add(h, go_on, sizeof(go_on) - 1, deadline);
	h->may_continue = false;
	if (!err)
		err = receive(h, own, deadline);
	if (!err)
		return 1;
	if (err == -ENODATA && h->body.state == BODY_CLOSE) {
		h->body.state = BODY_DONE;
		return 0;
	}
	if (err == -ETIME)
		return refuse_body(h, 408, -EPROTO, deadline);
	if (err == -ENODATA && !h->client)
		return refuse_body(h, 400, err, deadline);
	return err;
}

ptrdiff_t sennit_http_read(sennit_http *h, sennit_http_text *part,
			   sennit_time deadline)
{
	sennit_time      own = 0;
	sennit_http_text data = { NULL, 0 };

	while (!data.size) {
		if (h->refused)
			return h->in_err;
		if (h->body.state == BODY_DONE)
			return 0;
		if (h->from == h->to) {
			int result;

			if (!own)
				own = own_deadline(h->step);
			result = receive_body(h, own, deadline);
			if (result <= 0)
				return result;
		}
		h->from += sn_http_body_take(&h->body, h->bytes + h->from,
					     h->to - h->from, &data);
		if (h->body.status)
			return refuse_body(h, h->body.status,
					   error_of(h->body.status), deadline);
	}
	*part = data;
	return (ptrdiff_t)data.size;
}

void sn_http_drop_received(sennit_http *h)
{
	sennit_http_text data;

	while (h->from < h->to && h->body.state != BODY_DONE && !h->body.status)
		h->from += sn_http_body_take(&h->body, h->bytes + h->from,
					     h->to - h->from, &data);
}

size_t sennit_http_ahead(const sennit_http *h)
{
	return h->to - h->from;
}

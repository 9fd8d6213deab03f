/* SPDX-License-Identifier: Apache-2.0 */
/* send.c - answers and requests, as they are sent. */
#include "connection.h"

#include "date.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

/* Parts of a body up to this size are copied behind what is collected. */
#define COPIED 4096

/* --- bytes -------------------------------------------------------------- */

static sennit_time step_until(const sennit_http *h, sennit_time deadline)
{
	const sennit_time own = h->step == UINT64_MAX ? SENNIT_NEVER
						      : sennit_after(h->step);

	return own < deadline ? own : deadline;
}

/* Send all pieces, and change them. */
static int send_pieces(sennit_http *h, struct iovec *v, int count, int flags,
		       sennit_time deadline)
{
	while (count && !h->out_err) {
		ptrdiff_t n;

		if (!v->iov_len) {
			v++;
			count--;
			continue;
		}
		n = h->link.send(h->link.context, v, count, flags,
				 step_until(h, deadline));
		if (n < 0)
			h->out_err = (int)n;
		for (; n > 0 && (size_t)n >= v->iov_len; v++, count--)
			n -= (ptrdiff_t)v->iov_len;
		if (n > 0) {
			v->iov_base = (char *)v->iov_base + n;
			v->iov_len -= (size_t)n;
		}
	}
	if (h->out_err)
		h->keep = false;
	return h->out_err;
}

static int send_collected(sennit_http *h, int flags, sennit_time deadline)
{
	struct iovec v = { h->out, h->used };

	h->used = 0;
	return send_pieces(h, &v, 1, flags, deadline);
}

int sennit_http_flush(sennit_http *h, sennit_time deadline)
{
	return h->used ? send_collected(h, 0, deadline) : h->out_err;
}

int sn_http_add(sennit_http *h, const void *bytes, size_t size,
		sennit_time deadline)
{
	struct iovec v = { (void *)(uintptr_t)bytes, size };
	int          err = h->out_err;

	if (size > OUT_ROOM - h->used)
		err = send_collected(h, MSG_MORE, deadline);
	if (err)
		return err;
	if (size > OUT_ROOM)
		return send_pieces(h, &v, 1, MSG_MORE, deadline);
	memcpy(h->out + h->used, bytes, size);
	h->used += size;
	return 0;
}

/* Send a part of a body: at once with what is collected if it is long. */
static int add_part(sennit_http *h, const void *bytes, size_t size,
		    sennit_time deadline)
{
	struct iovec v[2] = { { h->out, h->used },
			      { (void *)(uintptr_t)bytes, size } };

	if (size <= COPIED)
		return sn_http_add(h, bytes, size, deadline);
	h->used = 0;
	return send_pieces(h, v, 2, 0, deadline);
}

/* --- fields ------------------------------------------------------------- */

static bool has_control_or_end(const char *value)
{
	for (; *value; value++)
		if (((unsigned char)*value < ' ' && *value != '\t') ||
		    *value == 0x7f)
			return true;
	return false;
}

/* Returns 0 if the field is added, 1 if it needs not be, or -EINVAL. */
static int check_field(sennit_http *h, const char *name, const char *value)
{
	if (!sn_http_is_token(name, strlen(name)) ||
	    has_control_or_end(value) || !strcasecmp(name, "content-length") ||
	    !strcasecmp(name, "transfer-encoding"))
		return -EINVAL;
	if (!strcasecmp(name, "connection")) {
		h->close = !strcasecmp(value, "close");
		return h->close ? 1 : -EINVAL;
	}
	h->has_date = h->has_date || !strcasecmp(name, "date");
	h->has_host = h->has_host || !strcasecmp(name, "host");
	return 0;
}

int sennit_http_add_field(sennit_http *h, const char *name, const char *value)
{
	const size_t size = strlen(name) + strlen(value) + 4;
	int          err = check_field(h, name, value);

	if (!err && size > FIELDS_ROOM - h->fields)
		err = -ENOSPC;
	if (!err) {
		char *at = h->added + h->fields;

		at = mempcpy(at, name, strlen(name));
		at = mempcpy(at, ": ", 2);
		at = mempcpy(at, value, strlen(value));
		(void)mempcpy(at, "\r\n", 2);
		h->fields += size;
	}
	if (err < 0 && !h->added_err)
		h->added_err = err;
	return err < 0 ? err : 0;
}

/* The next head has no fields yet. Returns the error of those that were
 * added. */
static int forget_fields(sennit_http *h)
{
	const int err = h->added_err;

	h->fields = 0;
	h->added_err = 0;
	h->has_date = h->has_host = h->close = false;
	return err;
}

/* --- heads -------------------------------------------------------------- */

static void add_text(sennit_http *h, const char *text, sennit_time deadline)
{
	(void)sn_http_add(h, text, strlen(text), deadline);
}

static void add_named(sennit_http *h, const char *name, const char *value,
		      sennit_time deadline)
{
	add_text(h, name, deadline);
	add_text(h, ": ", deadline);
	add_text(h, value, deadline);
	add_text(h, "\r\n", deadline);
}

static void add_status_line(sennit_http *h, uint32_t status,
			    sennit_time deadline)
{
	char line[80];

	snprintf(line, sizeof(line), "HTTP/1.1 %u %s\r\n", (unsigned)status,
		 sennit_http_reason(status));
	add_text(h, line, deadline);
	if (h->name)
		add_named(h, "Server", h->name, deadline);
	if (!h->has_date)
		add_named(h, "Date", sn_http_date_now(), deadline);
}

static void add_length(sennit_http *h, uint64_t length, sennit_time deadline)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)length);
	add_named(h, "Content-Length", text, deadline);
}

static void add_added(sennit_http *h, sennit_time deadline)
{
	(void)sn_http_add(h, h->added, h->fields, deadline);
}

/* --- answers ------------------------------------------------------------ */

static int check_status(uint32_t status, uint64_t length)
{
	if (status < 200 || status > 999 ||
	    ((status == 204 || status == 304) && length))
		return -EINVAL;
	return 0;
}

/* Decide whether another request can follow. Not after a body that is not
 * complete: the client may not send the rest. Unless the client has asked for
 * the end itself, it may have sent another request already. */
static void decide_to_keep(sennit_http *h, bool to_end)
{
	const bool complete = h->body.state == BODY_DONE;
	const bool kept = h->keep && (h->head.out.flags & SENNIT_HTTP_KEPT);

	h->keep = kept && complete && !h->close && !to_end &&
		  !(h->stop && sennit_event_is_set(h->stop));
	if (!complete || (kept && !h->keep))
		h->linger = true;
}

static void add_framing(sennit_http *h, uint32_t status, uint64_t length,
			sennit_time deadline)
{
	if (length != SENNIT_HTTP_UNKNOWN) {
		if (status != 204 && status != 304)
			add_length(h, length, deadline);
	} else if (h->head.out.minor) {
		add_named(h, "Transfer-Encoding", "chunked", deadline);
	}
	if (!h->keep)
		add_named(h, "Connection", "close", deadline);
	else if (!h->head.out.minor)
		add_named(h, "Connection", "keep-alive", deadline);
	add_text(h, "\r\n", deadline);
}

static enum sending kind_of(const sennit_http *h, uint64_t length)
{
	if (length != SENNIT_HTTP_UNKNOWN)
		return SIZED;
	return h->client || h->head.out.minor ? CHUNKS : TO_END;
}

/* Send the head of an answer. */
static int begin_answer(sennit_http *h, uint32_t status, uint64_t length,
			sennit_time deadline)
{
	const bool to_end = length == SENNIT_HTTP_UNKNOWN && !h->head.out.minor;
	int        err = check_status(status, length);

	if (!err)
		err = h->added_err;
	if (err) {
		forget_fields(h);
		return err;
	}
	decide_to_keep(h, to_end);
	add_status_line(h, status, deadline);
	add_added(h, deadline);
	add_framing(h, status, length, deadline);
	forget_fields(h);
	h->requested = false;
	return h->out_err;
}

/* The caller answers. */
static int leave_answer(sennit_http *h, sennit_time deadline)
{
	decide_to_keep(h, false);
	forget_fields(h);
	h->requested = false;
	return sennit_http_flush(h, deadline);
}

static const char no_length[] = "a body that is given has no length";

int sennit_http_answer(sennit_http *h, uint32_t status, const void *body,
		       uint64_t length, sennit_time deadline)
{
	const bool follows = !body && length;
	int        err;

	if (h->refused)
		return h->in_err;
	if (!h->requested)
		sn_library_misuse("sennit_http_answer",
				  h->client ? "a client has no requests"
					    : "there is no request");
	if (body && length == SENNIT_HTTP_UNKNOWN)
		sn_library_misuse("sennit_http_answer", no_length);
	if (!follows)
		sn_http_drop_received(h);
	if (!status)
		return leave_answer(h, deadline);
	err = begin_answer(h, status, length, deadline);
	if (err)
		return err;
	if (follows) {
		h->sending = kind_of(h, length);
		h->left = length;
		return 0;
	}
	return h->head_only || !length
		       ? 0
		       : add_part(h, body, (size_t)length, deadline);
}

void sn_http_answer_error(sennit_http *h, uint32_t status, sennit_time deadline)
{
	char      text[80];
	const int size = snprintf(text, sizeof(text), "%u %s\n",
				  (unsigned)status, sennit_http_reason(status));

	forget_fields(h);
	add_status_line(h, status, deadline);
	add_named(h, "Content-Type", "text/plain; charset=utf-8", deadline);
	add_length(h, (uint64_t)size, deadline);
	add_text(h, "Connection: close\r\n\r\n", deadline);
	if (!sennit_http_text_is(h->head.out.method, "HEAD"))
		add_text(h, text, deadline);
	(void)!sennit_http_flush(h, deadline);
}

/* --- requests ----------------------------------------------------------- */

static bool is_target_text(const char *target)
{
	if (!*target)
		return false;
	for (; *target; target++)
		if ((unsigned char)*target <= ' ' || *target == 0x7f)
			return false;
	return true;
}

static bool has_body_by_method(const char *method)
{
	return !strcmp(method, "POST") || !strcmp(method, "PUT") ||
	       !strcmp(method, "PATCH");
}

static int check_request(const sennit_http *h, const char *method,
			 const char *target)
{
	if (!sn_http_is_token(method, strlen(method)) ||
	    !strcmp(method, "CONNECT") || !is_target_text(target) ||
	    (!h->has_host && !sn_http_socket_host(h)))
		return -EINVAL;
	return h->added_err;
}

static int begin_request(sennit_http *h, const char *method, const char *target,
			 uint64_t length, sennit_time deadline)
{
	add_text(h, method, deadline);
	add_text(h, " ", deadline);
	add_text(h, target, deadline);
	add_text(h, " HTTP/1.1\r\n", deadline);
	if (!h->has_host)
		add_named(h, "Host", sn_http_socket_host(h), deadline);
	if (h->name)
		add_named(h, "User-Agent", h->name, deadline);
	add_added(h, deadline);
	if (length == SENNIT_HTTP_UNKNOWN)
		add_named(h, "Transfer-Encoding", "chunked", deadline);
	else if (length || has_body_by_method(method))
		add_length(h, length, deadline);
	if (h->close)
		add_named(h, "Connection", "close", deadline);
	add_text(h, "\r\n", deadline);
	h->head_only = !strcmp(method, "HEAD");
	forget_fields(h);
	return h->out_err;
}

void sn_http_drop_failed(sennit_http *h)
{
	if (h->client && h->out_err)
		h->sending = NOTHING;
}

/* Drop the rest of the last answer, and connect again if that is needed. */
static int make_ready(sennit_http *h, sennit_time deadline)
{
	sennit_http_text part;
	ptrdiff_t        n = 0;

	if (h->asked) /* its answer would be taken for the next one's */
		return sn_http_socket_again(h, deadline);
	if (h->keep)
		do
			n = sennit_http_read(h, &part, deadline);
		while (n > 0);
	if (n == -ETIMEDOUT || n == -ECANCELED)
		return (int)n;
	if (n || !h->keep || sn_http_socket_is_gone(h))
		return sn_http_socket_again(h, deadline);
	return 0;
}

int sennit_http_ask(sennit_http *h, const char *method, const char *target,
		    const void *body, uint64_t length, sennit_time deadline)
{
	const bool follows = !body && length;
	int        err;

	if (!h->client)
		sn_library_misuse("sennit_http_ask", "this side is a server");
	if (body && length == SENNIT_HTTP_UNKNOWN)
		sn_library_misuse("sennit_http_ask", no_length);
	sn_http_drop_failed(h);
	if (h->sending != NOTHING)
		sn_library_misuse("sennit_http_ask",
				  "the last request has not ended");
	err = check_request(h, method, target);
	if (!err)
		err = make_ready(h, deadline);
	if (err) {
		forget_fields(h);
		return err;
	}
	h->asked = true;
	err = begin_request(h, method, target, length, deadline);
	if (err)
		return err;
	if (follows) {
		h->sending = kind_of(h, length);
		h->left = length;
		return 0;
	}
	if (length)
		err = add_part(h, body, (size_t)length, deadline);
	return err ? err : sennit_http_flush(h, deadline);
}

/* --- bodies ------------------------------------------------------------- */

/* Send a part as a chunk. */
static int write_chunk(sennit_http *h, const void *bytes, size_t size,
		       sennit_time deadline)
{
	char head[24];
	int  err;

	snprintf(head, sizeof(head), "%zx\r\n", size);
	err = sn_http_add(h, head, strlen(head), deadline);
	if (!err)
		err = add_part(h, bytes, size, deadline);
	return err ? err : sn_http_add(h, "\r\n", 2, deadline);
}

static void check_part(const sennit_http *h, const void *bytes, size_t size)
{
	if (h->sending == NOTHING)
		sn_library_misuse("sennit_http_write", "no body has begun");
	if (h->sending == SIZED && size > h->left)
		sn_library_misuse("sennit_http_write",
				  "the body is longer than its length");
	if (h->sending != SIZED && !bytes && size)
		sn_library_misuse("sennit_http_write",
				  "the length of the body is not known");
}

static int write_part(sennit_http *h, const void *bytes, size_t size,
		      sennit_time deadline)
{
	if (!bytes)
		return h->used ? send_collected(h, MSG_MORE, deadline)
			       : h->out_err;
	if (h->sending == CHUNKS)
		return write_chunk(h, bytes, size, deadline);
	return add_part(h, bytes, size, deadline);
}

int sennit_http_write(sennit_http *h, const void *bytes, size_t size,
		      sennit_time deadline)
{
	int err;

	if (h->refused)
		return h->in_err;
	check_part(h, bytes, size);
	err = h->out_err;
	if (!err && size && !(h->head_only && !h->client))
		err = write_part(h, bytes, size, deadline);
	if (h->sending == SIZED)
		h->left -= size;
	return err;
}

int sennit_http_end(sennit_http *h, sennit_time deadline)
{
	const enum sending sending = h->sending;
	int                err = h->out_err;

	if (h->refused)
		return h->in_err;
	if (sending == NOTHING)
		sn_library_misuse("sennit_http_end", "no body has begun");
	if (sending == SIZED && h->left && !err)
		sn_library_misuse("sennit_http_end",
				  "the body is shorter than its length");
	h->sending = NOTHING;
	if (!err && sending == CHUNKS && !(h->head_only && !h->client))
		err = sn_http_add(h, "0\r\n\r\n", 5, deadline);
	return err || !h->client ? err : sennit_http_flush(h, deadline);
}

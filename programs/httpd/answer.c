/* SPDX-License-Identifier: Apache-2.0 */
/* answer.c - the head of an answer, and what is sent after it. */
#include "httpd/httpd.h"

#include "http/date.h"
#include "http/log.h"
#include "http/reason.h"

#include <http_parser.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Bodies up to this size are copied after their head. */
#define COPIED 4096

/* --- sending ------------------------------------------------------------ */

static void send_vector(struct client *c, struct iovec *v, int count, bool more)
{
	if (!c->err)
		c->err = http_stream_send(&c->s, v, count, more,
					  c->server->send_patience);
	c->used = 0;
}

void httpd_flush(struct client *c, bool more)
{
	struct iovec v = { c->out, c->used };

	if (c->used)
		send_vector(c, &v, 1, more);
}

void httpd_send(struct client *c, const char *bytes, size_t size)
{
	struct iovec v[2] = { { c->out, c->used },
			      { (void *)(uintptr_t)bytes, size } };

	if (size > COPIED) {
		send_vector(c, v, 2, false);
		return;
	}
	httpd_add(c, bytes, size);
}

/* --- heads -------------------------------------------------------------- */

/* Add bytes; if they do not fit, send the buffer first. No addition is larger
 * than the buffer. */
void httpd_add(struct client *c, const char *bytes, size_t size)
{
	if (size > ANSWERS - c->used)
		httpd_flush(c, true);
	memcpy(c->out + c->used, bytes, size);
	c->used += size;
}

void httpd_field(struct client *c, const char *form, ...)
{
	char    text[2048];
	va_list arguments;
	int     n;

	va_start(arguments, form);
	n = vsnprintf(text, sizeof(text), form, arguments);
	va_end(arguments);
	if (n > 0 && (size_t)n < sizeof(text))
		httpd_add(c, text, (size_t)n);
}

#define ADD(c, literal) httpd_add(c, literal, sizeof(literal) - 1)

void httpd_begin_head(struct client *c, int status)
{
	if (status == 200)
		ADD(c, "HTTP/1.1 200 OK\r\n");
	else
		httpd_field(c, "HTTP/1.1 %d %s\r\n", status,
			    http_reason(status));
	ADD(c, "Server: sennit-httpd\r\nDate: ");
	httpd_add(c, http_date_now(), HTTP_DATE_SIZE - 1);
	ADD(c, "\r\n");
}

void httpd_end_head(struct client *c)
{
	if (!c->keep)
		ADD(c, "Connection: close\r\n\r\n");
	else if (!c->head.minor)
		ADD(c, "Connection: keep-alive\r\n\r\n");
	else
		ADD(c, "\r\n");
}

void httpd_end_with(struct client *c, int status, const char *body, size_t size)
{
	httpd_end_head(c);
	if (c->head.method != HTTP_HEAD)
		httpd_add(c, body, size);
	if (http_log_on())
		http_log_add(c->peer, &c->head, status, size);
}

/* --- answers of one line ------------------------------------------------ */

void httpd_answer(struct client *c, int status)
{
	char text[64];
	int  size = snprintf(text, sizeof(text), "%d %s\n", status,
			     http_reason(status));

	httpd_begin_head(c, status);
	if (status == 405 || c->head.method == HTTP_OPTIONS)
		ADD(c, "Allow: GET, HEAD, OPTIONS\r\n");
	httpd_field(c,
		    "Content-Type: text/plain; charset=utf-8\r\n"
		    "Content-Length: %d\r\n",
		    size);
	httpd_end_with(c, status, text, (size_t)size);
}

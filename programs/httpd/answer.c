/* SPDX-License-Identifier: Apache-2.0 */
/* answer.c - the head of an answer, and what is sent after it. */
#include "httpd/httpd.h"

#include "http/log.h"

#include <stdarg.h>
#include <stdio.h>

void httpd_field(struct client *c, const char *name, const char *form, ...)
{
	char    text[2048];
	va_list arguments;
	int     n;

	va_start(arguments, form);
	n = vsnprintf(text, sizeof(text), form, arguments);
	va_end(arguments);
	if (n > 0 && (size_t)n < sizeof(text))
		sennit_http_add_field(c->in.http, name, text);
}

void httpd_log(const struct client *c, int status, uint64_t size)
{
	if (http_log_on())
		http_log_add(c->peer, c->in.head, status, size);
}

void httpd_answer_with(struct client *c, int status, const char *body,
		       uint64_t size)
{
	if (!c->keep)
		sennit_http_add_field(c->in.http, "Connection", "close");
	c->err = sennit_http_answer(c->in.http, (uint32_t)status, body, size,
				    SENNIT_NEVER);
}

/* --- answers of one line ------------------------------------------------ */

void httpd_answer(struct client *c, int status)
{
	char text[64];
	int  size = snprintf(text, sizeof(text), "%d %s\n", status,
			     sennit_http_reason((uint32_t)status));

	if (status == 405 || sennit_http_text_is(c->in.head->method, "OPTIONS"))
		sennit_http_add_field(c->in.http, "Allow",
				      "GET, HEAD, OPTIONS");
	sennit_http_add_field(c->in.http, "Content-Type",
			      "text/plain; charset=utf-8");
	httpd_answer_with(c, status, text, (uint64_t)size);
	httpd_log(c, status, (uint64_t)size);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* forward.c - the heads of requests and answers, as they are passed on. */
#include "proxy/proxy.h"

#include "http/target.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

static void add(struct head_text *t, const char *bytes, size_t size)
{
	if (size <= HEAD_MAX && t->size <= HEAD_MAX - size)
		memcpy(t->bytes + t->size, bytes, size);
	else
		size = HEAD_MAX + 1;
	t->size += size;
}

static void add_text(struct head_text *t, const char *text)
{
	add(t, text, strlen(text));
}

static void add_field(struct head_text *t, const sennit_http_field *f)
{
	add(t, f->name.at, f->name.size);
	add_text(t, ": ");
	add(t, f->value.at, f->value.size);
	add_text(t, "\r\n");
}

/* --- fields ------------------------------------------------------------- */

/* Fields of one connection (RFC 9110, 7.6.1), and framing, which the proxy
 * sets. */
static const char *const of_connection[] = {
	"connection",
	"keep-alive",
	"proxy-connection",
	"transfer-encoding",
	"te",
	"trailer",
	"upgrade",
	"expect",
	"content-length",
	"proxy-authenticate",
	"proxy-authorization",
};

/* Report whether a server may read the name as this one: some treat '_' as
 * '-'. */
static bool may_be(sennit_http_text name, const char *other)
{
	for (size_t i = 0; i < name.size; i++) {
		const char c = name.at[i];
		const char low = c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;

		if (!other[i] || (low == '_' ? '-' : low) != other[i])
			return false;
	}
	return !other[name.size];
}

static bool is_of_connection(const sennit_http_head  *h,
			     const sennit_http_field *f)
{
	char name[64];

	for (size_t i = 0; i < sizeof(of_connection) / sizeof(*of_connection);
	     i++)
		if (may_be(f->name, of_connection[i]))
			return true;
	if (!sennit_http_find(h, "connection").at)
		return false;
	if (f->name.size >= sizeof(name))
		return true;
	memcpy(name, f->name.at, f->name.size);
	name[f->name.size] = '\0';
	for (uint32_t i = 0; i < h->count; i++)
		if (sennit_http_text_is(h->fields[i].name, "connection") &&
		    sennit_http_text_lists(h->fields[i].value, name))
			return true;
	return false;
}

/* Fields that only the proxy may set or omit. */
static bool is_of_proxy(const sennit_http_field *f)
{
	return may_be(f->name, "host") || may_be(f->name, "x-forwarded-for") ||
	       may_be(f->name, "x-forwarded-proto");
}

static bool is_plain(sennit_http_text name, bool underscores)
{
	for (size_t i = 0; i < name.size; i++) {
		const char c = name.at[i];

		if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
		      (c >= 'A' && c <= 'Z') || c == '-' ||
		      (c == '_' && underscores)))
			return false;
	}
	return true;
}

/* Add all fields that are passed on. */
static void add_fields(struct head_text *t, const sennit_http_head *h)
{
	for (uint32_t i = 0; i < h->count; i++)
		if (!is_of_connection(h, &h->fields[i]) &&
		    !is_of_proxy(&h->fields[i]))
			add_field(t, &h->fields[i]);
}

static void add_plain_fields(struct head_text *t, const sennit_http_head *h,
			     bool underscores)
{
	for (uint32_t i = 0; i < h->count; i++)
		if (is_plain(h->fields[i].name, underscores) &&
		    !is_of_connection(h, &h->fields[i]) &&
		    !is_of_proxy(&h->fields[i]))
			add_field(t, &h->fields[i]);
}

static void add_address(struct head_text *t, const struct sockaddr *peer)
{
	char                       text[INET6_ADDRSTRLEN] = "unknown";
	const struct sockaddr_in  *four = (const void *)peer;
	const struct sockaddr_in6 *six = (const void *)peer;

	if (peer->sa_family == AF_INET)
		inet_ntop(AF_INET, &four->sin_addr, text, sizeof(text));
	else if (peer->sa_family == AF_INET6)
		inet_ntop(AF_INET6, &six->sin6_addr, text, sizeof(text));
	add_text(t, text);
}

/* Add the received value, followed by the address of the sender. */
static void add_forwarded(struct head_text *t, const sennit_http_head *h,
			  const struct sockaddr *peer)
{
	add_text(t, "X-Forwarded-For: ");
	for (uint32_t i = 0; i < h->count; i++) {
		if (!sennit_http_text_is(h->fields[i].name, "x-forwarded-for"))
			continue;
		add(t, h->fields[i].value.at, h->fields[i].value.size);
		add_text(t, ", ");
	}
	add_address(t, peer);
	add_text(t, "\r\n");
}

static void add_framing(struct head_text *t, const struct framing *f)
{
	char text[64];

	if (f->chunked) {
		add_text(t, "Transfer-Encoding: chunked\r\n");
	} else if (f->has_length) {
		snprintf(text, sizeof(text), "Content-Length: %llu\r\n",
			 (unsigned long long)f->length);
		add_text(t, text);
	}
}

/* --- heads -------------------------------------------------------------- */

/* Servers get a target without a host; the host is in the Host field. */
static void add_request_line(struct head_text *t, const sennit_http_head *h)
{
	sennit_http_text target = h->target;
	bool             absolute = http_target_authority(&target).at;

	add(t, h->method.at, h->method.size);
	add_text(t, " ");
	if (absolute && !target.size &&
	    sennit_http_text_is(h->method, "OPTIONS"))
		add_text(t, "*");
	else if (absolute && (!target.size || target.at[0] != '/'))
		add_text(t, "/");
	add(t, target.at, target.size);
	add_text(t, " HTTP/1.1\r\nHost: ");
	if (h->host.at)
		add(t, h->host.at, h->host.size);
	add_text(t, "\r\n");
}

int proxy_make_request(struct head_text *t, const struct client *c,
		       const struct framing *f)
{
	const sennit_http_head *h = c->in.head;

	t->size = 0;
	add_request_line(t, h);
	add_plain_fields(t, h, c->proxy->underscores);
	add_forwarded(t, h, c->peer);
	add_text(t, c->s.tls ? "X-Forwarded-Proto: https\r\n"
			     : "X-Forwarded-Proto: http\r\n");
	add_text(t, h->minor ? "Via: 1.1 sennit-proxy\r\n"
			     : "Via: 1.0 sennit-proxy\r\n");
	add_framing(t, f);
	add_text(t, "\r\n");
	return t->size > HEAD_MAX ? 431 : 0;
}

int proxy_make_answer(struct head_text *t, const sennit_http_head *answer,
		      bool chunked, bool keep, unsigned minor)
{
	const struct framing f = { chunked,
				   answer->length != SENNIT_HTTP_UNKNOWN,
				   answer->length };

	t->size = 0;
	add_text(t, "HTTP/1.1");
	/* the rest of the line after "HTTP/1.x" */
	add(t, answer->line.at + 8, answer->line.size - 8);
	add_text(t, "\r\n");
	add_fields(t, answer);
	add_text(t, "Via: 1.1 sennit-proxy\r\n");
	add_framing(t, &f);
	if (!keep)
		add_text(t, "Connection: close\r\n");
	else if (!minor)
		add_text(t, "Connection: keep-alive\r\n");
	add_text(t, "\r\n");
	return t->size > HEAD_MAX ? 502 : 0;
}

void proxy_make_error(struct head_text *t, int status, bool body)
{
	const char *reason = sennit_http_reason((uint32_t)status);
	char        date[SENNIT_HTTP_DATE];

	sennit_http_write_date(date, time(NULL));
	t->size = (size_t)snprintf(
		t->bytes, sizeof(t->bytes),
		"HTTP/1.1 %d %s\r\nServer: sennit-proxy\r\nDate: %s\r\n"
		"Content-Type: text/plain; charset=utf-8\r\n"
		"Content-Length: %zu\r\nConnection: close\r\n\r\n",
		status, reason, date, strlen(reason) + 5);
	if (body)
		t->size += (size_t)snprintf(t->bytes + t->size,
					    sizeof(t->bytes) - t->size,
					    "%d %s\n", status, reason);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* static.c - answers a request with a file, or a part of it. */
#include "httpd/httpd.h"

#include "http/log.h"
#include "http/target.h"

#include <string.h>

#define PATIENCE (5 * SENNIT_SECOND)

static void redirect(struct client *c, const char *path)
{
	char escaped[3 * HTTP_PATH_MAX];

	if (!*path || !http_target_escape(escaped, 1900, path)) {
		httpd_answer(c, 404);
		return;
	}
	httpd_field(c, "Location", "/%s/", escaped);
	httpd_answer_with(c, 301, NULL, 0);
	httpd_log(c, 301, 0);
}

static void send_part(struct client *c, const struct file *f,
		      const struct http_range *range)
{
	const size_t count = (size_t)range->count;

	c->err = sennit_http_write(
		c->in.http, f->content ? f->content + range->first : NULL,
		count, SENNIT_NEVER);
	if (!c->err && !f->content)
		c->err = http_stream_send_file(
			&c->s, f->fd, range->first, range->count,
			c->server->send_patience,
			sennit_after(c->server->total_patience));
}

static void add_fields(struct client *c, const struct file *f)
{
	sennit_http *h = c->in.http;

	sennit_http_add_field(h, "Content-Type", f->type);
	sennit_http_add_field(h, "ETag", f->tag);
	sennit_http_add_field(h, "Last-Modified", f->date);
	sennit_http_add_field(h, "Accept-Ranges", "bytes");
	sennit_http_add_field(h, "X-Content-Type-Options", "nosniff");
}

static void answer_with(struct client *c, const struct file *f)
{
	const bool get = sennit_http_text_is(c->in.head->method, "GET");
	const unsigned long long size = f->variant.size;
	struct http_range        range;
	int  status = http_select(c->in.head, &f->variant, &range);
	bool whole = status == 200 || status == 206;

	if (status == 412) {
		httpd_answer(c, status);
		return;
	}
	add_fields(c, f);
	if (status == 206)
		httpd_field(c, "Content-Range", "bytes %llu-%llu/%llu",
			    (unsigned long long)range.first,
			    (unsigned long long)range.first + range.count - 1,
			    size);
	else if (status == 416)
		httpd_field(c, "Content-Range", "bytes */%llu", size);
	httpd_answer_with(c, status, NULL, whole ? range.count : 0);
	httpd_log(c, status, whole && get ? range.count : 0);
	if (c->err || !whole || !range.count)
		return;
	if (get)
		send_part(c, f, &range);
	else
		c->err = sennit_http_write(c->in.http, NULL,
					   (size_t)range.count, 0);
	if (!c->err)
		c->err = sennit_http_end(c->in.http, SENNIT_NEVER);
}

void httpd_answer_file(struct client *c, const char *path)
{
	const sennit_time until = sennit_after(PATIENCE);
	struct file      *f;
	int               status = files_get(&f, path);

	/* Slow clients may use up the descriptors. */
	while (status == 503 && c->s.user &&
	       !http_users_wait(c->s.user->users, until))
		status = files_get(&f, path);
	if (status == 301)
		redirect(c, path);
	else if (status)
		httpd_answer(c, status);
	else {
		answer_with(c, f);
		files_put(f);
	}
}

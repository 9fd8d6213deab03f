/* SPDX-License-Identifier: Apache-2.0 */
/* static.c - answers a request with a file, or a part of it. */
#include "httpd/httpd.h"

#include "http/log.h"
#include "http/target.h"

#include <http_parser.h>
#include <string.h>

#define PATIENCE (5 * SENNIT_SECOND)

static void redirect(struct client *c, const char *path)
{
	char escaped[3 * HTTP_PATH_MAX];

	if (!*path || !http_target_escape(escaped, 1900, path)) {
		httpd_answer(c, 404);
		return;
	}
	httpd_begin_head(c, 301);
	httpd_field(c, "Location: /%s/\r\nContent-Length: 0\r\n", escaped);
	httpd_end_with(c, 301, "", 0);
}

static void send_part(struct client *c, const struct file *f,
		      const struct http_range *range)
{
	if (f->content) {
		httpd_send(c, f->content + range->first, (size_t)range->count);
		return;
	}
	httpd_flush(c, true);
	if (!c->err)
		c->err = http_stream_send_file(
			&c->s, f->fd, range->first, range->count,
			c->server->send_patience,
			sennit_after(c->server->total_patience));
}

static void answer_with(struct client *c, const struct file *f)
{
	const unsigned long long size = f->variant.size;
	struct http_range        range;
	int  status = http_select(&c->head, &f->variant, &range);
	bool whole = status == 200 || status == 206;

	if (status == 412) {
		httpd_answer(c, status);
		return;
	}
	httpd_begin_head(c, status);
	httpd_add(c, f->fields, f->fields_size);
	if (status == 206)
		httpd_field(c, "Content-Range: bytes %llu-%llu/%llu\r\n",
			    (unsigned long long)range.first,
			    (unsigned long long)range.first + range.count - 1,
			    size);
	else if (status == 416)
		httpd_field(c, "Content-Range: bytes */%llu\r\n", size);
	if (status != 304)
		httpd_field(c, "Content-Length: %llu\r\n",
			    whole ? (unsigned long long)range.count : 0);
	httpd_end_head(c);
	if (http_log_on())
		http_log_add(c->peer, &c->head, status,
			     whole && c->head.method == HTTP_GET ? range.count
								 : 0);
	if (whole && c->head.method == HTTP_GET && range.count)
		send_part(c, f, &range);
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

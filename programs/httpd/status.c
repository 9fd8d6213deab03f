/* SPDX-License-Identifier: Apache-2.0 */
/* status.c - the JSON endpoint. */
#include "httpd/httpd.h"

#include "http/log.h"

#include <sennit/io.h>

#include <http_parser.h>
#include <stdio.h>

static int describe_server(const struct client *c, bool ending, char *text,
			   size_t size)
{
	const struct httpd *d = c->server;

	return snprintf(
		text, size,
		"{\"server\":\"sennit-httpd\",\"version\":\"%d.%d.%d\","
		"\"uptime\":%.3f,\"connections\":%u,\"accepted\":%llu,"
		"\"requests\":%llu,\"workers\":%u,\"backend\":\"%s\","
		"\"log_dropped\":%llu,\"stopping\":%s}\n",
		SENNIT_VERSION_MAJOR, SENNIT_VERSION_MINOR,
		SENNIT_VERSION_PATCH,
		(double)(sennit_now() - d->service.since) / 1e9,
		atomic_load(&d->service.connections),
		(unsigned long long)atomic_load(&d->service.accepted),
		(unsigned long long)atomic_load(&d->requests) + c->requests,
		sennit_scheduler_workers(sennit_scheduler_current()),
		sennit_io_backend(), (unsigned long long)http_log_dropped(),
		ending ? "true" : "false");
}

static int describe_body(const struct client *c, char *text, size_t size)
{
	return snprintf(
		text, size, "{\"received\":%llu,\"fnv1a\":\"%016llx\"}\n",
		(unsigned long long)c->body.total, (unsigned long long)c->sum);
}

void httpd_answer_status(struct client *c)
{
	const bool posted = c->head.method == HTTP_POST;
	const bool ending = http_service_ending(&c->server->service);
	const int  status = ending && !posted ? 503 : 200;
	char       text[512];
	int        n = posted ? describe_body(c, text, sizeof(text))
			      : describe_server(c, ending, text, sizeof(text));

	httpd_begin_head(c, status);
	httpd_field(c,
		    "Content-Type: application/json\r\n"
		    "Cache-Control: no-store\r\nContent-Length: %d\r\n",
		    n);
	httpd_end_with(c, status, text, (size_t)n);
}

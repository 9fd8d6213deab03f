/* SPDX-License-Identifier: Apache-2.0 */
/* status.c - the JSON endpoint. */
#include "httpd/httpd.h"

#include "http/log.h"

#include <sennit/io.h>

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
		(unsigned long long)c->in.taken, (unsigned long long)c->sum);
}

void httpd_answer_status(struct client *c)
{
	const bool posted = sennit_http_text_is(c->in.head->method, "POST");
	const bool ending = http_service_ending(&c->server->service);
	const int  status = ending && !posted ? 503 : 200;
	char       text[512];
	int        n = posted ? describe_body(c, text, sizeof(text))
			      : describe_server(c, ending, text, sizeof(text));

	sennit_http_add_field(c->in.http, "Content-Type", "application/json");
	sennit_http_add_field(c->in.http, "Cache-Control", "no-store");
	httpd_answer_with(c, status, text, (uint64_t)n);
	httpd_log(c, status, (uint64_t)n);
}

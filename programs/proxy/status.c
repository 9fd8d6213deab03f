/* SPDX-License-Identifier: Apache-2.0 */
/* status.c - the JSON endpoint. */
#include "proxy/proxy.h"

#include "http/date.h"
#include "http/log.h"
#include "http/reason.h"

#include <http_parser.h>
#include <stdio.h>

static int describe(char *text, size_t size, const struct gateway *p,
		    bool ending)
{
	return snprintf(text, size,
			"{\"server\":\"sennit-proxy\",\"version\":\"%d.%d.%d\","
			"\"uptime\":%.3f,\"connections\":%u,\"accepted\":%llu,"
			"\"servers\":%u,\"down\":%u,\"workers\":%u,"
			"\"log_dropped\":%llu,\"stopping\":%s}\n",
			SENNIT_VERSION_MAJOR, SENNIT_VERSION_MINOR,
			SENNIT_VERSION_PATCH,
			(double)(sennit_now() - p->service.since) / 1e9,
			atomic_load(&p->service.connections),
			(unsigned long long)atomic_load(&p->service.accepted),
			p->upstreams.count, upstreams_down(&p->upstreams),
			sennit_scheduler_workers(sennit_scheduler_current()),
			(unsigned long long)http_log_dropped(),
			ending ? "true" : "false");
}

int proxy_make_status(struct head_text *t, const struct gateway *p,
		      const struct http_head *h, bool keep)
{
	const bool ending = http_service_ending(&p->service);
	const int  status = ending ? 503 : 200;
	char       text[512];
	int        size = describe(text, sizeof(text), p, ending);

	t->size = (size_t)snprintf(
		t->bytes, sizeof(t->bytes),
		"HTTP/1.1 %d %s\r\nServer: sennit-proxy\r\nDate: %s\r\n"
		"Content-Type: application/json\r\nCache-Control: no-store\r\n"
		"Content-Length: %d\r\n%s\r\n%s",
		status, http_reason(status), http_date_now(), size,
		!keep       ? "Connection: close\r\n"
		: !h->minor ? "Connection: keep-alive\r\n"
			    : "",
		h->method == HTTP_HEAD ? "" : text);
	return status;
}

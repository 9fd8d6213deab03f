/* SPDX-License-Identifier: Apache-2.0 */
/* status.c - the JSON endpoint. */
#include "proxy/proxy.h"

#include "http/log.h"

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

int proxy_answer_status(struct client *c)
{
	const struct gateway *p = c->proxy;
	const bool            ending = http_service_ending(&p->service);
	const int             status = ending ? 503 : 200;
	sennit_http          *h = c->in.http;
	char                  text[512];
	int                   size = describe(text, sizeof(text), p, ending);

	sennit_http_add_field(h, "Content-Type", "application/json");
	sennit_http_add_field(h, "Cache-Control", "no-store");
	if (!c->keep)
		sennit_http_add_field(h, "Connection", "close");
	if (sennit_http_answer(h, (uint32_t)status, text, (uint64_t)size,
			       SENNIT_NEVER))
		c->keep = false;
	return status;
}

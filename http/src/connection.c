/* SPDX-License-Identifier: Apache-2.0 */
/* connection.c - a connection begins and ends. */
#include "connection.h"

#include "base/sized.h"

#include <stdlib.h>

#define HEAD_DEFAULT   8192
#define FIELDS_DEFAULT 100
#define BODY_DEFAULT   (UINT64_C(1) << 20)
#define IDLE_DEFAULT   (60 * SENNIT_SECOND)
#define WAIT_DEFAULT   (10 * SENNIT_SECOND)
#define STEP_DEFAULT   (30 * SENNIT_SECOND)

/* More would not be a limit any more. */
#define HEAD_MAX   (16u << 20)
#define FIELDS_MAX 65536u

ENDS_WITH(sennit_http_config, stop);

static bool is_value(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			return false;
	return true;
}

static int read_config(sennit_http_config *to, const sennit_http_config *from)
{
	int err = 0;

	*to = (sennit_http_config){ .size = sizeof(*to) };
	if (from)
		err = sn_sized_read(to, sizeof(*to), from,
				    SIZE_THROUGH(sennit_http_config, stop));
	if (!err && to->name && !is_value(to->name))
		err = -EINVAL;
	if (!err &&
	    (to->flags || to->fields > FIELDS_MAX || to->head > HEAD_MAX))
		err = -EINVAL;
	return err;
}

static uint64_t or_default(uint64_t given, uint64_t otherwise)
{
	return given ? given : otherwise;
}

static void configure(sennit_http *h, const sennit_http_config *c)
{
	h->body_limit = or_default(c->body,
				   h->client ? UINT64_MAX : BODY_DEFAULT);
	h->idle = h->client ? UINT64_MAX : or_default(c->idle, IDLE_DEFAULT);
	h->wait = h->client ? UINT64_MAX : or_default(c->wait, WAIT_DEFAULT);
	h->step = h->client ? UINT64_MAX : or_default(c->step, STEP_DEFAULT);
	h->name = c->name;
	h->stop = h->client ? NULL : c->stop;
}

int sn_http_make(sennit_http **out, bool client,
		 const sennit_http_config *config)
{
	sennit_http_config c;
	struct limits      limits;
	sennit_http       *h;
	int                err = read_config(&c, config);

	if (err)
		return err;
	limits.head = c.head ? c.head : HEAD_DEFAULT;
	limits.fields = c.fields ? c.fields : FIELDS_DEFAULT;
	/* Not calloc(): most of the memory is rarely used. */
	h = malloc(sizeof(*h) + limits.head + BODY_ROOM);
	if (!h)
		return -ENOMEM;
	memset(h, 0, offsetof(sennit_http, added));
	h->head.fields = malloc(limits.fields * sizeof(sennit_http_field));
	if (!h->head.fields) {
		free(h);
		return -ENOMEM;
	}
	h->client = client;
	h->head.is_answer = client;
	h->limits = limits;
	h->room = limits.head + BODY_ROOM;
	h->keep = true;
	configure(h, &c);
	*out = h;
	return 0;
}

int sennit_http_create(sennit_http **out, const sennit_http_link *link,
		       uint32_t flags, const sennit_http_config *config)
{
	sennit_http *h;
	int          err;

	if (flags & ~SENNIT_HTTP_CLIENT)
		return -EINVAL;
	err = sn_http_make(&h, flags & SENNIT_HTTP_CLIENT, config);
	if (err)
		return err;
	if (config && config->tls) {
		sennit_http_destroy(h);
		return -EINVAL;
	}
	h->link = *link;
	*out = h;
	return 0;
}

int sennit_http_connect(sennit_http **out, const char *url,
			const sennit_http_config *config, sennit_time deadline)
{
	sennit_http *h;
	int          err = sn_http_make(&h, true, config);

	if (err)
		return err;
	err = sn_http_connect_socket(h, url, config ? config->tls : NULL,
				     deadline);
	if (err)
		sennit_http_destroy(h);
	else
		*out = h;
	return err;
}

void sennit_http_destroy(sennit_http *h)
{
	if (!h)
		return;
	sn_http_socket_close(h);
	free(h->head.fields);
	free(h);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "http/tls.h"

#include <errno.h>
#include <stdio.h>

#ifdef HAVE_TLS

#include <sennit/tls.h>

struct sennit_tls_context *http_tls_open(const char *certificates,
					 const char *key)
{
	char                text[256];
	sennit_tls_context *c;

	if (!sennit_tls_context_create(
		    &c,
		    SENNIT_TLS_CONFIG(.certificate = certificates, .key = key,
				      .protocols = "http/1.1"),
		    text, sizeof(text)))
		return c;
	fprintf(stderr, "TLS: %s\n", text);
	return NULL;
}

void http_tls_close(struct sennit_tls_context *context)
{
	sennit_tls_context_destroy(context);
}

static ptrdiff_t shake_hands(struct sennit_tls *tls, void *bytes, size_t size,
			     sennit_time deadline)
{
	(void)bytes;
	(void)size;
	return sennit_tls_accept(tls, deadline);
}

int http_tls_accept(struct http_stream *s, struct sennit_tls_context *context,
		    sennit_time deadline)
{
	int err = sennit_tls_create(&s->tls, context, s->fd);

	if (err)
		return err;
	err = (int)http_stream_by_tls(s, shake_hands, NULL, 0, false, deadline);
	if (err)
		sennit_tls_destroy(s->tls);
	if (err)
		s->tls = NULL;
	return err;
}

/* HTTP itself defines where a message ends, so a connection may end without a
 * TLS close. */
ptrdiff_t http_tls_recv(struct http_stream *s, void *to, size_t size, bool idle,
			sennit_time deadline)
{
	ptrdiff_t n = http_stream_by_tls(s, sennit_tls_read, to, size, idle,
					 deadline);

	return n == -ECONNABORTED ? 0 : n;
}

static ptrdiff_t write_some(struct sennit_tls *tls, void *bytes, size_t size,
			    sennit_time deadline)
{
	return sennit_tls_write(tls, bytes, size, deadline);
}

ptrdiff_t http_tls_send_some(struct http_stream *s, const void *from,
			     size_t size, sennit_time deadline)
{
	return http_stream_by_tls(s, write_some, (void *)(uintptr_t)from, size,
				  false, deadline);
}

static int send_part(struct http_stream *s, char *from, size_t size,
		     sennit_time deadline)
{
	while (size) {
		ptrdiff_t n = http_tls_send_some(s, from, size, deadline);

		if (n < 0)
			return (int)n;
		from += n;
		size -= (size_t)n;
	}
	return 0;
}

int http_tls_send(struct http_stream *s, const struct iovec *v, int count,
		  sennit_time deadline)
{
	int err = 0;

	for (int i = 0; i < count && !err; i++)
		err = send_part(s, v[i].iov_base, v[i].iov_len, deadline);
	return err;
}

void http_tls_end(struct http_stream *s)
{
	if (s->tls)
		(void)sennit_tls_shutdown(s->tls, 0);
	sennit_tls_destroy(s->tls);
	s->tls = NULL;
}

#else

struct sennit_tls_context *http_tls_open(const char *certificates,
					 const char *key)
{
	(void)certificates;
	(void)key;
	fprintf(stderr, "TLS: built without libsennit-tls\n");
	return NULL;
}

void http_tls_close(struct sennit_tls_context *context)
{
	(void)context;
}

int http_tls_accept(struct http_stream *s, struct sennit_tls_context *context,
		    sennit_time deadline)
{
	(void)s;
	(void)context;
	(void)deadline;
	return -EPROTO;
}

ptrdiff_t http_tls_recv(struct http_stream *s, void *to, size_t size, bool idle,
			sennit_time deadline)
{
	(void)s;
	(void)to;
	(void)size;
	(void)idle;
	(void)deadline;
	return -EPROTO;
}

ptrdiff_t http_tls_send_some(struct http_stream *s, const void *from,
			     size_t size, sennit_time deadline)
{
	(void)s;
	(void)from;
	(void)size;
	(void)deadline;
	return -EPROTO;
}

int http_tls_send(struct http_stream *s, const struct iovec *v, int count,
		  sennit_time deadline)
{
	(void)s;
	(void)v;
	(void)count;
	(void)deadline;
	return -EPROTO;
}

void http_tls_end(struct http_stream *s)
{
	(void)s;
}

#endif

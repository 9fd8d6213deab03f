/* SPDX-License-Identifier: Apache-2.0 */
/* http_memory.c - a connection over bytes in memory, as over a transport of
 * your own: a request, and one that is refused. */
#include <sennit.h>
#include <sennit/http.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char requests[] = "GET /one HTTP/1.1\r\nHost: here\r\n"
			       "Accept-Encoding: br, gzip\r\n\r\n"
			       "GET /two HTTP/1.1\r\nHost : here\r\n\r\n";

struct memory {
	const char *from;
	size_t      left;
};

static ptrdiff_t take(void *context, void *to, size_t size,
		      sennit_time deadline)
{
	struct memory *m = context;
	const size_t   n = m->left < size ? m->left : size;

	(void)deadline; /* never waits */
	memcpy(to, m->from, n);
	m->from += n;
	m->left -= n;
	return (ptrdiff_t)n;
}

/* Print the first line of each answer. */
static ptrdiff_t print(void *context, const struct iovec *pieces, int count,
		       int flags, sennit_time deadline)
{
	const char *bytes = pieces->iov_base;
	size_t      size = pieces->iov_len;

	(void)context, (void)count, (void)flags, (void)deadline;
	for (size_t i = 0; i + 8 < size; i++)
		if (!memcmp(bytes + i, "HTTP/1.1", 8))
			printf("%.*s\n", (int)strcspn(bytes + i, "\r"),
			       bytes + i);
	return (ptrdiff_t)size;
}

static bool takes_gzip(const sennit_http_head *head)
{
	return sennit_http_text_lists(sennit_http_find(head, "Accept-Encoding"),
				      "gzip");
}

static int answer_all(sennit_http *http)
{
	const sennit_http_head *head;
	int                     n;

	while ((n = sennit_http_next(http, &head, SENNIT_NEVER)) > 0) {
		printf("%.*s of %.*s, %s, %zu bytes ahead\n",
		       (int)head->target.size, head->target.at,
		       (int)head->host.size, head->host.at,
		       takes_gzip(head) ? "compressed" : "plain",
		       sennit_http_ahead(http));
		n = sennit_http_answer(http, 204, NULL, 0, SENNIT_NEVER);
		if (!n) /* before whatever takes long */
			n = sennit_http_flush(http, SENNIT_NEVER);
		if (n)
			break;
	}
	if (sennit_http_refused(http, &head))
		printf("refused: %.*s: %u\n", (int)head->line.size,
		       head->line.at,
		       (unsigned)sennit_http_refused(http, NULL));
	return n;
}

int main(void)
{
	struct memory          m = { requests, sizeof(requests) - 1 };
	const sennit_http_link link = { take, print, &m };
	sennit_http           *http;
	int                    err = sennit_http_create(&http, &link, 0, NULL);

	if (err)
		return 1;
	err = answer_all(http);
	sennit_http_destroy(http);
	return err != -EPROTO;
}

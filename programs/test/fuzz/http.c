/* SPDX-License-Identifier: Apache-2.0 */
/* http.c - any bytes as what a client sends to sennit-httpd, twice: whole, and
 * split as the first byte says. The answers must be the same, and no path may
 * lead out of the folder.
 *
 * The server's own files, with memory for its stream, its files, its log and
 * its JSON endpoint.
 */
#include "httpd/httpd.h"

#include "connection.h"
#include "http/log.h"
#include "http/target.h"
#include "http/tls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* --- the stream --------------------------------------------------------- */

#define SENT_MAX (1 << 20)

static struct {
	const uint8_t *bytes;
	size_t         left;
	uint32_t       random; /* 0: whole */
	char           sent[SENT_MAX];
	size_t         sent_size;
} peer;

static size_t choose_size(size_t most)
{
	if (!peer.random)
		return most;
	peer.random = peer.random * 1664525u + 1013904223u;
	return 1 + (peer.random >> 24) % (most < 40 ? most : 40);
}

ptrdiff_t http_stream_recv(struct http_stream *s, void *to, size_t size,
			   bool idle, sennit_time deadline)
{
	size_t n = peer.left < size ? peer.left : size;

	(void)s;
	(void)idle;
	(void)deadline;
	if (!size)
		abort(); /* it would seem to be the end */
	if (n)
		n = choose_size(n);
	memcpy(to, peer.bytes, n);
	peer.bytes += n;
	peer.left -= n;
	return (ptrdiff_t)n;
}

static int send_bytes(const char *bytes, size_t size)
{
	if (size > SENT_MAX - peer.sent_size)
		return -EPIPE;
	memcpy(peer.sent + peer.sent_size, bytes, size);
	peer.sent_size += size;
	return 0;
}

ptrdiff_t http_stream_send_some(struct http_stream *s, const struct iovec *v,
				int count, bool more, sennit_time deadline)
{
	int err = send_bytes(v->iov_base, v->iov_len);

	(void)s;
	(void)count;
	(void)more;
	(void)deadline;
	return err ? err : (ptrdiff_t)v->iov_len;
}

int http_stream_send_file(struct http_stream *s, int file, uint64_t at,
			  uint64_t size, uint64_t patience,
			  sennit_time deadline)
{
	int err = 0;

	(void)s;
	(void)file;
	(void)patience;
	(void)deadline;
	for (uint64_t i = 0; i < size && !err; i++) {
		char c = (char)('a' + (at + i) % 26);

		err = send_bytes(&c, 1);
	}
	return err;
}

bool http_service_ending(const struct http_service *v)
{
	(void)v;
	return false;
}

void http_stream_linger(struct http_stream *s)
{
	(void)s;
}

void http_stream_close(struct http_stream *s)
{
	(void)s;
}

/* supply.c closes what users have. The one client here is no user. */
int sennit_close(int fd)
{
	(void)fd;
	abort();
}

int http_tls_accept(struct http_stream *s, struct sennit_tls_context *context,
		    sennit_time deadline)
{
	(void)s;
	(void)context;
	(void)deadline;
	return -EPROTO;
}

/* The library's own sockets, which connections over a link do not have. */
void sn_http_socket_close(sennit_http *h)
{
	(void)h;
}

const char *sn_http_socket_host(const sennit_http *h)
{
	(void)h;
	return NULL;
}

bool sn_http_socket_is_gone(const sennit_http *h)
{
	(void)h;
	abort();
}

int sn_http_socket_again(sennit_http *h, sennit_time deadline)
{
	(void)h;
	(void)deadline;
	abort();
}

int sn_http_connect_socket(sennit_http *h, const char *url,
			   struct sennit_tls_context *context,
			   sennit_time                deadline)
{
	(void)h;
	(void)url;
	(void)context;
	(void)deadline;
	abort();
}

/* --- files, the log, the endpoint --------------------------------------- */

static char        text[5000];
static struct file small = { .variant = { 300, 1000000000, "\"1-2\"" },
			     .fd = -1,
			     .content = text,
			     .type = "text/plain",
			     .date = "today" };
static struct file middle = { .variant = { 5000, 1000000000, "\"1-2\"" },
			      .fd = -1,
			      .content = text,
			      .type = "text/plain",
			      .date = "today" };
static struct file large = { .variant = { 9000, 1000000000, "\"1-2\"" },
			     .fd = 0,
			     .type = "text/plain",
			     .date = "today" };

static void check_path(const char *path)
{
	if (*path == '/' || strstr(path, "//") || strlen(path) >= HTTP_PATH_MAX)
		abort();
	for (const char *s = path; s; s = strchr(s, '/')) {
		s += *s == '/';
		if (s[0] == '.' && strncmp(s, ".well-known", 11) != 0)
			abort();
	}
}

int files_get(struct file **out, const char *path)
{
	check_path(path);
	switch (path[0]) {
	case 's':
		*out = &small;
		return 0;
	case 'm':
		*out = &middle;
		return 0;
	case 'l':
		*out = &large;
		return 0;
	case 'd':
		return 301;
	default:
		return 404;
	}
}

void files_put(struct file *f)
{
	(void)f;
}

bool http_log_on(void)
{
	return false;
}

void http_log_add(const struct sockaddr *from, const sennit_http_head *h,
		  int status, uint64_t bytes)
{
	(void)from;
	(void)h;
	(void)status;
	(void)bytes;
}

void httpd_answer_status(struct client *c)
{
	httpd_field(c, "X", "%llu %llx", (unsigned long long)c->in.taken,
		    (unsigned long long)c->sum);
	httpd_answer_with(c, 200, NULL, 0);
}

/* --- both ways ---------------------------------------------------------- */

/* Whether the server says "100 Continue" depends on what has come by then, and
 * dates on the time: both are left out. */
static size_t without_dates(char *to, const char *from, size_t size)
{
	static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";
	static const char date[] = "\r\nDate: ";
	size_t            n = 0;

	for (size_t i = 0; i < size;) {
		if (size - i >= sizeof(go_on) - 1 &&
		    !memcmp(from + i, go_on, sizeof(go_on) - 1)) {
			i += sizeof(go_on) - 1;
			continue;
		}
		if (size - i >= sizeof(date) - 1 + 29 &&
		    !memcmp(from + i, date, sizeof(date) - 1))
			i += sizeof(date) - 1 + 29;
		to[n++] = from[i++];
	}
	return n;
}

static size_t serve(char *to, const uint8_t *bytes, size_t size,
		    uint32_t random)
{
	static struct httpd d = {
		.service = { .max_connections = 10 },
		.limits = { .head = 256, .fields = 8, .body = 200 },
		.status_path = "/status",
	};
	struct sockaddr    from = { .sa_family = AF_INET };
	struct http_stream s = { .fd = -1, .stop = &d.service.stop };

	peer.bytes = bytes;
	peer.left = size;
	peer.random = random;
	peer.sent_size = 0;
	httpd_serve(&s, &from, &d);
	if (peer.sent_size && memcmp(peer.sent, "HTTP/1.1 ", 9) != 0)
		abort();
	return without_dates(to, peer.sent, peer.sent_size);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static char whole[SENT_MAX], split[SENT_MAX];
	size_t      whole_size, split_size;

	if (size < 1)
		return 0;
	memset(text, 'x', sizeof(text));
	whole_size = serve(whole, bytes + 1, size - 1, 0);
	split_size = serve(split, bytes + 1, size - 1, bytes[0] + 1u);
	if (whole_size != split_size || memcmp(whole, split, whole_size) != 0)
		abort();
	return 0;
}

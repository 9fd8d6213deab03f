/* SPDX-License-Identifier: Apache-2.0 */
/* misuse_http.c - misuse of a connection ends the process with one line that
 * names the call. */
#include "peers.h"

#include "testing/misuse.h"

static sennit_http            *http;
static const sennit_http_head *request;

static ptrdiff_t receive_request(void *unused, void *to, size_t size,
				 sennit_time deadline)
{
	static const char bytes[] = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";

	(void)unused;
	(void)deadline;
	if (size < sizeof(bytes) - 1)
		return 0;
	memcpy(to, bytes, sizeof(bytes) - 1);
	return sizeof(bytes) - 1;
}

static ptrdiff_t send_nowhere(void *unused, const struct iovec *pieces,
			      int count, int flags, sennit_time deadline)
{
	(void)unused;
	(void)count;
	(void)flags;
	(void)deadline;
	return (ptrdiff_t)pieces->iov_len;
}

static void open_side(uint32_t flags)
{
	const sennit_http_link link = { receive_request, send_nowhere, NULL };

	if (sennit_http_create(&http, &link, flags, NULL))
		_exit(4);
}

static void open_asked(void)
{
	open_side(0);
	if (sennit_http_next(http, &request, 0) != 1)
		_exit(4);
}

static void open_begun(uint64_t length)
{
	open_asked();
	if (sennit_http_answer(http, 200, NULL, length, 0))
		_exit(4);
}

MISUSE_BY(no_answer, "sennit_http_next", open_asked(),
	  (void)!sennit_http_next(http, &request, 0));
MISUSE_BY(an_answer_to_nothing, "sennit_http_answer", open_side(0),
	  (void)!sennit_http_answer(http, 200, NULL, 0, 0));
MISUSE_BY(a_body_without_length, "sennit_http_answer", open_asked(),
	  (void)!sennit_http_answer(http, 200, "x", SENNIT_HTTP_UNKNOWN, 0));
MISUSE_BY(a_request_without_length, "sennit_http_ask",
	  open_side(SENNIT_HTTP_CLIENT),
	  (void)!sennit_http_ask(http, "PUT", "/", "x", SENNIT_HTTP_UNKNOWN,
				 0));
MISUSE_BY(two_answers, "sennit_http_answer", open_asked(),
	  (void)!sennit_http_answer(http, 200, NULL, 0, 0),
	  (void)!sennit_http_answer(http, 200, NULL, 0, 0));
MISUSE_BY(an_answer_of_a_client, "sennit_http_answer",
	  open_side(SENNIT_HTTP_CLIENT),
	  (void)!sennit_http_answer(http, 200, NULL, 0, 0));
MISUSE_BY(a_request_of_a_server, "sennit_http_ask", open_side(0),
	  (void)!sennit_http_ask(http, "GET", "/", NULL, 0, 0));
MISUSE_BY(a_body_of_nothing, "sennit_http_write", open_asked(),
	  (void)!sennit_http_write(http, "a", 1, 0));
MISUSE_BY(a_body_that_is_too_long, "sennit_http_write", open_begun(1),
	  (void)!sennit_http_write(http, "ab", 2, 0));
MISUSE_BY(own_bytes_of_unknown_length, "sennit_http_write",
	  open_begun(SENNIT_HTTP_UNKNOWN),
	  (void)!sennit_http_write(http, NULL, 2, 0));
MISUSE_BY(a_body_that_is_too_short, "sennit_http_end", open_begun(2),
	  (void)!sennit_http_write(http, "a", 1, 0),
	  (void)!sennit_http_end(http, 0));
MISUSE_BY(an_end_of_nothing, "sennit_http_end", open_asked(),
	  (void)!sennit_http_end(http, 0));
MISUSE_BY(a_body_without_its_end, "sennit_http_next", open_begun(2),
	  (void)!sennit_http_next(http, &request, 0));

USES_BACKEND;

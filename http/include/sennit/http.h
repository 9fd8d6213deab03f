/* SPDX-License-Identifier: Apache-2.0 */
/* http.h - HTTP/1.1 and 1.0: servers and clients. The calls suspend the fiber
 * and never block its worker.
 *
 *	server  next --> read ... --> add_field ... --> answer --> next ...
 *	client  connect --> add_field ... --> ask --> next --> read ... --> ask
 *
 *	static int hello(sennit_http *http, const sennit_http_head *request,
 *			 void *argument)
 *	{
 *		return sennit_http_answer(http, 200, "hello\n", 6,
 *					  SENNIT_NEVER);
 *	}
 *
 *	static void serve(void *argument, int fd) // for sennit_listen_each()
 *	{
 *		(void)sennit_http_serve(fd, NULL, hello, argument);
 *	}
 *
 * In libsennit-http, a separate library (-lsennit-http; CMake: sennit::http),
 * which uses libsennit-io and, where that is built, libsennit-tls.
 *
 * Limits. Nothing that a peer sends makes a connection use more memory: a head
 * that is longer than `head` bytes or has more than `fields` fields is refused,
 * and bodies are read in parts. Times limit a peer of a server that says
 * nothing; a client has the deadlines of its calls.
 *
 * Refusals. A message that two programs may read in two ways is refused: two
 * lengths, a length beside chunks, a line that ends by LF alone, a folded
 * field, a blank before a colon, an unknown coding of the body, several Host
 * fields, a control character. Fields that contradict each other if there are
 * two are refused, too. A server answers with the status that belongs to it
 * and ends the connection; sennit_http_refused() returns that status. Trailers
 * and chunk extensions are checked and dropped.
 *
 * Answers are collected, and sent when the connection waits for more requests,
 * when 16 KiB are collected, by sennit_http_flush() and at the end. So
 * pipelined requests need few system calls. A program that does something else
 * after an answer calls sennit_http_flush() first.
 *
 * Deadlines and cancelling are as in io.h. A call that ends with -ETIMEDOUT
 * at its deadline or with -ECANCELED while it receives can be repeated: no
 * byte is lost. After an error while sending, the connection has failed; only
 * a client can still ask, by sennit_http_next(), for an answer that came
 * early. The errors of all calls that wait:
 *   - -EPROTO: the peer broke the protocol, or was too slow for a server;
 *   - -EMSGSIZE: a head or a body is larger than the limit;
 *   - -ENODATA: the peer ended the connection within a message;
 *   - an error of the socket or of TLS, such as -ECONNRESET.
 *
 * Only one fiber or thread at a time may use a connection. Not supported:
 * HTTP/2 and 3, CONNECT and upgrades, compression, cookies, redirects.
 *
 * Experimental: what this header declares may change in each minor version.
 */
#ifndef SENNIT_HTTP_H
#define SENNIT_HTTP_H

#include "sennit/base.h"

#include <stdbool.h>
#include <sys/uio.h>
#include <time.h>

SENNIT_BEGIN

struct sennit_tls_context;

/* --- messages --------------------------------------------------------------
 */

/* Bytes in the connection's memory. They do not end with a zero byte: print
 * them with "%.*s". */
typedef struct sennit_http_text {
	const char *at; /* NULL: absent */
	size_t      size;
} sennit_http_text;

typedef struct sennit_http_field {
	sennit_http_text name;
	sennit_http_text value; /* without blanks at its ends */
} sennit_http_field;

/* The length of a body that is not known when it begins. */
#define SENNIT_HTTP_UNKNOWN UINT64_MAX

/* Flags of a head. SENNIT_HTTP_KEPT: the peer would keep the connection open.
 * SENNIT_HTTP_CHUNKED: the body comes in chunks. */
#define SENNIT_HTTP_KEPT    UINT32_C(1)
#define SENNIT_HTTP_CHUNKED UINT32_C(2)

/* The head of a request or of an answer. It belongs to the connection and is
 * valid until the next sennit_http_next(), sennit_http_ask() or
 * sennit_http_destroy(). */
typedef struct sennit_http_head {
	sennit_http_text         line;   /* the first line */
	sennit_http_text         method; /* of a request: "GET" */
	sennit_http_text         target; /* of a request, as it was sent */
	sennit_http_text         host;   /* of a request: in the target, else
					  * in the field Host */
	sennit_http_text         reason; /* of an answer */
	const sennit_http_field *fields; /* `count` fields */
	uint32_t                 count;
	uint32_t                 status; /* of an answer */
	uint32_t                 minor;  /* HTTP/1.minor */
	uint32_t                 flags;  /* SENNIT_HTTP_KEPT, ... */
	uint64_t                 length; /* bytes of the body, or
	                                  * SENNIT_HTTP_UNKNOWN */
} sennit_http_head;

/* Compare the two, ignoring the case of letters. Returns true if they are
 * equal. A text that is absent is equal to none.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API bool sennit_http_text_is(sennit_http_text text, const char *other);

/* Report whether a list, such as the value of Accept-Encoding, has a member,
 * ignoring the case of letters. Returns true if one of its parts between
 * commas, without blanks, is the member.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API bool sennit_http_text_lists(sennit_http_text list,
				       const char      *member);

/* Return the value of the first field with this name, ignoring the case of
 * letters. Returns a text whose `at` is NULL if there is none.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API sennit_http_text sennit_http_find(const sennit_http_head *head,
					     const char             *name);

/* Return the usual reason phrase of a status, such as "Not Found" for 404.
 * Returns "Unknown" for a status that has none.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API const char *sennit_http_reason(uint32_t status);

/* The size in bytes of a date in a field, with the zero byte at its end:
 * "Sun, 06 Nov 1994 08:49:37 GMT". */
#define SENNIT_HTTP_DATE 30

/* Write a date as fields have it to *to, which has room for SENNIT_HTTP_DATE
 * bytes. Years are from 0 to 9999.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_http_write_date(char *to, time_t date);

/* Read the date that a field has into *date. The two obsolete forms of dates
 * are not read. Returns 0, or -EINVAL if it is not a date.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_http_read_date(sennit_http_text text,
						     time_t          *date);

/* --- connections -----------------------------------------------------------
 */

/* What a connection accepts from its peer. A member that is zero has its
 * default; SENNIT_HTTP_UNKNOWN stands for no limit of the body and of a time.
 * The three times and `stop` are for servers alone. */
typedef struct sennit_http_config {
	size_t      size; /* sizeof(sennit_http_config) */
	size_t      head; /* maximum bytes of a head; 0: 8192 */
	uint64_t    body; /* maximum bytes of a body; 0: 1 MiB for a server, no
			  * limit for a client */
	uint64_t    idle; /* ns until the first byte of a request; 0: 60 s */
	uint64_t    wait; /* ns from there to the end of the head; 0: 10 s */
	uint64_t    step; /* ns for each part of a body, and for each step of
			  * sending; 0: 30 s */
	uint32_t    fields; /* maximum number of fields; 0: 100 */
	uint32_t    flags;  /* must be 0 */
	const char *name; /* the value of the field Server or User-Agent; NULL:
			   * none. It must stay there */
	struct sennit_tls_context *tls; /* for the certificates of a server and
	                                 * the issuers that a client trusts;
	                                 * NULL: a server is plain, a client
	                                 * trusts those of the system. It must
	                                 * exist as long as the connection */
	struct sennit_event *stop; /* a manual event. Once it is set a server
				    * ends: connections that wait for a request
				    * at once, others after their answer. NULL:
				    * none. It must stay there */
} sennit_http_config;

#define SENNIT_HTTP_CONFIG(...)              \
	SENNIT_CONSTANT_(sennit_http_config, \
			 .size = sizeof(sennit_http_config), __VA_ARGS__)

typedef struct sennit_http sennit_http;

/* A function that answers a request, by sennit_http_answer(). A result that is
 * negative ends the connection. If the function has not answered, the status
 * is 500. */
typedef int sennit_http_handler(sennit_http            *http,
				const sennit_http_head *request,
				void                   *argument);

/* Serve a connection that was accepted: call handler(http, request, argument)
 * for each request, in turn, until the connection ends. The call owns fd, and
 * closes it in every case. *config (NULL: all defaults) must stay there until
 * the call returns. With a TLS context the connection begins with a handshake,
 * within `wait`.
 * Returns 0 if the peer ended the connection, was idle for too long or had its
 * last answer; or the error that ended it: the result of the handler,
 * -ECANCELED, -EINVAL for a configuration that is not valid, -E2BIG if a newer
 * caller has set bytes of it that this library does not know, -ENOTSUP for TLS
 * in a build without it, -ENOMEM, or one that the head of this header lists.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API int sennit_http_serve(int fd, const sennit_http_config *config,
				 sennit_http_handler *handler, void *argument);

/* Connect to the server of a URL, "http://host", "http://host:port",
 * "https://host" or one of these with a path, which is not used, and store the
 * connection in *out. The caller owns it. *config (NULL: all defaults) is not
 * used after the call, but what its `tls` and `name` point to is.
 * Returns 0; -EINVAL if the URL has another form; an error of
 * sennit_connect_host(), or of sennit_tls_connect() for https; or an error of
 * the configuration as sennit_http_serve() returns.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_http_connect(
	sennit_http **out, const char *url, const sennit_http_config *config,
	sennit_time deadline);

/* How the bytes of a connection are transferred that sennit_http_create()
 * makes. receive: up to `size` bytes, as sennit_recv() does. send: some of the
 * pieces, at least one byte; flags is MSG_MORE if more follows at once, or 0.
 * Both return a number of bytes or a negative errno value. */
typedef struct sennit_http_link {
	ptrdiff_t (*receive)(void *context, void *to, size_t size,
			     sennit_time deadline);
	ptrdiff_t (*send)(void *context, const struct iovec *pieces, int count,
			  int flags, sennit_time deadline);
	void *context;
} sennit_http_link;

/* A flag of sennit_http_create(): this side is the client. */
#define SENNIT_HTTP_CLIENT UINT32_C(1)

/* Make a connection over bytes that the caller transfers, and store it in *out.
 * The caller owns it. It closes nothing and ends no connection: after the last
 * request the caller sends what is collected by sennit_http_flush(). *config
 * (NULL: all defaults) is not used after the call; its `tls` must be NULL. A
 * server that waits for a request does not notice that `stop` is set
 * meanwhile.
 * Returns 0, -ENOMEM, -EINVAL for unknown flags, or an error of the
 * configuration as sennit_http_serve() returns.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_http_create(
	sennit_http **out, const sennit_http_link *link, uint32_t flags,
	const sennit_http_config *config);

/* Free *http, unless it is NULL, and close the connection if
 * sennit_http_connect() made it. What is collected is not sent.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_http_destroy(sennit_http *http);

/* --- receiving -------------------------------------------------------------
 */

/* Wait for the head of the next request, or of the answer to the request that
 * was asked, and store it in *head. Interim answers (1xx) are skipped. It is
 * misuse if the last request of a server has no answer.
 * Returns 1; 0 if there are no more messages, because the peer or this side
 * has ended the connection or a client was idle for too long; or a negative
 * errno, as the head of this header says. A server has then answered for
 * itself, if that was possible: sennit_http_refused().
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_http_next(sennit_http             *http,
						const sennit_http_head **head,
						sennit_time deadline);

/* Wait for a part of the body, and store it in *part. It is valid until the
 * next call with *http, and has at most `head` + 8192 bytes. If a client waits
 * for "100 Continue" before it sends the body, the first call sends that.
 * Returns the number of bytes, 0 at the end of the body, or a negative errno,
 * as the head of this header says. A server has then answered for itself,
 * unless an answer had begun.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE ptrdiff_t sennit_http_read(sennit_http      *http,
						      sennit_http_text *part,
						      sennit_time deadline);

/* Return the number of bytes that were received and not taken: the rest of a
 * body, or further messages.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API size_t sennit_http_ahead(const sennit_http *http);

/* Return the status with which the last message was refused, and store what is
 * known of its head in *head, unless that is NULL. A client has sent nothing,
 * and the status is the one that a server would have answered with. Returns 0,
 * with *head unchanged, if no message was refused.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API uint32_t sennit_http_refused(const sennit_http       *http,
					const sennit_http_head **head);

/* --- sending ---------------------------------------------------------------
 */

/* Add a field to the head of the next answer or request. The library sets those
 * that tell where a message ends, and Date, unless it is given. Of Connection
 * only the value "close" is accepted: the connection ends after this message.
 * Returns 0; -EINVAL if the name is not a token, or is Content-Length or
 * Transfer-Encoding, or the value has a control character; or -ENOSPC after 8
 * KiB. If the result is not used, the call that sends the head returns it.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API int sennit_http_add_field(sennit_http *http, const char *name,
				     const char *value);

/* Answer the request with a status from 200 to 999 and a body of `length`
 * bytes. If body is NULL and length is not 0, the body follows by
 * sennit_http_write() and ends by sennit_http_end(); SENNIT_HTTP_UNKNOWN sends
 * it in chunks. The answer to HEAD has the same head, and no body. If the
 * request's body was not read to its end and more of it would have to be
 * received, the connection ends after the answer. The bytes may be changed
 * after the call. If status is 0, the call sends what is collected, and the
 * caller sends the answer itself. It is misuse if there is no request, an
 * answer has begun, or body is not NULL and its length is not known.
 * Returns 0; -EINVAL if the status is not valid, or is 204 or 304 and length
 * is not 0; an error of sennit_http_add_field(); an error of sending; or, if
 * the request was refused, the error of the call that refused it.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_http_answer(sennit_http *http,
						  uint32_t     status,
						  const void  *body,
						  uint64_t     length,
						  sennit_time  deadline);

/* Ask the server: begin a request, with a body as in sennit_http_answer(). The
 * field Host is that of the URL, unless it is given. What is left of the last
 * answer is read and dropped first. If sennit_http_connect() made the
 * connection and the server has ended it meanwhile, the call connects again.
 * The bytes may be changed after the call. It is misuse if the last request has
 * not ended, unless it could not be sent. If it had no sennit_http_next(), its
 * connection is given up.
 * Returns 0; -EINVAL if the method or the target has a blank or a control
 * character, or the method is CONNECT; -ENOTCONN if the server has ended the
 * connection of sennit_http_create(), or sent more than its answer; an error of
 * sennit_http_add_field(), sennit_http_connect() or sennit_http_read(); or an
 * error of sending.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_http_ask(
	sennit_http *http, const char *method, const char *target,
	const void *body, uint64_t length, sennit_time deadline);

/* Send the next `size` bytes of the body that has begun. The bytes may be
 * changed after the call. If bytes is NULL, the call sends what is collected,
 * and the caller sends the bytes itself, for example by sennit_sendfile(). It
 * is misuse if no body has begun, if the bytes are more than its length, or if
 * bytes is NULL and the length is not known. Returns 0 or an error of sending.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_http_write(sennit_http *http,
						 const void *bytes, size_t size,
						 sennit_time deadline);

/* End the body that has begun. It is misuse if it has fewer bytes than its
 * length, unless it could not be sent. Returns 0 or an error of sending.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_http_end(sennit_http *http,
					       sennit_time  deadline);

/* Send what is collected. Returns 0 or an error of sending.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_http_flush(sennit_http *http,
						 sennit_time  deadline);

SENNIT_END

#endif

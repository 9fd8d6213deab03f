/* SPDX-License-Identifier: Apache-2.0 */
/* tls.h - TLS over a connected socket, for clients and servers. The calls
 * suspend the fiber and never block its worker.
 *
 *	create --> accept, connect --> read, write, ... --> shutdown --> destroy
 *
 *	err = sennit_tls_create(&tls, context, fd);
 *	if (!err)
 *		err = sennit_tls_accept(tls, sennit_after(10 * SENNIT_SECOND));
 *	while (!err && (n = sennit_tls_read(tls, bytes, size, deadline)) > 0)
 *		err = sennit_tls_write_all(tls, bytes, (size_t)n, NULL,
 *					   deadline);
 *
 * In libsennit-tls, a separate library (-lsennit-tls; CMake: sennit::tls),
 * which uses libsennit-io and OpenSSL 3.0 or later. TLS 1.2 and 1.3.
 *
 * Deadlines and cancelling are as in io.h. A call that ends with -ETIMEDOUT or
 * -ECANCELED can be repeated: no byte is lost, and a handshake continues. After
 * any other error the connection has failed, and all further calls return that
 * error again. The errors of all calls that wait:
 *   - -ECONNABORTED: the peer, or a third party on the network, ended the
 *     connection without the TLS closing alert (close_notify). The data that
 *     was read may be truncated;
 *   - -EKEYREJECTED: the peer's certificate is not accepted;
 *   - -EPROTO: another violation of the TLS protocol, or a refusal by the peer;
 *   - -ENOMEM; or an error of the socket, such as -ECONNRESET.
 * sennit_tls_error() returns the reason as text. tls_openssl.h has the objects
 * of OpenSSL behind contexts and connections.
 *
 * One fiber may read while another one writes, on any workers. It is misuse if
 * two fibers read at once, if two write at once, or if any other call is made
 * at the same time as these. The calls use MSG_DONTWAIT and
 * MSG_NOSIGNAL: the descriptor needs no O_NONBLOCK, and SIGPIPE is not raised.
 * Do not close the descriptor, or use it for other data, until
 * sennit_tls_destroy(). sennit_shutdown() ends calls that wait.
 *
 * Fairness: a fiber that always has something to do lets the other ready fibers
 * of its worker run after SENNIT_TLS_TURN records, counted over all connections
 * of the worker, and after each step of a handshake. A step is the reaction to
 * one flight of the peer, with at most one signature. Between two handshake
 * steps on a worker, each of its other ready fibers runs once. So an
 * established connection is not delayed for longer by a peer that floods or by
 * many handshakes. Peers cannot renegotiate.
 *
 * Memory: an idle connection of a server needs about 14 KiB, one of a client
 * with TLS 1.3 about 32 KiB. Nearly all of it is allocated by OpenSSL. Buffers
 * for records exist only while they hold records. A handshake needs 20 KiB of
 * the fiber's stack.
 */
#ifndef SENNIT_TLS_H
#define SENNIT_TLS_H

#include "sennit/base.h"
#include "sennit/select.h"

SENNIT_BEGIN

struct sennit_reader;

/* The number of records, of up to 16 KiB each, that a worker reads and writes
 * before it runs its other ready fibers. */
#define SENNIT_TLS_TURN 16

/* --- contexts ------------------------------------------------------------- */

/* A context holds what connections share: certificates, and the issuers that
 * are trusted. It may be used for any number of connections, of clients and of
 * servers, on any threads. */
typedef struct sennit_tls_context sennit_tls_context;

/* Flags of sennit_tls_config.
 *
 * SENNIT_TLS_ASK_CLIENTS: a server requires a certificate from each client, and
 * refuses clients without one that it trusts. `trusted` must be given.
 * SENNIT_TLS_TRUST_ALL: a client accepts any certificate, of any name. The
 * connection is then not protected against a man in the middle. */
#define SENNIT_TLS_ASK_CLIENTS UINT32_C(1)
#define SENNIT_TLS_TRUST_ALL   UINT32_C(2)

/* A field that is zero has its default. The first three each have a second
 * form, which takes the same as text in memory. At most one of the two may be
 * given. */
typedef struct sennit_tls_config {
	size_t size; /* sizeof(sennit_tls_config) */

	const char *certificate; /* PEM file: the own certificate, then those of
				  * its issuers in order. A server needs one, a
				  * client rarely does */
	const char *certificate_text;
	const char *key; /* PEM file: the key of the certificate, without a
			  * passphrase */
	const char *key_text;
	const char *trusted; /* PEM file: issuers whose certificates are
			      * accepted; NULL: those that the system trusts */
	const char *trusted_text;

	const char *protocols; /* for ALPN: names, separated by commas, the
				* preferred one first, as in "h2,http/1.1";
				* NULL: none. A server refuses clients that
				* offer only other protocols */
	uint32_t    flags;     /* SENNIT_TLS_ASK_CLIENTS, ... */
	uint32_t    reserved_; /* must be 0 */
} sennit_tls_config;

#define SENNIT_TLS_CONFIG(...)                                                 \
	SENNIT_CONSTANT_(sennit_tls_config, .size = sizeof(sennit_tls_config), \
			 __VA_ARGS__)

/* Create a context, and store it in *out. The caller owns it. *config (NULL:
 * all defaults, for clients) is not used after the call. If the call fails and
 * text is not NULL, a line that describes what failed is stored in *text, which
 * has `size` bytes. Returns 0; -EINVAL if the configuration is not valid in
 * this version, or the content of a file is not valid; -E2BIG if a newer caller
 * set bytes of the configuration that this library does not know; -EKEYREJECTED
 * if the key does not match the certificate; -ENOMEM; or an error of the system
 * for a file, such as -ENOENT.
 *
 * From: fiber, thread.  Blocks: as reading files does.  */
SENNIT_API SENNIT_MUST_USE int sennit_tls_context_create(
	sennit_tls_context **out, const sennit_tls_config *config, char *text,
	size_t size);

/* Use another configuration for connections that are opened from now on, for
 * example after a certificate was renewed. Open connections keep theirs. No
 * session of earlier connections is resumed. Any thread may call it while
 * others open connections. On error nothing has changed. Returns what
 * sennit_tls_context_create() returns.
 *
 * From: fiber, thread.  Blocks: as reading files does.  */
SENNIT_API SENNIT_MUST_USE int sennit_tls_context_reload(
	sennit_tls_context *context, const sennit_tls_config *config,
	char *text, size_t size);

/* Free *context, unless it is NULL. Open connections keep what they need of it.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_tls_context_destroy(sennit_tls_context *context);

/* --- connections ---------------------------------------------------------- */

typedef struct sennit_tls sennit_tls;

/* Create a TLS connection on fd, a connected stream socket, and store it in
 * *out. The caller keeps fd, and owns *out until sennit_tls_destroy(). Nothing
 * is sent yet. TCP_NODELAY is set on a TCP socket. Returns 0, -EBADF,
 * -ENOTSOCK, -EPROTOTYPE for another type of socket, or -ENOMEM.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_tls_create(sennit_tls        **out,
						 sennit_tls_context *context,
						 int                 fd);

/* Perform the handshake as the server. It is misuse if the handshake has been
 * completed. If the handshake was begun as a client, it is misuse, too.
 * Returns 0, -EINVAL if the context has no certificate, or an error that the
 * head of this header lists.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_tls_accept(sennit_tls *tls,
						 sennit_time deadline);

/* Perform the handshake as a client that connects to `host`, a name or an
 * address as text. The server's certificate must be valid for it. A name is
 * sent to the server (SNI). A session of an earlier connection of the same
 * context with the same host is resumed if the server agrees. It is misuse if
 * the handshake has been completed, or was begun as a server.
 * Returns 0, -EINVAL if host is empty, too long or begins with a dot, or an
 * error that the head of this header lists.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_tls_connect(sennit_tls *tls,
						  const char *host,
						  sennit_time deadline);

/* Read up to `size` bytes into *to, at least one unless size is 0. Returns the
 * number of bytes; 0 at the end, after the peer's close_notify; or a negative
 * errno, as the head of this header says.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE ptrdiff_t sennit_tls_read(sennit_tls *tls, void *to,
						     size_t      size,
						     sennit_time deadline);

/* Wait until sennit_tls_read() has something to return: bytes, or the end. With
 * a deadline of 0 the call does not wait. A connection receives ahead of what
 * is read, and sennit_poll() does not see bytes that are already received. So
 * wait on the descriptor only after this call has returned -ETIMEDOUT for a
 * deadline of 0. For a select there is sennit_case_tls(). The caller counts as
 * the fiber that reads. Returns 0 or a negative errno, as the head of this
 * header says.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_tls_wait_readable(sennit_tls *tls,
							sennit_time deadline);

/* Return a case of a select that waits until sennit_tls_read() may have
 * something to return: it has bytes that were received ahead, or the descriptor
 * has some. Make the case anew for each select. When it has happened, read with
 * a deadline of 0; -ETIMEDOUT means that a record is not complete yet:
 *
 *	cases[0] = sennit_case_tls(tls);
 *	which = sennit_select(cases, 2);
 *	if (which == 0)
 *		n = sennit_tls_read(tls, bytes, size, 0);
 *
 * The caller counts as the fiber that reads, during this call and the select.
 * The result of the case is not negative, or that of sennit_case_readable(). If
 * the connection has failed, the case can be done, and the read says so.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API sennit_case sennit_case_tls(sennit_tls *tls);

/* Write up to `size` bytes from *from, at most 16 KiB. At least one byte is
 * written unless size is 0. The data is sent before the call returns, unless
 * the deadline or a cancelled group ends the call first. In that case the next
 * call with *tls sends the rest, before anything else. If another fiber waits
 * in a call that reads at that time, a task of the caller's scheduler sends the
 * rest; the task ends at sennit_tls_destroy() at the latest. An unbound thread
 * has no such task. Returns the number of bytes; -EPIPE after
 * sennit_tls_shutdown(); or another negative errno, as the head of this header
 * says.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE ptrdiff_t sennit_tls_write(sennit_tls *tls,
						      const void *from,
						      size_t      size,
						      sennit_time deadline);

/* Write all `size` bytes at *from. *done is the number of bytes that are
 * already written. The call continues after them and increases *done, so after
 * -ETIMEDOUT or -ECANCELED the same call can be repeated to continue. If done
 * is NULL, the call starts at 0. It is misuse if *done is more than size.
 * Returns 0, or the errors of sennit_tls_write().
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_tls_write_all(sennit_tls *tls,
						    const void *from,
						    size_t size, size_t *done,
						    sennit_time deadline);

/* Initialise a buffered reader that reads from *tls, for lines and pieces of a
 * known size. reader.h describes it, and the parameters memory and size. The
 * caller keeps *tls. The fiber that uses the reader counts as the fiber that
 * reads.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_reader_init_tls(struct sennit_reader *reader,
				       sennit_tls *tls, void *memory,
				       size_t size);

/* Tell the peer that no more data will be written (close_notify). Reading is
 * still possible: read until 0 to know that the peer has received everything.
 * If a connection is freed without this call, it looks truncated to the peer. A
 * second call does nothing. Returns 0 or a negative errno, as the head of this
 * header says.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API int sennit_tls_shutdown(sennit_tls *tls, sennit_time deadline);

/* Free *tls, unless it is NULL. fd stays open. It is misuse while another call
 * uses *tls.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_tls_destroy(sennit_tls *tls);

/* --- information ---------------------------------------------------------- */

/* Return why *tls has failed, in OpenSSL's words: "certificate has expired",
 * "hostname mismatch", "no suitable signature algorithm". Returns NULL if it
 * has not failed, or if there is no text besides the error number. The text is
 * never freed.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API const char *sennit_tls_error(const sennit_tls *tls);

/* Return the protocol that ALPN selected, or NULL if none was. The text is
 * valid until sennit_tls_destroy(). Call it after the handshake.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API const char *sennit_tls_alpn(const sennit_tls *tls);

SENNIT_END

#endif

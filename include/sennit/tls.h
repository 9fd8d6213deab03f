/* SPDX-License-Identifier: Apache-2.0 */
/* tls.h - TLS over a connected socket, for clients and servers. The calls
 * suspend the fiber and never block its worker.
 *
 *	open --> accept or connect --> read, write, ... --> close --> free
 *
 *	err = sennit_tls_open(&tls, context, fd);
 *	if (!err)
 *		err = sennit_tls_accept(tls, sennit_after(10 * SENNIT_SECOND));
 *	while (!err && (n = sennit_tls_read(tls, bytes, size, deadline)) > 0)
 *		err = sennit_tls_write_all(tls, bytes, (size_t)n, NULL,
 *					   deadline);
 *
 * In libsennit-tls, a library of its own (-lsennit-tls; CMake: sennit::tls),
 * which uses libsennit-io and OpenSSL 3.0 or later. TLS 1.2 and 1.3.
 *
 * Deadlines and cancelling are as io.h says. A call that ends with -ETIMEDOUT
 * or -ECANCELED can be repeated: no byte is lost, and a handshake goes on where
 * it was. After every other error the connection is over: all further calls
 * return that error again. The errors of all calls that wait:
 *   - -ECONNABORTED: the peer, or somebody on the way, ended the connection
 *     without TLS's own mark of the end (close_notify). What was read may have
 *     been cut off;
 *   - -EKEYREJECTED: the peer's certificate is not accepted;
 *   - -EPROTO: something else that TLS forbids, or that the peer refused;
 *   - -ENOMEM; or what the system says of the socket, such as -ECONNRESET.
 * sennit_tls_error() gives the reason as a text.
 *
 * One fiber may read while another one writes, on any workers. Two that read at
 * once are misuse, and two that write, and any other call beside them. Each
 * call uses the socket by itself: the descriptor needs no O_NONBLOCK, and there
 * is no SIGPIPE. Do not close it, nor use it for other bytes, until
 * sennit_tls_free(); sennit_shutdown() ends calls that wait.
 *
 * Fairness: who always has something to do lets the other ready fibers of its
 * worker run after SENNIT_TLS_TURN records, of whatever connections, and after
 * each step of a handshake: what a peer's flight asks for, with at most one
 * signature. No two steps of handshakes are taken on a worker before its other
 * ready fibers have run once. So neither a peer that floods nor a storm of
 * handshakes holds up an established connection for longer. Peers cannot
 * renegotiate.
 *
 * Memory: an idle connection of a server needs some 14 KiB, of a client with
 * TLS 1.3 32 KiB, nearly all of it OpenSSL's. Buffers for records are there
 * while records are. A handshake needs 20 KiB of the fiber's stack.
 */
#ifndef SENNIT_TLS_H
#define SENNIT_TLS_H

#include "sennit/base.h"

SENNIT_BEGIN

struct sennit_reader;

/* Records, of up to 16 KiB each, that are read and written on a worker before
 * its other ready fibers have a turn. */
#define SENNIT_TLS_TURN 16

/* --- contexts ------------------------------------------------------------- */

/* A context is what connections have in common: certificates, and whom to
 * trust. It may serve as many connections as wanted, of clients and of servers,
 * on any threads. */
typedef struct sennit_tls_context sennit_tls_context;

/* Flags of sennit_tls_config.
 *
 * SENNIT_TLS_ASK_CLIENTS: a server wants a certificate from each client, and
 * refuses clients without one that it trusts. `trusted` must be given.
 * SENNIT_TLS_TRUST_ALL: a client accepts any certificate, of any name. The
 * connection is then open to whoever is on the way. */
#define SENNIT_TLS_ASK_CLIENTS UINT32_C(1)
#define SENNIT_TLS_TRUST_ALL   UINT32_C(2)

/* Zero means the default in every field. Each of the first three has a second
 * form, the same as text in memory; at most one of the two may be given. */
typedef struct sennit_tls_config {
	size_t size; /* sizeof(sennit_tls_config) in the caller's build */

	const char *certificate; /* PEM file: the own certificate, then those of
				  * its issuers in order. A server needs one, a
				  * client seldom */
	const char *certificate_text;
	const char *key; /* PEM file: the key of the certificate, without a
			  * passphrase */
	const char *key_text;
	const char *trusted; /* PEM file: issuers whose certificates are
			      * accepted; NULL: those that the system trusts */
	const char *trusted_text;

	const char *protocols; /* for ALPN: names, separated by commas, the
				* preferred one first, as "h2,http/1.1"; NULL:
				* none. A server refuses clients that offer only
				* others */
	uint32_t    flags;     /* SENNIT_TLS_ASK_CLIENTS, ... */
	uint32_t    reserved_; /* must be 0 */
} sennit_tls_config;

#define SENNIT_TLS_CONFIG(...)                                          \
	(&(const sennit_tls_config){ .size = sizeof(sennit_tls_config), \
				     __VA_ARGS__ })

/* Make a context, and store it in *out. The caller owns it. *config (NULL: all
 * defaults, for clients) is not used after the call. If the call fails, *text,
 * of `size` bytes, becomes a line that says why and where, unless text is NULL.
 * Returns 0; -EINVAL if the configuration is not one of this version, or a file
 * does not have what it should have; -EKEYREJECTED if the key is not that of
 * the certificate; -ENOMEM; or what the system says of a file, such as -ENOENT.
 *
 * From: fiber, thread.  Blocks: as reading files does.  */
SENNIT_API SENNIT_MUST_USE int sennit_tls_context_create(
	sennit_tls_context **out, const sennit_tls_config *config, char *text,
	size_t size);

/* Have connections that are opened from now on use another configuration: call
 * it when a certificate was renewed. Those that are open keep what they have.
 * No session of earlier connections is resumed. Any thread may call it while
 * others open connections. On error nothing has changed. Returns what
 * sennit_tls_context_create() returns.
 *
 * From: fiber, thread.  Blocks: as reading files does.  */
SENNIT_API SENNIT_MUST_USE int sennit_tls_context_reload(
	sennit_tls_context *context, const sennit_tls_config *config,
	char *text, size_t size);

/* Free *context, unless it is NULL. Connections that are open keep what they
 * need of it.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_tls_context_destroy(sennit_tls_context *context);

/* --- connections ---------------------------------------------------------- */

typedef struct sennit_tls sennit_tls;

/* Prepare TLS on fd, a connected stream socket, and store the connection in
 * *out. The caller keeps fd and owns *out until sennit_tls_free(). Nothing is
 * sent yet. Returns 0, -EBADF, -ENOTSOCK, -EPROTOTYPE for another type of
 * socket, or -ENOMEM.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_tls_open(sennit_tls        **out,
					       sennit_tls_context *context,
					       int                 fd);

/* Shake hands as the server. It is misuse if the handshake is over already.
 * Returns 0, -EINVAL if the context has no certificate, or what the head of
 * this header lists.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_tls_accept(sennit_tls *tls,
						 sennit_time deadline);

/* Shake hands as a client that wants to reach `host`, a name or an address as
 * text: the server's certificate must be of it. The name is sent (SNI). A
 * session that an earlier connection of the same context had with the same host
 * is resumed if the server agrees. It is misuse if the handshake is over
 * already. Returns 0, -EINVAL if host is empty or too long, or what the head of
 * this header lists.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_tls_connect(sennit_tls *tls,
						  const char *host,
						  sennit_time deadline);

/* Read up to `size` bytes into *to, at least one, unless size is 0. Returns how
 * many; 0 at the end that the peer has marked; or a negative errno, as the head
 * of this header says.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE ptrdiff_t sennit_tls_read(sennit_tls *tls, void *to,
						     size_t      size,
						     sennit_time deadline);

/* Write up to `size` bytes at *from, at most 16 KiB; at least one, unless size
 * is 0. What was written is sent before the call returns, unless its deadline
 * or a cancelled group ends it first: then the next call with *tls sends the
 * rest, before anything else; a reader that waits already does not. Returns how
 * many; -EPIPE after sennit_tls_close(); or another negative errno, as the head
 * of this header says.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE ptrdiff_t sennit_tls_write(sennit_tls *tls,
						      const void *from,
						      size_t      size,
						      sennit_time deadline);

/* Write `size` bytes at *from. *done of them are written already: the call goes
 * on behind them and raises *done, so after an error the same call continues.
 * done may be NULL for none. It is misuse if *done is more than size.
 * Returns 0, or what sennit_tls_write() returns on errors.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_tls_write_all(sennit_tls *tls,
						    const void *from,
						    size_t size, size_t *done,
						    sennit_time deadline);

/* Begin to read from *tls with a buffered reader, for lines and pieces of a
 * known size: reader.h says how, and what memory and size are. The caller keeps
 * *tls. The fiber that uses the reader counts as the one that reads.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_reader_init_tls(struct sennit_reader *reader,
				       sennit_tls *tls, void *memory,
				       size_t size);

/* Tell the peer that nothing more will be written (close_notify). Reading goes
 * on: read until 0 to know that the peer has taken everything. A connection
 * that is freed without this call looks cut off to the peer. A second call does
 * nothing more. Returns 0 or a negative errno, as the head of this header says.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API int sennit_tls_close(sennit_tls *tls, sennit_time deadline);

/* Free *tls, unless it is NULL. fd stays open. It is misuse while another call
 * uses *tls.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_tls_free(sennit_tls *tls);

/* --- what there is to know ------------------------------------------------ */

/* Return why *tls is over, in OpenSSL's words: "certificate has expired",
 * "hostname mismatch", "no suitable signature algorithm". NULL if it is not
 * over, or if the error's number says all. The text is never freed.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API const char *sennit_tls_error(sennit_tls *tls);

/* Return the protocol that ALPN has chosen, or NULL if none was. The text lives
 * as long as *tls. Call it after the handshake.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API const char *sennit_tls_alpn(const sennit_tls *tls);

/* Return OpenSSL's own object, an SSL *, for everything that this header does
 * not have: SSL_get1_peer_certificate(), SSL_session_reused(),
 * SSL_get_version() and others, or what must be set before the handshake. It
 * lives as long as *tls. Call nothing with it that reads, writes, shakes hands,
 * frees, or sets its BIO, and nothing at all while another call uses *tls.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API struct ssl_st *sennit_tls_openssl(sennit_tls *tls);

/* Return the SSL_CTX * that connections opened from now on use, until
 * sennit_tls_context_reload(), to set what sennit_tls_config does not have:
 * a callback for names (SNI), revocation lists, ciphers. Set it before the
 * first connection is opened. Callbacks must not wait on sennit.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API struct ssl_ctx_st *sennit_tls_context_openssl(
	sennit_tls_context *context);

SENNIT_END

#endif

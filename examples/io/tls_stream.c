/* SPDX-License-Identifier: Apache-2.0 */
#include "tls_stream.h"

#include <sennit/io.h>
#include <sennit/net.h>

#include <errno.h>
#include <openssl/err.h>
#include <stdio.h>

/* --- bytes between memory and socket ------------------------------------ */

static int send_pending(struct tls_stream *t, sennit_time deadline)
{
	char     *bytes;
	long      size = t->to_peer ? BIO_get_mem_data(t->to_peer, &bytes) : 0;
	ptrdiff_t n = 0;

	while (size > 0 && n >= 0) {
		n = sennit_send(t->fd, bytes, (size_t)size, 0, deadline);
		bytes += n > 0 ? n : 0;
		size -= n > 0 ? n : 0;
	}
	if (t->to_peer)
		(void)BIO_reset(t->to_peer);
	return n < 0 ? (int)n : 0;
}

static int receive_more(struct tls_stream *t, sennit_time deadline)
{
	char      bytes[8192];
	ptrdiff_t n = sennit_recv(t->fd, bytes, sizeof(bytes), 0, deadline);

	if (n < 0)
		return (int)n;
	if (!n)
		BIO_set_mem_eof_return(t->from_peer, 0); /* no "try later" */
	else if (BIO_write(t->from_peer, bytes, (int)n) != n)
		return -ENOMEM;
	return 0;
}

/* --- one call of libssl, as often as it takes --------------------------- */

/* 0: call again. */
static int await(struct tls_stream *t, int why, sennit_time deadline)
{
	int n;

	if (t->from_peer && why == SSL_ERROR_WANT_READ)
		return receive_more(t, deadline);
	if (t->from_peer)
		return 0; /* what there is to write has been sent */
	n = sennit_poll(t->fd, why == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT,
			deadline);
	return n < 0 ? n : 0;
}

static int failed(int why, int system_error)
{
	unsigned long first = ERR_peek_error();

	if (why == SSL_ERROR_SYSCALL && system_error)
		return -system_error;
	if (why == SSL_ERROR_SYSCALL ||
	    ERR_GET_REASON(first) == SSL_R_UNEXPECTED_EOF_WHILE_READING)
		return -ECONNABORTED;
	fprintf(stderr, "TLS: %s\n", ERR_reason_error_string(first));
	return -EPROTO;
}

typedef int tls_call(SSL *ssl, void *bytes, size_t size, size_t *done);

/* Returns how much was done, or a negative errno.
 *
 * libssl's errors are those of the thread, which other fibers of this worker
 * use as well. So they are cleared before each call, and read before anything
 * that may wait. */
static ptrdiff_t perform(struct tls_stream *t, tls_call *call, void *bytes,
			 size_t size, sennit_time deadline)
{
	for (;;) {
		size_t done = 0;
		int    result, why, failure = 0, err;

		ERR_clear_error();
		errno = 0;
		result = call(t->ssl, bytes, size, &done);
		why = SSL_get_error(t->ssl, result);
		if (why == SSL_ERROR_SSL || why == SSL_ERROR_SYSCALL)
			failure = failed(why, errno);
		err = send_pending(t, deadline); /* alerts, too */
		if (failure || err)
			return failure ? failure : err;
		if (why == SSL_ERROR_NONE || why == SSL_ERROR_ZERO_RETURN)
			return (ptrdiff_t)done;
		err = await(t, why, deadline);
		if (err)
			return err;
	}
}

static int shake_hands(SSL *ssl, void *bytes, size_t size, size_t *done)
{
	(void)bytes;
	(void)size;
	(void)done;
	return SSL_do_handshake(ssl);
}

static int read_some(SSL *ssl, void *bytes, size_t size, size_t *done)
{
	return SSL_read_ex(ssl, bytes, size, done);
}

static int write_all(SSL *ssl, void *bytes, size_t size, size_t *done)
{
	return SSL_write_ex(ssl, bytes, size, done);
}

/* 0 says that only our half is closed, which is all that is asked for here. */
static int send_close_notify(SSL *ssl, void *bytes, size_t size, size_t *done)
{
	int result = SSL_shutdown(ssl);

	(void)bytes;
	(void)size;
	(void)done;
	return result ? result : 1;
}

/* --- the stream --------------------------------------------------------- */

static int set_host(SSL *ssl, const char *host)
{
	if (!host) {
		SSL_set_accept_state(ssl);
		return 1;
	}
	SSL_set_connect_state(ssl);
	return SSL_set1_host(ssl, host) && SSL_set_tlsext_host_name(ssl, host);
}

static int set_memory(struct tls_stream *t)
{
	t->from_peer = BIO_new(BIO_s_mem());
	t->to_peer = BIO_new(BIO_s_mem());
	if (!t->from_peer || !t->to_peer) {
		BIO_free(t->from_peer);
		BIO_free(t->to_peer);
		return 0;
	}
	SSL_set_bio(t->ssl, t->from_peer, t->to_peer);
	return 1;
}

int tls_open(struct tls_stream *t, SSL_CTX *context, int fd, enum tls_way way,
	     const char *host)
{
	*t = (struct tls_stream){ .ssl = SSL_new(context), .fd = fd };
	if (t->ssl && set_host(t->ssl, host) &&
	    (way == TLS_FD ? SSL_set_fd(t->ssl, fd) : set_memory(t)))
		return 0;
	tls_free(t);
	return -ENOMEM;
}

int tls_handshake(struct tls_stream *t, sennit_time deadline)
{
	return (int)perform(t, shake_hands, NULL, 0, deadline);
}

ptrdiff_t tls_read(struct tls_stream *t, void *to, size_t size,
		   sennit_time deadline)
{
	return perform(t, read_some, to, size, deadline);
}

int tls_write(struct tls_stream *t, const void *from, size_t size,
	      sennit_time deadline)
{
	ptrdiff_t n = size ? perform(t, write_all, (void *)(uintptr_t)from,
				     size, deadline)
			   : 0;

	return n < 0 ? (int)n : 0;
}

int tls_close(struct tls_stream *t, sennit_time deadline)
{
	char      rest[1024];
	ptrdiff_t n = perform(t, send_close_notify, NULL, 0, deadline);

	if (n < 0)
		return (int)n;
	do
		n = tls_read(t, rest, sizeof(rest), deadline);
	while (n > 0);
	return (int)n;
}

void tls_free(struct tls_stream *t)
{
	SSL_free(t->ssl); /* the memory of both BIOs as well */
	t->ssl = NULL;
}

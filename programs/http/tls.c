/* SPDX-License-Identifier: Apache-2.0 */
#include "http/tls.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>

#ifdef HAVE_OPENSSL

#include <openssl/err.h>
#include <openssl/ssl.h>

static const unsigned char protocols[] = "\x08http/1.1";

static int choose_protocol(SSL *ssl, const unsigned char **out,
			   unsigned char *size, const unsigned char *offered,
			   unsigned offered_size, void *unused)
{
	(void)ssl;
	(void)unused;
	return SSL_select_next_proto((unsigned char **)(uintptr_t)out, size,
				     protocols, sizeof(protocols) - 1, offered,
				     offered_size) == OPENSSL_NPN_NEGOTIATED
		       ? SSL_TLSEXT_ERR_OK
		       : SSL_TLSEXT_ERR_NOACK;
}

void *http_tls_open(const char *certificates, const char *key)
{
	SSL_CTX *c = SSL_CTX_new(TLS_server_method());

	if (c && SSL_CTX_set_min_proto_version(c, TLS1_2_VERSION) &&
	    SSL_CTX_use_certificate_chain_file(c, certificates) == 1 &&
	    SSL_CTX_use_PrivateKey_file(c, key, SSL_FILETYPE_PEM) == 1 &&
	    SSL_CTX_check_private_key(c) == 1) {
		SSL_CTX_set_options(c, SSL_OP_NO_RENEGOTIATION |
					       SSL_OP_NO_COMPRESSION |
					       SSL_OP_IGNORE_UNEXPECTED_EOF);
		SSL_CTX_set_mode(c, SSL_MODE_ENABLE_PARTIAL_WRITE |
					    SSL_MODE_RELEASE_BUFFERS);
		SSL_CTX_set_alpn_select_cb(c, choose_protocol, NULL);
		return c;
	}
	fprintf(stderr, "TLS: %s, %s:\n", certificates, key);
	ERR_print_errors_fp(stderr);
	SSL_CTX_free(c);
	return NULL;
}

void http_tls_close(void *context)
{
	SSL_CTX_free(context);
}

/* The call has returned `result`, which is no success: wait until it can be
 * repeated. Returns 0 to repeat it, 1 at the end, or a negative errno. */
static int wait_after(struct http_stream *s, int result, bool idle,
		      sennit_time deadline)
{
	int n;

	switch (SSL_get_error(s->tls, result)) {
	case SSL_ERROR_WANT_READ:
		n = http_stream_wait(s, POLLIN, idle, deadline);
		return n < 0 ? n : 0;
	case SSL_ERROR_WANT_WRITE:
		n = http_stream_wait(s, POLLOUT, idle, deadline);
		return n < 0 ? n : 0;
	case SSL_ERROR_ZERO_RETURN:
		return 1;
	default:
		return -EPROTO;
	}
}

/* Behind each record, which costs as much as many operations of libsennit-io: a
 * client that always has more to read or to send would have the worker for
 * itself. */
static void let_others_run(void)
{
	sennit_yield();
}

int http_tls_accept(struct http_stream *s, void *context, sennit_time deadline)
{
	SSL *ssl = SSL_new(context);
	int  err = ssl ? http_stream_unblock(s) : -ENOMEM;

	s->tls = ssl;
	if (!err && SSL_set_fd(ssl, s->fd) != 1)
		err = -ENOMEM;
	while (!err) {
		int n;

		ERR_clear_error();
		n = SSL_accept(ssl);
		if (n == 1)
			return 0;
		err = wait_after(s, n, false, deadline);
	}
	SSL_free(ssl);
	s->tls = NULL;
	return err < 0 ? err : -EPROTO;
}

ptrdiff_t http_tls_recv(struct http_stream *s, void *to, size_t size, bool idle,
			sennit_time deadline)
{
	int err = 0;

	while (!err) {
		size_t n;
		int    result;

		ERR_clear_error();
		result = SSL_read_ex(s->tls, to, size, &n);
		if (result == 1) {
			let_others_run();
			return (ptrdiff_t)n;
		}
		err = wait_after(s, result, idle, deadline);
	}
	return err < 0 ? err : 0;
}

static int send_part(struct http_stream *s, const char *from, size_t size,
		     sennit_time deadline)
{
	int err = 0;

	while (!err && size) {
		size_t n;
		int    result;

		ERR_clear_error();
		result = SSL_write_ex(s->tls, from, size, &n);
		if (result == 1) {
			from += n;
			size -= n;
			let_others_run();
		} else {
			err = wait_after(s, result, false, deadline);
		}
	}
	return err > 0 ? -EPIPE : err;
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
	if (!s->tls)
		return;
	ERR_clear_error();
	(void)SSL_shutdown(s->tls);
	SSL_free(s->tls);
	s->tls = NULL;
}

#else

void *http_tls_open(const char *certificates, const char *key)
{
	(void)certificates;
	(void)key;
	fprintf(stderr, "TLS: built without OpenSSL\n");
	return NULL;
}

void http_tls_close(void *context)
{
	(void)context;
}

int http_tls_accept(struct http_stream *s, void *context, sennit_time deadline)
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

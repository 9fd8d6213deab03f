/* SPDX-License-Identifier: Apache-2.0 */
/* tls_openssl.h - OpenSSL's objects behind the contexts and connections of
 * tls.h, for everything that tls.h does not have.
 *
 * In libsennit-tls. A program that uses this header is linked to OpenSSL, too,
 * and to a version that the library accepts.
 */
#ifndef SENNIT_TLS_OPENSSL_H
#define SENNIT_TLS_OPENSSL_H

#include "sennit/tls.h"

SENNIT_BEGIN

struct ssl_ctx_st; /* SSL_CTX */
struct ssl_st;     /* SSL */

/* Return OpenSSL's SSL object of the connection, for everything that tls.h does
 * not have: SSL_get1_peer_certificate(), SSL_session_reused(),
 * SSL_get_version() and others, or settings that must be made before the
 * handshake. It is valid until sennit_tls_destroy(). Do not use it to read,
 * write, perform a handshake, free it or set its BIO, and do not use it at all
 * while another call uses *tls.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API struct ssl_st *sennit_tls_openssl(sennit_tls *tls);

/* Return the SSL_CTX that connections opened from now on use, until
 * sennit_tls_context_reload(). Use it for settings that sennit_tls_config does
 * not have: a callback for names (SNI), revocation lists, ciphers. Make them
 * before the first connection is opened. Callbacks must not wait in calls of
 * sennit. The context owns the SSL_CTX.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API struct ssl_ctx_st *sennit_tls_context_openssl(
	sennit_tls_context *context);

SENNIT_END

#endif

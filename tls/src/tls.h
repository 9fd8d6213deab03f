/* SPDX-License-Identifier: Apache-2.0 */
/* tls.h - what connections need from their context.
 *
 * A reload replaces the SSL_CTX of a context. An SSL_CTX does not change once
 * connections use it. It is freed, with its settings, when the last of them is
 * freed. */
#ifndef SN_TLS_H
#define SN_TLS_H

#include "sennit/tls.h"
#include "sennit/tls_openssl.h"

#include <openssl/ssl.h>
#include <stdbool.h>

/* Return the context's current SSL_CTX with a reference, which the caller must
 * free. */
SSL_CTX *sn_tls_context_take(sennit_tls_context *context);

/* Return the flags of the configuration that c was made from. */
uint32_t sn_tls_flags(const SSL_CTX *c);

/* Make ssl resume the last session that its context has for the host, if there
 * is one. */
void sn_tls_session_resume(SSL *ssl, const char *host);

/* Return the host that a client connection was opened to, or NULL. In tls.c. */
const char *sn_tls_host_of(const SSL *ssl);

#endif

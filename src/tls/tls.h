/* SPDX-License-Identifier: Apache-2.0 */
/* tls.h - what connections need of their context.
 *
 * A context is replaced as a whole: each SSL_CTX is fixed once connections use
 * it, and lives as long as the last of them, with what it points to. */
#ifndef SN_TLS_H
#define SN_TLS_H

#include "sennit/tls.h"

#include <openssl/ssl.h>
#include <stdbool.h>

/* The context's SSL_CTX of now, with a reference that is the caller's. */
SSL_CTX *sn_tls_context_take(sennit_tls_context *context);

/* The flags of its configuration. */
uint32_t sn_tls_flags(const SSL_CTX *c);

/* Resume the session that its context last had with the host, if there is
 * one. */
void sn_tls_session_resume(SSL *ssl, const char *host);

/* The host that a connection was made to: of tls.c. */
const char *sn_tls_host_of(const SSL *ssl);

#endif

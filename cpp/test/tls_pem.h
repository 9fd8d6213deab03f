/* SPDX-License-Identifier: Apache-2.0 */
/* tls_pem.h - certificates as texts. */
#ifndef SN_TEST_CPP_TLS_PEM_H
#define SN_TEST_CPP_TLS_PEM_H

#ifdef __cplusplus
extern "C" {
#endif

/* A certificate for "localhost" with its key, and that of its issuer. */
struct tls_pem {
	const char *issuer, *certificate, *key;
};

/* The first call makes them. They are there to the end of the program. */
const struct tls_pem *make_tls_pem(void);

#ifdef __cplusplus
}
#endif

#endif

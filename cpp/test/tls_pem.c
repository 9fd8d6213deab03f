/* SPDX-License-Identifier: Apache-2.0 */
/* tls_pem.c - certificates for the tests in C++, made by what the tests in C
 * have. */
#include "tls_pem.h"

#include "tls/test/certificates.h"

const struct tls_pem *make_tls_pem(void)
{
	static struct identity issuer, own;
	static struct tls_pem  pem;

	if (!pem.issuer) {
		issuer = make_identity((struct wish){ .names = NULL });
		own = make_identity((struct wish){ .names = "DNS:localhost",
						   .issuer = &issuer });
		pem = (struct tls_pem){ issuer.certificate, own.certificate,
					own.key };
	}
	return &pem;
}

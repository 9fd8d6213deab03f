/* SPDX-License-Identifier: Apache-2.0 */
/* certificates.h - keys and certificates, created by the test, as PEM texts. */
#ifndef SN_TEST_CERTIFICATES_H
#define SN_TEST_CERTIFICATES_H

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/ec.h>
#include <openssl/x509v3.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NEED(claim)                                                        \
	do {                                                               \
		if (!(claim)) {                                            \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, \
				#claim);                                   \
			abort();                                           \
		}                                                          \
	} while (0)

struct identity {
	EVP_PKEY *pkey;
	X509     *x509;
	char     *key, *certificate; /* PEM */
};

/* The content of a certificate. */
struct wish {
	const char *names; /* "DNS:localhost,IP:127.0.0.1"; NULL: a CA */
	const struct identity *issuer;   /* NULL: self-signed */
	long                   from, to; /* seconds from now */
	int                    rsa;      /* bits; 0: an elliptic curve */
};

static inline char *pem_text(BIO *b)
{
	char *at, *text;
	long  size = BIO_get_mem_data(b, &at);

	text = malloc((size_t)size + 1);
	NEED(text);
	memcpy(text, at, (size_t)size);
	text[size] = '\0';
	BIO_free(b);
	return text;
}

static inline void add_extension(X509 *x, X509 *issuer, int nid,
				 const char *value)
{
	X509V3_CTX      c;
	X509_EXTENSION *e;

	X509V3_set_ctx(&c, issuer, x, NULL, NULL, 0);
	e = X509V3_EXT_conf_nid(NULL, &c, nid, value);
	NEED(e && X509_add_ext(x, e, -1));
	X509_EXTENSION_free(e);
}

static inline void fill_certificate(struct identity *i, const struct wish *w)
{
	static long number = 1;
	X509       *issuer = w->issuer ? w->issuer->x509 : i->x509;
	X509_NAME  *name = X509_NAME_new();
	char        common[32];

	snprintf(common, sizeof(common), "test %ld", number);
	NEED(name && X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
						(const unsigned char *)common,
						-1, -1, 0));
	X509_set_version(i->x509, 2);
	ASN1_INTEGER_set(X509_get_serialNumber(i->x509), number++);
	X509_gmtime_adj(X509_getm_notBefore(i->x509), w->from);
	X509_gmtime_adj(X509_getm_notAfter(i->x509), w->to);
	X509_set_subject_name(i->x509, name);
	X509_set_issuer_name(i->x509, X509_get_subject_name(issuer));
	X509_set_pubkey(i->x509, i->pkey);
	if (w->names)
		add_extension(i->x509, issuer, NID_subject_alt_name, w->names);
	else
		add_extension(i->x509, issuer, NID_basic_constraints,
			      "critical,CA:TRUE");
	NEED(X509_sign(i->x509, w->issuer ? w->issuer->pkey : i->pkey,
		       EVP_sha256()));
	X509_NAME_free(name);
}

static inline struct identity make_identity(struct wish w)
{
	struct identity i = { NULL, NULL, NULL, NULL };
	BIO            *key = BIO_new(BIO_s_mem());
	BIO            *certificate = BIO_new(BIO_s_mem());

	if (!w.from && !w.to) {
		w.from = -3600;
		w.to = 86400;
	}
	i.pkey = w.rsa ? EVP_RSA_gen((unsigned)w.rsa) : EVP_EC_gen("P-256");
	i.x509 = X509_new();
	NEED(i.pkey && i.x509 && key && certificate);
	fill_certificate(&i, &w);
	NEED(PEM_write_bio_PrivateKey(key, i.pkey, NULL, NULL, 0, NULL, NULL));
	NEED(PEM_write_bio_X509(certificate, i.x509));
	i.key = pem_text(key);
	i.certificate = pem_text(certificate);
	return i;
}

static inline void drop_identity(struct identity *i)
{
	EVP_PKEY_free(i->pkey);
	X509_free(i->x509);
	free(i->key);
	free(i->certificate);
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* context.c - certificates, trusted issuers, and the sessions of clients.
 *
 * OpenSSL calls some of these functions, such as those for sessions and
 * protocols, while it reads and writes. They must never wait: another fiber
 * that ran meanwhile would find OpenSSL's locks held and share the thread's
 * queue of errors. */
#include "tls.h"

#include "base/sized.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The size of a client's session cache, which has one entry for each hash of a
 * host name: the last session. */
#define HOSTS 64

struct session {
	char        *host;
	SSL_SESSION *session;
};

/* The data of one SSL_CTX, which is freed with it. */
struct settings {
	uint32_t        flags;          /* fixed */
	unsigned char  *protocols;      /* fixed: in the format of ALPN, or
					 * NULL */
	unsigned        protocols_size; /* fixed */
	pthread_mutex_t lock;
	struct session  sessions[HOSTS]; /* under lock */
};

struct sennit_tls_context {
	pthread_mutex_t lock;
	SSL_CTX        *current; /* under lock; holds a reference */
};

/* --- settings ------------------------------------------------------------- */

static int settings_index; /* fixed after allocate_settings_index() */

static void free_settings(void *ssl_ctx, void *settings, CRYPTO_EX_DATA *data,
			  int index, long number, void *argument)
{
	struct settings *g = settings;

	(void)ssl_ctx, (void)data, (void)index, (void)number, (void)argument;
	if (!g)
		return;
	for (size_t i = 0; i < HOSTS; i++) {
		free(g->sessions[i].host);
		SSL_SESSION_free(g->sessions[i].session);
	}
	pthread_mutex_destroy(&g->lock);
	free(g->protocols);
	free(g);
}

/* Initialise OpenSSL without its exit handler, which would free data that other
 * threads may be using. */
static void allocate_settings_index(void)
{
	OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL);
	settings_index = SSL_CTX_get_ex_new_index(0, NULL, NULL, NULL,
						  free_settings);
}

static struct settings *settings_of(const SSL_CTX *c)
{
	return SSL_CTX_get_ex_data(c, settings_index);
}

uint32_t sn_tls_flags(const SSL_CTX *c)
{
	return settings_of(c)->flags;
}

static int make_settings(SSL_CTX *c, uint32_t flags)
{
	struct settings *g = calloc(1, sizeof(*g));

	if (!g)
		return -ENOMEM;
	pthread_mutex_init(&g->lock, NULL);
	g->flags = flags;
	if (SSL_CTX_set_ex_data(c, settings_index, g))
		return 0;
	free_settings(NULL, g, NULL, 0, 0, NULL);
	return -ENOMEM;
}

/* --- sessions of clients -------------------------------------------------- */

static struct session *session_of(struct settings *g, const char *host)
{
	uint32_t hash = 2166136261u;

	for (const char *c = host; *c; c++)
		hash = (hash ^ (unsigned char)*c) * 16777619u;
	return &g->sessions[hash % HOSTS];
}

/* Called by OpenSSL with a new session. Returns 1 if the cache took over the
 * reference to it. */
static int store_session(SSL *ssl, SSL_SESSION *session)
{
	const char      *host = sn_tls_host_of(ssl);
	struct settings *g = settings_of(SSL_get_SSL_CTX(ssl));
	struct session   old, *s;
	char            *name = host && g ? strdup(host) : NULL;

	if (!name)
		return 0;
	s = session_of(g, name);
	pthread_mutex_lock(&g->lock);
	old = *s;
	*s = (struct session){ name, session };
	pthread_mutex_unlock(&g->lock);
	free(old.host);
	SSL_SESSION_free(old.session);
	return 1;
}

/* Return a session for the host, with a reference, or NULL. A TLS 1.3 session
 * is used only once, so that an observer cannot link two connections to one
 * client. The server sends another one. */
static SSL_SESSION *take_session(struct settings *g, const char *host)
{
	struct session *s = session_of(g, host);
	SSL_SESSION    *taken = NULL;

	pthread_mutex_lock(&g->lock);
	if (s->host && !strcmp(s->host, host))
		taken = s->session;
	if (taken && SSL_SESSION_get_protocol_version(taken) < TLS1_3_VERSION)
		SSL_SESSION_up_ref(taken);
	else if (taken)
		s->session = NULL;
	pthread_mutex_unlock(&g->lock);
	return taken;
}

void sn_tls_session_resume(SSL *ssl, const char *host)
{
	SSL_SESSION *s = take_session(settings_of(SSL_get_SSL_CTX(ssl)), host);

	if (s && SSL_SESSION_is_resumable(s))
		SSL_set_session(ssl, s);
	SSL_SESSION_free(s);
}

/* --- protocols ------------------------------------------------------------ */

static int choose_protocol(SSL *ssl, const unsigned char **out,
			   unsigned char *size, const unsigned char *offered,
			   unsigned offered_size, void *settings)
{
	const struct settings *g = settings;
	unsigned char         *chosen;

	(void)ssl;
	if (SSL_select_next_proto(&chosen, size, g->protocols,
				  g->protocols_size, offered,
				  offered_size) != OPENSSL_NPN_NEGOTIATED)
		return SSL_TLSEXT_ERR_ALERT_FATAL;
	*out = chosen;
	return SSL_TLSEXT_ERR_OK;
}

/* Convert "h2,http/1.1" to "\2h2\10http/1.1". */
static int encode_protocols(struct settings *g, const char *names)
{
	size_t         size = strlen(names) + 1;
	unsigned char *at;

	g->protocols = at = malloc(size);
	g->protocols_size = (unsigned)size;
	if (!at)
		return -ENOMEM;
	for (;;) {
		size_t n = strcspn(names, ",");

		if (!n || n > 255)
			return -EINVAL;
		*at++ = (unsigned char)n;
		memcpy(at, names, n);
		at += n;
		if (!names[n])
			return 0;
		names += n + 1;
	}
}

static int use_protocols(SSL_CTX *c, const char *names)
{
	struct settings *g = settings_of(c);
	int              err = names ? encode_protocols(g, names) : 0;

	if (err || !names)
		return err;
	SSL_CTX_set_alpn_select_cb(c, choose_protocol, g);
	return SSL_CTX_set_alpn_protos(c, g->protocols, g->protocols_size)
		       ? -ENOMEM
		       : 0;
}

/* --- PEM input ------------------------------------------------------------ */

/* The source of a certificate or key, for error texts. */
struct source {
	const char *what, *file, *text;
};

static int fail_with_text(char *text, size_t size, const struct source *from,
			  const char *why)
{
	if (text && size)
		snprintf(text, size, "%s%s%s: %s", from->what,
			 from->file ? " " : "", from->file ? from->file : "",
			 why);
	return -EINVAL;
}

static bool is_key_mismatch(unsigned long error)
{
	const int reason = ERR_GET_REASON(error);

	return ERR_GET_LIB(error) == ERR_LIB_X509 &&
	       (reason == X509_R_KEY_VALUES_MISMATCH ||
		reason == X509_R_KEY_TYPE_MISMATCH);
}

/* Like fail_with_text(), with OpenSSL's reason: the first error in the queue,
 * except for a key mismatch, which is the last one, after one that says how the
 * types differ. */
static int fail_with_openssl_text(char *text, size_t size,
				  const struct source *from)
{
	const unsigned long last = ERR_peek_last_error();
	const bool          another = is_key_mismatch(last);
	const unsigned long e = another ? last : ERR_peek_error();
	const int           reason = ERR_GET_REASON(e);
	const char         *why = ERR_reason_error_string(e);

	if (ERR_SYSTEM_ERROR(e)) {
		(void)fail_with_text(text, size, from, strerror(reason));
		return -reason;
	}
	(void)fail_with_text(text, size, from, why ? why : "not usable");
	if (another)
		return -EKEYREJECTED;
	return reason == ERR_R_MALLOC_FAILURE ? -ENOMEM : -EINVAL;
}

/* Without this callback OpenSSL would ask for the passphrase at the
 * terminal. */
static int refuse_passphrase(char *to, int size, int writing, void *argument)
{
	(void)to, (void)size, (void)writing, (void)argument;
	return -1;
}

/* Call use() for each certificate; use() takes over the reference. Returns true
 * if there is at least one and no error. */
static bool read_certificates(BIO *from, SSL_CTX *c,
			      bool use(SSL_CTX *c, X509 *x, bool first))
{
	bool  first = true;
	X509 *x;

	while ((x = PEM_read_bio_X509(from, NULL, refuse_passphrase, NULL))) {
		if (!use(c, x, first))
			return false;
		first = false;
	}
	if (first ||
	    ERR_GET_REASON(ERR_peek_last_error()) != PEM_R_NO_START_LINE)
		return false;
	ERR_clear_error(); /* PEM_R_NO_START_LINE: the end */
	return true;
}

static bool use_own(SSL_CTX *c, X509 *x, bool first)
{
	bool used = first ? SSL_CTX_use_certificate(c, x) == 1
			  : SSL_CTX_add0_chain_cert(c, x) == 1;

	if (first || !used)
		X509_free(x);
	return used;
}

static bool use_trusted(SSL_CTX *c, X509 *x, bool first)
{
	bool used = X509_STORE_add_cert(SSL_CTX_get_cert_store(c), x) == 1 &&
		    (!(sn_tls_flags(c) & SENNIT_TLS_ASK_CLIENTS) ||
		     SSL_CTX_add_client_CA(c, x) == 1);

	(void)first;
	X509_free(x);
	return used;
}

static bool read_own(BIO *from, SSL_CTX *c)
{
	return read_certificates(from, c, use_own);
}

static bool read_trusted(BIO *from, SSL_CTX *c)
{
	return read_certificates(from, c, use_trusted);
}

/* Check the key before SSL_CTX_use_PrivateKey(). That function compares a key
 * only with a certificate of the same type. It would accept a key of another
 * type, and handshakes would fail later. */
static bool read_key(BIO *from, SSL_CTX *c)
{
	EVP_PKEY *key = PEM_read_bio_PrivateKey(from, NULL, refuse_passphrase,
						NULL);
	X509     *own = SSL_CTX_get0_certificate(c);
	bool      used = key && X509_check_private_key(own, key) == 1 &&
		    SSL_CTX_use_PrivateKey(c, key) == 1;

	EVP_PKEY_free(key);
	return used;
}

static int read_pem_source(SSL_CTX *c, const struct source *from,
			   bool read(BIO *from, SSL_CTX *c), char *text,
			   size_t size)
{
	BIO *bio;
	bool done;

	if (!from->file && !from->text)
		return 0;
	if (from->file && from->text)
		return fail_with_text(text, size, from,
				      "given both as a file and as text");
	ERR_clear_error();
	bio = from->file ? BIO_new_file(from->file, "r")
			 : BIO_new_mem_buf(from->text, -1);
	done = bio && read(bio, c);
	BIO_free(bio);
	return done ? 0 : fail_with_openssl_text(text, size, from);
}

/* --- making a context ----------------------------------------------------- */

/* The size of the first release's configuration. */
#define SIZE_FIRST SIZE_THROUGH(sennit_tls_config, reserved_)
ENDS_WITH(sennit_tls_config, reserved_);

/* Copy what the caller has, which may know another version. NULL: nothing. */
static int copy_tls_config(sennit_tls_config       *out,
			   const sennit_tls_config *user, char *text,
			   size_t size)
{
	static const sennit_tls_config defaults = { .size = sizeof(defaults) };
	int err = sn_sized_read(out, sizeof(*out), user ? user : &defaults,
				SIZE_FIRST);

	if (!err && (out->reserved_ || out->flags & ~(SENNIT_TLS_ASK_CLIENTS |
						      SENNIT_TLS_TRUST_ALL)))
		err = -EINVAL;
	if (err)
		(void)fail_with_text(
			text, size, &(struct source){ .what = "configuration" },
			"not valid in this version");
	return err;
}

static int check_tls_config(const sennit_tls_config *g, char *text, size_t size)
{
	const bool own = g->certificate || g->certificate_text;
	const bool key = g->key || g->key_text;

	if (own != key)
		return fail_with_text(
			text, size,
			&(struct source){ .what = own ? "key" : "certificate" },
			"missing");
	if (g->flags & SENNIT_TLS_ASK_CLIENTS && !g->trusted &&
	    !g->trusted_text)
		return fail_with_text(text, size,
				      &(struct source){ .what = "trusted" },
				      "missing");
	return 0;
}

static int read_pem_sources(SSL_CTX *c, const sennit_tls_config *g, char *text,
			    size_t size)
{
	const struct source own = { "certificate", g->certificate,
				    g->certificate_text };
	const struct source key = { "key", g->key, g->key_text };
	const struct source trusted = { "trusted", g->trusted,
					g->trusted_text };
	int err = read_pem_source(c, &own, read_own, text, size);

	if (!err)
		err = read_pem_source(c, &key, read_key, text, size);
	if (!err)
		err = read_pem_source(c, &trusted, read_trusted, text, size);
	if (!err && !g->trusted && !g->trusted_text &&
	    SSL_CTX_set_default_verify_paths(c) != 1)
		err = fail_with_openssl_text(text, size, &trusted);
	return err;
}

/* Servers do not cache sessions, because clients could fill the memory with
 * them. Clients receive their sessions as tickets. */
static void set_ssl_defaults(SSL_CTX *c)
{
	static const unsigned char sessions[] = "sennit";

	SSL_CTX_set_min_proto_version(c, TLS1_2_VERSION);
	SSL_CTX_set_options(c, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
	SSL_CTX_set_mode(c, SSL_MODE_ENABLE_PARTIAL_WRITE |
				    SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
				    SSL_MODE_RELEASE_BUFFERS);
	SSL_CTX_set_default_passwd_cb(c, refuse_passphrase);
	SSL_CTX_set_session_id_context(c, sessions, sizeof(sessions) - 1);
	SSL_CTX_set_session_cache_mode(c, SSL_SESS_CACHE_CLIENT |
						  SSL_SESS_CACHE_NO_INTERNAL);
	SSL_CTX_sess_set_new_cb(c, store_session);
}

static int fill_ssl_ctx(SSL_CTX *c, const sennit_tls_config *g, char *text,
			size_t size)
{
	int err = make_settings(c, g->flags);

	if (err)
		return err;
	set_ssl_defaults(c);
	err = use_protocols(c, g->protocols);
	if (err == -EINVAL)
		(void)fail_with_text(text, size,
				     &(struct source){ .what = "protocols" },
				     "not a list of names separated by commas");
	return err ? err : read_pem_sources(c, g, text, size);
}

static int make_ssl_ctx(SSL_CTX **out, const sennit_tls_config *user,
			char *text, size_t size)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	sennit_tls_config     g;
	int                   err;
	SSL_CTX              *c;

	pthread_once(&once, allocate_settings_index);
	err = copy_tls_config(&g, user, text, size);
	if (!err)
		err = check_tls_config(&g, text, size);
	if (err)
		return err;
	c = settings_index >= 0 ? SSL_CTX_new(TLS_method()) : NULL;
	err = c ? fill_ssl_ctx(c, &g, text, size) : -ENOMEM;
	ERR_clear_error();
	if (err)
		SSL_CTX_free(c);
	else
		*out = c;
	return err;
}

/* --- contexts ------------------------------------------------------------- */

int sennit_tls_context_create(sennit_tls_context     **out,
			      const sennit_tls_config *config, char *text,
			      size_t size)
{
	SSL_CTX            *c;
	sennit_tls_context *made;
	int                 err = make_ssl_ctx(&c, config, text, size);

	if (err)
		return err;
	made = malloc(sizeof(*made));
	if (!made) {
		SSL_CTX_free(c);
		return -ENOMEM;
	}
	pthread_mutex_init(&made->lock, NULL);
	made->current = c;
	*out = made;
	return 0;
}

int sennit_tls_context_reload(sennit_tls_context      *context,
			      const sennit_tls_config *config, char *text,
			      size_t size)
{
	SSL_CTX *c, *old;
	int      err = make_ssl_ctx(&c, config, text, size);

	if (err)
		return err;
	pthread_mutex_lock(&context->lock);
	old = context->current;
	context->current = c;
	pthread_mutex_unlock(&context->lock);
	SSL_CTX_free(old);
	return 0;
}

void sennit_tls_context_destroy(sennit_tls_context *context)
{
	if (!context)
		return;
	SSL_CTX_free(context->current);
	pthread_mutex_destroy(&context->lock);
	free(context);
}

SSL_CTX *sn_tls_context_take(sennit_tls_context *context)
{
	SSL_CTX *c;

	pthread_mutex_lock(&context->lock);
	c = context->current;
	SSL_CTX_up_ref(c);
	pthread_mutex_unlock(&context->lock);
	return c;
}

struct ssl_ctx_st *sennit_tls_context_openssl(sennit_tls_context *context)
{
	SSL_CTX *c = sn_tls_context_take(context);

	SSL_CTX_free(c); /* the context keeps its own reference */
	return c;
}

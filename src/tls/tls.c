/* SPDX-License-Identifier: Apache-2.0 */
/* tls.c - a connection: OpenSSL on one side, a socket on the other.
 *
 *	     read, write                 take, put
 *	fiber ------------> OpenSSL <---------------> socket
 *	  waits here                    never waits
 *
 * A call locks the connection, has OpenSSL do what it can, unlocks, and waits
 * for the socket without the lock: so a reader and a writer go on side by side.
 * Below OpenSSL nothing switches fibers. It holds locks of threads there, and
 * its errors are the thread's: they are cleared before and read after, while no
 * other fiber of the worker can run.
 *
 * take() and put() are OpenSSL's view of the socket. What the socket does not
 * take stays in `out`, and OpenSSL believes it sent. So it never has half of a
 * record to send again, for which it would want the same bytes from its caller
 * once more: a write that gives up has written nothing, or a number that it
 * returns. `out` is sent before anything else, by readers, too.
 *
 * Turns: take() gives what is of use for some SENNIT_TLS_TURN records, and then
 * says that there is no more, as if the socket were empty. By that even a call
 * that would never come back by itself, as records without data keep coming,
 * lets others run.
 */
#include "tls/tls.h"

#include "base/compiler.h"
#include "sennit/fiber.h"
#include "sennit/group.h"
#include "sennit/io.h"
#include "sennit/mutex.h"
#include "sennit/reader.h"
#include "sennit/semaphore.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* A record with its head, and what is added to it. */
#define AHEAD 16896

/* Bytes that wait for the socket, with which no record is read that may have
 * to be answered. */
#define OUT_MAX 65536

/* What may be done with a connection at once. */
enum use { READING = 1, WRITING = 2, ALONE = READING | WRITING };

struct bytes {
	char  *at;
	size_t from, to, room;
};

struct sennit_tls {
	sennit_mutex lock;   /* never held across a wait */
	SSL         *ssl;    /* under lock; the object itself: fixed */
	unsigned     in_use; /* under lock: enum use */
	int          fd;     /* fixed */
	/* Under lock: */
	struct bytes in;   /* received, not taken by OpenSSL */
	struct bytes out;  /* sent, as OpenSSL believes */
	int          deaf; /* why nothing can be received, or 0 */
	int          mute; /* why nothing can be sent, or 0 */
	int          over; /* what all calls return */
	const char  *why;
	bool         ended;  /* the socket has */
	bool         spent;  /* the turn was over before the bytes were */
	bool         closed; /* close_notify was sent */
	/* Written by the handshake, fixed then: */
	bool  begun, ready;
	char *host;     /* of a client */
	char *protocol; /* or NULL */
};

static _Noreturn void misuse(const char *call, const char *why)
{
	const sennit_fiber *f = sennit_fiber_current();

	if (f)
		fprintf(stderr, "sennit: misuse of %s: %s [fiber %u]\n", call,
			why, (unsigned)sennit_fiber_id(f));
	else
		fprintf(stderr, "sennit: misuse of %s: %s [a thread]\n", call,
			why);
	abort();
}

/* --- turns ---------------------------------------------------------------- */

/* A record is read in two steps, its head and the rest. */
#define RECORD 2

/* Steps that this thread may take before its other fibers run. */
static _Thread_local int left = SENNIT_TLS_TURN * RECORD;

static void let_others_run(void)
{
	left = SENNIT_TLS_TURN * RECORD;
	sennit_yield();
}

/* Steps of handshakes on this thread: the one that has it keeps it while others
 * run, so that a step is followed by a turn of whoever has other things to
 * do. First come, first served. */
static _Thread_local struct {
	sennit_semaphore free;
	bool             made;
} steps;

static int begin_step(sennit_time deadline)
{
	if (!steps.made) {
		sennit_semaphore_init(&steps.free, 1);
		steps.made = true;
	}
	return sennit_semaphore_take_until(&steps.free, 1, deadline);
}

static void end_step(void)
{
	let_others_run();
	sennit_semaphore_give(&steps.free, 1);
}

/* --- the socket ----------------------------------------------------------- */

static void drop(struct bytes *b)
{
	free(b->at);
	*b = (struct bytes){ NULL, 0, 0, 0 };
}

static ptrdiff_t receive(struct sennit_tls *t, void *to, size_t size)
{
	ssize_t n;

	do
		n = recv(t->fd, to, size, MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	t->ended = n == 0;
	if (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK)
		t->deaf = -errno;
	return n;
}

static ptrdiff_t give(struct sennit_tls *t, const void *from, size_t size)
{
	ssize_t n;

	do
		n = send(t->fd, from, size, MSG_DONTWAIT | MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	if (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK)
		t->mute = -errno;
	return n < 0 ? 0 : n;
}

/* Send what OpenSSL believes sent, as far as the socket takes it. */
static void send_out(struct sennit_tls *t)
{
	struct bytes *o = &t->out;

	if (o->from < o->to)
		o->from += (size_t)give(t, o->at + o->from, o->to - o->from);
	if (t->mute || o->from == o->to)
		drop(o);
}

static bool is_sent(const struct sennit_tls *t)
{
	return t->out.from == t->out.to;
}

/* Receive one record, as far as it has come, for what OpenSSL takes next. An
 * idle connection has no buffer. */
static ptrdiff_t receive_ahead(struct sennit_tls *t)
{
	struct bytes *in = &t->in;
	ptrdiff_t     n;

	if (!in->at)
		in->at = malloc(AHEAD);
	if (!in->at)
		return -1;
	n = receive(t, in->at, AHEAD);
	in->from = 0;
	in->to = n > 0 ? (size_t)n : 0;
	if (n <= 0)
		drop(in);
	return n;
}

static int take_some(struct sennit_tls *t, char *to, size_t size)
{
	struct bytes *in = &t->in;
	ptrdiff_t     n = 1;

	if (in->from == in->to) {
		if (size >= AHEAD / 2)
			return (int)receive(t, to, size);
		n = receive_ahead(t);
	}
	if (n <= 0)
		return (int)n;
	if (size > in->to - in->from)
		size = in->to - in->from;
	memcpy(to, in->at + in->from, size);
	in->from += size;
	return (int)size;
}

/* --- what OpenSSL calls --------------------------------------------------- */

static int take(BIO *bio, char *to, int size)
{
	struct sennit_tls *t = BIO_get_data(bio);
	int                n;

	BIO_clear_retry_flags(bio);
	if (left <= 0) {
		t->spent = true;
		BIO_set_retry_read(bio);
		return -1;
	}
	n = take_some(t, to, (size_t)size);
	if (n > 0)
		left--;
	else if (n < 0 && !t->deaf)
		BIO_set_retry_read(bio);
	return n;
}

static bool make_room(struct bytes *b, size_t size)
{
	const size_t kept = b->to - b->from;
	char        *at;

	if (b->room - b->to >= size)
		return true;
	at = malloc(kept + size);
	if (!at)
		return false;
	if (kept)
		memcpy(at, b->at + b->from, kept);
	free(b->at);
	*b = (struct bytes){ at, 0, kept, kept + size };
	return true;
}

/* Once the socket refuses bytes, they are dropped, and writers learn why.
 * OpenSSL goes on reading: an answer may have come before. */
static int put(BIO *bio, const char *from, int size)
{
	struct sennit_tls *t = BIO_get_data(bio);
	size_t             sent = 0;
	size_t             rest;

	BIO_clear_retry_flags(bio);
	if (t->out.to - t->out.from >= OUT_MAX) {
		BIO_set_retry_write(bio);
		return -1;
	}
	if (is_sent(t) && !t->mute)
		sent = (size_t)give(t, from, (size_t)size);
	rest = (size_t)size - sent;
	if (t->mute || !rest)
		return size;
	if (make_room(&t->out, rest)) {
		memcpy(t->out.at + t->out.to, from + sent, rest);
		t->out.to += rest;
	} else {
		t->mute = -ENOMEM;
		drop(&t->out);
	}
	return size;
}

static long control(BIO *bio, int command, long number, void *pointer)
{
	const struct sennit_tls *t = BIO_get_data(bio);

	(void)number, (void)pointer;
	if (command == BIO_CTRL_EOF)
		return t->ended;
	return command == BIO_CTRL_FLUSH;
}

static BIO_METHOD *method; /* fixed once made, or NULL */

static void make_method(void)
{
	method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK,
			      "sennit");
	if (!method)
		return;
	BIO_meth_set_read(method, take);
	BIO_meth_set_write(method, put);
	BIO_meth_set_ctrl(method, control);
}

static bool attach(struct sennit_tls *t)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	BIO                  *bio;

	pthread_once(&once, make_method);
	bio = method ? BIO_new(method) : NULL;
	if (!bio)
		return false;
	BIO_set_data(bio, t);
	BIO_set_init(bio, 1);
	SSL_set_bio(t->ssl, bio, bio);
	return true;
}

const char *sn_tls_host_of(const SSL *ssl)
{
	BIO                     *bio = SSL_get_rbio(ssl);
	const struct sennit_tls *t = bio ? BIO_get_data(bio) : NULL;

	return t ? t->host : NULL;
}

/* --- calls of OpenSSL ----------------------------------------------------- */

/* A result that says: wait, then call again. */
#define AGAIN PTRDIFF_MIN

/* One that is carried out under the lock: returns OpenSSL's result, and sets
 * *done on success. */
struct call {
	const char *name;
	enum use    use;
	int (*run)(SSL *ssl, void *bytes, size_t size, size_t *done);
	void  *bytes;
	size_t size;
};

static ptrdiff_t end_with(struct sennit_tls *t, int err, const char *why)
{
	t->over = err;
	t->why = why;
	return err;
}

static bool is_of_ssl(unsigned long error, int reason)
{
	return ERR_GET_LIB(error) == ERR_LIB_SSL &&
	       ERR_GET_REASON(error) == reason;
}

/* What OpenSSL cannot go on after. */
static ptrdiff_t fail(struct sennit_tls *t)
{
	const unsigned long e = ERR_peek_error();

	if (t->deaf)
		return end_with(t, t->deaf, NULL);
	if (!e || is_of_ssl(e, SSL_R_UNEXPECTED_EOF_WHILE_READING))
		return end_with(t, -ECONNABORTED,
				t->ended ? "ended without close_notify"
					 : "ended by the peer");
	if (ERR_GET_REASON(e) == ERR_R_MALLOC_FAILURE)
		return end_with(t, -ENOMEM, NULL);
	if (is_of_ssl(e, SSL_R_CERTIFICATE_VERIFY_FAILED))
		return end_with(t, -EKEYREJECTED,
				X509_verify_cert_error_string(
					SSL_get_verify_result(t->ssl)));
	if (is_of_ssl(e, SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE))
		return end_with(t, -EKEYREJECTED, ERR_reason_error_string(e));
	return end_with(t, -EPROTO, ERR_reason_error_string(e));
}

static int read_some(SSL *ssl, void *bytes, size_t size, size_t *done)
{
	return SSL_read_ex(ssl, bytes, size, done);
}

/* No writing while something is left to send: each write then has room for all
 * that it makes. */
static ptrdiff_t run(struct sennit_tls *t, const struct call *c)
{
	size_t done = 0;
	int    result, why;

	send_out(t);
	if (t->over)
		return t->over;
	if (c->use == WRITING && (t->mute || !is_sent(t)))
		return t->mute ? t->mute : AGAIN;
	t->spent = false;
	ERR_clear_error();
	result = c->run(t->ssl, c->bytes, c->size, &done);
	why = SSL_get_error(t->ssl, result);
	if (why == SSL_ERROR_NONE)
		return (ptrdiff_t)done;
	if (why == SSL_ERROR_ZERO_RETURN && c->run == read_some)
		return 0;
	if (why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE)
		return AGAIN;
	return fail(t);
}

/* What the caller waits for; under the lock. */
static short awaited(const struct sennit_tls *t, const struct call *c)
{
	const bool stuck = t->out.to - t->out.from >= OUT_MAX;

	if (is_sent(t))
		return POLLIN;
	return c->use == WRITING || stuck ? POLLOUT : POLLIN | POLLOUT;
}

/* Events of 0: the turn was spent, and the bytes are there. A peer that sends
 * what is no data for ever comes by here alone. */
static int wait_for(int fd, short events, sennit_time deadline)
{
	int n;

	if (events) {
		n = sennit_poll(fd, events, deadline);
		return n < 0 ? n : 0;
	}
	let_others_run();
	if (sennit_now() >= deadline)
		return -ETIMEDOUT;
	return deadline == SENNIT_UNCANCELLED ? 0 : sennit_cancelled();
}

static void begin_use(struct sennit_tls *t, const char *call, enum use use)
{
	sennit_mutex_lock(&t->lock);
	if (t->in_use & (unsigned)use)
		misuse(call, "another fiber is in such a call");
	t->in_use |= (unsigned)use;
}

static void end_use(struct sennit_tls *t, enum use use)
{
	t->in_use &= ~(unsigned)use;
	sennit_mutex_unlock(&t->lock);
}

/* Unlocks, waits, and locks again. */
static int wait_unlocked(struct sennit_tls *t, short events,
			 sennit_time deadline)
{
	int err;

	sennit_mutex_unlock(&t->lock);
	err = wait_for(t->fd, events, deadline);
	sennit_mutex_lock(&t->lock);
	return err;
}

/* What OpenSSL has written is sent, as long as the caller has time. */
static int wait_until_sent(struct sennit_tls *t, sennit_time deadline)
{
	int err = 0;

	send_out(t);
	while (!is_sent(t) && !err) {
		err = wait_unlocked(t, POLLOUT, deadline);
		send_out(t);
	}
	return t->mute ? t->mute : err;
}

/* After OpenSSL took n bytes, or close_notify: 0. */
static ptrdiff_t finish_writing(struct sennit_tls *t, ptrdiff_t n,
				sennit_time deadline)
{
	int err = wait_until_sent(t, deadline);

	return t->mute || !n ? err : n;
}

static ptrdiff_t perform(struct sennit_tls *t, const struct call *c,
			 sennit_time deadline)
{
	ptrdiff_t n;
	int       err = 0;

	begin_use(t, c->name, c->use);
	if (!t->ready)
		misuse(c->name, "before the handshake");
	while ((n = run(t, c)) == AGAIN && !err)
		err = wait_unlocked(t, t->spent ? 0 : awaited(t, c), deadline);
	if (n >= 0 && c->use == WRITING)
		n = finish_writing(t, n, deadline);
	end_use(t, c->use);
	if (c->use == WRITING)
		left -= RECORD;
	if (left <= 0)
		let_others_run();
	return n == AGAIN ? err : n;
}

/* --- handshakes ----------------------------------------------------------- */

static int shake(SSL *ssl, void *bytes, size_t size, size_t *done)
{
	(void)bytes, (void)size, (void)done;
	return SSL_do_handshake(ssl);
}

static int note_protocol(struct sennit_tls *t)
{
	const unsigned char *chosen;
	unsigned             size;

	SSL_get0_alpn_selected(t->ssl, &chosen, &size);
	t->protocol = size ? strndup((const char *)chosen, size) : NULL;
	return size && !t->protocol ? -ENOMEM : 0;
}

static ptrdiff_t shake_hands(struct sennit_tls *t, const struct call *c,
			     sennit_time deadline)
{
	ptrdiff_t n;
	int       err;

	for (;;) {
		short events;

		err = begin_step(deadline);
		if (err)
			return err;
		n = run(t, c);
		events = t->spent ? 0 : awaited(t, c);
		end_step();
		if (n != AGAIN)
			break;
		err = wait_for(t->fd, events, deadline);
		if (err)
			return err;
	}
	return n;
}

/* Nobody else may use the connection: so its lock need not be held. */
static int handshake(struct sennit_tls *t, const char *name,
		     sennit_time deadline)
{
	const struct call c = { .name = name, .use = READING, .run = shake };
	ptrdiff_t         n = shake_hands(t, &c, deadline);

	if (!n)
		n = note_protocol(t);
	sennit_mutex_lock(&t->lock);
	if (!n) {
		t->ready = true;
		(void)wait_until_sent(t, deadline); /* else by later calls */
	}
	end_use(t, ALONE);
	return (int)n;
}

static void begin_handshake(struct sennit_tls *t, const char *call, bool server)
{
	begin_use(t, call, ALONE);
	if (t->ready)
		misuse(call, "the handshake is over");
	if (t->begun && SSL_is_server(t->ssl) != server)
		misuse(call, "the handshake began as the other side");
	sennit_mutex_unlock(&t->lock);
}

static int refuse(struct sennit_tls *t, int err)
{
	sennit_mutex_lock(&t->lock);
	end_use(t, ALONE);
	return err;
}

static void begin_server(struct sennit_tls *t)
{
	SSL_set_accept_state(t->ssl);
	if (sn_tls_flags(SSL_get_SSL_CTX(t->ssl)) & SENNIT_TLS_ASK_CLIENTS)
		SSL_set_verify(t->ssl,
			       SSL_VERIFY_PEER |
				       SSL_VERIFY_FAIL_IF_NO_PEER_CERT,
			       NULL);
	t->begun = true;
}

int sennit_tls_accept(sennit_tls *t, sennit_time deadline)
{
	begin_handshake(t, "sennit_tls_accept", true);
	if (!SSL_get_certificate(t->ssl))
		return refuse(t, -EINVAL);
	if (!t->begun)
		begin_server(t);
	return KEEP_FRAME(handshake(t, "sennit_tls_accept", deadline));
}

/* Whom the server must be. An address has no name to be sent. */
static bool set_host(SSL *ssl, const char *host)
{
	X509_VERIFY_PARAM *p = SSL_get0_param(ssl);

	if (X509_VERIFY_PARAM_set1_ip_asc(p, host))
		return true;
	SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
	return SSL_set1_host(ssl, host) && SSL_set_tlsext_host_name(ssl, host);
}

static int begin_client(struct sennit_tls *t, const char *host)
{
	const uint32_t flags = sn_tls_flags(SSL_get_SSL_CTX(t->ssl));
	const size_t   size = strlen(host);

	if (!size || size > TLSEXT_MAXLEN_host_name)
		return -EINVAL;
	free(t->host);
	t->host = strdup(host);
	if (!t->host)
		return -ENOMEM;
	SSL_set_connect_state(t->ssl);
	ERR_clear_error();
	if (!set_host(t->ssl, host))
		return -ENOMEM;
	SSL_set_verify(t->ssl,
		       flags & SENNIT_TLS_TRUST_ALL ? SSL_VERIFY_NONE
						    : SSL_VERIFY_PEER,
		       NULL);
	sn_tls_session_resume(t->ssl, host);
	t->begun = true;
	return 0;
}

int sennit_tls_connect(sennit_tls *t, const char *host, sennit_time deadline)
{
	int err = 0;

	begin_handshake(t, "sennit_tls_connect", false);
	if (!t->begun)
		err = begin_client(t, host);
	if (err)
		return refuse(t, err);
	return KEEP_FRAME(handshake(t, "sennit_tls_connect", deadline));
}

/* --- bytes ---------------------------------------------------------------- */

static int write_some(SSL *ssl, void *bytes, size_t size, size_t *done)
{
	return SSL_write_ex(ssl, bytes, size, done);
}

/* Once: a second SSL_shutdown() would read. */
static int send_close_notify(SSL *ssl, void *bytes, size_t size, size_t *done)
{
	int result = 0;

	(void)bytes, (void)size, (void)done;
	if (!(SSL_get_shutdown(ssl) & SSL_SENT_SHUTDOWN))
		result = SSL_shutdown(ssl);
	return result < 0 ? result : 1;
}

ptrdiff_t sennit_tls_read(sennit_tls *t, void *to, size_t size,
			  sennit_time deadline)
{
	const struct call c = { "sennit_tls_read", READING, read_some, to,
				size };

	return size ? perform(t, &c, deadline) : 0;
}

ptrdiff_t sennit_tls_write(sennit_tls *t, const void *from, size_t size,
			   sennit_time deadline)
{
	const struct call c = { "sennit_tls_write", WRITING, write_some,
				(void *)(uintptr_t)from, size };

	if (t->closed)
		return -EPIPE;
	return size ? perform(t, &c, deadline) : 0;
}

int sennit_tls_write_all(sennit_tls *t, const void *from, size_t size,
			 size_t *done, sennit_time deadline)
{
	size_t none = 0;

	if (!done)
		done = &none;
	if (*done > size)
		misuse("sennit_tls_write_all", "*done is more than size");
	while (*done < size) {
		ptrdiff_t n = sennit_tls_write(t, (const char *)from + *done,
					       size - *done, deadline);

		if (n < 0)
			return (int)n;
		*done += (size_t)n;
	}
	return 0;
}

static ptrdiff_t read_source(void *tls, void *to, size_t size,
			     sennit_time deadline)
{
	return sennit_tls_read(tls, to, size, deadline);
}

void sennit_reader_init_tls(struct sennit_reader *reader, sennit_tls *t,
			    void *memory, size_t size)
{
	sennit_reader_init_source(reader, read_source, t, memory, size);
}

int sennit_tls_close(sennit_tls *t, sennit_time deadline)
{
	const struct call c = { .name = "sennit_tls_close",
				.use = WRITING,
				.run = send_close_notify };

	t->closed = true;
	return (int)perform(t, &c, deadline);
}

/* --- connections ---------------------------------------------------------- */

static int check(int fd)
{
	int       type = 0;
	socklen_t size = sizeof(type);

	if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size))
		return -errno;
	return type == SOCK_STREAM ? 0 : -EPROTOTYPE;
}

int sennit_tls_open(sennit_tls **out, sennit_tls_context *context, int fd)
{
	int         err = check(fd);
	sennit_tls *t = err ? NULL : calloc(1, sizeof(*t));
	SSL_CTX    *c;

	if (!t)
		return err ? err : -ENOMEM;
	t->fd = fd;
	c = sn_tls_context_take(context);
	t->ssl = SSL_new(c);
	SSL_CTX_free(c);
	if (!t->ssl || !attach(t)) {
		sennit_tls_free(t);
		ERR_clear_error();
		return -ENOMEM;
	}
	*out = t;
	return 0;
}

void sennit_tls_free(sennit_tls *t)
{
	if (!t)
		return;
	if (t->in_use)
		misuse("sennit_tls_free", "a call uses the connection");
	/* Else OpenSSL would not resume the session: a rule of TLS 1.0 against
	 * connections that were cut off. */
	if (t->ready && !t->over)
		SSL_set_shutdown(t->ssl,
				 SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
	SSL_free(t->ssl);
	drop(&t->in);
	drop(&t->out);
	free(t->host);
	free(t->protocol);
	free(t);
}

const char *sennit_tls_error(sennit_tls *t)
{
	const char *why;

	sennit_mutex_lock(&t->lock);
	why = t->why;
	sennit_mutex_unlock(&t->lock);
	return why;
}

const char *sennit_tls_alpn(const sennit_tls *t)
{
	return t->protocol;
}

struct ssl_st *sennit_tls_openssl(sennit_tls *t)
{
	return t->ssl;
}

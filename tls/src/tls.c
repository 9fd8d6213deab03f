/* SPDX-License-Identifier: Apache-2.0 */
/* tls.c - a connection: OpenSSL on one side, a socket on the other.
 *
 *	     read, write            bio_read, bio_write
 *	fiber ------------> OpenSSL <---------------> socket
 *	  waits here                    never waits
 *
 * A call locks the connection, runs OpenSSL, unlocks, and waits for the socket
 * without the lock. So a reader and a writer can work at the same time. No
 * fiber switch happens inside OpenSSL: it holds thread locks there, and its
 * error queue belongs to the thread. The queue is cleared before each call of
 * OpenSSL and read after it, and no other fiber of the worker runs in between.
 *
 * bio_read() and bio_write() are OpenSSL's access to the socket. Bytes that the
 * socket does not accept stay in `out`, and bio_write() reports them as sent.
 * Otherwise OpenSSL would have to repeat a partly sent record, and would
 * require the same bytes from its caller again. So a write that ends early has
 * either written nothing or returns the number of bytes written. Each call,
 * also one that reads, first sends `out`.
 *
 * Turns: after about SENNIT_TLS_TURN records bio_read() reports that there are
 * no bytes, as if the socket were empty. Without this, SSL_read() would not
 * return while the peer keeps sending records without data, and no other fiber
 * would run.
 */
#include "tls.h"

#include "base/compiler.h"
#include "base/library_misuse.h"
#include "sennit/event.h"
#include "sennit/fiber.h"
#include "sennit/group.h"
#include "sennit/io.h"
#include "sennit/mutex.h"
#include "sennit/reader.h"
#include "sennit/scheduler.h"
#include "sennit/select.h"
#include "sennit/semaphore.h"
#include "sennit/socket_option.h"
#include "sennit/task.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* The size in bytes of a record with its header and the largest expansion. */
#define AHEAD 16896

/* If `out` has this many bytes or more, bio_write() accepts none. OpenSSL then
 * cannot answer, and reads no record that may need an answer. */
#define OUT_MAX 65536

/* The uses of a connection. Those that share no bit may happen at the same
 * time. */
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
	struct bytes in;  /* received, not yet read by OpenSSL */
	struct bytes out; /* not yet sent; OpenSSL considers it sent */
	int          receive_error; /* the error of recv(), or 0 */
	int          send_error;    /* the error of send(), or 0 */
	int          over;          /* 0, or the error that all calls return */
	const char  *why;
	bool         ended;  /* recv() has returned 0 */
	bool         spent;  /* the turn ended before all bytes were read */
	bool         closed; /* sennit_tls_shutdown() was called */
	bool         handed; /* send_rest_task() uses the connection, too */
	bool         freed;  /* by its owner: send_rest_task() frees it */
	sennit_event free_;  /* set with `freed` */
	/* Written during the handshake, fixed afterwards: */
	bool  begun, ready;
	char *host;     /* of a client: the server's name */
	char *protocol; /* by ALPN, or NULL */
};

/* --- turns ---------------------------------------------------------------- */

/* The reads for one record: one for its header and one for its body. */
#define RECORD 2

/* The reads that this thread may do before its other fibers run. */
static _Thread_local int reads_left = SENNIT_TLS_TURN * RECORD;

static void yield_and_begin_turn(void)
{
	reads_left = SENNIT_TLS_TURN * RECORD;
	sennit_yield();
}

/* A semaphore of one permit per thread for handshake steps. A fiber keeps the
 * permit while it yields after its step, so other fibers run between two steps.
 * First come, first served. */
static _Thread_local struct {
	sennit_semaphore free;
	bool             made;
} handshake_steps;

static int begin_handshake_step(sennit_time deadline)
{
	if (!handshake_steps.made) {
		sennit_semaphore_init(&handshake_steps.free, 1);
		handshake_steps.made = true;
	}
	return sennit_semaphore_acquire_until(&handshake_steps.free, 1,
					      deadline);
}

static void end_handshake_step(void)
{
	yield_and_begin_turn();
	sennit_semaphore_release(&handshake_steps.free, 1);
}

/* --- the socket ----------------------------------------------------------- */

static void free_bytes(struct bytes *b)
{
	free(b->at);
	*b = (struct bytes){ NULL, 0, 0, 0 };
}

static ptrdiff_t receive_without_waiting(struct sennit_tls *t, void *to,
					 size_t size)
{
	ssize_t n;

	do
		n = recv(t->fd, to, size, MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	t->ended = n == 0;
	if (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK)
		t->receive_error = -errno;
	return n;
}

static ptrdiff_t send_without_waiting(struct sennit_tls *t, const void *from,
				      size_t size)
{
	ssize_t n;

	do
		n = send(t->fd, from, size, MSG_DONTWAIT | MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	if (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK)
		t->send_error = -errno;
	return n < 0 ? 0 : n;
}

/* Send the bytes of `out`, as far as the socket accepts them. */
static void send_buffered(struct sennit_tls *t)
{
	struct bytes *o = &t->out;

	if (o->from < o->to)
		o->from += (size_t)send_without_waiting(t, o->at + o->from,
							o->to - o->from);
	if (t->send_error || o->from == o->to)
		free_bytes(o);
}

static bool is_all_sent(const struct sennit_tls *t)
{
	return t->out.from == t->out.to;
}

/* Receive up to one record into `in`, for the next reads of OpenSSL. An idle
 * connection has no buffer. */
static ptrdiff_t receive_ahead(struct sennit_tls *t)
{
	struct bytes *in = &t->in;
	ptrdiff_t     n;

	if (!in->at)
		in->at = malloc(AHEAD);
	if (!in->at)
		return -1;
	n = receive_without_waiting(t, in->at, AHEAD);
	in->from = 0;
	in->to = n > 0 ? (size_t)n : 0;
	if (n <= 0)
		free_bytes(in);
	return n;
}

static int take_received(struct sennit_tls *t, char *to, size_t size)
{
	struct bytes *in = &t->in;
	ptrdiff_t     n = 1;

	if (in->from == in->to) {
		if (size >= AHEAD / 2)
			return (int)receive_without_waiting(t, to, size);
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

/* --- called by OpenSSL ---------------------------------------------------- */

static int bio_read(BIO *bio, char *to, int size)
{
	struct sennit_tls *t = BIO_get_data(bio);
	int                n;

	BIO_clear_retry_flags(bio);
	if (reads_left <= 0) {
		t->spent = true;
		BIO_set_retry_read(bio);
		return -1;
	}
	n = take_received(t, to, (size_t)size);
	if (n > 0)
		reads_left--;
	else if (n < 0 && !t->receive_error)
		BIO_set_retry_read(bio);
	return n;
}

static bool reserve_bytes(struct bytes *b, size_t size)
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

/* After an error of send(), bytes are dropped, and calls that write return the
 * error. OpenSSL can still read: the peer may have answered before. */
static int bio_write(BIO *bio, const char *from, int size)
{
	struct sennit_tls *t = BIO_get_data(bio);
	size_t             sent = 0;
	size_t             rest;

	BIO_clear_retry_flags(bio);
	if (t->out.to - t->out.from >= OUT_MAX) {
		BIO_set_retry_write(bio);
		return -1;
	}
	if (is_all_sent(t) && !t->send_error)
		sent = (size_t)send_without_waiting(t, from, (size_t)size);
	rest = (size_t)size - sent;
	if (t->send_error || !rest)
		return size;
	if (reserve_bytes(&t->out, rest)) {
		memcpy(t->out.at + t->out.to, from + sent, rest);
		t->out.to += rest;
	} else {
		t->send_error = -ENOMEM;
		free_bytes(&t->out);
	}
	return size;
}

static long bio_control(BIO *bio, int command, long number, void *pointer)
{
	const struct sennit_tls *t = BIO_get_data(bio);

	(void)number, (void)pointer;
	if (command == BIO_CTRL_EOF)
		return t->ended;
	return command == BIO_CTRL_FLUSH;
}

static BIO_METHOD *method; /* fixed after make_bio_method(); NULL: no memory */

static void make_bio_method(void)
{
	method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK,
			      "sennit");
	if (!method)
		return;
	BIO_meth_set_read(method, bio_read);
	BIO_meth_set_write(method, bio_write);
	BIO_meth_set_ctrl(method, bio_control);
}

static bool attach_bio(struct sennit_tls *t)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	BIO                  *bio;

	pthread_once(&once, make_bio_method);
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

/* The result of a call that must wait for the socket and then be repeated. */
#define AGAIN PTRDIFF_MIN

/* A call of OpenSSL that is made under the lock. `run` returns OpenSSL's
 * result, and sets *done on success. */
struct call {
	const char *name;
	enum use    use;
	int (*run)(SSL *ssl, void *bytes, size_t size, size_t *done);
	void  *bytes;
	size_t size;
};

static ptrdiff_t end_connection_with(struct sennit_tls *t, int err,
				     const char *why)
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

/* Convert a fatal error of OpenSSL to a negative errno, and end the
 * connection. */
static ptrdiff_t fail_by_ssl_error(struct sennit_tls *t)
{
	const unsigned long e = ERR_peek_error();

	if (t->receive_error)
		return end_connection_with(t, t->receive_error, NULL);
	if (!e || is_of_ssl(e, SSL_R_UNEXPECTED_EOF_WHILE_READING))
		return end_connection_with(
			t, -ECONNABORTED,
			t->ended ? "ended without close_notify"
				 : "ended by the peer");
	if (ERR_GET_REASON(e) == ERR_R_MALLOC_FAILURE)
		return end_connection_with(t, -ENOMEM, NULL);
	if (is_of_ssl(e, SSL_R_CERTIFICATE_VERIFY_FAILED))
		return end_connection_with(
			t, -EKEYREJECTED,
			X509_verify_cert_error_string(
				SSL_get_verify_result(t->ssl)));
	if (is_of_ssl(e, SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE))
		return end_connection_with(t, -EKEYREJECTED,
					   ERR_reason_error_string(e));
	return end_connection_with(t, -EPROTO, ERR_reason_error_string(e));
}

static int read_some(SSL *ssl, void *bytes, size_t size, size_t *done)
{
	return SSL_read_ex(ssl, bytes, size, done);
}

/* The same without taking the bytes. */
static int peek_some(SSL *ssl, void *bytes, size_t size, size_t *done)
{
	return SSL_peek_ex(ssl, bytes, size, done);
}

/* Make one call of OpenSSL. Nothing is written while `out` has bytes, so `out`
 * has room for everything that one write produces. */
static ptrdiff_t run_ssl_call(struct sennit_tls *t, const struct call *c)
{
	size_t done = 0;
	int    result, why;

	send_buffered(t);
	if (t->over)
		return t->over;
	if (c->use == WRITING && (t->send_error || !is_all_sent(t)))
		return t->send_error ? t->send_error : AGAIN;
	t->spent = false;
	ERR_clear_error();
	result = c->run(t->ssl, c->bytes, c->size, &done);
	why = SSL_get_error(t->ssl, result);
	if (why == SSL_ERROR_NONE)
		return (ptrdiff_t)done;
	if (why == SSL_ERROR_ZERO_RETURN &&
	    (c->run == read_some || c->run == peek_some))
		return 0;
	if (why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE)
		return AGAIN;
	return fail_by_ssl_error(t);
}

/* The events that the call must wait for. Called under the lock. */
static short awaited_events(const struct sennit_tls *t, const struct call *c)
{
	const bool stuck = t->out.to - t->out.from >= OUT_MAX;

	if (is_all_sent(t))
		return POLLIN;
	return c->use == WRITING || stuck ? POLLOUT : POLLIN | POLLOUT;
}

/* Wait for events. If there are none, the turn has ended, and received bytes
 * are available. A peer that sends only records without data passes only here,
 * so the deadline and the cancellation are checked here as well. */
static int wait_for_socket(int fd, short events, sennit_time deadline)
{
	int n;

	if (events) {
		n = sennit_poll(fd, events, deadline);
		return n < 0 ? n : 0;
	}
	yield_and_begin_turn();
	if (sennit_now() >= deadline)
		return -ETIMEDOUT;
	return deadline == SENNIT_UNCANCELLED ? 0 : sennit_check_cancelled();
}

static void begin_use(struct sennit_tls *t, const char *call, enum use use)
{
	sennit_mutex_lock(&t->lock);
	if (t->in_use & (unsigned)use)
		sn_library_misuse(call,
				  "another fiber is using the connection");
	t->in_use |= (unsigned)use;
}

static void end_use(struct sennit_tls *t, enum use use)
{
	t->in_use &= ~(unsigned)use;
	sennit_mutex_unlock(&t->lock);
}

/* Unlock, wait, and lock again. */
static int wait_unlocked(struct sennit_tls *t, short events,
			 sennit_time deadline)
{
	int err;

	sennit_mutex_unlock(&t->lock);
	err = wait_for_socket(t->fd, events, deadline);
	sennit_mutex_lock(&t->lock);
	return err;
}

/* Send what OpenSSL has written, and wait for that until the deadline. */
static int wait_until_sent(struct sennit_tls *t, sennit_time deadline)
{
	int err = 0;

	send_buffered(t);
	while (!is_all_sent(t) && !err) {
		err = wait_unlocked(t, POLLOUT, deadline);
		send_buffered(t);
	}
	return t->send_error ? t->send_error : err;
}

static void free_connection(struct sennit_tls *t)
{
	SSL_free(t->ssl);
	free_bytes(&t->in);
	free_bytes(&t->out);
	free(t->host);
	free(t->protocol);
	free(t);
}

/* Wait without the lock until the socket is writable. Returns whether there may
 * be bytes left to send. After the connection was freed, the number of its
 * socket may be in use for another one. */
static bool wait_to_send(struct sennit_tls *t)
{
	sennit_case cases[] = { sennit_case_writable(t->fd),
				sennit_case_event(&t->free_) };
	size_t      which;
	int         err;

	sennit_mutex_unlock(&t->lock);
	err = sennit_select_until(cases, 2, &which, SENNIT_UNCANCELLED);
	sennit_mutex_lock(&t->lock);
	return !err && !t->freed && cases[0].result >= 0;
}

/* A task that sends the rest of a write that has ended, while a reader waits
 * only for bytes to receive. */
static void send_rest_task(void *tls)
{
	struct sennit_tls *t = tls;
	bool               is_ours;

	sennit_mutex_lock(&t->lock);
	if (!t->freed)
		send_buffered(t);
	while (!is_all_sent(t) && wait_to_send(t))
		send_buffered(t);
	t->handed = false;
	is_ours = t->freed;
	sennit_mutex_unlock(&t->lock);
	if (is_ours)
		free_connection(t);
}

/* The write ends before everything is sent. If a reader waits, start a task
 * that sends the rest: the reader does not wait for room in the socket, and
 * there may be no further write. If there is no memory for the task, or no
 * reader, the next call sends the rest. */
static void start_send_task(struct sennit_tls *t)
{
	if (is_all_sent(t) || t->handed || !(t->in_use & READING) ||
	    !sennit_scheduler_current())
		return;
	t->handed = !sennit_schedule(send_rest_task, t);
}

/* Called after OpenSSL accepted n bytes; 0: close_notify. */
static ptrdiff_t finish_writing(struct sennit_tls *t, ptrdiff_t n,
				sennit_time deadline)
{
	int err = wait_until_sent(t, deadline);

	start_send_task(t);
	return t->send_error || !n ? err : n;
}

/* Whether the turn ended before OpenSSL read all received bytes. The socket
 * does not report these bytes again, so OpenSSL must process them even if the
 * call ends with an error. No more are received then. */
static bool has_unprocessed_bytes(const struct sennit_tls *t)
{
	return t->spent && t->in.from != t->in.to;
}

static ptrdiff_t perform_ssl_call(struct sennit_tls *t, const struct call *c,
				  sennit_time deadline)
{
	ptrdiff_t n;
	int       err = 0;

	begin_use(t, c->name, c->use);
	if (!t->ready)
		sn_library_misuse(c->name, "the handshake is not complete");
	while ((n = run_ssl_call(t, c)) == AGAIN &&
	       (!err || has_unprocessed_bytes(t)))
		err = wait_unlocked(t, t->spent ? 0 : awaited_events(t, c),
				    deadline);
	if (n >= 0 && c->use == WRITING)
		n = finish_writing(t, n, deadline);
	end_use(t, c->use);
	if (c->use == WRITING)
		reads_left -= RECORD;
	if (reads_left <= 0)
		yield_and_begin_turn();
	return n == AGAIN ? err : n;
}

/* --- handshakes ----------------------------------------------------------- */

static int do_ssl_handshake(SSL *ssl, void *bytes, size_t size, size_t *done)
{
	(void)bytes, (void)size, (void)done;
	return SSL_do_handshake(ssl);
}

static int store_alpn_protocol(struct sennit_tls *t)
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

		err = begin_handshake_step(deadline);
		if (err)
			return err;
		n = run_ssl_call(t, c);
		events = t->spent ? 0 : awaited_events(t, c);
		end_handshake_step();
		if (n != AGAIN)
			break;
		err = wait_for_socket(t->fd, events, deadline);
		if (err)
			return err;
	}
	return n;
}

/* No other call may use the connection now, so the lock need not be held. */
static int complete_handshake(struct sennit_tls *t, const char *name,
			      sennit_time deadline)
{
	const struct call c = { .name = name,
				.use = READING,
				.run = do_ssl_handshake };
	ptrdiff_t         n = shake_hands(t, &c, deadline);

	if (!n)
		n = store_alpn_protocol(t);
	sennit_mutex_lock(&t->lock);
	if (!n) {
		t->ready = true;
		(void)wait_until_sent(t, deadline); /* else later calls send
						     * it */
	}
	end_use(t, ALONE);
	return (int)n;
}

static void begin_handshake(struct sennit_tls *t, const char *call, bool server)
{
	begin_use(t, call, ALONE);
	if (t->ready)
		sn_library_misuse(call, "the handshake is already complete");
	if (t->begun && SSL_is_server(t->ssl) != server)
		sn_library_misuse(call,
				  "the handshake was begun as the other side");
	sennit_mutex_unlock(&t->lock);
}

static int end_refused_handshake(struct sennit_tls *t, int err)
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
		return end_refused_handshake(t, -EINVAL);
	if (!t->begun)
		begin_server(t);
	return KEEP_FRAME(complete_handshake(t, "sennit_tls_accept", deadline));
}

/* Set the name or the address that the server's certificate must have. SNI has
 * no addresses, so only a name is sent. */
static bool set_expected_host(SSL *ssl, const char *host)
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

	/* OpenSSL accepts any subdomain of x for ".x". */
	if (!size || size > TLSEXT_MAXLEN_host_name || *host == '.')
		return -EINVAL;
	free(t->host);
	t->host = strdup(host);
	if (!t->host)
		return -ENOMEM;
	SSL_set_connect_state(t->ssl);
	ERR_clear_error();
	if (!set_expected_host(t->ssl, host))
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
		return end_refused_handshake(t, err);
	return KEEP_FRAME(
		complete_handshake(t, "sennit_tls_connect", deadline));
}

/* --- bytes ---------------------------------------------------------------- */

static int write_some(SSL *ssl, void *bytes, size_t size, size_t *done)
{
	return SSL_write_ex(ssl, bytes, size, done);
}

/* Send it once only: a second SSL_shutdown() would read. */
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

	return size ? perform_ssl_call(t, &c, deadline) : 0;
}

int sennit_tls_wait_readable(sennit_tls *t, sennit_time deadline)
{
	char              byte;
	const struct call c = { "sennit_tls_wait_readable", READING, peek_some,
				&byte, 1 };
	const ptrdiff_t   n = perform_ssl_call(t, &c, deadline);

	return n < 0 ? (int)n : 0;
}

/* If nothing was received ahead, the next byte makes the descriptor readable.
 * Bytes of a record that is not complete are with OpenSSL already. */
sennit_case sennit_case_tls(sennit_tls *t)
{
	return sennit_tls_wait_readable(t, 0) == -ETIMEDOUT
		       ? sennit_case_readable(t->fd)
		       : sennit_case_deadline(0);
}

ptrdiff_t sennit_tls_write(sennit_tls *t, const void *from, size_t size,
			   sennit_time deadline)
{
	const struct call c = { "sennit_tls_write", WRITING, write_some,
				(void *)(uintptr_t)from, size };

	if (t->closed)
		return -EPIPE;
	return size ? perform_ssl_call(t, &c, deadline) : 0;
}

int sennit_tls_write_all(sennit_tls *t, const void *from, size_t size,
			 size_t *done, sennit_time deadline)
{
	size_t none = 0;

	if (!done)
		done = &none;
	if (*done > size)
		sn_library_misuse("sennit_tls_write_all",
				  "*done is more than size");
	while (*done < size) {
		ptrdiff_t n = sennit_tls_write(t, (const char *)from + *done,
					       size - *done, deadline);

		if (n < 0)
			return (int)n;
		*done += (size_t)n;
	}
	return 0;
}

static ptrdiff_t read_for_reader(void *tls, void *to, size_t size,
				 sennit_time deadline)
{
	return sennit_tls_read(tls, to, size, deadline);
}

void sennit_reader_init_tls(struct sennit_reader *reader, sennit_tls *t,
			    void *memory, size_t size)
{
	sennit_reader_init_source(reader, read_for_reader, t, memory, size);
}

int sennit_tls_shutdown(sennit_tls *t, sennit_time deadline)
{
	const struct call c = { .name = "sennit_tls_shutdown",
				.use = WRITING,
				.run = send_close_notify };

	t->closed = true;
	return (int)perform_ssl_call(t, &c, deadline);
}

/* --- connections ---------------------------------------------------------- */

static int check_tls_socket(int fd)
{
	int       type = 0;
	socklen_t size = sizeof(type);

	if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size))
		return -errno;
	return type == SOCK_STREAM ? 0 : -EPROTOTYPE;
}

/* Set TCP_NODELAY, because the socket may come from another library. A server's
 * handshake ends with session tickets (TLS 1.3). Without the option its first
 * answer would wait until the client has acknowledged the tickets, about 40 ms.
 * For a socket of another family the call fails, which is ignored. */
static void set_nodelay(int fd)
{
	(void)!sennit_socket_set(fd, SENNIT_SOCKET_NO_DELAY, 1);
}

int sennit_tls_create(sennit_tls **out, sennit_tls_context *context, int fd)
{
	int         err = check_tls_socket(fd);
	sennit_tls *t = err ? NULL : calloc(1, sizeof(*t));
	SSL_CTX    *c;

	if (!t)
		return err ? err : -ENOMEM;
	t->fd = fd;
	set_nodelay(fd);
	c = sn_tls_context_take(context);
	t->ssl = SSL_new(c);
	SSL_CTX_free(c);
	if (!t->ssl || !attach_bio(t)) {
		sennit_tls_destroy(t);
		ERR_clear_error();
		return -ENOMEM;
	}
	*out = t;
	return 0;
}

void sennit_tls_destroy(sennit_tls *t)
{
	bool handed;

	if (!t)
		return;
	sennit_mutex_lock(&t->lock);
	if (t->in_use)
		sn_library_misuse("sennit_tls_destroy",
				  "another call is using the connection");
	/* Otherwise OpenSSL would not resume the session. This is a rule of TLS
	 * 1.0 against truncated connections. */
	if (t->ready && !t->over)
		SSL_set_shutdown(t->ssl,
				 SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
	handed = t->handed;
	t->freed = true;
	if (handed)
		sennit_event_set(&t->free_);
	sennit_mutex_unlock(&t->lock);
	if (!handed)
		free_connection(t);
}

const char *sennit_tls_error(const sennit_tls *tls)
{
	sennit_tls *t = (sennit_tls *)(uintptr_t)tls; /* for the lock */
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

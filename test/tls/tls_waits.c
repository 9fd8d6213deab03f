/* SPDX-License-Identifier: Apache-2.0 */
/* tls_waits.c - deadlines, cancelled groups, and both directions at once. What
 * was given up can be done again, and no byte is lost. */
#include "ends.h"

#include "../random.h"

/* The byte at this place of what is sent. */
static unsigned char byte_at(size_t place)
{
	return (unsigned char)((place * 2654435761u) >> 13);
}

static void fill_from(unsigned char *bytes, size_t size, size_t place)
{
	for (size_t i = 0; i < size; i++)
		bytes[i] = byte_at(place + i);
}

static bool continues_at(const unsigned char *bytes, size_t size, size_t place)
{
	for (size_t i = 0; i < size; i++)
		if (bytes[i] != byte_at(place + i))
			return false;
	return true;
}

static void narrow(int fd)
{
	const int size = 4096;

	must(!setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size)),
	     "SO_SNDBUF");
}

/* --- giving up ------------------------------------------------------------ */

static void give_up_and_repeat(void *argument)
{
	struct ends e;
	char        b[8];

	(void)argument;
	open_ends(&e, NULL, NULL);
	EXPECT(sennit_tls_accept(e.server, 0) == -ETIMEDOUT);
	EXPECT(sennit_tls_accept(e.server, in_ms(2)) == -ETIMEDOUT);
	EXPECT(sennit_tls_connect(e.client, "localhost", 0) == -ETIMEDOUT);
	EXPECT(sennit_tls_connect(e.client, "localhost", in_ms(2)) ==
	       -ETIMEDOUT);
	EXPECT(sennit_tls_error(e.client) == NULL);
	EXPECT(sennit_tls_accept(e.server, 0) == -ETIMEDOUT); /* its flight */
	EXPECT(sennit_tls_connect(e.client, "localhost", 0) == 0);
	EXPECT(sennit_tls_accept(e.server, 0) == 0);
	EXPECT(sennit_tls_read(e.server, b, 8, 0) == -ETIMEDOUT);
	EXPECT(sennit_tls_read(e.server, b, 8, in_ms(2)) == -ETIMEDOUT);
	EXPECT(sennit_tls_write(e.client, "late", 4, 0) == 4);
	EXPECT(sennit_tls_read(e.server, b, 8, 0) == 4);
	close_ends(&e);
}

TEST_WITH_WORKERS(what_timed_out_can_be_repeated)
{
	(void)w;
	in_each_place(give_up_and_repeat, NULL);
}

struct member {
	struct ends *e;
	int (*call)(struct ends *e);
	int result;
};

static int do_accept(struct ends *e)
{
	return sennit_tls_accept(e->server, SENNIT_NEVER);
}

static int do_read(struct ends *e)
{
	char b;

	return (int)sennit_tls_read(e->server, &b, 1, SENNIT_NEVER);
}

static int do_write_all(struct ends *e)
{
	static const char bytes[1 << 20];
	size_t            done = 0;

	return sennit_tls_write_all(e->server, bytes, sizeof(bytes), &done,
				    SENNIT_NEVER);
}

static int run_member(void *argument)
{
	struct member *m = argument;

	m->result = m->call(m->e);
	return 0;
}

static void cancel_one(const struct world *w, struct ends *e,
		       int (*call)(struct ends *e))
{
	struct member m = { e, call, 0 };
	sennit_group  g;

	sennit_group_init(&g, SENNIT_NEVER, 0);
	assert_int_equal(sennit_group_spawn(&g, run_member, &m), 0);
	assert_soon(io_waits(w->s) == 1);
	sennit_group_cancel(&g);
	assert_int_equal(sennit_group_wait(&g), -ECANCELED);
	assert_int_equal(m.result, -ECANCELED);
	sennit_group_init(&g, in_ms(2), 0); /* by its deadline */
	assert_int_equal(sennit_group_spawn(&g, run_member, &m), 0);
	(void)sennit_group_wait(&g);
	assert_int_equal(m.result, -ETIMEDOUT);
}

TEST_WITH_WORKERS(a_cancelled_call_can_be_repeated)
{
	struct ends e;
	char        b[64];
	ptrdiff_t   n;

	open_ends(&e, NULL, NULL);
	cancel_one(w, &e, do_accept);
	shake_hands(&e);
	assert_int_equal(e.accepted, 0);
	cancel_one(w, &e, do_read);
	assert_int_equal(sennit_tls_write(e.client, "x", 1, LONG_ENOUGH), 1);
	assert_int_equal(do_read(&e), 1);
	cancel_one(w, &e, do_write_all);
	while ((n = sennit_tls_read(e.client, b, sizeof(b), 0)) > 0)
		;
	assert_int_equal(n, -ETIMEDOUT); /* nothing is broken */
	close_ends(&e);
}

/* The socket is full, and a part of a record stays with the connection. The
 * next call takes it along, whichever it is. */
static void fill_up(void *argument)
{
	static unsigned char bytes[16384];
	struct ends          e;
	size_t               sent = 0, come = 0;
	bool                 reads = false;
	ptrdiff_t            n;

	(void)argument;
	open_shaken(&e);
	narrow(e.fds[1]);
	do {
		fill_from(bytes, sizeof(bytes), sent);
		n = sennit_tls_write(e.client, bytes, sizeof(bytes), 0);
		sent += n > 0 ? (size_t)n : 0;
	} while (n > 0);
	EXPECT(n == -ETIMEDOUT);
	EXPECT(sennit_tls_close(e.client, 0) == -ETIMEDOUT);
	while ((n = sennit_tls_read(e.server, bytes, 1000, 0)) > 0 ||
	       n == -ETIMEDOUT) {
		if (n > 0) {
			EXPECT(continues_at(bytes, (size_t)n, come));
			come += (size_t)n;
			continue;
		}
		reads = !reads; /* any call will do */
		if (reads)
			EXPECT(sennit_tls_read(e.client, bytes, 1, 0) ==
			       -ETIMEDOUT);
		else
			(void)sennit_tls_close(e.client, 0);
	}
	EXPECT(n == 0);
	EXPECT(come == sent);
	close_ends(&e);
}

TEST_WITH_WORKERS(what_the_socket_did_not_take_is_sent_by_the_next_call)
{
	(void)w;
	in_each_place(fill_up, NULL);
}

/* --- both directions, with interruptions ---------------------------------- */

struct flow {
	sennit_tls *from, *to;
	size_t      size;
	uint64_t    stream;
	atomic_uint gave_up; /* calls that ended with -ETIMEDOUT, -ECANCELED */
};

struct step {
	sennit_tls    *tls;
	unsigned char *bytes;
	size_t         size;
	bool           writes;
	ptrdiff_t      n;
	sennit_time    deadline;
};

static int take_step(void *argument)
{
	struct step *s = argument;

	s->n = s->writes ? sennit_tls_write(s->tls, s->bytes, s->size,
					    s->deadline)
			 : sennit_tls_read(s->tls, s->bytes, s->size,
					   s->deadline);
	return 0;
}

/* In a group that is cancelled, or has a deadline, or with a deadline of its
 * own. Not the last one: nobody would come for what it leaves. */
static ptrdiff_t interrupted(struct step *s, uint64_t *r, bool last)
{
	const uint32_t way = last ? 3 : random_below(r, 8);
	sennit_group   g;

	s->deadline = SENNIT_NEVER;
	if (way < 4) {
		s->deadline = way == 0   ? 0
			      : way == 1 ? sennit_after(20000)
					 : LONG_ENOUGH;
		take_step(s);
		return s->n;
	}
	s->n = -ECANCELED;
	sennit_group_init(&g, way == 4 ? sennit_after(30000) : SENNIT_NEVER, 0);
	EXPECT(!sennit_group_spawn(&g, take_step, s));
	if (way == 5)
		sennit_group_cancel(&g);
	(void)sennit_group_wait(&g);
	return s->n;
}

static int pass(struct flow *f, bool writes)
{
	static const size_t sizes[] = { 1, 100, 5000, 16384 };
	unsigned char      *bytes = malloc(16384);
	uint64_t            r = random_stream(f->stream + writes);
	size_t              place = 0;

	must(bytes, "malloc");
	while (place < f->size) {
		struct step s = { .tls = writes ? f->from : f->to,
				  .bytes = bytes,
				  .size = sizes[random_below(&r, 4)],
				  .writes = writes };
		ptrdiff_t   n;

		if (s.size > f->size - place)
			s.size = f->size - place;
		if (writes)
			fill_from(bytes, s.size, place);
		n = interrupted(&s, &r, place + s.size == f->size);
		if (n == -ETIMEDOUT || n == -ECANCELED) {
			f->gave_up++;
			continue;
		}
		EXPECT(n > 0);
		if (n <= 0)
			break;
		EXPECT(writes || continues_at(bytes, (size_t)n, place));
		place += (size_t)n;
	}
	free(bytes);
	return 0;
}

static int pass_in(void *flow)
{
	return pass(flow, true);
}

static int pass_out(void *flow)
{
	return pass(flow, false);
}

TEST_WITH_WORKERS(no_byte_is_lost_in_either_direction)
{
	const size_t size = (size_t)LOAD(400) * 2000;
	struct ends  e;
	sennit_group g;

	(void)w;
	open_shaken(&e);
	narrow(e.fds[0]);
	narrow(e.fds[1]);
	struct flow there = { e.client, e.server, size, 0, 0 };
	struct flow back = { e.server, e.client, size, 2, 0 };

	sennit_group_init(&g, SENNIT_NEVER, 0);
	assert_int_equal(sennit_group_spawn(&g, pass_in, &there), 0);
	assert_int_equal(sennit_group_spawn(&g, pass_out, &there), 0);
	assert_int_equal(sennit_group_spawn(&g, pass_in, &back), 0);
	assert_int_equal(sennit_group_spawn(&g, pass_out, &back), 0);
	assert_int_equal(sennit_group_wait(&g), 0);
	assert_true(there.gave_up + back.gave_up > 0);
	/* What the last writes left with the connections. */
	assert_int_equal(sennit_tls_close(e.client, LONG_ENOUGH), 0);
	close_ends(&e);
}

/* A writer that has returned by its deadline may have left bytes to whoever
 * calls next: a reader. */
static int read_one(void *argument)
{
	struct ends *e = argument;
	char         b;

	EXPECT(sennit_tls_read(e->client, &b, 1, LONG_ENOUGH) == 1);
	return 0;
}

TEST_WITH_WORKERS(a_reader_sends_what_a_writer_left)
{
	static unsigned char bytes[16384];
	struct ends          e;
	sennit_group         g;
	size_t               sent = 0, come = 0;
	ptrdiff_t            n;

	(void)w;
	open_shaken(&e);
	narrow(e.fds[1]);
	while ((n = sennit_tls_write(e.client, bytes, sizeof(bytes), 0)) > 0)
		sent += (size_t)n;
	assert_int_equal(n, -ETIMEDOUT);
	sennit_group_init(&g, SENNIT_NEVER, 0);
	assert_int_equal(sennit_group_spawn(&g, read_one, &e), 0);
	while (come < sent) {
		n = sennit_tls_read(e.server, bytes, sizeof(bytes),
				    LONG_ENOUGH);
		assert_true(n > 0);
		come += (size_t)n;
	}
	assert_int_equal(sennit_tls_write(e.server, "x", 1, LONG_ENOUGH), 1);
	assert_int_equal(sennit_group_wait(&g), 0);
	close_ends(&e);
}

/* --- new keys ------------------------------------------------------------- */

/* The peer by OpenSSL alone, with a socket that blocks: it wants new keys
 * before each of its requests, from both sides. */
static void *ask_with_new_keys(void *argument)
{
	const struct ends *e = argument;
	SSL_CTX           *c = SSL_CTX_new(TLS_client_method());
	SSL               *ssl = SSL_new(c);
	char               b[4];

	SSL_set_fd(ssl, e->fds[1]);
	EXPECT(SSL_connect(ssl) == 1);
	for (int i = 0; i < 100; i++) {
		EXPECT(SSL_key_update(ssl, SSL_KEY_UPDATE_REQUESTED) == 1);
		EXPECT(SSL_write(ssl, "ask", 3) == 3);
		EXPECT(SSL_read(ssl, b, 3) == 3);
	}
	SSL_shutdown(ssl);
	SSL_free(ssl);
	SSL_CTX_free(c);
	return NULL;
}

TEST_WITH_ONE(new_keys_are_agreed_on_meanwhile)
{
	struct ends e;
	pthread_t   t;
	char        b[4];

	(void)w;
	open_ends(&e, NULL, NULL);
	t = must_start_thread(ask_with_new_keys, &e);
	assert_int_equal(sennit_tls_accept(e.server, LONG_ENOUGH), 0);
	for (int i = 0; i < 100; i++) {
		assert_true(read_exactly(e.server, b, 3));
		assert_int_equal(sennit_tls_write(e.server, b, 3, LONG_ENOUGH),
				 3);
	}
	assert_int_equal(sennit_tls_read(e.server, b, 1, LONG_ENOUGH), 0);
	pthread_join(t, NULL);
	close_ends(&e);
}

USES_BACKEND;
USES_CONTEXTS;

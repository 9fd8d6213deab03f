/* SPDX-License-Identifier: Apache-2.0 */
/* tls_waits.c - deadlines, cancelled groups, and both directions at the same
 * time. Calls that ended early can be repeated, and no byte is lost. */
#include "ends.h"

#include "testing/random.h"

/* The byte at this offset of the data that is sent. */
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

/* --- calls that end early ------------------------------------------------- */

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
	EXPECT(sennit_tls_accept(e.server, 0) == -ETIMEDOUT); /* its messages
							       * were sent */
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
	sennit_group_init(&g, in_ms(2), 0); /* by the group's deadline */
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
	assert_int_equal(n, -ETIMEDOUT); /* the connection still works */
	close_ends(&e);
}

/* The socket is full, and a part of a record is left in the connection. The
 * next call, whichever it is, sends it. */
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
	EXPECT(sennit_tls_shutdown(e.client, 0) == -ETIMEDOUT);
	while ((n = sennit_tls_read(e.server, bytes, 1000, 0)) > 0 ||
	       n == -ETIMEDOUT) {
		if (n > 0) {
			EXPECT(continues_at(bytes, (size_t)n, come));
			come += (size_t)n;
			continue;
		}
		reads = !reads; /* any call sends it */
		if (reads)
			EXPECT(sennit_tls_read(e.client, bytes, 1, 0) ==
			       -ETIMEDOUT);
		else
			(void)sennit_tls_shutdown(e.client, 0);
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

/* In a group that is cancelled or has a deadline, or with a deadline of its
 * own. Not for the last call: no later call would send what it leaves. */
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
	/* The rest of the last writes, which the connections still hold. */
	assert_int_equal(sennit_tls_shutdown(e.client, LONG_ENOUGH), 0);
	close_ends(&e);
}

/* A writer that has returned at its deadline may have left bytes, which the
 * next call sends: a read. */
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

struct writing {
	struct ends *e;
	unsigned     way;
	size_t       sent;
};

/* Write until the socket is full and a deadline ends the call. */
static int write_and_leave(void *argument)
{
	static const unsigned char bytes[16384];
	struct writing            *w = argument;
	const sennit_time          deadline = w->way == 0   ? 0
					      : w->way == 1 ? in_ms(5)
							    : SENNIT_NEVER;
	ptrdiff_t                  n;

	while ((n = sennit_tls_write(w->e->client, bytes, sizeof(bytes),
				     deadline)) > 0)
		w->sent += (size_t)n;
	EXPECT(n == -ETIMEDOUT || n == -ECANCELED);
	return 0;
}

/* The write ends by its own deadline, by its group's, or because its group is
 * cancelled. */
static size_t write_and_give_up(const struct world *w, struct ends *e,
				unsigned way)
{
	struct writing me = { e, way, 0 };
	sennit_group   g;

	sennit_group_init(&g, way == 2 ? in_ms(5) : SENNIT_NEVER, 0);
	EXPECT(!sennit_group_spawn(&g, write_and_leave, &me));
	if (way == 3) {
		assert_soon(io_waits(w->s) == 2); /* together with the reader */
		sennit_group_cancel(&g);
	}
	(void)sennit_group_wait(&g);
	return me.sent;
}

/* No call writes any more. */
TEST_WITH_WORKERS(what_a_writer_left_is_sent_beside_a_reader_that_waits)
{
	static unsigned char bytes[16384];

	for (unsigned way = 0; way < 4; way++) {
		struct ends  e;
		sennit_group g;
		size_t       sent, come = 0;
		ptrdiff_t    n = 1;

		open_shaken(&e);
		narrow(e.fds[1]);
		sennit_group_init(&g, SENNIT_NEVER, 0);
		assert_int_equal(sennit_group_spawn(&g, read_one, &e), 0);
		assert_soon(io_waits(w->s) == 1);
		sent = write_and_give_up(w, &e, way);
		assert_true(sent > 0 || way == 2);
		while (come < sent && n > 0) {
			n = sennit_tls_read(e.server, bytes, sizeof(bytes),
					    LONG_ENOUGH);
			come += n > 0 ? (size_t)n : 0;
		}
		assert_int_equal(come, sent);
		assert_int_equal(
			sennit_tls_write(e.server, "x", 1, LONG_ENOUGH), 1);
		assert_int_equal(sennit_group_wait(&g), 0);
		close_ends(&e);
	}
}

/* The peer receives nothing. The rest of the bytes ends with the connection.
 * The socket may then be closed and its number reused. */
TEST_WITH_WORKERS(what_a_writer_left_ends_with_the_connection)
{
	for (unsigned way = 0; way < 4; way++) {
		struct ends  e;
		sennit_group g;

		open_shaken(&e);
		narrow(e.fds[1]);
		sennit_group_init(&g, SENNIT_NEVER, 0);
		assert_int_equal(sennit_group_spawn(&g, read_one, &e), 0);
		assert_soon(io_waits(w->s) == 1);
		assert_true(write_and_give_up(w, &e, way) > 0 || way == 2);
		assert_int_equal(
			sennit_tls_write(e.server, "x", 1, LONG_ENOUGH), 1);
		assert_int_equal(sennit_group_wait(&g), 0);
		if (way % 2)
			assert_soon(io_waits(w->s) == 1); /* the task that
							   * sends */
		close_ends(&e);
	}
	assert_soon(io_waits(w->s) == 0);
}

/* --- received ahead ------------------------------------------------------- */

/* A part of a record contains no data yet: its header arrives before the
 * rest. */
static void send_a_part(struct ends *e)
{
	EXPECT(send(e->fds[0], "\x17\x03\x03\x00\x40", 5, 0) == 5);
}

static void write_records(struct ends *e, int count)
{
	for (int i = 0; i < count; i++)
		EXPECT(sennit_tls_write(e->server, "x", 1, LONG_ENOUGH) == 1);
}

/* Enough records without data for several turns, and then data. */
static void write_new_keys(struct ends *e)
{
	for (int i = 0; i < 30; i++) {
		EXPECT(SSL_key_update(sennit_tls_openssl(e->server),
				      SSL_KEY_UPDATE_NOT_REQUESTED));
		EXPECT(SSL_do_handshake(sennit_tls_openssl(e->server)) == 1);
	}
	write_records(e, 1);
}

/* The actions of the server, and what the client can read then: records of one
 * byte, and how the connection ends. */
static const struct {
	void (*act)(struct ends *e);
	int records, end;
} comings[] = {
	{ NULL, 0, -ETIMEDOUT },
	{ send_a_part, 0, -ETIMEDOUT },
	{ write_new_keys, 1, -ETIMEDOUT },
	{ NULL, 40, -ETIMEDOUT },
	{ NULL, 2, 0 }, /* close_notify */
	{ NULL, 2, -ECONNABORTED },
};

static void come(struct ends *e, size_t i)
{
	if (comings[i].act)
		comings[i].act(e);
	else
		write_records(e, comings[i].records);
	if (!comings[i].end)
		EXPECT(!sennit_tls_shutdown(e->server, LONG_ENOUGH));
	else if (comings[i].end == -ECONNABORTED)
		sennit_shutdown(e->fds[0], SHUT_WR);
}

/* Once the call has reported that there is nothing, the socket reports what
 * arrives. */
static void see_what_comes(void *argument)
{
	static const uint64_t after[] = { 0, 2, 200000 };

	(void)argument;
	for (size_t i = 0; i < 3 * sizeof(comings) / sizeof(comings[0]); i++) {
		const int      records = comings[i / 3].records;
		const int      end = comings[i / 3].end;
		const uint64_t ms = end == -ETIMEDOUT ? 0 : after[i % 3];
		struct ends    e;
		char           b;

		open_shaken(&e);
		come(&e, i / 3);
		for (int n = 0; n < records; n++) {
			EXPECT(!sennit_tls_wait_readable(e.client,
							 ms ? in_ms(ms) : 0));
			EXPECT(sennit_tls_read(e.client, &b, 1, 0) == 1);
		}
		EXPECT(sennit_tls_wait_readable(e.client, ms ? in_ms(ms) : 0) ==
		       end);
		EXPECT(sennit_tls_read(e.client, &b, 1, 0) == end);
		EXPECT(end != -ETIMEDOUT ||
		       sennit_poll(e.fds[1], POLLIN, 0) == -ETIMEDOUT);
		close_ends(&e);
	}
}

TEST_WITH_WORKERS(what_was_received_ahead_is_readable)
{
	(void)w;
	in_each_place(see_what_comes, NULL);
}

/* --- cases of a select ---------------------------------------------------- */

/* Which of two cases can be done now: the connection has something. */
static int select_ended(sennit_tls *tls)
{
	sennit_case cases[] = { sennit_case_tls(tls) };
	size_t      which = 7;

	return sennit_select_until(cases, 1, &which, 0);
}

static void select_what_comes(void *argument)
{
	struct ends e;
	char        b;

	(void)argument;
	open_shaken(&e);
	while (sennit_tls_wait_readable(e.client, 0) == 0)
		EXPECT(sennit_tls_read(e.client, &b, 1, 0) == 1);
	EXPECT(select_ended(e.client) == -ETIMEDOUT);
	write_records(&e, 3);
	for (int i = 0; i < 3; i++) {
		EXPECT(select_ended(e.client) == 0);
		EXPECT(sennit_tls_read(e.client, &b, 1, 0) == 1);
	}
	EXPECT(select_ended(e.client) == -ETIMEDOUT);
	EXPECT(!sennit_tls_shutdown(e.server, LONG_ENOUGH));
	EXPECT(select_ended(e.client) == 0);
	EXPECT(sennit_tls_read(e.client, &b, 1, 0) == 0);
	EXPECT(select_ended(e.client) == 0);
	close_ends(&e);
}

TEST_WITH_WORKERS(what_was_received_ahead_is_a_case_that_can_be_done)
{
	(void)w;
	in_each_place(select_what_comes, NULL);
}

/* --- key updates ---------------------------------------------------------- */

/* A peer that uses OpenSSL directly, with a blocking socket: before each of its
 * requests it asks both sides for new keys. */
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

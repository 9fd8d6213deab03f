/* SPDX-License-Identifier: Apache-2.0 */
/* tls_fair.c - peers that always have something to do do not keep other fibers
 * from running. All fibers of a case are on one worker. The tests count
 * records, signatures and turns, and measure no time. */
#include "ends.h"

#include <signal.h>

/* --- turns ---------------------------------------------------------------- */

/* A fiber that runs as often as the worker lets it, and checks how much the
 * greedy fiber has done since its last turn. */
struct bystander {
	atomic_uint       done; /* by the greedy fiber */
	atomic_bool       over;
	atomic_uint       turns, most;
	sennit_wait_group ended;
};

static void stand_by(void *argument)
{
	struct bystander *b = argument;
	unsigned          before = atomic_load(&b->done);

	while (!atomic_load(&b->over)) {
		unsigned now = atomic_load(&b->done);

		b->turns++;
		if (now - before > b->most)
			b->most = now - before;
		before = now;
		sennit_yield();
	}
	sennit_wait_group_done(&b->ended);
}

/* Run greedy(argument) beside that fiber, on one worker, from inside a task
 * there. */
static void run_beside(struct bystander *b, void greedy(void *), void *argument)
{
	sennit_wait_group_init(&b->ended, 1);
	must_schedule_here(stand_by, b);
	while (!b->turns)
		sennit_yield();
	greedy(argument);
	atomic_store(&b->over, true);
	sennit_wait_group_wait(&b->ended);
}

struct greed {
	struct ends      e;
	struct bystander b;
};

static void open_greed(struct greed *g)
{
	memset(g, 0, sizeof(*g));
	open_shaken(&g->e);
}

/* --- data ----------------------------------------------------------------- */

static void read_all(void *argument)
{
	struct greed *g = argument;
	char          b;

	while (sennit_tls_read(g->e.server, &b, 1, 0) == 1)
		atomic_fetch_add(&g->b.done, 1);
}

static void read_flood(void *argument)
{
	struct greed g;
	unsigned     sent = 0;

	(void)argument;
	open_greed(&g);
	while (sennit_tls_write(g.e.client, "x", 1, 0) == 1)
		sent++;
	run_beside(&g.b, read_all, &g);
	EXPECT(g.b.done + 1 >= sent); /* the last one may be incomplete */
	EXPECT(sent > 5 * SENNIT_TLS_TURN);
	EXPECT(g.b.most <= SENNIT_TLS_TURN);
	EXPECT(g.b.turns >= sent / SENNIT_TLS_TURN);
	close_ends(&g.e);
}

TEST_WITH_ONE(who_always_reads_lets_others_run)
{
	(void)w;
	in_a_task(read_flood, NULL);
}

static void *drop_all(void *argument)
{
	static char b[1 << 16];

	while (recv(((struct ends *)argument)->fds[1], b, sizeof(b), 0) > 0)
		;
	return NULL;
}

static void write_all(void *argument)
{
	static const char b[100];
	struct greed     *g = argument;

	for (int i = 0; i < 2000; i++) {
		EXPECT(sennit_tls_write(g->e.server, b, sizeof(b),
					LONG_ENOUGH) == sizeof(b));
		atomic_fetch_add(&g->b.done, 1);
	}
}

static void write_flood(void *argument)
{
	struct greed g;
	pthread_t    t;

	(void)argument;
	open_greed(&g);
	t = must_start_thread(drop_all, &g.e);
	run_beside(&g.b, write_all, &g);
	EXPECT(g.b.most <= SENNIT_TLS_TURN);
	EXPECT(g.b.turns >= 2000 / SENNIT_TLS_TURN);
	sennit_shutdown(g.e.fds[0], SHUT_RDWR);
	pthread_join(t, NULL);
	close_ends(&g.e);
}

TEST_WITH_ONE(who_always_writes_lets_others_run)
{
	(void)w;
	in_a_task(write_flood, NULL);
}

/* --- records without data ------------------------------------------------- */

/* A peer that uses OpenSSL directly. It performs a handshake with e->server,
 * and then sends key updates without end, or `count` of them and then a
 * byte. */
struct renewer {
	struct ends *e;
	unsigned     count; /* 0: without end */
	sennit_event ready;
};

static void *renew(void *argument)
{
	struct renewer *r = argument;
	SSL_CTX        *c = SSL_CTX_new(TLS_client_method());
	SSL            *ssl = SSL_new(c);
	sigset_t        pipe;

	sigemptyset(&pipe); /* OpenSSL's writes raise SIGPIPE */
	sigaddset(&pipe, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &pipe, NULL);
	SSL_set_fd(ssl, r->e->fds[1]);
	EXPECT(SSL_connect(ssl) == 1);
	for (unsigned i = 0; !r->count || i < r->count; i++)
		if (!SSL_key_update(ssl, SSL_KEY_UPDATE_NOT_REQUESTED) ||
		    SSL_do_handshake(ssl) != 1)
			break;
	if (r->count)
		EXPECT(SSL_write(ssl, "x", 1) == 1);
	sennit_event_set(&r->ready);
	SSL_free(ssl);
	SSL_CTX_free(c);
	ERR_clear_error();
	return NULL;
}

static void start_renewer(struct renewer *r, struct greed *g, unsigned count,
			  pthread_t *t)
{
	memset(g, 0, sizeof(*g));
	open_ends(&g->e, NULL, NULL);
	*r = (struct renewer){ .e = &g->e, .count = count };
	*t = must_start_thread(renew, r);
	EXPECT(!sennit_tls_accept(g->e.server, LONG_ENOUGH));
}

static void read_one(void *argument)
{
	struct greed *g = argument;
	char          b;

	EXPECT(sennit_tls_read(g->e.server, &b, 1, LONG_ENOUGH) == 1);
}

#define RENEWALS 150

static void read_renewals(void *argument)
{
	struct renewer r;
	struct greed   g;
	pthread_t      t;

	(void)argument;
	start_renewer(&r, &g, RENEWALS, &t);
	EXPECT(!sennit_event_wait(
		&r.ready)); /* all of them are in the socket */
	run_beside(&g.b, read_one, &g);
	EXPECT(g.b.turns >= RENEWALS / SENNIT_TLS_TURN);
	pthread_join(t, NULL);
	close_ends(&g.e);
}

TEST_WITH_ONE(a_read_that_finds_no_data_lets_others_run)
{
	(void)w;
	in_a_task(read_renewals, NULL);
}

static int read_for_ever(void *argument)
{
	struct greed *g = argument;
	char          b;

	atomic_store(&g->b.done, 1);
	return (int)sennit_tls_read(g->e.server, &b, 1, SENNIT_NEVER);
}

static void end_renewals(void *argument)
{
	struct renewer r;
	struct greed   g;
	pthread_t      t;
	sennit_group   group;
	char           b;

	(void)argument;
	start_renewer(&r, &g, 0, &t);
	EXPECT(sennit_tls_read(g.e.server, &b, 1, in_ms(5)) == -ETIMEDOUT);
	sennit_group_init(&group, SENNIT_NEVER, 0);
	EXPECT(!sennit_group_spawn(&group, read_for_ever, &g));
	while (!atomic_load(&g.b.done))
		sennit_yield();
	sennit_group_cancel(&group);
	EXPECT(sennit_group_wait(&group) == -ECANCELED);
	sennit_shutdown(g.e.fds[0], SHUT_RDWR);
	pthread_join(t, NULL);
	close_ends(&g.e);
}

TEST_WITH_ONE(a_read_that_finds_no_data_ends_in_time)
{
	(void)w;
	in_a_task(end_renewals, NULL);
}

/* --- handshakes ----------------------------------------------------------- */

#define STORM 24

struct storm {
	struct ends       ends[STORM];
	struct bystander  b;
	sennit_wait_group accepted;
};

/* A server signs once in a handshake: in its CertificateVerify. */
static void count_signatures(int written, int version, int type,
			     const void *bytes, size_t size, SSL *ssl,
			     void *bystander)
{
	struct bystander *b = bystander;

	(void)version, (void)ssl;
	if (written && type == SSL3_RT_HANDSHAKE && size &&
	    *(const unsigned char *)bytes == SSL3_MT_CERTIFICATE_VERIFY)
		atomic_fetch_add(&b->done, 1);
}

struct arrival {
	struct storm *s;
	unsigned      which;
};

static int accept_one(void *argument)
{
	const struct arrival *a = argument;
	struct ends          *e = &a->s->ends[a->which];

	EXPECT(!sennit_tls_accept(e->server, LONG_ENOUGH));
	return 0;
}

static int connect_one(void *argument)
{
	const struct arrival *a = argument;

	return connect_end(&a->s->ends[a->which]);
}

/* All at the same time: the first message of each is in its socket. */
static void accept_storm(void *argument)
{
	struct storm *s = argument;
	sennit_group  g;

	sennit_group_init(&g, SENNIT_NEVER, 0);
	for (unsigned i = 0; i < STORM; i++) {
		struct arrival a = { s, i };

		EXPECT(!sennit_group_spawn_copy(&g, accept_one, &a, sizeof(a)));
		EXPECT(!sennit_group_spawn_copy(&g, connect_one, &a,
						sizeof(a)));
	}
	EXPECT(!sennit_group_wait(&g));
}

static void make_storm(void *argument)
{
	struct identity     i = make_identity((struct wish){
		    .names = "DNS:localhost", .issuer = &issuer, .rsa = 2048 });
	sennit_tls_context *c = make_context(
		SENNIT_TLS_CONFIG(.certificate_text = i.certificate,
				  .key_text = i.key));
	struct storm *s = calloc(1, sizeof(*s));

	(void)argument;
	must(s, "calloc");
	for (unsigned k = 0; k < STORM; k++) {
		struct ends *e = &s->ends[k];

		open_ends(e, c, NULL);
		SSL_set_msg_callback(sennit_tls_openssl(e->server),
				     count_signatures);
		SSL_set_msg_callback_arg(sennit_tls_openssl(e->server), &s->b);
		EXPECT(sennit_tls_connect(e->client, "localhost", 0) ==
		       -ETIMEDOUT);
	}
	run_beside(&s->b, accept_storm, s);
	EXPECT(s->b.done == STORM);
	EXPECT(s->b.most == 1);
	for (unsigned k = 0; k < STORM; k++)
		close_ends(&s->ends[k]);
	free(s);
	sennit_tls_context_destroy(c);
	drop_identity(&i);
}

TEST_WITH_ONE(a_storm_of_handshakes_signs_once_for_each_turn_of_others)
{
	(void)w;
	in_a_task(make_storm, NULL);
}

/* --- a mixed load --------------------------------------------------------- */

/* A peer that floods without end, and requests on another connection. */
struct mixture {
	struct ends greedy, modest;
	atomic_uint records; /* of the greedy fiber */
	unsigned    most;    /* the most of them while one request was
			      * answered */
};

static void *flood(void *argument)
{
	struct ends      *e = argument;
	static const char b[16384];

	while (sennit_tls_write_all(e->client, b, sizeof(b), NULL,
				    SENNIT_NEVER) == 0)
		;
	return NULL;
}

static int serve_greedy(void *argument)
{
	struct mixture *m = argument;
	static char     b[16384];

	while (sennit_tls_read(m->greedy.server, b, sizeof(b), LONG_ENOUGH) > 0)
		atomic_fetch_add(&m->records, 1);
	return 0;
}

static int serve_modest(void *argument)
{
	struct mixture *m = argument;
	char            b[4];

	while (read_exactly(m->modest.server, b, 4))
		EXPECT(sennit_tls_write(m->modest.server, b, 4, LONG_ENOUGH) ==
		       4);
	return 0;
}

static int ask(void *argument)
{
	struct mixture *m = argument;
	char            b[4];

	while (atomic_load(&m->records) < 100)
		sennit_yield();
	for (int i = 0; i < 50; i++) {
		unsigned before = atomic_load(&m->records), took;

		EXPECT(sennit_tls_write(m->modest.client, "ask", 4,
					LONG_ENOUGH) == 4);
		EXPECT(read_exactly(m->modest.client, b, 4));
		took = atomic_load(&m->records) - before;
		if (took > m->most)
			m->most = took;
	}
	sennit_shutdown(m->greedy.fds[0], SHUT_RDWR);
	sennit_tls_shutdown(m->modest.client, LONG_ENOUGH);
	return 0;
}

/* A worker polls after at most 32 turns of its fibers (io/docs/design.md). A
 * request and its answer may each wait for two polls. */
#define TURNS_OF_ANSWER (4 * 32)

static void mix(void *argument)
{
	struct mixture *m = calloc(1, sizeof(*m));
	pthread_t       t;
	sennit_group    g;

	(void)argument;
	must(m, "calloc");
	open_shaken(&m->greedy);
	open_shaken(&m->modest);
	t = must_start_thread(flood, &m->greedy);
	sennit_group_init(&g, SENNIT_NEVER, 0);
	EXPECT(!sennit_group_spawn(&g, serve_greedy, m));
	EXPECT(!sennit_group_spawn(&g, serve_modest, m));
	EXPECT(!sennit_group_spawn(&g, ask, m));
	EXPECT(!sennit_group_wait(&g));
	pthread_join(t, NULL);
	EXPECT(m->most <= TURNS_OF_ANSWER * SENNIT_TLS_TURN);
	if (getenv("SENNIT_TEST_PRINT"))
		printf("%u records at most during one answer, %u in all\n",
		       m->most, m->records);
	close_ends(&m->greedy);
	close_ends(&m->modest);
	free(m);
}

TEST_WITH_ONE(requests_are_answered_beside_a_flood)
{
	(void)w;
	in_a_task(mix, NULL);
}

USES_BACKEND;
USES_CONTEXTS;

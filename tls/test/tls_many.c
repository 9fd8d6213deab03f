/* SPDX-License-Identifier: Apache-2.0 */
/* tls_many.c - a thousand connections at once, and the memory of an idle
 * connection. */
#include "ends.h"

#if defined(__GLIBC__) && !defined(SN_ASAN) && !defined(SN_TSAN)
#include <malloc.h>
#define MEASURES 1
#endif

/* ThreadSanitizer sees the memory that libcrypto copies and frees, but not the
 * reference counts that order these accesses. */
#ifdef SN_TSAN
const char *__tsan_default_suppressions(void);
const char *__tsan_default_suppressions(void)
{
	return "called_from_lib:libcrypto.so\n";
}
#endif

#define COUNT LOAD(1000)

static size_t in_use(void)
{
#ifdef MEASURES
	return mallinfo2().uordblks + mallinfo2().hblkhd;
#else
	return 0;
#endif
}

struct crowd {
	struct ends *ends;
	sennit_group servers;
	atomic_uint  echoed, ended;
};

struct place {
	struct crowd *crowd;
	unsigned      which;
};

static int echo(void *argument)
{
	const struct place *p = argument;
	struct ends        *e = &p->crowd->ends[p->which];
	char                b[64];
	ptrdiff_t           n;

	EXPECT(!sennit_tls_accept(e->server, LONG_ENOUGH));
	while ((n = sennit_tls_read(e->server, b, sizeof(b), LONG_ENOUGH)) >
	       0) {
		atomic_fetch_add(&p->crowd->echoed, 1);
		EXPECT(!sennit_tls_write_all(e->server, b, (size_t)n, NULL,
					     LONG_ENOUGH));
	}
	EXPECT(n == 0);
	EXPECT(!sennit_tls_shutdown(e->server, LONG_ENOUGH));
	atomic_fetch_add(&p->crowd->ended, 1);
	return 0;
}

static int ask(void *argument)
{
	const struct place *p = argument;
	struct ends        *e = &p->crowd->ends[p->which];
	char                b[64];

	EXPECT(!sennit_tls_connect(e->client, "localhost", LONG_ENOUGH));
	for (int i = 0; i < 3; i++) {
		EXPECT(!sennit_tls_write_all(e->client, "to and fro", 10, NULL,
					     LONG_ENOUGH));
		EXPECT(read_exactly(e->client, b, 10));
	}
	return 0;
}

static int leave(void *argument)
{
	const struct place *p = argument;
	struct ends        *e = &p->crowd->ends[p->which];
	char                b;

	EXPECT(!sennit_tls_shutdown(e->client, LONG_ENOUGH));
	EXPECT(sennit_tls_read(e->client, &b, 1, LONG_ENOUGH) == 0);
	return 0;
}

static void spawn_all(struct crowd *c, sennit_group *g, sennit_member_fn *run)
{
	for (unsigned i = 0; i < COUNT; i++) {
		struct place p = { c, i };

		assert_int_equal(sennit_group_spawn_copy(g, run, &p, sizeof(p)),
				 0);
	}
}

static void run_all(struct crowd *c, sennit_member_fn *run)
{
	sennit_group g;

	sennit_group_init(&g, SENNIT_NEVER, 0);
	spawn_all(c, &g, run);
	assert_int_equal(sennit_group_wait(&g), 0);
}

TEST_WITH_THREADS(a_thousand_connections_take_turns)
{
	struct crowd c = { .ends = calloc(COUNT, sizeof(struct ends)) };

	assert_non_null(c.ends);
	for (unsigned i = 0; i < COUNT; i++)
		open_ends(&c.ends[i], NULL, NULL);
	sennit_group_init(&c.servers, SENNIT_NEVER, 0);
	spawn_all(&c, &c.servers, echo);
	run_all(&c, ask);
	assert_true(c.echoed >= 3 * COUNT);
	assert_soon(io_waits(w->s) == COUNT);
	run_all(&c, leave);
	assert_int_equal(sennit_group_wait(&c.servers), 0);
	assert_int_equal(c.ended, COUNT);
	for (unsigned i = 0; i < COUNT; i++)
		close_ends(&c.ends[i]);
	free(c.ends);
}

/* --- memory --------------------------------------------------------------- */

/* The most heap that an idle connection may use, most of it for OpenSSL. For a
 * client it is measured after the tickets of TLS 1.3 have arrived. */
#define SERVER_MAX ((size_t)20 * 1024)
#define CLIENT_MAX ((size_t)40 * 1024)

/* Each end has read and written, and has tried to read again. */
static void become_idle(struct ends *e)
{
	static char b[16384];

	shake_hands(e);
	EXPECT(!sennit_tls_write_all(e->client, b, 100, NULL, LONG_ENOUGH));
	EXPECT(read_exactly(e->server, b, 100));
	EXPECT(!sennit_tls_write_all(e->server, b, 16384, NULL, LONG_ENOUGH));
	EXPECT(read_exactly(e->client, b, 16384));
	EXPECT(sennit_tls_read(e->server, b, 1, 0) == -ETIMEDOUT);
	EXPECT(sennit_tls_read(e->client, b, 1, 0) == -ETIMEDOUT);
}

TEST_WITHOUT(an_idle_connection_has_no_buffers)
{
	enum { PAIRS = 100 };
	static struct ends ends[PAIRS];
	size_t             before, pairs, servers;

	(void)w;
	open_ends(&ends[0], NULL, NULL);
	become_idle(&ends[0]); /* lets OpenSSL make its one-time allocations */
	close_ends(&ends[0]);
	before = in_use();
	for (unsigned i = 0; i < PAIRS; i++) {
		open_ends(&ends[i], NULL, NULL);
		become_idle(&ends[i]);
	}
	pairs = in_use();
	for (unsigned i = 0; i < PAIRS; i++) {
		sennit_tls_destroy(ends[i].client);
		ends[i].client = NULL;
	}
	servers = in_use();
	if (getenv("SENNIT_TEST_PRINT"))
		printf("bytes of a server's connection: %zu, a client's: %zu\n",
		       (servers - before) / PAIRS, (pairs - servers) / PAIRS);
	assert_true((servers - before) / PAIRS <= SERVER_MAX);
	assert_true((pairs - servers) / PAIRS <= CLIENT_MAX);
	for (unsigned i = 0; i < PAIRS; i++)
		close_ends(&ends[i]);
}

USES_BACKEND;
USES_CONTEXTS;

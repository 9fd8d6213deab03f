/* SPDX-License-Identifier: Apache-2.0 */
/* misuse_tls.c - misuse of a connection ends the process with one line that
 * names the call. */
#include "ends.h"

#include "../api/misuse.h"

static void open_here(struct ends *e)
{
	make_contexts();
	open_shaken(e);
}

static int read_for_ever(void *argument)
{
	char b;

	(void)!sennit_tls_read(((struct ends *)argument)->server, &b, 1,
			       SENNIT_NEVER);
	return 0;
}

/* While another fiber reads, which waits. */
static void open_read(const struct offence *o, struct ends *e, sennit_group *g)
{
	open_here(e);
	sennit_group_init(g, SENNIT_NEVER, 0);
	if (sennit_group_spawn(g, read_for_ever, e))
		_exit(4);
	while (io_waits(o->s) != 1)
		sennit_yield();
}

static void commit_two_readers(const struct offence *o)
{
	struct ends  e;
	sennit_group g;
	char         b;

	open_read(o, &e, &g);
	(void)!sennit_tls_read(e.server, &b, 1, 0);
}

static void commit_free(const struct offence *o)
{
	struct ends  e;
	sennit_group g;

	open_read(o, &e, &g);
	sennit_tls_free(e.server);
}

static void commit_too_early(const struct offence *o)
{
	struct ends e;
	char        b;

	(void)o;
	make_contexts();
	open_ends(&e, NULL, NULL);
	(void)!sennit_tls_read(e.server, &b, 1, 0);
}

static void commit_again(const struct offence *o)
{
	struct ends e;

	(void)o;
	open_here(&e);
	(void)!sennit_tls_accept(e.server, 0);
}

static void commit_other_side(const struct offence *o)
{
	struct ends e;

	(void)o;
	make_contexts();
	open_ends(&e, NULL, NULL);
	(void)!sennit_tls_accept(e.server, 0);
	(void)!sennit_tls_connect(e.server, "localhost", 0);
}

static void commit_too_much(const struct offence *o)
{
	struct ends e;
	size_t      done = 2;

	(void)o;
	open_here(&e);
	(void)!sennit_tls_write_all(e.client, "x", 1, &done, 0);
}

TEST_WITH_COUNTS(two_readers)
{
	assert_misuse(w, "sennit_tls_read", commit_two_readers);
}

TEST_WITH_COUNTS(freeing_what_is_read)
{
	assert_misuse(w, "sennit_tls_free", commit_free);
}

TEST_WITH_COUNTS(reading_before_the_handshake)
{
	assert_misuse(w, "sennit_tls_read", commit_too_early);
}

TEST_WITH_COUNTS(a_second_handshake)
{
	assert_misuse(w, "sennit_tls_accept", commit_again);
}

TEST_WITH_COUNTS(a_handshake_as_the_other_side)
{
	assert_misuse(w, "sennit_tls_connect", commit_other_side);
}

TEST_WITH_COUNTS(writing_more_than_there_is)
{
	assert_misuse(w, "sennit_tls_write_all", commit_too_much);
}

USES_BACKEND;

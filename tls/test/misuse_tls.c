/* SPDX-License-Identifier: Apache-2.0 */
/* misuse_tls.c - misuse of a connection ends the process with one line that
 * names the call. */
#include "ends.h"

#include "testing/misuse.h"

static struct ends  e;
static sennit_group group;
static char         byte;
static size_t       too_many = 2;

static void open_unshaken(void)
{
	make_contexts();
	open_ends(&e, NULL, NULL);
}

static void open_here(void)
{
	make_contexts();
	open_shaken(&e);
}

static int read_for_ever(void *unused)
{
	char b;

	(void)unused;
	(void)!sennit_tls_read(e.server, &b, 1, SENNIT_NEVER);
	return 0;
}

/* While another fiber waits in a read. */
static void open_read(const struct offence *o)
{
	open_here();
	sennit_group_init(&group, SENNIT_NEVER, 0);
	if (sennit_group_spawn(&group, read_for_ever, NULL))
		_exit(4);
	while (io_waits(o->s) != 1)
		sennit_yield();
}

MISUSE_BY(two_readers, "sennit_tls_read", open_read(o),
	  (void)!sennit_tls_read(e.server, &byte, 1, 0));
MISUSE_BY(freeing_what_is_read, "sennit_tls_destroy", open_read(o),
	  sennit_tls_destroy(e.server));
MISUSE_BY(reading_before_the_handshake, "sennit_tls_read", open_unshaken(),
	  (void)!sennit_tls_read(e.server, &byte, 1, 0));
MISUSE_BY(a_second_handshake, "sennit_tls_accept", open_here(),
	  (void)!sennit_tls_accept(e.server, 0));
MISUSE_BY(a_handshake_as_the_other_side, "sennit_tls_connect", open_unshaken(),
	  (void)!sennit_tls_accept(e.server, 0),
	  (void)!sennit_tls_connect(e.server, "localhost", 0));
MISUSE_BY(writing_more_than_there_is, "sennit_tls_write_all", open_here(),
	  (void)!sennit_tls_write_all(e.client, "x", 1, &too_many, 0));

USES_BACKEND;

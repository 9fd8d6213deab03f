/* SPDX-License-Identifier: Apache-2.0 */
/* bench.h - the servers that sennit-bench-io starts, and the rows that it has
 * them do.
 */
#ifndef SN_BENCH_IO_BENCH_H
#define SN_BENCH_IO_BENCH_H

#include "load.h"

#include <stddef.h>

#define MOST_ROUNDS 25

/* What a server has beside http. */
#define FANS_OUT 1u
#define READS_IT 2u
#define SENNITS  4u /* modes that sennit's alone has */
#define ONE_ONLY 8u /* one worker */

struct server {
	const char *name;
	const char *program; /* in io-servers/, or a path */
	const char *mode;    /* NULL: it is nginx */
	const char *backend; /* SENNIT_IO */
	unsigned    has;
};

/* In the order of the table. */
extern const struct server io_servers[];
extern const size_t        io_server_count;

#define RAW_EPOLL 2 /* its index: ratios are to it */

bool io_server_is_there(const struct server *s);

/* Start it, and wait until it has printed its port, if `serves`. more: NULL, or
 * the mode's argument. */
struct target io_server_start(const struct server *s, const char *mode,
			      unsigned workers, const char *more, bool serves);

/* The next line that the server prints, as a number; NAN: none. */
double io_server_number(const struct target *t);

void io_server_stop(const struct target *t);

/* --- rows ----------------------------------------------------------------- */

extern unsigned io_rounds;
extern unsigned io_ms; /* that a load lasts */

/* Run the rows whose names begin with one of the prefixes; none: all. */
void io_rows_run(char **prefixes);

#endif

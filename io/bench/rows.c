/* SPDX-License-Identifier: Apache-2.0 */
/* rows.c - the rows of the benchmarks of libsennit-io. */
#include "bench.h"
#include "server.h"

#include <sched.h>

#define MOST_SERVERS 16
#define IDLE         10000u

unsigned io_rounds = 5;
unsigned io_ms = 400;

static int first_cpu; /* of client and server, unless apart */

/* -1: to those that this process had. */
static void pin(int cpu)
{
	static cpu_set_t all;
	cpu_set_t        one;

	if (!CPU_COUNT(&all))
		sched_getaffinity(0, sizeof(all), &all);
	CPU_ZERO(&one);
	CPU_SET(cpu < 0 ? 0 : (size_t)cpu, &one);
	sched_setaffinity(0, sizeof(one), cpu < 0 ? &all : &one);
}

/* --- rows ----------------------------------------------------------------- */

#define FIGURES 3

struct row {
	const char *name;
	const char *figures[FIGURES];
	unsigned    needs;
	unsigned    workers;
	unsigned    connections;
	bool        apart; /* client and server on any CPU */
	const char *mode;  /* of sennit's; NULL: http */
	void (*take)(const struct row *r, const struct server *s,
		     double out[FIGURES]);
};

static void take_load(const struct row *r, const struct server *s,
		      double out[FIGURES])
{
	struct target t = io_server_start(s, r->mode ? r->mode : s->mode,
					  r->workers, NULL, true);
	struct load   l = { .connections = r->connections,
			    .ms = io_ms,
			    .reconnect = !strcmp(r->name, "W21-accept") };

	load_run(&t, &l);
	io_server_stop(&t);
	out[0] = l.cpu_ns;
	out[1] = l.p50_ns;
	out[2] = l.p99_ns;
}

static void take_fan_out(const struct row *r, const struct server *s,
			 double out[FIGURES])
{
	struct target upstream = io_server_start(&io_servers[RAW_EPOLL], "http",
						 1, NULL, true);
	struct load   l = { .connections = r->connections, .ms = io_ms };
	struct target t;
	char          port[16];

	snprintf(port, sizeof(port), "%u", upstream.port);
	t = io_server_start(s, "fan-out", r->workers, port, true);
	load_run(&t, &l);
	io_server_stop(&t);
	io_server_stop(&upstream);
	out[0] = l.cpu_ns;
	out[1] = l.p50_ns;
	out[2] = l.p99_ns;
}

static void measure_idle(const struct target *t, void *context)
{
	*(double *)context = load_resident(t);
}

static void take_memory(const struct row *r, const struct server *s,
			double out[FIGURES])
{
	struct target t = io_server_start(s, s->mode, r->workers, NULL, true);
	double        few, many;

	load_idle(&t, 8, measure_idle, &few);
	load_idle(&t, r->connections, measure_idle, &many);
	io_server_stop(&t);
	out[0] = (many - few) / r->connections;
}

static void take_reads(const struct row *r, const struct server *s,
		       double out[FIGURES])
{
	char          file[] = "./sennit-bench-io-XXXXXX";
	static char   block[BLOCK];
	int           fd = mkstemp(file);
	struct target t;

	server_check(fd >= 0, file);
	for (unsigned i = 0; i < FILE_BLOCKS; i++)
		server_check(write(fd, block, BLOCK) == BLOCK, file);
	fsync(fd);
	close(fd);
	t = io_server_start(s, "read", r->workers, file, false);
	out[0] = io_server_number(&t);
	out[1] = io_server_number(&t);
	io_server_stop(&t);
	unlink(file);
}

#define LOAD(row, has, w, c, is_apart, how)                                  \
	{                                                                    \
		(row), { "cpu", "p50", "p99" }, (has), (w), (c), (is_apart), \
			(how), take_load                                     \
	}

static const struct row rows[] = {
	LOAD("W16-http", 0, 1, 64, false, NULL),
	LOAD("W16-http", 0, 1, 1000, false, NULL),
	LOAD("W16-http", 0, 2, 64, true, NULL),
	LOAD("W16-http", 0, 2, 1000, true, NULL),
	LOAD("W16-http-deadlines", SENNITS, 1, 64, false, "deadlines"),
	{ "W18-idle", { "bytes" }, 0, 1, IDLE, false, NULL, take_memory },
	LOAD("W19-round-trip", 0, 1, 1, false, NULL),
	LOAD("W19-round-trip-apart", 0, 1, 1, true, NULL),
	LOAD("W19-behind-yielder", SENNITS, 1, 1, true, "yielder"),
	{ "W20-read-4096",
	  { "cached", "direct" },
	  READS_IT,
	  1,
	  0,
	  false,
	  NULL,
	  take_reads },
	LOAD("W21-accept", 0, 1, 16, false, NULL),
	{ "W21-fan-out-100",
	  { "cpu", "p50", "p99" },
	  FANS_OUT,
	  1,
	  4,
	  false,
	  NULL,
	  take_fan_out },
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

static double taken[MOST_SERVERS][FIGURES][MOST_ROUNDS];

static bool has_row(const struct server *s, const struct row *r)
{
	return io_server_is_there(s) && (s->has & r->needs) == r->needs &&
	       !(r->workers > 1 && s->has & ONE_ONLY);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Of the rounds; ratios are of median to median and least to least. */
static void print(const struct row *r, size_t server, unsigned figure)
{
	double *v = taken[server][figure];
	double *reference = taken[RAW_EPOLL][figure];

	qsort(v, io_rounds, sizeof(*v), by_value);
	qsort(reference, io_rounds, sizeof(*v), by_value);
	printf("%s/%s\t%s\t%u\t%u\t%.0f\t%.0f\t%.0f", r->name,
	       r->figures[figure], io_servers[server].name, r->workers,
	       r->connections, v[io_rounds / 2], v[0], v[io_rounds - 1]);
	if (has_row(&io_servers[RAW_EPOLL], r) && reference[0] > 0)
		printf("\t%.2f\t%.2f",
		       v[io_rounds / 2] / reference[io_rounds / 2],
		       v[0] / reference[0]);
	else
		printf("\t-\t-");
	putchar('\n');
	fflush(stdout);
}

static void run(const struct row *r)
{
	pin(r->apart ? -1 : first_cpu);
	for (unsigned round = 0; round < io_rounds; round++)
		for (size_t i = 0; i < io_server_count; i++) {
			double out[FIGURES] = { 0 };

			if (!has_row(&io_servers[i], r))
				continue;
			r->take(r, &io_servers[i], out);
			for (unsigned f = 0; f < FIGURES; f++)
				taken[i][f][round] = out[f];
		}
	for (unsigned f = 0; f < FIGURES && r->figures[f]; f++)
		for (size_t i = 0; i < io_server_count; i++)
			if (has_row(&io_servers[i], r))
				print(r, i, f);
}

static bool is_wanted(const char *name, char **prefixes)
{
	if (!*prefixes)
		return true;
	for (; *prefixes; prefixes++)
		if (!strncmp(name, *prefixes, strlen(*prefixes)))
			return true;
	return false;
}

void io_rows_run(char **prefixes)
{
	first_cpu = sched_getcpu();
	for (size_t i = 0; i < ROWS; i++)
		if (is_wanted(rows[i].name, prefixes))
			run(&rows[i]);
}

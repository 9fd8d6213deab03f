/* SPDX-License-Identifier: Apache-2.0 */
/* postgres.c - a thousand queries at once over twenty connections to
 * PostgreSQL: a fiber per query, a pool of connections, deadlines that end a
 * query at the server too.
 *
 *	postgres CONNINFO [queries [connections]]
 *
 * libpq never waits here: it says what it wants from its socket, sennit_poll
 * waits for that, and the worker runs other fibers meanwhile. The one call of
 * libpq that has no such form, PQcancel, is made by a blocking call.
 *
 * Name the server by hostaddr=, or host= with a folder: PQconnectStart looks up
 * a name in place and holds up its worker meanwhile.
 */
#include <sennit.h>
#include <sennit/io.h>

#include <errno.h>
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>

#define CANCELS         25 /* of a query, each for CANCEL_PATIENCE */
#define CANCEL_PATIENCE (200 * SENNIT_MILLISECOND)
#define QUERY_PATIENCE  (60 * SENNIT_SECOND)

static const char *conninfo;
static int         queries = 1000;
static int         connections = 20;

/* An item of the pool. A borrower that finds no connection in it makes one, so
 * that a lost connection is replaced by the next borrower. */
struct connection {
	PGconn *pg; /* NULL: none */
};

static sennit_pool pool;

static int make_item(void *unused, void *item)
{
	(void)unused;
	((struct connection *)item)->pg = NULL;
	return 0;
}

static void disconnect(struct connection *c)
{
	PQfinish(c->pg);
	c->pg = NULL;
}

static void destroy_item(void *unused, void *item)
{
	(void)unused;
	disconnect(item);
}

/* --- libpq without waiting ---------------------------------------------- */

/* libpq's messages say more than an errno. They end with a newline. */
static int lost(const PGconn *pg, const char *doing)
{
	fprintf(stderr, "%s: %s", doing, PQerrorMessage(pg));
	return -ECONNRESET;
}

/* The socket may be another one after each PQconnectPoll. */
static int connect_to_server(struct connection *c, sennit_time deadline)
{
	PostgresPollingStatusType next = PGRES_POLLING_WRITING;
	int                       n = 0;

	c->pg = PQconnectStart(conninfo);
	if (!c->pg)
		return -ENOMEM;
	if (PQstatus(c->pg) == CONNECTION_BAD)
		next = PGRES_POLLING_FAILED;
	while (next == PGRES_POLLING_READING || next == PGRES_POLLING_WRITING) {
		n = sennit_poll(PQsocket(c->pg),
				next == PGRES_POLLING_READING ? POLLIN
							      : POLLOUT,
				deadline);
		if (n < 0)
			break;
		next = PQconnectPoll(c->pg);
	}
	if (next == PGRES_POLLING_FAILED)
		n = lost(c->pg, "connect");
	else if (n >= 0 && PQsetnonblocking(c->pg, 1))
		n = -ENOMEM;
	if (n < 0)
		disconnect(c);
	return n < 0 ? n : 0;
}

/* Send what libpq has buffered. The server may itself wait until we read, so
 * what it sends is taken meanwhile. */
static int flush(PGconn *pg, sennit_time deadline)
{
	int left;

	while ((left = PQflush(pg)) > 0) {
		int n = sennit_poll(PQsocket(pg), POLLIN | POLLOUT, deadline);

		if (n < 0)
			return n;
		if (n & ~POLLOUT && !PQconsumeInput(pg))
			return lost(pg, "receive");
	}
	return left ? lost(pg, "send") : 0;
}

/* The next result; NULL: the query has ended. */
static int next_result(PGconn *pg, PGresult **result, sennit_time deadline)
{
	while (PQisBusy(pg)) {
		int n = sennit_poll(PQsocket(pg), POLLIN, deadline);

		if (n < 0)
			return n;
		if (!PQconsumeInput(pg))
			return lost(pg, "receive");
	}
	*result = PQgetResult(pg);
	return 0;
}

/* The last result of the query. *result is NULL on error. */
static int finish(PGconn *pg, PGresult **result, sennit_time deadline)
{
	PGresult *each = NULL;
	int       err = flush(pg, deadline);

	*result = NULL;
	while (!err && !(err = next_result(pg, &each, deadline)) && each) {
		PQclear(*result);
		*result = each;
	}
	if (err) {
		PQclear(*result);
		*result = NULL;
	}
	return err;
}

/* --- cancelling --------------------------------------------------------- */

/* Ends the query at the server, and leaves a connection to be used again, or
 * none. A cancel before the query has begun is ignored. On a helper thread, as
 * PQcancel waits in place, and so in no group, whose cancelling ends waits. */
static void *stop_query(void *argument)
{
	struct connection *c = argument;
	PGcancel          *cancel = PQgetCancel(c->pg);
	PGresult          *rest = NULL;
	char               why[256] = "no memory\n";
	int                err = -ETIMEDOUT;

	for (int i = 0; i < CANCELS && err == -ETIMEDOUT; i++)
		if (cancel && PQcancel(cancel, why, sizeof(why)))
			err = finish(c->pg, &rest,
				     sennit_after(CANCEL_PATIENCE));
		else
			err = fprintf(stderr, "cancel: %s", why);
	if (err)
		disconnect(c);
	PQfreeCancel(cancel);
	PQclear(rest);
	return NULL;
}

/* --- a query ------------------------------------------------------------ */

static int ask_on(struct connection *c, const char *sql, const char *value,
		  PGresult **result, sennit_time deadline)
{
	int err = c->pg ? 0 : connect_to_server(c, deadline);

	if (err)
		return err;
	if (!PQsendQueryParams(c->pg, sql, value ? 1 : 0, NULL, &value, NULL,
			       NULL, 0))
		err = lost(c->pg, "send");
	else
		err = finish(c->pg, result, deadline);
	if (err == -ETIMEDOUT || err == -ECANCELED)
		sennit_blocking_call(stop_query, c);
	else if (err)
		disconnect(c);
	return err;
}

/* Ask the server, on a connection of the pool; `value`, unless NULL, is $1.
 * Returns 0 and a result that the caller clears, or a negative errno. After
 * -ETIMEDOUT and -ECANCELED the query does not run any more; whether it had its
 * effect is unknown, as after a lost connection. */
static int ask(const char *sql, const char *value, PGresult **result,
	       sennit_time deadline)
{
	PGresult *r = NULL;
	void     *c;
	int       err = sennit_pool_borrow_until(&pool, &c, deadline);

	if (err)
		return err;
	err = ask_on(c, sql, value, &r, deadline);
	sennit_pool_return(&pool, c);
	if (err)
		return err;
	if (PQresultStatus(r) != PGRES_TUPLES_OK) {
		fprintf(stderr, "query: %s", PQresultErrorMessage(r));
		PQclear(r);
		return -EBADMSG;
	}
	*result = r;
	return 0;
}

/* --- many at once ------------------------------------------------------- */

struct query {
	long value, square;
	long backend; /* the server's process that answered */
};

static int square(void *argument)
{
	struct query *q = argument;
	PGresult     *r;
	char          value[24];
	int           err;

	snprintf(value, sizeof(value), "%ld", q->value);
	err = ask("select $1::int8 * $1::int8, pg_backend_pid(), "
		  "pg_sleep(0.001)",
		  value, &r, sennit_after(QUERY_PATIENCE));
	if (err)
		return err;
	q->square = atol(PQgetvalue(r, 0, 0));
	q->backend = atol(PQgetvalue(r, 0, 1));
	PQclear(r);
	return 0;
}

static int count_backends(const struct query *q)
{
	int n = 0;

	for (int i = 0; i < queries; i++) {
		int first = 0;

		while (q[first].backend != q[i].backend)
			first++;
		n += first == i;
	}
	return n;
}

static int fan_out(void)
{
	struct query *q = calloc((size_t)queries, sizeof(*q));
	long          sum = 0, wanted = 0;
	sennit_group  all;
	int           backends, ended, err = 0;

	if (!q)
		return -ENOMEM;
	sennit_group_init(&all, SENNIT_NEVER, 0);
	for (int i = 0; i < queries && !err; i++) {
		q[i].value = i;
		err = sennit_group_spawn(&all, square, &q[i]);
	}
	ended = sennit_group_wait(&all);
	for (int i = 0; i < queries && !ended; i++) {
		sum += q[i].square;
		wanted += (long)i * i;
	}
	backends = ended ? 0 : count_backends(q);
	free(q);
	if (ended)
		return ended;
	printf("%d queries, sum %ld, %d backends\n", queries, sum, backends);
	return sum == wanted && backends <= connections ? err : -EBADMSG;
}

/* --- deadlines and groups ----------------------------------------------- */

static int expect(const char *what, int err, int wanted)
{
	printf("%s: %s\n", what, sennit_strerror(err));
	return err == wanted ? 0 : -EBADMSG;
}

static int sleep_long(void *unused)
{
	PGresult *r;

	(void)unused;
	return ask("select pg_sleep(600)", NULL, &r, SENNIT_NEVER);
}

/* Wait until so many of these run at the server. */
static int await_active(long wanted)
{
	long n = -1;

	for (int tries = 0; n != wanted && tries < 1000; tries++) {
		PGresult *r;
		int err = ask("select count(*) from pg_stat_activity where "
			      "state = 'active' and query like "
			      "'select pg_sleep(600)%'",
			      NULL, &r, sennit_after(QUERY_PATIENCE));

		if (err)
			return err;
		n = atol(PQgetvalue(r, 0, 0));
		PQclear(r);
		sennit_sleep(10 * SENNIT_MILLISECOND);
	}
	return n == wanted ? 0 : -ETIMEDOUT;
}

static int time_out(void)
{
	sennit_time in_50_ms = sennit_after(50 * SENNIT_MILLISECOND);
	PGresult   *r;
	int         err = ask("select pg_sleep(600)", NULL, &r, in_50_ms);

	err = expect("a query of ten minutes, after 50 ms", err, -ETIMEDOUT);
	return err ? err : await_active(0);
}

static int cancel_some(void)
{
	const int    some = 4;
	sennit_group g;
	int          err = 0, ended;

	sennit_group_init(&g, SENNIT_NEVER, 0);
	for (int i = 0; i < some && !err; i++)
		err = sennit_group_spawn(&g, sleep_long, NULL);
	err = err ? err : await_active(some);
	sennit_group_cancel(&g);
	ended = sennit_group_wait(&g);
	err = err ? err
		  : expect("a group that was cancelled", ended, -ECANCELED);
	return err ? err : await_active(0);
}

static int make_mistake(void)
{
	PGresult *r;
	int       err = ask("select nothing from nowhere", NULL, &r,
			    sennit_after(QUERY_PATIENCE));

	return expect("a mistake", err, -EBADMSG);
}

static int run(void)
{
	const sennit_pool_config config = { .size = sizeof(config),
					    .item_size =
						    sizeof(struct connection),
					    .count = (size_t)connections,
					    .construct = make_item,
					    .destroy = destroy_item };
	int                      err = sennit_pool_init(&pool, &config);

	if (err)
		return err;
	err = fan_out();
	err = err ? err : time_out();
	err = err ? err : cancel_some();
	err = err ? err : make_mistake();
	err = err ? err : fan_out(); /* on the same connections */
	sennit_pool_destroy(&pool);
	return err;
}

int main(int argc, char **argv)
{
	sennit_scheduler *s;
	int               err;

	if (argc < 2) {
		fputs("postgres CONNINFO [queries [connections]]\n", stderr);
		return 2;
	}
	conninfo = argv[1];
	queries = argc > 2 ? atoi(argv[2]) : queries;
	connections = argc > 3 ? atoi(argv[3]) : connections;
	if (sennit_scheduler_create(&s, NULL) || sennit_thread_bind(s))
		return 1;
	err = run();
	printf("by %s\n", sennit_io_backend());
	sennit_thread_unbind();
	if (sennit_scheduler_shutdown(s, SENNIT_NEVER))
		return 1;
	return err ? 1 : 0;
}

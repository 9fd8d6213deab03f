/* SPDX-License-Identifier: Apache-2.0 */
/* network_operations.c - every operation of io/test/operations.h that has a
 * socket, in the simulated network and in many orders: at once, later, never,
 * given up, cancelled, with the other end gone; in a task and on a bound and an
 * unbound thread.
 */
#include "network.h"
#include "sennit/deterministic.h"

#include <signal.h>

/* --- one attempt -------------------------------------------------------- */

struct trial {
	struct operation  of;
	int               fds[2];
	ptrdiff_t         result;
	sennit_group      g;
	sennit_scheduler *s;
};

/* Some bytes or all: the network cuts what there is. */
static void expect_done(const struct trial *a, ptrdiff_t result)
{
	const bool transfers = a->of.done > 1 && a->of.call != call_poll_in &&
			       a->of.call != call_poll_out &&
			       a->of.call != call_select_in &&
			       a->of.call != call_select_out;

	if (transfers ? result > 0 && result <= a->of.done
		      : result == a->of.done)
		return;
	fprintf(stderr, "%s: %td\n", a->of.name, result);
	abort();
}

static void expect(const struct trial *a, ptrdiff_t result, ptrdiff_t expected)
{
	if (result == expected)
		return;
	fprintf(stderr, "%s: %td, not %td\n", a->of.name, result, expected);
	abort();
}

static int call_it(void *argument)
{
	struct trial *a = argument;

	a->result = a->of.call(a->fds[0], SENNIT_NEVER);
	return 0;
}

static int make_it_ready(void *argument)
{
	struct trial *a = argument;

	a->of.make_ready(a->fds);
	return 0;
}

static int close_peer(void *argument)
{
	struct trial *a = argument;

	sennit_sleep(1 + sennit_explore_choose(200 * SENNIT_MICROSECOND));
	REQUIRE(!sennit_close(a->fds[1]));
	a->fds[1] = -1;
	return 0;
}

/* Of a group whose other member calls. */
static ptrdiff_t call_beside(struct trial *a, sennit_member_fn *other)
{
	sennit_group g;

	sennit_group_init(&g, SENNIT_NEVER, 0);
	REQUIRE(!sennit_group_spawn(&g, call_it, a));
	REQUIRE(!sennit_group_spawn(&g, other, a));
	REQUIRE(!sennit_group_wait(&g));
	return a->result;
}

/* --- cases -------------------------------------------------------------- */

static void when_ready(struct trial *a)
{
	a->of.make_ready(a->fds);
	expect_done(a, a->of.call(a->fds[0], SENNIT_NEVER));
}

static void once(struct trial *a)
{
	expect(a, a->of.call(a->fds[0], 0), -ETIMEDOUT);
	a->of.make_ready(a->fds);
	sennit_sleep(SETTLING);
	expect_done(a, a->of.call(a->fds[0], 0));
}

static void until_deadline(struct trial *a)
{
	const sennit_time deadline = sennit_after(10 * SENNIT_MICROSECOND);

	expect(a, a->of.call(a->fds[0], deadline), -ETIMEDOUT);
	REQUIRE(sennit_now() >= deadline);
	a->of.make_ready(a->fds);
	expect_done(a, a->of.call(a->fds[0], SENNIT_NEVER));
}

static void until_another_makes_it_ready(struct trial *a)
{
	expect_done(a, call_beside(a, make_it_ready));
}

static void until_the_peer_closes(struct trial *a)
{
	ptrdiff_t n;

	if (a->of.call == call_accept)
		return;
	n = call_beside(a, close_peer);
	/* What had not been received became a reset. */
	if (a->of.gone == -EPIPE && n == -ECONNRESET)
		return;
	expect(a, n, a->of.gone);
}

static void until_cancelled(struct trial *a)
{
	sennit_group_init(&a->g, SENNIT_NEVER, 0);
	REQUIRE(!sennit_group_spawn(&a->g, call_it, a));
	sennit_sleep(sennit_explore_choose(3) * SENNIT_MICROSECOND);
	sennit_group_cancel(&a->g);
	a->result = -ECANCELED; /* if it has not begun */
	REQUIRE(sennit_group_wait(&a->g) == -ECANCELED);
	expect(a, a->result, -ECANCELED);
	a->of.make_ready(a->fds);
	expect_done(a, a->of.call(a->fds[0], SENNIT_NEVER));
}

static void until_the_groups_deadline(struct trial *a)
{
	sennit_group g;

	sennit_group_init(&g, sennit_after(SENNIT_MILLISECOND), 0);
	a->result = -ETIMEDOUT;
	REQUIRE(!sennit_group_spawn(&g, call_it, a));
	sennit_group_wait(&g);
	expect(a, a->result, -ETIMEDOUT);
}

static void call_as_task(void *a)
{
	(void)call_it(a);
}

static int call_and_close_here(void *argument)
{
	struct trial *a = argument;

	must_schedule_here(call_as_task, a);
	while (io_waits(a->s) != 1)
		sennit_yield();
	REQUIRE(!sennit_close(a->fds[0]));
	return 0;
}

static void until_closed_on_the_same_worker(struct trial *a)
{
	sennit_group g;

	a->result = 1;
	sennit_group_init(&g, SENNIT_NEVER, 0);
	REQUIRE(!sennit_group_spawn(&g, call_and_close_here, a));
	REQUIRE(!sennit_group_wait(&g));
	while (__atomic_load_n(&a->result, __ATOMIC_RELAXED) == 1)
		sennit_yield();
	expect(a, a->result, -ECANCELED);
}

static int close_it(void *argument)
{
	const struct trial *a = argument;

	for (uint32_t i = sennit_explore_choose(8); i; i--)
		sennit_yield();
	REQUIRE(!sennit_close(a->fds[0]));
	return 0;
}

/* On whatever worker it waits, if it has begun. */
static void until_closed_by_another_task(struct trial *a)
{
	ptrdiff_t n;

	if (a->of.call == poll_all || a->of.call == call_sendfile)
		return; /* which open others first, with the number perhaps */
	n = call_beside(a, close_it);
	if (n != -EBADF)
		expect(a, n, -ECANCELED);
}

/* --- all of them -------------------------------------------------------- */

static void (*tried)(struct trial *a);
static bool opens_groups; /* which an unbound thread cannot */

static int try_it(void *argument)
{
	tried(argument);
	return 0;
}

/* In a task, on the bound thread, as an unbound one. */
static void in_place(struct trial *a, uint32_t place)
{
	sennit_group g;

	if (place == 0) {
		sennit_group_init(&g, SENNIT_NEVER, 0);
		REQUIRE(!sennit_group_spawn(&g, try_it, a));
		REQUIRE(!sennit_group_wait(&g));
	} else if (place == 1) {
		tried(a);
	} else {
		sennit_thread_unbind();
		tried(a);
		REQUIRE(!sennit_thread_bind(a->s));
	}
}

static void try_operation(const struct operation *o, sennit_scheduler *s)
{
	struct trial a = { .of = *o, .s = s };

	if (o->call == call_poll_many) {
		(void)in_network(&a.of);
		a.of.call = poll_all;
	} else if (!in_network(&a.of)) {
		return;
	}
	a.of.open(a.fds);
	in_place(&a, sennit_explore_choose(opens_groups ? 2 : 3));
	sennit_close(a.fds[0]);
	if (a.fds[1] >= 0)
		sennit_close(a.fds[1]);
}

static void try_all(void *unused)
{
	sennit_scheduler *s = begin_with(SENNIT_CONFIG(.workers = 2));

	(void)unused;
	REQUIRE(!sennit_simulation_begin(
		SENNIT_SIMULATION_CONFIG(.buffer = SMALL)));
	for (size_t i = 0; i < OPERATIONS; i++)
		try_operation(&operations[i], s);
	REQUIRE(!atomic_load(&broken_claims));
	end(s);
}

static void explore_each(void (*test)(struct trial *a))
{
	signal(SIGPIPE, SIG_IGN);
	tried = test;
	opens_groups = test != when_ready && test != once &&
		       test != until_deadline;
	explore_some(try_all, NULL, SCHEDULES / 15);
}

#define CASE(name, test)            \
	TEST(name)                  \
	{                           \
		explore_each(test); \
	}

CASE(what_is_ready_is_done, when_ready)
CASE(a_deadline_of_zero_tries_once, once)
CASE(a_deadline_ends_the_call_and_loses_nothing, until_deadline)
CASE(another_task_ends_the_wait, until_another_makes_it_ready)
CASE(a_peer_that_closes_ends_the_wait, until_the_peer_closes)
CASE(a_cancelled_group_ends_the_wait, until_cancelled)
CASE(a_groups_deadline_ends_the_wait, until_the_groups_deadline)
CASE(closing_ends_the_waits_of_the_same_worker, until_closed_on_the_same_worker)

CASE(closing_ends_the_waits_of_all_workers, until_closed_by_another_task)

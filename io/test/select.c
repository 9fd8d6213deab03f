/* SPDX-License-Identifier: Apache-2.0 */
/* select.c - descriptors and processes among the cases of a select.
 * operations.h has the tests of each such case alone, and of a descriptor that
 * is closed. */
#include "children.h"
#include "operations.h"

/* --- one of several ----------------------------------------------------- */

static void select_both_ways(void *unused)
{
	int         a[2], b[2];
	sennit_case cases[4];
	size_t      which = 77;

	(void)unused;
	open_sockets(a);
	open_sockets(b);
	cases[0] = sennit_case_readable(a[0]);
	cases[1] = sennit_case_readable(b[0]);
	cases[2] = sennit_case_readable(-1);
	cases[3] = sennit_case_writable(b[0]);
	EXPECT(sennit_select_until(cases, 3, &which, 0) == -ETIMEDOUT);
	EXPECT(sennit_select_until(cases, 3, &which, in_ms(1)) == -ETIMEDOUT);
	EXPECT(sennit_select_until(cases + 2, 1, &which, in_ms(1)) ==
	       -ETIMEDOUT);
	EXPECT(which == 77);
	/* The same descriptor twice, where one event is present. */
	EXPECT(!sennit_select_until(cases, 4, &which, SENNIT_NEVER));
	EXPECT(which == 3 && cases[3].result == POLLOUT);
	must(write(a[1], "x", 1) == 1, "write");
	EXPECT(!sennit_select_until(cases, 3, &which, SENNIT_NEVER));
	EXPECT(which == 0 && cases[0].result == POLLIN);
	/* Nothing was read. */
	EXPECT(!sennit_select_until(cases, 3, &which, 0));
	EXPECT(which == 0 && cases[0].result == POLLIN);
	close(b[1]);
	cases[0] = sennit_case_readable(-1);
	EXPECT(!sennit_select_until(cases, 3, &which, SENNIT_NEVER));
	EXPECT(which == 1 && cases[1].result & POLLIN);
	close(b[0]);
	EXPECT(!sennit_select_until(cases, 3, &which, SENNIT_NEVER));
	EXPECT(which == 1 && cases[1].result == -EBADF);
	close(a[0]);
	close(a[1]);
}

TEST_WITH_WORKERS(a_descriptor_is_a_case)
{
	in_each_place(select_both_ways, NULL);
}

/* A file is always ready, and epoll does not support files. */
static void select_file(void *unused)
{
	int         file = memfd_create("select", MFD_CLOEXEC);
	sennit_case cases[] = { sennit_case_readable(file),
				sennit_case_writable(file) };
	unsigned    count[2] = { 0 };

	(void)unused;
	for (unsigned i = 0; i < 200; i++) {
		size_t which = 0;

		EXPECT(!sennit_select_until(cases, 2, &which, SENNIT_NEVER));
		EXPECT(cases[which].result == (which ? POLLOUT : POLLIN));
		count[which]++;
	}
	EXPECT(count[0] && count[1]);
	close(file);
}

TEST_WITH_WORKERS(a_file_is_always_ready)
{
	in_each_place(select_file, NULL);
}

/* --- fairness ----------------------------------------------------------- */

/* A descriptor and a channel that are always ready, and a time that has passed,
 * 2000 times. The probability that one of them is chosen less than 400 times is
 * below 10^-60. */
static void select_fairly(void *unused)
{
	int            fds[2], value = 1;
	char           memory[1];
	sennit_channel c = SENNIT_CHANNEL_INIT_ARRAY(memory);
	sennit_case    cases[3];
	unsigned       count[3] = { 0 };

	(void)unused;
	open_sockets(fds);
	must(write(fds[1], "x", 1) == 1, "write");
	cases[0] = sennit_case_readable(fds[0]);
	cases[1] = sennit_case_receive(&c, &value);
	cases[2] = sennit_case_deadline(1);
	for (unsigned i = 0; i < 2000; i++) {
		size_t which = 0;

		(void)!sennit_channel_send_until(&c, memory, 0);
		EXPECT(!sennit_select_until(cases, 3, &which, SENNIT_NEVER));
		count[which]++;
	}
	for (unsigned i = 0; i < 3; i++)
		EXPECT(count[i] > 400);
	close(fds[0]);
	close(fds[1]);
}

TEST_WITH_WORKERS(what_is_always_ready_leaves_others_their_chance)
{
	in_each_place(select_fairly, NULL);
}

/* The sender is a fiber of the same worker, and must be able to run. */
static void send_once(void *channel)
{
	EXPECT(sennit_channel_send(channel, NULL) == 0);
}

static void select_until_received(void *unused)
{
	sennit_channel c = SENNIT_CHANNEL_INIT(0);
	int            fds[2];
	size_t         which = 0;
	sennit_case    cases[2];

	(void)unused;
	open_sockets(fds);
	must(write(fds[1], "x", 1) == 1, "write");
	cases[0] = sennit_case_readable(fds[0]);
	cases[1] = sennit_case_receive(&c, NULL);
	must_schedule_here(send_once, &c);
	while (!which)
		EXPECT(!sennit_select_until(cases, 2, &which, SENNIT_NEVER));
	close(fds[0]);
	close(fds[1]);
	sennit_yield(); /* the send has returned */
}

TEST_WITH_ONE(what_is_always_ready_lets_others_run)
{
	in_a_task(select_until_received, NULL);
}

/* --- what ends a wait --------------------------------------------------- */

/* Waits for every kind of case that a select has. */
struct scene {
	int            fds[2], pipe[2];
	sennit_channel in;
	sennit_event   event;
	sennit_future  future;
	sennit_time    time, deadline;
	char           got;
	size_t         which;
	int            err, result;
	atomic_bool    over;
};

enum { READABLE, WRITABLE, RECEIVE, EVENT, FUTURE, TIME, KINDS };

static void open_scene(struct scene *c)
{
	memset(c, 0, sizeof(*c));
	open_sockets(c->fds);
	open_full_pipe(c->pipe);
	c->in = (sennit_channel)SENNIT_CHANNEL_INIT(1);
	c->time = c->deadline = SENNIT_NEVER;
}

static void close_scene(struct scene *c)
{
	sennit_channel_destroy(&c->in); /* no fiber waits in the queues any
					 * more */
	sennit_event_destroy(&c->event);
	sennit_future_destroy(&c->future);
	for (int i = 0; i < 2; i++) {
		close(c->fds[i]);
		close(c->pipe[i]);
	}
}

static void select_in_scene(void *argument)
{
	struct scene *c = argument;
	sennit_case   cases[] = { sennit_case_readable(c->fds[0]),
				  sennit_case_writable(c->pipe[0]),
				  sennit_case_receive(&c->in, &c->got),
				  sennit_case_event(&c->event),
				  sennit_case_future(&c->future, NULL),
				  sennit_case_deadline(c->time) };

	c->which = 77;
	c->err = sennit_select_until(cases, KINDS, &c->which, c->deadline);
	c->result = c->err ? 0 : cases[c->which].result;
	atomic_store(&c->over, true);
}

static void *select_as_thread(void *argument)
{
	select_in_scene(argument);
	return NULL;
}

static void act(struct scene *c, unsigned kind)
{
	int fds[2] = { c->pipe[0], c->pipe[1] };

	switch (kind) {
	case READABLE:
		must(write(c->fds[1], "x", 1) == 1, "write");
		break;
	case WRITABLE:
		drain(fds);
		break;
	case RECEIVE:
		EXPECT(sennit_channel_send(&c->in, "y") == 0);
		break;
	case EVENT:
		sennit_event_set(&c->event);
		break;
	default:
		sennit_future_set(&c->future, NULL);
	}
}

static void expect_kind(const struct scene *c, unsigned kind)
{
	static const int results[KINDS] = { POLLIN, POLLOUT };

	EXPECT(c->err == 0 && c->which == kind && c->result == results[kind]);
	EXPECT(c->got == (kind == RECEIVE ? 'y' : 0));
}

/* Sometimes it is already waiting. */
static void in_scene(struct world *w, unsigned kind, bool waits)
{
	struct scene c;

	open_scene(&c);
	if (kind == TIME)
		c.time = in_ms(2);
	must_schedule(select_in_scene, &c);
	if (waits)
		EXPECT_SOON(io_waits(w->s) == 1 || kind == TIME);
	if (kind != TIME)
		act(&c, kind);
	EXPECT_SOON(atomic_load(&c.over));
	expect_kind(&c, kind);
	close_scene(&c);
}

TEST_WITH_WORKERS(each_kind_ends_the_wait_of_a_fiber)
{
	for (unsigned i = 0; i < 2 * KINDS; i++)
		in_scene(w, i / 2, i % 2);
}

TEST_WITH_WORKERS(each_kind_ends_the_wait_of_a_thread)
{
	for (unsigned i = 0; i < 8 * KINDS; i++) {
		const unsigned kind = i % KINDS;
		struct scene   c;
		pthread_t      t;

		open_scene(&c);
		c.time = kind == TIME ? in_ms(2) : in_ms(GIVE_UP / 1000000);
		t = must_start_thread(select_as_thread, &c);
		usleep(i / KINDS * 100);
		if (kind != TIME)
			act(&c, kind);
		pthread_join(t, NULL);
		expect_kind(&c, kind);
		close_scene(&c);
	}
	(void)w;
}

TEST_WITH_WORKERS(closing_a_descriptor_ends_the_wait)
{
	for (unsigned i = 0; i < 8; i++) {
		struct scene c;
		pthread_t    t = pthread_self();

		open_scene(&c);
		if (i % 2)
			t = must_start_thread(select_as_thread, &c);
		else
			must_schedule(select_in_scene, &c);
		if (i % 2)
			usleep(i * 100);
		else
			assert_soon(io_waits(w->s) == 1);
		EXPECT(sennit_close(i & 4 ? c.pipe[0] : c.fds[0]) == 0);
		EXPECT_SOON(atomic_load(&c.over));
		if (i % 2)
			pthread_join(t, NULL);
		EXPECT(c.err == 0);
		EXPECT(c.which == (i & 4 ? WRITABLE : READABLE));
		EXPECT(is_closed(c.result));
		c.fds[0] = i & 4 ? c.fds[0] : -1;
		c.pipe[0] = i & 4 ? -1 : c.pipe[0];
		close_scene(&c);
	}
}

/* --- groups ------------------------------------------------------------- */

static int select_as_member(void *argument)
{
	select_in_scene(argument);
	return 0;
}

static void end_by_group(struct world *w, sennit_time deadline)
{
	struct scene c;
	sennit_group g;

	open_scene(&c);
	sennit_group_init(&g, deadline, 0);
	assert_int_equal(sennit_group_spawn(&g, select_as_member, &c), 0);
	if (deadline == SENNIT_NEVER) {
		assert_soon(io_waits(w->s) == 1);
		sennit_group_cancel(&g);
	}
	(void)sennit_group_wait(&g);
	assert_int_equal(c.err,
			 deadline == SENNIT_NEVER ? -ECANCELED : -ETIMEDOUT);
	assert_int_equal(c.which, 77);
	close_scene(&c);
}

TEST_WITH_WORKERS(its_group_ends_the_wait)
{
	end_by_group(w, SENNIT_NEVER);
	end_by_group(w, in_ms(2));
}

/* --- cases that do not happen ------------------------------------------- */

/* Whichever case happens, no wait on the descriptor is left. After the
 * descriptor is closed and reopened, a read receives all bytes of the new
 * one. */
static void lose_and_read(void *unused)
{
	sennit_event e = SENNIT_EVENT_INIT(SENNIT_EVENT_AUTO);

	(void)unused;
	for (unsigned i = 0; i < 100; i++) {
		int         fds[2], silent[2];
		char        got[4];
		size_t      which = 77;
		sennit_case cases[3];

		open_sockets(fds);
		open_sockets(silent);
		cases[0] = sennit_case_readable(fds[0]);
		cases[1] = sennit_case_readable(silent[0]);
		cases[2] = sennit_case_event(&e);
		EXPECT(sennit_select_until(cases, i % 2 ? 1 : 3, &which,
					   sennit_after(1000)) == -ETIMEDOUT);
		sennit_event_set(&e);
		EXPECT(!sennit_select_until(cases, 3, &which, SENNIT_NEVER));
		EXPECT(which == 2);
		must(write(fds[1], "abc", 3) == 3, "write");
		EXPECT(sennit_read(fds[0], got, 4, SENNIT_NEVER) == 3);
		close(fds[0]);
		close(fds[1]);
		close(silent[0]);
		close(silent[1]);
	}
}

TEST_WITH_WORKERS(a_case_that_loses_has_no_effect)
{
	in_each_place(lose_and_read, NULL);
}

/* --- processes ---------------------------------------------------------- */

static void select_processes(void *unused)
{
	int         fds[2], status = -1, other = -1;
	size_t      which = 77;
	sennit_case cases[5];
	pid_t       lives, ends;

	(void)unused;
	begin_pipe(fds);
	lives = spawn_shell("read line", fds[0], 0);
	ends = spawn_shell("exit 3", 0, 0);
	cases[0] = sennit_case_process(lives, &other);
	cases[1] = sennit_case_process(ends, &status);
	cases[2] = sennit_case_process(0, &other);
	cases[3] = sennit_case_readable(-1);
	cases[4] = sennit_case_deadline(in_ms(2));
	EXPECT(!sennit_select_until(cases, 4, &which, SENNIT_NEVER));
	EXPECT(which == 1 && cases[1].result == 0 && status == EXITED(3));
	/* This child was reaped; the other one was not. */
	EXPECT(!sennit_select_until(cases, 4, &which, SENNIT_NEVER));
	EXPECT(which == 1 && cases[1].result == -ECHILD);
	cases[1] = cases[2];
	EXPECT(sennit_select_until(cases, 4, &which, 0) == -ETIMEDOUT);
	EXPECT(!sennit_select_until(cases, 5, &which, SENNIT_NEVER));
	EXPECT(which == 4 && other == -1);
	must(write(fds[1], "\n", 1) == 1, "write");
	EXPECT(!sennit_select_until(cases, 4, &which, SENNIT_NEVER));
	EXPECT(which == 0 && cases[0].result == 0 && other == 0);
	close(fds[0]);
	close(fds[1]);
}

TEST_WITH_WORKERS(the_end_of_a_process_is_a_case)
{
	in_each_place(select_processes, NULL);
}

/* Ends at once; its status is read by the select of another case. */
static void lose_process(void *unused)
{
	sennit_event e = SENNIT_EVENT_INIT(SENNIT_EVENT_MANUAL);
	pid_t        child = spawn_shell("exit 4", 0, 0);
	unsigned     won = 0;
	int          status = -1;
	size_t       which = 0;
	sennit_case  cases[] = { sennit_case_event(&e),
				 sennit_case_process(child, &status) };

	(void)unused;
	sennit_event_set(&e);
	while (!which) {
		EXPECT(status == -1);
		EXPECT(!sennit_select_until(cases, 2, &which, SENNIT_NEVER));
		won++;
	}
	EXPECT(status == EXITED(4) && cases[1].result == 0 && won > 0);
}

TEST_WITH_WORKERS(a_process_that_loses_is_not_reaped)
{
	in_each_place(lose_process, NULL);
}

/* --- the largest number of cases ---------------------------------------- */

static void select_many(void *unused)
{
	static int  fds[SENNIT_SELECT_MAX][2];
	sennit_case cases[SENNIT_SELECT_MAX];
	size_t      which = 77;

	(void)unused;
	for (size_t i = 0; i < SENNIT_SELECT_MAX; i++) {
		begin_pipe(fds[i]);
		cases[i] = sennit_case_readable(fds[i][0]);
	}
	for (size_t i = 0; i < SENNIT_SELECT_MAX; i += 9) {
		char byte;

		EXPECT(sennit_select_until(cases, SENNIT_SELECT_MAX, &which,
					   sennit_after(1000)) == -ETIMEDOUT);
		must(write(fds[i][1], "x", 1) == 1, "write");
		EXPECT(!sennit_select_until(cases, SENNIT_SELECT_MAX, &which,
					    SENNIT_NEVER));
		EXPECT(which == i && cases[i].result == POLLIN);
		must(read(fds[i][0], &byte, 1) == 1, "read");
	}
	for (size_t i = 0; i < SENNIT_SELECT_MAX; i++) {
		close(fds[i][0]);
		close(fds[i][1]);
	}
}

TEST_WITH_WORKERS(all_cases_may_be_descriptors)
{
	in_each_place(select_many, NULL);
}

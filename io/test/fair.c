/* SPDX-License-Identifier: Apache-2.0 */
/* fair.c - fibers whose descriptors are always ready, and fibers that yield, do
 * not keep other fibers of their worker from running.
 */
#include "operations.h"

struct pair {
	int         fds[2];
	atomic_bool begun, stop, over;
	unsigned    before; /* turns until the byte is sent */
	unsigned    turns;  /* turns of the counted fiber after that */
};

static void stop_the_reader(void *argument)
{
	struct pair *p = argument;

	atomic_store(&p->stop, true);
}

/* Never waits: it reads what it has written. The fiber that stops it is queued
 * after it. */
static void read_what_is_there(void *argument)
{
	struct pair *p = argument;
	char         bytes[2];

	must_schedule_here(stop_the_reader, p);
	while (!atomic_load(&p->stop)) {
		must(write(p->fds[1], "ab", 2) == 2, "write");
		EXPECT(sennit_recv(p->fds[0], bytes, 2, 0, SENNIT_NEVER) == 2);
	}
	atomic_store(&p->over, true);
}

TEST_WITH_WORKERS(who_is_always_ready_lets_others_run)
{
	struct pair p = { .turns = 0 };

	open_sockets(p.fds);
	in_a_task(read_what_is_there, &p);
	close(p.fds[0]);
	close(p.fds[1]);
}

/* The same with operations that both backends complete at once. */
static void write_to_nobody(void *argument)
{
	struct pair *p = argument;
	int          fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

	must(fd >= 0, "/dev/null");
	must_schedule_here(stop_the_reader, p);
	while (!atomic_load(&p->stop))
		EXPECT(sennit_write(fd, "ab", 2, SENNIT_NEVER) == 2);
	close(fd);
}

TEST_WITH_WORKERS(who_never_waits_lets_others_run)
{
	struct pair p = { .turns = 0 };

	in_a_task(write_to_nobody, &p);
}

/* --- each operation ----------------------------------------------------- */

/* Every 64th call of a worker lets other fibers run (io/docs/design.md). */
enum { CALLS = 64 };

struct always {
	const struct operation *of;
	sennit_event            go;
	bool                    begun, ran;
	int                     fds[2];
};

static void run_beside(void *argument)
{
	struct always *a = argument;

	a->begun = true;
	EXPECT(!sennit_event_wait(&a->go));
	a->ran = true;
}

static void call_when_ready(struct always *a)
{
	a->of->open(a->fds);
	a->of->make_ready(a->fds);
	EXPECT(a->of->call(a->fds[0], SENNIT_NEVER) == a->of->done);
	close(a->fds[0]);
	close(a->fds[1]);
}

static void call_beside_ready(void *of)
{
	struct always a = { .of = of };

	sennit_event_init(&a.go, SENNIT_EVENT_AUTO);
	must_schedule_here(run_beside, &a);
	while (!a.begun)
		sennit_yield();
	sennit_event_set(&a.go);
	for (int i = 0; i < CALLS && !a.ran; i++)
		call_when_ready(&a);
	if (!a.ran)
		print_error("%s lets nobody run\n", a.of->name);
	EXPECT(a.ran);
	EXPECT_SOON(a.ran);
	sennit_event_destroy(&a.go);
}

TEST_WITH_WORKERS(each_call_lets_others_run)
{
	for (size_t i = 0; i < OPERATIONS; i++)
		in_a_task(call_beside_ready, (void *)(uintptr_t)&operations[i]);
}

/* --- beside a fiber that yields ----------------------------------------- */

static void wait_for_byte(void *argument)
{
	struct pair *p = argument;
	char         byte;

	atomic_store(&p->begun, true);
	EXPECT(sennit_recv(p->fds[0], &byte, 1, 0, SENNIT_NEVER) == 1);
	atomic_store(&p->over, true);
}

static void yield_until_over(void *argument)
{
	struct pair *p = argument;

	must_schedule_here(wait_for_byte, p);
	while (!atomic_load(&p->begun))
		sennit_yield();
	for (int i = 0; i < 40; i++) /* by then it is submitted */
		sennit_yield();
	must(write(p->fds[1], "x", 1) == 1, "write");
	for (; !atomic_load(&p->over); p->turns++)
		sennit_yield();
}

/* 16 dispatches, and those until its fiber runs. Twice, because the worker may
 * poll just before the byte arrives. */
TEST_WITH_WORKERS(a_byte_comes_through_after_few_dispatches)
{
	for (int i = 0; i < 20; i++) {
		struct pair p = { .turns = 0 };

		open_sockets(p.fds);
		in_a_task(yield_until_over, &p);
		EXPECT(p.turns <= 2 * 16 + 4);
		close(p.fds[0]);
		close(p.fds[1]);
	}
}

/* --- beside a fiber with long turns -------------------------------------- */

/* A turn of at least this time by the clock, however busy the machine is. */
static void take_long_turn(void)
{
	const sennit_time end = sennit_after(10 * SENNIT_MICROSECOND);

	while (sennit_now() < end)
		continue;
	sennit_yield();
}

static void send_and_take_turns(struct pair *p)
{
	must(write(p->fds[1], "x", 1) == 1, "write");
	for (p->turns = 0; !atomic_load(&p->over); p->turns++)
		take_long_turn();
}

static void take_turns_until_over(void *argument)
{
	struct pair *p = argument;

	must_schedule_here(wait_for_byte, p);
	while (!atomic_load(&p->begun))
		sennit_yield();
	for (unsigned i = 0; i < p->before; i++)
		take_long_turn();
	send_and_take_turns(p);
}

/* A polling period has at most four of these turns: two of 10 us take
 * POLLER_PERIOD, and one of two dispatches may be shorter. A period has 16
 * dispatches, so with 16 different starts the byte arrives at any point of
 * it. */
TEST_WITH_WORKERS(a_byte_comes_through_after_few_long_turns)
{
	for (unsigned i = 0; i < 16; i++) {
		struct pair p = { .before = 48 + i };

		open_sockets(p.fds);
		in_a_task(take_turns_until_over, &p);
		EXPECT(p.turns <= 4 + 2);
		close(p.fds[0]);
		close(p.fds[1]);
	}
}

static void sleep_and_take_turns(void *argument)
{
	struct pair *p = argument;

	for (unsigned k = 0; k < 8; k++) {
		atomic_store(&p->over, false);
		atomic_store(&p->begun, false);
		must_schedule_here(wait_for_byte, p);
		/* Many short turns, or none. */
		for (unsigned i = 0; i < k % 2 * 100; i++)
			sennit_yield();
		do
			EXPECT(!sennit_sleep_until(in_ms(1)));
		while (!atomic_load(&p->begun));
		send_and_take_turns(p);
		EXPECT(p->turns <= 2 * 4 + 2);
	}
}

/* The first poll after a sleep may be skipped, because the sleep has polled. */
TEST_WITH_WORKERS(a_byte_comes_through_after_a_sleep)
{
	struct pair p = { .before = 0 };

	open_sockets(p.fds);
	in_a_task(sleep_and_take_turns, &p);
	close(p.fds[0]);
	close(p.fds[1]);
}

/* --- beside many woken fibers --------------------------------------------- */

enum { WOKEN = 40 };

struct crowd {
	struct pair late;     /* the fiber with the deadline */
	sennit_time deadline; /* its deadline */
	ptrdiff_t   result;
	int         fds[WOKEN][2];
	atomic_uint begun, over;
	bool        in_time; /* the byte came before the deadline */
};

struct woken {
	struct crowd *crowd;
	int           fd;
};

static void wait_until_deadline(void *argument)
{
	struct crowd *c = argument;
	char          byte;

	atomic_fetch_add(&c->begun, 1);
	c->result = sennit_recv(c->late.fds[0], &byte, 1, 0, c->deadline);
	atomic_fetch_add(&c->over, 1);
}

/* The first fiber sends the byte that the other one waits for, and lets its
 * deadline pass. */
static void be_woken(void *argument)
{
	const struct woken *x = argument;
	struct crowd       *c = x->crowd;
	char                byte;

	atomic_fetch_add(&c->begun, 1);
	EXPECT(sennit_recv(x->fd, &byte, 1, 0, SENNIT_NEVER) == 1);
	if (!atomic_fetch_add(&c->over, 1)) {
		must(write(c->late.fds[1], "x", 1) == 1, "write");
		c->in_time = sennit_now() < c->deadline;
		while (sennit_now() < c->deadline + SENNIT_MILLISECOND)
			continue;
	}
}

static void wake_crowd(void *argument)
{
	struct crowd *c = argument;
	struct woken  x[WOKEN];

	must_schedule_here(wait_until_deadline, c);
	for (int i = 0; i < WOKEN; i++) {
		x[i] = (struct woken){ c, c->fds[i][0] };
		must_schedule_here(be_woken, &x[i]);
	}
	while (atomic_load(&c->begun) < WOKEN + 1)
		sennit_yield();
	for (int i = 0; i < 40; i++) /* by then it is submitted */
		sennit_yield();
	for (int i = 0; i < WOKEN; i++)
		must(write(c->fds[i][1], "x", 1) == 1, "write");
	while (atomic_load(&c->over) < WOKEN + 1)
		sennit_yield();
}

static void close_pair(const int fds[2])
{
	close(fds[0]);
	close(fds[1]);
}

/* The worker does not process completions while woken fibers have not run. If
 * the machine is too slow for the deadline, the test tries again with a longer
 * one. */
TEST_WITH_WORKERS(data_beats_a_deadline_that_passes_beside_woken_fibers)
{
	struct crowd c = { .in_time = false };

	for (uint64_t ms = 20; !c.in_time && ms < 20000; ms *= 4) {
		c = (struct crowd){ .in_time = false };
		open_sockets(c.late.fds);
		for (int i = 0; i < WOKEN; i++)
			open_sockets(c.fds[i]);
		c.deadline = in_ms(ms);
		in_a_task(wake_crowd, &c);
		close_pair(c.late.fds);
		for (int i = 0; i < WOKEN; i++)
			close_pair(c.fds[i]);
	}
	assert_true(c.in_time);
	assert_int_equal(c.result, 1);
}

USES_BACKEND;

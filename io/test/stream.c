/* SPDX-License-Identifier: Apache-2.0 */
/* stream.c - the bytes of a stream are received once and in order, whatever
 * ends a wait. Ends and errors are reported. stream_buffers.c tests who holds
 * buffers.
 */
#include "streams.h"

#include "testing/random.h"

/* --- one after the other ------------------------------------------------ */

static void take_at_once(void *argument)
{
	int            fds[2];
	sennit_stream *s;
	void          *bytes = argument;

	open_sockets(fds);
	s = must_open(fds[0]);
	EXPECT(sennit_stream_next(s, &bytes, 0) == -ETIMEDOUT);
	EXPECT(bytes == argument);
	for (int i = 0; i < 3; i++) {
		give_two_bytes(fds);
		expect_ab(s, i % 2 ? 0 : SENNIT_NEVER);
		if (i == 1)
			sennit_stream_give_back(s);
	}
	EXPECT(sennit_stream_next(s, &bytes, in_ms(1)) == -ETIMEDOUT);
	give_two_bytes(fds);
	close(fds[1]);
	fds[1] = -1;
	expect_ab(s, SENNIT_NEVER);
	for (int i = 0; i < 2; i++)
		EXPECT(sennit_stream_next(s, &bytes, SENNIT_NEVER) == 0);
	sennit_stream_close(s);
	close_both(fds);
}

TEST_WITH_WORKERS(what_has_come_is_had_at_once)
{
	in_each_place(take_at_once, NULL);
}

static void see_reset(void *argument)
{
	const struct linger at_once = { .l_onoff = 1 };
	int                 fds[2];
	sennit_stream      *s;
	void               *bytes = argument;

	open_tcp_connection(fds);
	s = must_open(fds[0]);
	EXPECT(sennit_stream_next(s, &bytes, 0) == -ETIMEDOUT);
	setsockopt(fds[1], SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
	close(fds[1]);
	fds[1] = -1;
	for (int i = 0; i < 2; i++)
		EXPECT(sennit_stream_next(s, &bytes, SENNIT_NEVER) ==
		       -ECONNRESET);
	sennit_stream_close(s);
	close_both(fds);
}

TEST_WITH_WORKERS(a_reset_is_reported_each_time)
{
	in_each_place(see_reset, NULL);
}

/* --- many small writes -------------------------------------------------- */

/* More than the number of completions that the kernel posts for one request
 * before it ends it (uring_stream.c). */
enum { ROUNDS = 300, WRITES = 200 };

/* In each round the fiber keeps its thread busy until all but one byte are
 * written. The last one is written at about the time when the kernel delivers
 * the others. */
struct writes {
	int         fds[2];
	uint64_t    random;
	atomic_int  written, read; /* rounds */
	atomic_int  begun;         /* rounds whose last write may happen */
	atomic_bool over;
};

static void spin_until(const atomic_int *number, int round)
{
	while (atomic_load(number) != round && !atomic_load(&broken_claims))
		sched_yield();
}

static void *write_rounds(void *argument)
{
	struct writes *x = argument;

	for (int round = 1; round <= ROUNDS; round++) {
		spin_until(&x->read, round - 1);
		for (int i = 1; i < WRITES; i++)
			must(write(x->fds[1], "a", 1) == 1, "write");
		atomic_store(&x->written, round);
		while (atomic_load(&x->begun) != round)
			continue;
		for (uint32_t i = random_below(&x->random, 500); i; i--)
			atomic_thread_fence(memory_order_seq_cst);
		if (round < ROUNDS)
			must(write(x->fds[1], "a", 1) == 1, "write");
	}
	shutdown(x->fds[1], SHUT_WR);
	return NULL;
}

static void read_rounds(void *argument)
{
	struct writes *x = argument;
	sennit_stream *s = must_open(x->fds[0]);
	void          *bytes;
	ptrdiff_t      n;

	EXPECT(sennit_stream_next(s, &bytes, 0) == -ETIMEDOUT);
	atomic_store(&x->read, 0);
	for (int round = 1; round <= ROUNDS; round++) {
		const int all = WRITES - (round == ROUNDS);
		int       sum = 0;

		spin_until(&x->written, round);
		atomic_store(&x->begun, round);
		while (sum < all) {
			n = sennit_stream_next(s, &bytes, SENNIT_NEVER);
			EXPECT(n > 0);
			sum += (int)n;
		}
		EXPECT(sum == all);
		atomic_store(&x->read, round);
	}
	EXPECT(sennit_stream_next(s, &bytes, SENNIT_NEVER) == 0);
	sennit_stream_close(s);
	atomic_store(&x->over, true);
}

TEST_WITH_WORKERS(the_last_of_many_small_writes_is_had)
{
	(void)w;
	for (int tcp = 0; tcp < 2; tcp++) {
		struct writes x = { .random = random_stream(1), .read = -1 };
		pthread_t     writer;

		if (tcp)
			open_tcp_connection(x.fds);
		else
			open_sockets(x.fds);
		must_schedule(read_rounds, &x);
		must(!pthread_create(&writer, NULL, write_rounds, &x),
		     "pthread_create");
		assert_soon(atomic_load(&x.over));
		pthread_join(writer, NULL);
		close_both(x.fds);
	}
}

/* --- descriptors without streams ----------------------------------------- */

static void open_others(void *argument)
{
	sennit_stream *s = argument;
	int            fds[2];
	int datagrams = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	begin_pipe(fds);
	EXPECT(sennit_stream_open(&s, -1) == -EBADF);
	EXPECT(sennit_stream_open(&s, fds[0]) == -ENOTSOCK);
	EXPECT(sennit_stream_open(&s, datagrams) == -EPROTOTYPE);
	EXPECT(s == argument);
	close(datagrams);
	close_both(fds);
}

TEST_WITHOUT(other_descriptors_have_no_streams)
{
	in_each_place(open_others, NULL);
}

/* --- waiting ------------------------------------------------------------ */

static int wait_as_member(void *argument)
{
	wait_in_stream(argument);
	return 0;
}

static void give_from_thread(void *argument)
{
	give_two_bytes(((struct waiting *)argument)->fds);
}

TEST_WITH_WORKERS(a_thread_ends_the_wait)
{
	struct waiting x = { .result = 0 };

	open_sockets(x.fds);
	must_schedule(wait_in_stream, &x);
	assert_soon(io_waits(w->s) == 1);
	in_a_thread(give_from_thread, &x);
	assert_soon(atomic_load(&x.over));
	assert_int_equal(x.result, 2);
	close_both(x.fds);
}

TEST_WITH_WORKERS(a_cancelled_group_ends_the_wait_and_loses_nothing)
{
	struct waiting x = { .result = 0 };
	sennit_group   g;

	open_sockets(x.fds);
	sennit_group_init(&g, SENNIT_NEVER, 0);
	assert_int_equal(sennit_group_spawn(&g, wait_as_member, &x), 0);
	assert_soon(io_waits(w->s) == 1);
	sennit_group_cancel(&g);
	assert_int_equal(sennit_group_wait(&g), -ECANCELED);
	assert_int_equal(x.result, -ECANCELED);
	close_both(x.fds);
}

static void close_under_it(void *argument)
{
	struct waiting *x = argument;

	must_schedule_here(wait_in_stream, x);
	for (int i = 0; i < 64; i++)
		sennit_yield();
	EXPECT(!sennit_close(x->fds[0]));
	while (!atomic_load(&x->over))
		sennit_yield();
}

TEST_WITH_WORKERS(closing_the_descriptor_ends_the_wait)
{
	struct waiting x = { .result = 0 };
	int            other;

	open_sockets(x.fds);
	other = x.fds[1];
	x.fds[1] = -1;
	in_a_task(close_under_it, &x);
	assert_int_equal(x.result, -ECANCELED);
	close(other);
}

/* --- deadlines race with bytes ------------------------------------------ */

enum { STREAMS = 4, SIZE = 100000 };

struct pattern {
	int         fds[2];
	uint64_t    random_in, random_out;
	atomic_uint over;
};

static void send_pattern(void *argument)
{
	struct pattern *p = argument;
	char            bytes[300];

	for (size_t sent = 0; sent < LOAD(SIZE);) {
		size_t n = 1 +
			   (size_t)random_from(&p->random_out) % sizeof(bytes);
		ptrdiff_t done;

		if (n > LOAD(SIZE) - sent)
			n = LOAD(SIZE) - sent;
		for (size_t i = 0; i < n; i++)
			bytes[i] = nth(sent + i);
		done = sennit_send(p->fds[1], bytes, n, 0, SENNIT_NEVER);
		EXPECT(done > 0);
		sent += done > 0 ? (size_t)done : n;
		if (random_from(&p->random_out) % 8 == 0)
			sennit_yield();
	}
	sennit_shutdown(p->fds[1], SHUT_WR);
	atomic_fetch_add(&p->over, 1);
}

static void receive_pattern(void *argument)
{
	struct pattern *p = argument;
	sennit_stream  *s = must_open(p->fds[0]);
	ptrdiff_t       n;
	size_t          had = 0;

	do {
		uint64_t r = random_from(&p->random_in) % 64;
		void    *bytes;

		n = sennit_stream_next(s, &bytes,
				       r ? sennit_after(r * SENNIT_MICROSECOND)
					 : 0);
		EXPECT(n >= 0 || n == -ETIMEDOUT);
		if (n <= 0)
			continue;
		check_pattern(bytes, had, (size_t)n);
		memset(bytes, 0x5c, (size_t)n); /* the caller may change it */
		had += (size_t)n;
		if (r % 16 == 0)
			sennit_sleep(SENNIT_MICROSECOND);
	} while (n);
	EXPECT(had == LOAD(SIZE));
	sennit_stream_close(s);
	atomic_fetch_add(&p->over, 1);
}

TEST_WITH_WORKERS(deadlines_lose_no_byte)
{
	struct pattern p[STREAMS];

	for (int i = 0; i < STREAMS; i++) {
		p[i] = (struct pattern){ .random_in = (uint64_t)i + 1,
					 .random_out = (uint64_t)i + 99 };
		open_sockets(p[i].fds);
		must_schedule(receive_pattern, &p[i]);
		must_schedule(send_pattern, &p[i]);
	}
	for (int i = 0; i < STREAMS; i++) {
		assert_soon(atomic_load(&p[i].over) == 2);
		close_both(p[i].fds);
	}
}

AFTER_ALL(random_report);
USES_BACKEND;

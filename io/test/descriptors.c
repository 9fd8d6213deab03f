/* SPDX-License-Identifier: Apache-2.0 */
/* descriptors.c - many descriptors at once, two waits on one descriptor,
 * descriptors that are closed during a wait, reused numbers, and files.
 */
#include "operations.h"

#include <signal.h>

/* --- many, and closing -------------------------------------------------- */

enum { MANY = 40 };

/* Each call in a fiber of its own, all at the same time, on as many
 * descriptors. */
TEST_WITH_WORKERS(many_wait_at_once)
{
	struct attempt a[MANY];

	for (int i = 0; i < MANY; i++) {
		a[i] = (struct attempt){
			.of = &operations[(size_t)i % OPERATIONS], .s = w->s
		};
		begin(&a[i]);
		must_schedule(call_to_wait, &a[i]);
	}
	assert_soon(io_waits(w->s) == MANY);
	for (int i = MANY; i--;)
		a[i].of->make_ready(a[i].fds);
	for (int i = 0; i < MANY; i++) {
		assert_soon(atomic_load(&a[i].over));
		said(&a[i], a[i].result, a[i].of->done, "one of many");
		end_attempt(&a[i]);
	}
}

/* A reader and a writer of one socket, on one worker. */
struct both {
	struct attempt in, out;
	atomic_bool    over;
};

static void start_both_here(void *argument)
{
	struct both *b = argument;

	must_schedule_here(call_to_wait, &b->in);
	must_schedule_here(call_to_wait, &b->out);
	while (!atomic_load(&b->in.over) || !atomic_load(&b->out.over))
		sennit_yield();
	atomic_store(&b->over, true);
}

static void two_wait_on_one_descriptor(struct world *w, bool in_first)
{
	struct both b = { .in = { .of = &operations[4], .s = w->s },
			  .out = { .of = &operations[10], .s = w->s } };

	open_full_sockets(b.out.fds);
	memcpy(b.in.fds, b.out.fds, sizeof(b.in.fds));
	must_schedule(start_both_here, &b);
	assert_soon(io_waits(w->s) == 2);
	if (in_first) {
		give_two_bytes(b.in.fds);
		assert_soon(atomic_load(&b.in.over));
		assert_false(atomic_load(&b.out.over));
	} else {
		drain(b.out.fds);
		assert_soon(atomic_load(&b.out.over));
		assert_false(atomic_load(&b.in.over));
	}
	give_two_bytes(b.in.fds);
	drain(b.out.fds);
	assert_soon(atomic_load(&b.over));
	said(&b.in, b.in.result, 2, "beside a writer");
	said(&b.out, b.out.result, 3, "beside a reader");
	end_attempt(&b.in);
}

TEST_WITH_WORKERS(a_reader_and_a_writer_wait_on_one_descriptor)
{
	two_wait_on_one_descriptor(w, true);
	two_wait_on_one_descriptor(w, false);
}

static void close_it(void *argument)
{
	struct attempt *a = argument;

	must_schedule_here(call_to_wait, a);
	while (!io_waits(a->s))
		sennit_yield();
	EXPECT(!sennit_close(a->fds[0]));
	while (!atomic_load(&a->over))
		sennit_yield();
}

TEST_WITH_WORKERS(closing_ends_the_waits_of_the_same_worker)
{
	for (size_t i = 0; i < OPERATIONS; i++) {
		struct attempt a = { .of = &operations[i], .s = w->s };

		begin(&a);
		in_a_task(close_it, &a);
		said(&a, a.result, -ECANCELED, "closed");
		close(a.fds[1]);
	}
}

/* At the next wait the number belongs to another descriptor. */
TEST_WITH_WORKERS(a_number_that_is_used_again_is_waited_for_anew)
{
	for (int i = 0; i < 4; i++) {
		struct attempt a = { .of = &operations[i % 2 ? 4 : 1],
				     .s = w->s };

		begin(&a);
		wait_in_task(&a);
		end_attempt(&a);
	}
}

/* --- files -------------------------------------------------------------- */

static void use_file(void *argument)
{
	char         name[] = "/tmp/sennit-io-XXXXXX";
	int          fd = mkstemp(name);
	char         b[8] = "";
	struct iovec v[2] = { { b, 2 }, { b + 2, 2 } };

	(void)argument;
	must(fd >= 0, "mkstemp");
	unlink(name);
	EXPECT(sennit_write(fd, "abcd", 4, SENNIT_NEVER) == 4);
	EXPECT(sennit_pwrite(fd, "xy", 2, 1, SENNIT_NEVER) == 2);
	EXPECT(sennit_pread(fd, b, 8, 0, SENNIT_NEVER) == 4);
	EXPECT(!memcmp(b, "axyd", 4));
	EXPECT(sennit_read(fd, b, 8, SENNIT_NEVER) == 0);
	EXPECT(sennit_pread(fd, b, 8, 4, SENNIT_NEVER) == 0);
	EXPECT(sennit_pread(fd, b, 8, -1, SENNIT_NEVER) == -EINVAL);
	EXPECT(sennit_pwrite(fd, b, 8, -1, SENNIT_NEVER) == -EINVAL);
	EXPECT(lseek(fd, 0, SEEK_SET) == 0);
	EXPECT(sennit_readv(fd, v, 2, SENNIT_NEVER) == 4);
	EXPECT(!memcmp(b, "axyd", 4));
	EXPECT(sennit_poll(fd, POLLIN, 0) == POLLIN);
	EXPECT(sennit_writev(fd, v, 2, 0) == 4);
	EXPECT(sennit_pread(fd, b, 8, 0, 0) == 8);
	/* Data that is not in the page cache. */
	EXPECT(!fsync(fd) && !posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED));
	EXPECT(sennit_pread(fd, b, 8, 0, in_ms(100000)) == 8);
	EXPECT(!posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED));
	EXPECT(sennit_pread(fd, b, 8, 0, 0) == 8);
	EXPECT(sennit_close(fd) == 0);
	EXPECT(sennit_close(fd) == -EBADF);
	EXPECT(sennit_read(fd, b, 8, SENNIT_NEVER) == -EBADF);
	EXPECT(sennit_write(-1, b, 8, in_ms(1)) == -EBADF);
	EXPECT(sennit_poll(-1, POLLIN, in_ms(1)) == -EBADF);
}

TEST_WITH_WORKERS(files_are_read_and_written)
{
	in_each_place(use_file, NULL);
}

static void poll_nothing(void *argument)
{
	struct pollfd     p = { .fd = -1, .events = POLLIN };
	const sennit_time deadline = in_ms(1);

	(void)argument;
	EXPECT(sennit_poll_many(NULL, 0, deadline) == -ETIMEDOUT);
	EXPECT(sennit_now() >= deadline);
	EXPECT(sennit_poll_many(&p, 1, in_ms(1)) == -ETIMEDOUT);
	EXPECT(sennit_poll_many(&p, 1, 0) == -ETIMEDOUT);
}

TEST_WITH_WORKERS(poll_of_no_descriptor_waits_for_the_deadline)
{
	in_each_place(poll_nothing, NULL);
}

static void name_backend(void *argument)
{
	const char *name = sennit_io_backend();

	EXPECT(!strcmp(name, argument ? argument : wanted_backend));
}

TEST_WITH_WORKERS(the_backend_has_a_name)
{
	name_backend(NULL);
	in_a_task(name_backend, NULL);
	in_a_thread(name_backend, "poll");
}

static int begin_all(void)
{
	signal(SIGPIPE, SIG_IGN);
	return 0;
}

BEFORE_ALL(begin_all);
USES_BACKEND;

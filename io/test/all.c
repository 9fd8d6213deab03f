/* SPDX-License-Identifier: Apache-2.0 */
/* all.c - a call transfers everything, or stores how much it has
 * transferred. */
#include "streams.h"

#include "testing/misuse.h"

#include <sys/syscall.h>
#include <sys/uio.h>

/* --- a peer ------------------------------------------------------------- */

enum { SIZE = 300000 };

static char *make_pattern(void)
{
	char *bytes = malloc(SIZE);

	must(bytes, "malloc");
	for (size_t i = 0; i < SIZE; i++)
		bytes[i] = nth(i);
	return bytes;
}

/* Buffers as small as the system allows. */
static void open_narrow(int fds[2])
{
	int least = 1;

	open_sockets(fds);
	for (int i = 0; i < 2; i++) {
		setsockopt(fds[i], SOL_SOCKET, SO_SNDBUF, &least, sizeof(int));
		setsockopt(fds[i], SOL_SOCKET, SO_RCVBUF, &least, sizeof(int));
	}
}

/* Receives everything and checks it. */
struct sink {
	int         fd;
	size_t      had;
	atomic_bool over;
};

static void *take_all(void *argument)
{
	struct sink *s = argument;
	char         bytes[1000];
	ptrdiff_t    n;

	while ((n = read(s->fd, bytes, sizeof(bytes))) > 0) {
		check_pattern(bytes, s->had, (size_t)n);
		s->had += (size_t)n;
	}
	EXPECT(n == 0);
	atomic_store(&s->over, true);
	return NULL;
}

/* --- sending and writing ------------------------------------------------ */

typedef int send_fn(int fd, const void *from, size_t size, size_t *done,
		    sennit_time deadline);

static int send_by_send(int fd, const void *from, size_t size, size_t *done,
			sennit_time deadline)
{
	return sennit_send_all(fd, from, size, 0, done, deadline);
}

/* Without pwritev2(), as in qemu, a write to a blocking pipe is a blocking
 * call, which no deadline ends once it has begun. */
static void open_empty_pipe(int fds[2])
{
	const char  *io = getenv("SENNIT_TEST_IO");
	char         byte = 0;
	struct iovec v = { &byte, 1 };
	bool         at_once;

	open_full_pipe(fds);
	drain(fds);
	at_once = syscall(SYS_pwritev2, fds[0], &v, 1L, -1L, -1L, RWF_NOWAIT) ==
		  1;
	drain(fds);
	set_nonblock(fds[0], !at_once || (io && !strcmp(io, "refused")));
}

static const struct way {
	send_fn *send;
	void (*open)(int fds[2]); /* the test writes to fds[0] */
} ways[] = { { send_by_send, open_narrow },
	     { sennit_write_all, open_narrow },
	     { sennit_write_all, open_empty_pipe } };

/* Send until the buffers are full, then send the rest, and count all of it. */
static void send_in_two(const struct way *way, sennit_time deadline, int end)
{
	char       *bytes = make_pattern();
	int         fds[2];
	size_t      done = 0, before;
	struct sink s = { 0 };
	pthread_t   reader;

	way->open(fds);
	EXPECT(way->send(fds[0], bytes, SIZE, &done, deadline) == end);
	EXPECT(done > 0 && done < SIZE);
	before = done;
	EXPECT(way->send(fds[0], bytes, SIZE, &done, 0) == -ETIMEDOUT);
	EXPECT(done >= before && done < SIZE);
	s.fd = fds[1];
	must(!pthread_create(&reader, NULL, take_all, &s), "thread");
	EXPECT(way->send(fds[0], bytes, SIZE, &done, SENNIT_UNCANCELLED) == 0);
	EXPECT(done == SIZE);
	EXPECT(way->send(fds[0], bytes, SIZE, &done, 0) == 0);
	close(fds[0]);
	must(!pthread_join(reader, NULL), "join");
	EXPECT(s.had == SIZE);
	close(fds[1]);
	free(bytes);
}

static void send_after_deadline(void *unused)
{
	(void)unused;
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		send_in_two(&ways[i], i ? in_ms(2) : 0, -ETIMEDOUT);
}

TEST_WITH_WORKERS(a_deadline_in_the_middle_loses_no_byte)
{
	in_each_place(send_after_deadline, NULL);
}

static int send_until_cancelled(void *way)
{
	send_in_two(way, SENNIT_NEVER, -ECANCELED);
	return 0;
}

TEST_WITH_WORKERS(a_cancelled_group_in_the_middle_loses_no_byte)
{
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		sennit_group g;

		sennit_group_init(&g, SENNIT_NEVER, 0);
		assert_int_equal(
			sennit_group_spawn(&g, send_until_cancelled,
					   (void *)(uintptr_t)&ways[i]),
			0);
		assert_soon(io_waits(w->s) == 1);
		sennit_group_cancel(&g);
		assert_int_equal(sennit_group_wait(&g), -ECANCELED);
	}
}

static int send_until_group_ends(void *way)
{
	send_in_two(way, SENNIT_NEVER, -ETIMEDOUT);
	return 0;
}

TEST_WITH_WORKERS(the_deadline_of_a_group_in_the_middle_loses_no_byte)
{
	sennit_group g;

	(void)w;
	sennit_group_init(&g, in_ms(5), 0);
	assert_int_equal(sennit_group_spawn(&g, send_until_group_ends,
					    (void *)(uintptr_t)&ways[0]),
			 0);
	assert_int_equal(sennit_group_wait(&g), 0); /* the error of the
						     * member */
}

static void see_closed(void *unused)
{
	static char bytes[SIZE];
	int         fds[2];
	size_t      done = 0, before;

	(void)unused;
	open_narrow(fds);
	EXPECT(sennit_send_all(fds[0], bytes, SIZE, 0, &done, in_ms(1)) ==
	       -ETIMEDOUT);
	before = done;
	close(fds[1]);
	EXPECT(sennit_send_all(fds[0], bytes, SIZE, 0, &done, in_ms(100000)) ==
	       -EPIPE);
	EXPECT(done == before);
	EXPECT(sennit_send_all(fds[0], bytes, 0, 0, NULL, 0) == 0);
	close(fds[0]);
}

TEST_WITH_WORKERS(a_closed_peer_is_an_error_and_the_count_stays)
{
	in_each_place(see_closed, NULL);
}

/* --- reading ------------------------------------------------------------ */

static void read_in_parts(void *unused)
{
	char   bytes[6] = "......";
	size_t done = 0;
	int    fds[2];

	(void)unused;
	open_sockets(fds);
	give_two_bytes(fds);
	EXPECT(sennit_read_exactly(fds[0], bytes, 6, &done, in_ms(2)) ==
	       -ETIMEDOUT);
	EXPECT(done == 2);
	EXPECT(sennit_read_exactly(fds[0], bytes, 6, &done, 0) == -ETIMEDOUT);
	EXPECT(done == 2);
	give_two_bytes(fds);
	give_two_bytes(fds);
	give_two_bytes(fds); /* not read */
	EXPECT(sennit_read_exactly(fds[0], bytes, 6, &done, in_ms(100000)) ==
	       0);
	EXPECT(done == 6 && !memcmp(bytes, "ababab", 6));
	close(fds[1]);
	done = 0;
	EXPECT(sennit_read_exactly(fds[0], bytes, 3, &done, SENNIT_NEVER) ==
	       -ENODATA);
	EXPECT(done == 2);
	EXPECT(sennit_read_exactly(fds[0], bytes, 1, NULL, SENNIT_NEVER) ==
	       -ENODATA);
	EXPECT(sennit_read_exactly(fds[0], bytes, 0, NULL, 0) == 0);
	EXPECT(sennit_read_exactly(-1, bytes, 1, NULL, SENNIT_NEVER) == -EBADF);
	close(fds[0]);
}

TEST_WITH_WORKERS(reading_exactly_says_how_much_it_has)
{
	in_each_place(read_in_parts, NULL);
}

static void copy_file(void *unused)
{
	char  *bytes = make_pattern(), *back = malloc(SIZE);
	size_t done = 1000;
	int    fd = memfd_create("all", MFD_CLOEXEC);

	(void)unused;
	must(fd >= 0 && back, "memfd");
	EXPECT(sennit_write_all(fd, bytes, SIZE, NULL, SENNIT_NEVER) == 0);
	must(lseek(fd, 1000, SEEK_SET) == 1000, "lseek");
	EXPECT(sennit_read_exactly(fd, back, SIZE, &done, SENNIT_NEVER) == 0);
	check_pattern(back + 1000, 1000, SIZE - 1000);
	EXPECT(sennit_read_exactly(fd, back, 1, NULL, SENNIT_NEVER) ==
	       -ENODATA);
	close(fd);
	free(back);
	free(bytes);
}

TEST_WITH_WORKERS(files_are_written_and_read_whole)
{
	in_each_place(copy_file, NULL);
}

static int read_until_cancelled(void *argument)
{
	int   *fds = argument;
	char   bytes[4];
	size_t done = 0;

	EXPECT(sennit_read_exactly(fds[0], bytes, 4, &done, SENNIT_NEVER) ==
	       -ECANCELED);
	EXPECT(done == 2);
	give_two_bytes(fds);
	EXPECT(sennit_read_exactly(fds[0], bytes, 4, &done,
				   SENNIT_UNCANCELLED) == 0);
	EXPECT(!memcmp(bytes, "abab", 4));
	return 0;
}

TEST_WITH_WORKERS(a_cancelled_read_goes_on_where_it_was)
{
	sennit_group g;
	int          fds[2];

	open_sockets(fds);
	give_two_bytes(fds);
	sennit_group_init(&g, SENNIT_NEVER, 0);
	assert_int_equal(sennit_group_spawn(&g, read_until_cancelled, fds), 0);
	assert_soon(io_waits(w->s) == 1);
	sennit_group_cancel(&g);
	assert_int_equal(sennit_group_wait(&g), -ECANCELED);
	close_both(fds);
}

/* --- misuse ------------------------------------------------------------- */

static size_t too_many = 2;
static char   byte;

MISUSE_BY(more_read_than_there_is, "sennit_read_exactly",
	  (void)!sennit_read_exactly(0, &byte, 1, &too_many, 0));
MISUSE_BY(more_written_than_there_is, "sennit_write_all",
	  (void)!sennit_write_all(1, "a", 1, &too_many, 0));
MISUSE_BY(more_sent_than_there_is, "sennit_send_all",
	  (void)!sennit_send_all(1, "a", 1, 0, &too_many, 0));

USES_BACKEND;

/* SPDX-License-Identifier: Apache-2.0 */
/* splice.c - two fibers move bytes through pipes and sockets, with calls that
 * sometimes time out: no byte is lost or moved twice. Files that are in the
 * page cache or not. Arguments that the calls refuse. operations.h tests how
 * the calls wait.
 */
#include "operations.h"

#include "testing/random.h"

#include <signal.h>

enum { CHAINS = 4, SIZE = LOAD(200000) };

/* pattern -> in -> splice -> pipe -> splice -> out -> checked */
struct chain {
	int         in[2], pipe[2], out[2];
	uint64_t    random[2];
	uint32_t    given_up[2];
	atomic_uint over;
};

static char nth(size_t i)
{
	return (char)(i * 7 + i / 256);
}

static void send_pattern(void *argument)
{
	struct chain *c = argument;
	char          bytes[777];
	size_t        sent = 0;

	while (sent < SIZE) {
		size_t    n = SIZE - sent < sizeof(bytes) ? SIZE - sent
							  : sizeof(bytes);
		ptrdiff_t done;

		for (size_t i = 0; i < n; i++)
			bytes[i] = nth(sent + i);
		done = sennit_send(c->in[1], bytes, n, 0, SENNIT_NEVER);
		EXPECT(done > 0);
		sent += done > 0 ? (size_t)done : n;
	}
	sennit_shutdown(c->in[1], SHUT_WR);
	atomic_fetch_add(&c->over, 1);
}

static void move_all(struct chain *c, int i, int from, int to)
{
	ptrdiff_t n;

	do {
		uint64_t r = random_from(&c->random[i]);

		n = sennit_splice(
			from, NULL, to, NULL, 1 + (size_t)r % 5000, 0,
			r % 16 ? sennit_after(r % 64 * SENNIT_MICROSECOND) : 0);
		EXPECT(n >= 0 || n == -ETIMEDOUT);
		c->given_up[i] += n < 0;
	} while (n);
}

static void move_in(void *argument)
{
	struct chain *c = argument;

	move_all(c, 0, c->in[0], c->pipe[1]);
	close(c->pipe[1]);
	atomic_fetch_add(&c->over, 1);
}

static void move_out(void *argument)
{
	struct chain *c = argument;

	move_all(c, 1, c->pipe[0], c->out[0]);
	sennit_shutdown(c->out[0], SHUT_WR);
	atomic_fetch_add(&c->over, 1);
}

static void check_pattern(void *argument)
{
	struct chain *c = argument;
	char          bytes[1000];
	ptrdiff_t     n;
	size_t        had = 0;
	bool          right = true;

	while ((n = sennit_recv(c->out[1], bytes, sizeof(bytes), 0,
				SENNIT_NEVER)) > 0) {
		for (size_t i = 0; i < (size_t)n; i++)
			right = right && bytes[i] == nth(had + i);
		had += (size_t)n;
	}
	EXPECT(right && had == SIZE);
	atomic_fetch_add(&c->over, 1);
}

static void begin_chain(struct chain *c, uint64_t seed)
{
	*c = (struct chain){ .random = { seed, seed + 99 } };
	open_sockets(c->in);
	begin_pipe(c->pipe);
	open_sockets(c->out);
	must_schedule(check_pattern, c);
	must_schedule(move_out, c);
	must_schedule(move_in, c);
	must_schedule(send_pattern, c);
}

TEST_WITH_WORKERS(deadlines_lose_no_byte)
{
	struct chain c[CHAINS];

	for (uint64_t i = 0; i < CHAINS; i++)
		begin_chain(&c[i], i);
	for (int i = 0; i < CHAINS; i++) {
		assert_soon(atomic_load(&c[i].over) == 4);
		close(c[i].pipe[0]);
		for (int k = 0; k < 2; k++) {
			close(c[i].in[k]);
			close(c[i].out[k]);
		}
	}
}

/* --- files -------------------------------------------------------------- */

enum { FILE_SIZE = 100000 };

static int make_file(void)
{
	char name[] = "/tmp/sennit-io-XXXXXX";
	int  fd = mkstemp(name);
	char bytes[1000];

	must(fd >= 0, "mkstemp");
	unlink(name);
	for (size_t i = 0; i < FILE_SIZE; i += sizeof(bytes)) {
		for (size_t k = 0; k < sizeof(bytes); k++)
			bytes[k] = nth(i + k);
		must(write(fd, bytes, sizeof(bytes)) == sizeof(bytes), "write");
	}
	must(!fsync(fd), "fsync");
	return fd;
}

/* The next bytes from fd are those of the file at `at`. */
static void expect_from(int fd, size_t at, size_t size)
{
	char bytes[4096];
	bool right = true;

	for (size_t had = 0; had < size;) {
		size_t    room = size - had < sizeof(bytes) ? size - had
							    : sizeof(bytes);
		ptrdiff_t n = sennit_read(fd, bytes, room, SENNIT_NEVER);

		EXPECT(n > 0);
		if (n <= 0)
			return;
		for (size_t i = 0; i < (size_t)n; i++)
			right = right && bytes[i] == nth(at + had + i);
		had += (size_t)n;
	}
	EXPECT(right);
}

static void send_file_to(int to, int from, int file)
{
	int64_t at = 0;

	while (at < FILE_SIZE) {
		int64_t   was = at;
		ptrdiff_t n = sennit_sendfile(to, file, &at, SIZE_MAX / 2,
					      SENNIT_NEVER);

		EXPECT(n > 0 && at == was + n);
		if (n <= 0)
			return;
		expect_from(from, (size_t)was, (size_t)n);
	}
	EXPECT(sennit_sendfile(to, file, &at, 1, SENNIT_NEVER) == 0);
	EXPECT(lseek(file, 0, SEEK_CUR) == FILE_SIZE);
}

static void send_files(void *argument)
{
	const bool cached = argument;
	int        file = make_file();
	int        sockets[2], pipe[2];

	open_sockets(sockets);
	begin_pipe(pipe);
	if (!cached)
		posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
	send_file_to(sockets[0], sockets[1], file);
	if (!cached)
		posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
	send_file_to(pipe[1], pipe[0], file);
	for (int i = 0; i < 2; i++) {
		close(sockets[i]);
		close(pipe[i]);
	}
	close(file);
}

TEST_WITH_WORKERS(files_are_sent_from_the_cache_and_from_discs)
{
	in_each_place(send_files, NULL);
	in_each_place(send_files, (void *)1);
}

static void splice_to_and_from_file(void *argument)
{
	int     file = make_file();
	int     fds[2];
	int64_t at = 10;
	int64_t end = FILE_SIZE;

	(void)argument;
	begin_pipe(fds);
	EXPECT(sennit_splice(file, &at, fds[1], NULL, 5000, 0, SENNIT_NEVER) ==
	       5000);
	EXPECT(at == 5010);
	EXPECT(sennit_splice(fds[0], NULL, file, &end, 5000, 0, SENNIT_NEVER) ==
	       5000);
	EXPECT(end == FILE_SIZE + 5000);
	EXPECT(sennit_splice(fds[0], NULL, file, &end, 1, 0, 0) == -ETIMEDOUT);
	EXPECT(sennit_splice(fds[0], NULL, file, &end, 1, 0, in_ms(1)) ==
	       -ETIMEDOUT);
	EXPECT(sennit_splice(fds[0], NULL, file, &end, 1, SPLICE_F_NONBLOCK,
			     SENNIT_NEVER) == -EAGAIN);
	at = FILE_SIZE;
	EXPECT(sennit_splice(file, &at, fds[1], NULL, 5000, 0, SENNIT_NEVER) ==
	       5000);
	expect_from(fds[0], 10, 5000);
	close(fds[0]);
	close(fds[1]);
	close(file);
}

TEST_WITH_WORKERS(files_are_spliced)
{
	in_each_place(splice_to_and_from_file, NULL);
}

static void ask_for_wrong(void *argument)
{
	int fds[2], pipe[2];

	(void)argument;
	open_sockets(fds);
	begin_pipe(pipe);
	EXPECT(sennit_splice(-1, NULL, fds[0], NULL, 1, 0, SENNIT_NEVER) ==
	       -EBADF);
	EXPECT(sennit_splice(fds[0], NULL, fds[1], NULL, 1, 0, SENNIT_NEVER) ==
	       -EINVAL);
	EXPECT(sennit_splice(pipe[0], NULL, fds[0], NULL, 1, SPLICE_F_NONBLOCK,
			     SENNIT_NEVER) == -EAGAIN);
	EXPECT(sennit_sendfile(fds[0], pipe[0], NULL, 1, SENNIT_NEVER) ==
	       -EINVAL);
	for (int i = 0; i < 2; i++) {
		close(fds[i]);
		close(pipe[i]);
	}
}

TEST_WITHOUT(wrong_ends_are_refused)
{
	in_each_place(ask_for_wrong, NULL);
}

/* The slave of a terminal whose master is *master. */
static int open_slave(int *master)
{
	int slave;

	*master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	must(*master >= 0 && !grantpt(*master) && !unlockpt(*master),
	     "posix_openpt");
	slave = open(ptsname(*master), O_RDWR | O_NOCTTY | O_CLOEXEC);
	must(slave >= 0, "slave");
	return slave;
}

/* Of a source without input. Only a destination without room is waited for. */
static void move_nothing(void *argument)
{
	int       fds[2], pipe[2], full[2], master;
	const int slave = open_slave(&master);

	(void)argument;
	open_sockets(fds);
	begin_pipe(pipe);
	open_full_pipe(full);
	EXPECT(sennit_splice(fds[0], NULL, full[0], NULL, 0, 0, SENNIT_NEVER) ==
	       0);
	EXPECT(sennit_sendfile(pipe[1], slave, NULL, 0, SENNIT_NEVER) == 0);
	EXPECT(sennit_sendfile(full[0], slave, NULL, 0, in_ms(1)) ==
	       -ETIMEDOUT);
	close(master);
	close(slave);
	for (int i = 0; i < 2; i++) {
		close(fds[i]);
		close(pipe[i]);
		close(full[i]);
	}
}

TEST_WITHOUT(a_move_of_nothing_does_not_wait_for_its_source)
{
	(void)w;
	in_each_place(move_nothing, NULL);
}

static int begin_all(void)
{
	signal(SIGPIPE, SIG_IGN);
	return 0;
}

BEFORE_ALL(begin_all);
USES_BACKEND;

/* SPDX-License-Identifier: Apache-2.0 */
/* sizes.c - sizes, counts, offsets and times that do not fit into 32 bits: each
 * call returns what the system call returns, whichever backend carries it out.
 */
#include "operations.h"

#include <limits.h>
#include <sys/sendfile.h>
#include <sys/uio.h>

#define GIB ((uint64_t)1 << 30)

static const uint64_t sizes[] = { 0,           1,           2 * GIB - 1,
				  2 * GIB,     4 * GIB - 1, 4 * GIB,
				  4 * GIB + 1, 8 * GIB,     UINT64_MAX / 2 };

#define SIZES (sizeof(sizes) / sizeof(sizes[0]))

/* On 32-bit systems not all of them fit into size_t. */
static bool is_size(uint64_t size)
{
	return size == (size_t)size;
}

/* The reserved memory, of which the system accesses little. On 32-bit systems
 * no memory is as long as the sizes. */
static char *bytes;

static void reserve(void)
{
	if (bytes)
		return;
	bytes = mmap(NULL, (size_t)(is_size(8 * GIB) ? 8 * GIB : GIB),
		     PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	must(bytes != MAP_FAILED, "mmap");
}

/* --- calls -------------------------------------------------------------- */

/* Each call twice: the system call and the call of the library. Sanitizers
 * would check all bytes that write() has read. */

static ptrdiff_t result_of(ptrdiff_t n)
{
	return n < 0 ? -errno : n;
}

static struct msghdr message_of(struct iovec *v, size_t size)
{
	*v = (struct iovec){ bytes, size };
	return (struct msghdr){ .msg_iov = v, .msg_iovlen = 1 };
}

static ptrdiff_t do_read(int fd, size_t size, bool plain)
{
	return plain ? result_of(read(fd, bytes, size))
		     : sennit_read(fd, bytes, size, SENNIT_NEVER);
}

static ptrdiff_t do_readv(int fd, size_t size, bool plain)
{
	const struct iovec v[2] = { { bytes, 1 }, { bytes + 1, size } };

	return plain ? result_of(readv(fd, v, 2))
		     : sennit_readv(fd, v, 2, SENNIT_NEVER);
}

static ptrdiff_t do_recv(int fd, size_t size, bool plain)
{
	return plain ? result_of(recv(fd, bytes, size, 0))
		     : sennit_recv(fd, bytes, size, 0, SENNIT_NEVER);
}

static ptrdiff_t do_recvmsg(int fd, size_t size, bool plain)
{
	struct iovec  v;
	struct msghdr m = message_of(&v, size);

	return plain ? result_of(recvmsg(fd, &m, 0))
		     : sennit_recvmsg(fd, &m, 0, SENNIT_NEVER);
}

static ptrdiff_t do_pread(int fd, size_t size, bool plain)
{
	return plain ? result_of(pread(fd, bytes, size, 1))
		     : sennit_pread(fd, bytes, size, 1, SENNIT_NEVER);
}

static ptrdiff_t do_splice(int fd, size_t size, bool plain)
{
	int       p[2];
	ptrdiff_t n;

	begin_pipe(p);
	n = plain ? result_of(splice(fd, NULL, p[1], NULL, size, 0))
		  : sennit_splice(fd, NULL, p[1], NULL, size, 0, SENNIT_NEVER);
	close(p[0]);
	close(p[1]);
	return n;
}

static ptrdiff_t do_sendfile(int fd, size_t size, bool plain)
{
	int       ends[2];
	ptrdiff_t n;

	open_sockets(ends);
	n = plain ? result_of(sendfile(ends[0], fd, NULL, size))
		  : sennit_sendfile(ends[0], fd, NULL, size, SENNIT_NEVER);
	close(ends[0]);
	close(ends[1]);
	return n;
}

static ptrdiff_t do_write(int fd, size_t size, bool plain)
{
	return plain ? result_of(syscall(SYS_write, fd, bytes, size))
		     : sennit_write(fd, bytes, size, SENNIT_NEVER);
}

/* To a device, which has no offsets. */
static ptrdiff_t do_pwrite(int fd, size_t size, bool plain)
{
	return plain ? result_of(syscall(SYS_write, fd, bytes, size))
		     : sennit_pwrite(fd, bytes, size, 1, SENNIT_NEVER);
}

static ptrdiff_t do_send(int fd, size_t size, bool plain)
{
	return plain ? result_of(send(fd, bytes, size, MSG_DONTWAIT))
		     : sennit_send(fd, bytes, size, 0, SENNIT_NEVER);
}

static ptrdiff_t do_sendmsg(int fd, size_t size, bool plain)
{
	struct iovec  v;
	struct msghdr m = message_of(&v, size);

	return plain ? result_of(sendmsg(fd, &m, MSG_DONTWAIT))
		     : sennit_sendmsg(fd, &m, 0, SENNIT_NEVER);
}

/* --- descriptors -------------------------------------------------------- */

/* Five bytes can be read. */

static void open_pair(int fds[2])
{
	open_sockets(fds);
	must(write(fds[1], "hello", 5) == 5, "write");
}

static void open_pipe(int fds[2])
{
	begin_pipe(fds);
	must(write(fds[1], "hello", 5) == 5, "write");
}

static void open_datagrams(int fds[2])
{
	must(!socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, fds), "pair");
	must(write(fds[1], "hello", 5) == 5, "write");
}

static void open_file(int fds[2])
{
	fds[0] = memfd_create("sizes", MFD_CLOEXEC);
	fds[1] = dup(fds[0]);
	must(write(fds[0], "hello", 5) == 5 && !lseek(fds[0], 0, SEEK_SET),
	     "memfd");
}

static void open_null(int fds[2])
{
	fds[0] = open("/dev/null", O_RDWR | O_CLOEXEC);
	fds[1] = dup(fds[0]);
}

struct cell {
	const char *name;
	void (*open)(int fds[2]);
	ptrdiff_t (*call)(int fd, size_t size, bool plain);
	bool some; /* the number of bytes sent depends on the system's memory */
};

static const struct cell cells[] = {
	{ "read of a socket", open_pair, do_read, false },
	{ "read of a pipe", open_pipe, do_read, false },
	{ "read of a file", open_file, do_read, false },
	{ "readv of a socket", open_pair, do_readv, false },
	{ "readv of a pipe", open_pipe, do_readv, false },
	{ "readv of a file", open_file, do_readv, false },
	{ "recv of a socket", open_pair, do_recv, false },
	{ "recv of a datagram", open_datagrams, do_recv, false },
	{ "recvmsg of a socket", open_pair, do_recvmsg, false },
	{ "recvmsg of a datagram", open_datagrams, do_recvmsg, false },
	{ "pread of a file", open_file, do_pread, false },
	{ "splice of a socket", open_pair, do_splice, false },
	{ "splice of a pipe", open_pipe, do_splice, false },
	{ "sendfile", open_file, do_sendfile, false },
	{ "write to /dev/null", open_null, do_write, false },
	{ "pwrite to /dev/null", open_null, do_pwrite, false },
	{ "send to a socket", open_pair, do_send, true },
	{ "send of a datagram", open_datagrams, do_send, false },
	{ "sendmsg to a socket", open_pair, do_sendmsg, true },
	{ "sendmsg of a datagram", open_datagrams, do_sendmsg, false },
};

static ptrdiff_t result_in(const struct cell *c, uint64_t size, bool plain)
{
	int       fds[2];
	ptrdiff_t n;

	c->open(fds);
	n = c->call(fds[0], (size_t)size, plain);
	close(fds[0]);
	close(fds[1]);
	return n;
}

static void compare(const struct cell *c, uint64_t size)
{
	const ptrdiff_t system = result_in(c, size, true);
	const ptrdiff_t ours = result_in(c, size, false);

	if (ours == system || (c->some && ours > 0 && system > 0))
		return;
	if (system == -EFAULT && ours >= 0) /* no buffer is that long */
		return;
	fprintf(stderr, "%s, %llu bytes: %td, the system's call %td\n", c->name,
		(unsigned long long)size, ours, system);
	EXPECT(false);
}

/* /dev/null takes every byte, and ThreadSanitizer looks at each byte that is
 * written: minutes for 2 GiB. */
static bool takes_minutes(const struct cell *c, uint64_t size)
{
#ifdef SN_TSAN
	return c->open == open_null && size > 1 << 20;
#else
	(void)c;
	(void)size;
	return false;
#endif
}

static void compare_all(void *unused)
{
	(void)unused;
	for (size_t i = 0; i < sizeof(cells) / sizeof(cells[0]); i++)
		for (size_t k = 0; k < SIZES; k++)
			if (is_size(sizes[k]) &&
			    !takes_minutes(&cells[i], sizes[k]))
				compare(&cells[i], sizes[k]);
}

TEST_WITH_ONE(any_size_means_what_it_means_to_the_system)
{
	(void)w;
	reserve();
	in_a_task(compare_all, NULL);
	in_a_thread(compare_all, NULL);
}

/* --- sends that have to wait -------------------------------------------- */

struct late {
	int         fd;
	uint64_t    size;
	ptrdiff_t   sent;
	atomic_bool over;
};

static void send_late(void *argument)
{
	struct late *l = argument;

	l->sent = sennit_send(l->fd, bytes, (size_t)l->size, 0, SENNIT_NEVER);
	atomic_store(&l->over, true);
}

TEST_WITH_ONE(a_send_of_any_size_waits_for_room)
{
	reserve();
	for (size_t i = 1; i < SIZES && is_size(sizes[i]); i++) {
		struct late l = { .size = sizes[i] };
		int         fds[2];

		open_full_sockets(fds);
		l.fd = fds[0];
		must_schedule(send_late, &l);
		EXPECT_SOON(io_waits(w->s) == 1);
		drain(fds);
		EXPECT_SOON(atomic_load(&l.over));
		EXPECT(l.sent > 0);
		close(fds[0]);
		close(fds[1]);
	}
}

/* --- counts and offsets ------------------------------------------------- */

static const int counts[] = { INT_MIN, -1,      0,           1,
			      2,       IOV_MAX, IOV_MAX + 1, INT_MAX };

static void compare_counts(void *unused)
{
	static char         b[IOV_MAX];
	static struct iovec v[IOV_MAX];
	int                 fds[2];

	(void)unused;
	for (int i = 0; i < IOV_MAX; i++)
		v[i] = (struct iovec){ &b[i], 1 };
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		ptrdiff_t system;

		open_file(fds);
		system = result_of(readv(fds[0], v, counts[i]));
		EXPECT(!lseek(fds[0], 0, SEEK_SET));
		EXPECT(sennit_readv(fds[0], v, counts[i], SENNIT_NEVER) ==
		       system);
		system = result_of(writev(fds[0], v, counts[i]));
		EXPECT(sennit_writev(fds[0], v, counts[i], SENNIT_NEVER) ==
		       system);
		close(fds[0]);
		close(fds[1]);
	}
}

static const int64_t ats[] = {
	0,         1,  5,        INT_MAX, (int64_t)1 << 31, (int64_t)1 << 32,
	INT64_MAX, -1, INT64_MIN
};

static void compare_places(void *unused)
{
	char b[8];
	int  fds[2];

	(void)unused;
	for (size_t i = 0; i < sizeof(ats) / sizeof(ats[0]); i++) {
		ptrdiff_t system;

		open_file(fds);
		system = result_of(pread(fds[0], b, 8, ats[i]));
		EXPECT(sennit_pread(fds[0], b, 8, ats[i], SENNIT_NEVER) ==
		       system);
		system = result_of(pwrite(fds[0], "x", 1, ats[i]));
		EXPECT(sennit_pwrite(fds[0], "x", 1, ats[i], SENNIT_NEVER) ==
		       system);
		close(fds[0]);
		close(fds[1]);
	}
}

TEST_WITH_ONE(any_count_and_place_means_what_it_means_to_the_system)
{
	(void)w;
	in_a_task(compare_counts, NULL);
	in_a_thread(compare_counts, NULL);
	in_a_task(compare_places, NULL);
	in_a_thread(compare_places, NULL);
}

/* --- times -------------------------------------------------------------- */

/* In seconds: 68 years and more. */
static const uint64_t waits[] = { ((uint64_t)1 << 31) - 1, (uint64_t)1 << 31,
				  3000000000, (uint64_t)1 << 32,
				  (uint64_t)1 << 33 };

struct long_wait {
	int         fd;
	uint64_t    seconds;
	ptrdiff_t   result;
	atomic_bool over;
};

static void wait_long(void *argument)
{
	struct long_wait *l = argument;
	char              byte;

	l->result = sennit_read(l->fd, &byte, 1,
				sennit_after(l->seconds * SENNIT_SECOND));
	atomic_store(&l->over, true);
}

static void *wait_long_as_thread(void *argument)
{
	wait_long(argument);
	return NULL;
}

/* Long enough for the wait to have begun, if the test cannot see that. */
static void let_wait(const struct long_wait *l)
{
	usleep(20000);
	EXPECT(!atomic_load(&l->over));
}

TEST_WITH_ONE(a_wait_may_end_in_centuries)
{
	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
		struct long_wait l = { .seconds = waits[i] };
		struct long_wait t = l;
		pthread_t        thread;
		int              fds[2], others[2];

		begin_pipe(fds);
		begin_pipe(others);
		l.fd = fds[0];
		t.fd = others[0];
		must_schedule(wait_long, &l);
		must(!pthread_create(&thread, NULL, wait_long_as_thread, &t),
		     "pthread_create");
		EXPECT_SOON(io_waits(w->s) == 1);
		let_wait(&l);
		let_wait(&t);
		must(write(fds[1], "a", 1) == 1, "write");
		must(write(others[1], "a", 1) == 1, "write");
		EXPECT_SOON(atomic_load(&l.over));
		pthread_join(thread, NULL);
		EXPECT(l.result == 1);
		EXPECT(t.result == 1);
		for (int k = 0; k < 2; k++) {
			close(fds[k]);
			close(others[k]);
		}
	}
}

USES_BACKEND;

/* SPDX-License-Identifier: Apache-2.0 */
/* file.c - files are opened, renamed, queried, truncated and removed, from
 * every place. Calls that would begin too late are not made, and calls that
 * have begun are waited for.
 */
#include "operations.h"

#include "sennit/file.h"

#include <linux/stat.h>

static const char *const names[] = { "a", "b" };

/* A folder of the test, and its descriptor. */
static int open_folder(char *name)
{
	int dir;

	must(mkdtemp(name), "mkdtemp");
	dir = open(name, O_DIRECTORY | O_CLOEXEC);
	must(dir >= 0, "open");
	return dir;
}

static int64_t size_of(int dir, const char *name)
{
	struct statx x;

	if (sennit_statx(dir, name, 0, STATX_SIZE, &x, SENNIT_NEVER))
		return -1;
	return (int64_t)x.stx_size;
}

/* --- what the calls do -------------------------------------------------- */

static void use_file(int dir)
{
	int fd = sennit_openat(dir, names[0],
			       O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600,
			       SENNIT_NEVER);

	EXPECT(fd >= 0);
	EXPECT(sennit_write(fd, "abc", 3, SENNIT_NEVER) == 3);
	EXPECT(sennit_fsync(fd, SENNIT_NEVER) == 0);
	EXPECT(sennit_fdatasync(fd, SENNIT_NEVER) == 0);
	EXPECT(size_of(dir, names[0]) == 3);
	EXPECT(sennit_ftruncate(fd, 1, SENNIT_NEVER) == 0);
	EXPECT(size_of(dir, names[0]) == 1);
	EXPECT(sennit_renameat(dir, names[0], dir, names[1], SENNIT_NEVER) ==
	       0);
	EXPECT(size_of(dir, names[0]) == -1);
	EXPECT(size_of(dir, names[1]) == 1);
	EXPECT(sennit_unlinkat(dir, names[1], 0, SENNIT_NEVER) == 0);
	EXPECT(sennit_mkdirat(dir, names[0], 0700, SENNIT_NEVER) == 0);
	EXPECT(sennit_unlinkat(dir, names[0], AT_REMOVEDIR, SENNIT_NEVER) == 0);
	EXPECT(sennit_close(fd) == 0);
}

static void fail_on_file(int dir)
{
	struct statx x, before;

	memset(&x, 0x5c, sizeof(x));
	before = x;
	EXPECT(sennit_openat(dir, names[0], O_RDONLY, 0, SENNIT_NEVER) ==
	       -ENOENT);
	EXPECT(sennit_statx(dir, names[0], 0, STATX_SIZE, &x, SENNIT_NEVER) ==
	       -ENOENT);
	EXPECT(!memcmp(&x, &before, sizeof(x)));
	EXPECT(sennit_fsync(-1, SENNIT_NEVER) == -EBADF);
	EXPECT(sennit_fdatasync(-1, SENNIT_NEVER) == -EBADF);
	EXPECT(sennit_ftruncate(-1, 0, SENNIT_NEVER) == -EBADF);
	EXPECT(sennit_unlinkat(dir, names[0], 0, SENNIT_NEVER) == -ENOENT);
	EXPECT(sennit_renameat(dir, names[0], dir, names[1], SENNIT_NEVER) ==
	       -ENOENT);
	EXPECT(sennit_mkdirat(dir, ".", 0700, SENNIT_NEVER) == -EEXIST);
	EXPECT(sennit_open("/", O_RDWR, 0, SENNIT_NEVER) == -EISDIR);
}

static void use_folder(void *argument)
{
	char name[] = "/tmp/sennit-io-XXXXXX";
	int  dir = open_folder(name);

	(void)argument;
	use_file(dir);
	fail_on_file(dir);
	close(dir);
	EXPECT(sennit_unlinkat(AT_FDCWD, name, AT_REMOVEDIR, SENNIT_NEVER) ==
	       0);
}

TEST_WITH_WORKERS(calls_on_files_do_what_the_systems_do)
{
	in_each_place(use_folder, NULL);
}

/* --- when all blocking threads are busy --------------------------------- */

/* A blocking call that holds the only thread. */
struct hold {
	int         fds[2];
	atomic_bool begun;
};

static void *read_slowly(void *argument)
{
	struct hold *h = argument;
	char         byte;

	atomic_store(&h->begun, true);
	must(read(h->fds[0], &byte, 1) == 1, "read");
	return NULL;
}

static void hold_thread(void *argument)
{
	sennit_blocking_call(read_slowly, argument);
}

static void count_call(void *context, const sennit_report_entry *e)
{
	if (e->state == SENNIT_REPORT_BLOCKED &&
	    e->waits_for == SENNIT_WAITS_FOR_CALL)
		++*(unsigned *)context;
}

static unsigned call_waits(sennit_scheduler *s)
{
	unsigned count = 0;

	sennit_report_visit(s, count_call, &count);
	return count;
}

/* A call that no backend submits to the kernel. */
struct late {
	int fd;
	int result;
};

static int cut_in_group(void *argument)
{
	struct late *l = argument;

	l->result = sennit_ftruncate(l->fd, 1, SENNIT_NEVER);
	return 0;
}

static void give_up(sennit_scheduler *s, int fd)
{
	struct late  l = { .fd = fd };
	sennit_group g;

	EXPECT(sennit_ftruncate(fd, 1, 0) == -ETIMEDOUT);
	EXPECT(sennit_ftruncate(fd, 1, in_ms(1)) == -ETIMEDOUT);
	sennit_group_init(&g, SENNIT_NEVER, 0);
	EXPECT(!sennit_group_spawn(&g, cut_in_group, &l));
	EXPECT_SOON(call_waits(s) == 2);
	sennit_group_cancel(&g);
	EXPECT(sennit_group_wait(&g) == -ECANCELED);
	EXPECT(l.result == -ECANCELED);
}

static void begin_hold(struct hold *h)
{
	begin_pipe(h->fds);
	atomic_init(&h->begun, false);
	must_schedule(hold_thread, h);
	EXPECT_SOON(atomic_load(&h->begun));
}

TEST_WITH_WORKERS(a_call_that_has_not_begun_is_given_up)
{
	char              name[] = "/tmp/sennit-io-XXXXXX";
	int               fd = mkstemp(name);
	struct hold       h;
	sennit_scheduler *s;

	must(fd >= 0, "mkstemp");
	must(!ftruncate(fd, 7), "ftruncate");
	s = move_to(SENNIT_CONFIG(.workers = w->workers,
				  .max_blocking_threads = 1));
	begin_hold(&h);
	give_up(s, fd);
	must(write(h.fds[1], "x", 1) == 1, "write");
	assert_soon(call_waits(s) == 0);
	assert_int_equal(lseek(fd, 0, SEEK_END), 7); /* it was not truncated */
	move_back(w, s);
	close(h.fds[0]);
	close(h.fds[1]);
	close(fd);
	unlink(name);
}

/* --- what has begun: opening a FIFO --------------------------------------- */

struct opening {
	const char  *path;
	sennit_group g;
	int          fd;
};

static int open_fifo(void *argument)
{
	struct opening *o = argument;

	o->fd = sennit_open(o->path, O_RDONLY | O_CLOEXEC, 0, SENNIT_NEVER);
	return 0;
}

static void begin_open(struct opening *o, const struct world *w)
{
	sennit_group_init(&o->g, SENNIT_NEVER, 0);
	EXPECT(!sennit_group_spawn(&o->g, open_fifo, o));
	EXPECT_SOON(call_waits(w->s) + io_waits(w->s) == 1);
}

/* Open the other end once this end is being opened, which may have to run on
 * this worker first. */
static int open_other_end(const char *path)
{
	int fd;

	EXPECT_SOON((fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC)) >= 0);
	return fd;
}

static void open_until_there(const char *path, const struct world *w)
{
	struct opening o = { .path = path, .fd = -1 };
	int            other;

	begin_open(&o, w);
	other = open_other_end(path);
	EXPECT(sennit_group_wait(&o.g) == 0);
	EXPECT(o.fd >= 0);
	close(o.fd);
	close(other);
}

/* io_uring cancels it; a blocking call must be waited for. */
static void open_until_cancelled(const char *path, const struct world *w)
{
	const bool     by_call = strcmp(wanted_backend, "uring") != 0;
	struct opening o = { .path = path, .fd = -1 };
	int            other = -1;

	begin_open(&o, w);
	sennit_group_cancel(&o.g);
	if (by_call)
		other = open_other_end(path);
	EXPECT(sennit_group_wait(&o.g) == -ECANCELED);
	EXPECT(by_call ? o.fd >= 0 : o.fd == -ECANCELED);
	if (by_call) {
		close(o.fd);
		close(other);
	}
}

static void open_in_folder(const struct world *w,
			   void (*test)(const char *, const struct world *))
{
	char name[] = "/tmp/sennit-io-XXXXXX";
	char path[64];

	must(mkdtemp(name), "mkdtemp");
	snprintf(path, sizeof(path), "%s/fifo", name);
	must(!mkfifo(path, 0600), "mkfifo");
	test(path, w);
	unlink(path);
	rmdir(name);
}

TEST_WITH_WORKERS(a_fifo_is_opened_when_its_other_end_is)
{
	open_in_folder(w, open_until_there);
}

TEST_WITH_WORKERS(a_cancelled_call_that_has_begun_ends_with_its_result)
{
	open_in_folder(w, open_until_cancelled);
}

USES_BACKEND;

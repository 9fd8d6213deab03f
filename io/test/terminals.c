/* SPDX-License-Identifier: Apache-2.0 */
/* terminals.c - descriptors for which the kernel has no per-call way not to
 * wait: terminals, masters of pseudo-terminals, named pipes; and, for
 * comparison, pipes and devices. Each call on each of them: the worker
 * continues, the deadline and cancelling work, and several calls on one
 * descriptor do not delay each other.
 *
 * A fiber of the same worker serves the other end: if a call blocks the worker,
 * the test hangs.
 */
#include "operations.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <termios.h>

/* More bytes than any of them can hold. */
enum { MUCH = 1 << 18, PIECE = 1 << 16 };

/* --- descriptors -------------------------------------------------------- */

/* fds: the descriptor that is waited for, and the other end or -1. */
struct kind {
	const char *name;
	void (*open)(int fds[2]);
	bool no_reads, no_writes; /* the descriptor has one direction */
	bool ready;               /* never waits */
	bool shut;                /* cannot be opened again */
};

static void make_raw(int fd)
{
	struct termios t;

	must(!tcgetattr(fd, &t), "tcgetattr");
	cfmakeraw(&t);
	must(!tcsetattr(fd, TCSANOW, &t), "tcsetattr");
}

static void open_terminal(int fds[2])
{
	char name[64];

	fds[1] = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	must(fds[1] >= 0 && !grantpt(fds[1]) && !unlockpt(fds[1]), "openpt");
	must(!ptsname_r(fds[1], name, sizeof(name)), "ptsname");
	fds[0] = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
	must(fds[0] >= 0, "open");
}

static void open_raw(int fds[2])
{
	open_terminal(fds);
	make_raw(fds[0]);
}

static void open_master(int fds[2])
{
	int ends[2];

	open_raw(ends);
	fds[0] = ends[1];
	fds[1] = ends[0];
}

static void open_fifo(int fds[2], bool reads)
{
	char folder[] = "/tmp/terminals-XXXXXX";
	char path[64];
	int  both;

	must(mkdtemp(folder), "mkdtemp");
	snprintf(path, sizeof(path), "%s/fifo", folder);
	must(!mkfifo(path, 0600), "mkfifo");
	both = open(path, O_RDWR | O_CLOEXEC);
	fds[!reads] = open(path, O_RDONLY | O_CLOEXEC);
	fds[reads] = open(path, O_WRONLY | O_CLOEXEC);
	must(both >= 0 && fds[0] >= 0 && fds[1] >= 0, "open");
	close(both);
	unlink(path);
	rmdir(folder);
}

static void open_fifo_to_read(int fds[2])
{
	open_fifo(fds, true);
}

static void open_fifo_to_write(int fds[2])
{
	open_fifo(fds, false);
}

static void open_device(int fds[2], const char *path)
{
	fds[0] = open(path, O_RDWR | O_CLOEXEC);
	fds[1] = -1;
	must(fds[0] >= 0, path);
}

static void open_zero(int fds[2])
{
	open_device(fds, "/dev/zero");
}

static void open_random(int fds[2])
{
	open_device(fds, "/dev/random");
}

static void open_null(int fds[2])
{
	open_device(fds, "/dev/null");
}

static const struct kind kinds[] = {
	{ .name = "terminal", .open = open_terminal },
	{ .name = "raw terminal", .open = open_raw },
	{ .name = "shut terminal", .open = open_raw, .shut = true },
	{ .name = "master", .open = open_master },
	{ .name = "FIFO", .open = open_fifo_to_read, .no_writes = true },
	{ .name = "FIFO", .open = open_fifo_to_write, .no_reads = true },
	{ .name = "shut FIFO",
	  .open = open_fifo_to_write,
	  .no_reads = true,
	  .shut = true },
	{ .name = "pipe", .open = begin_pipe, .no_writes = true },
	{ .name = "pipe", .open = open_pipe_to_write, .no_reads = true },
	{ .name = "zero", .open = open_zero, .ready = true },
	{ .name = "random", .open = open_random, .ready = true },
	{ .name = "null", .open = open_null, .ready = true, .no_reads = true },
};

/* --- calls -------------------------------------------------------------- */

/* The other descriptor of a call that moves bytes. */
struct place {
	int  fds[2];
	int  pipe[2]; /* full for a call that writes, otherwise empty */
	int  file;
	char bytes[PIECE];
};

struct call {
	const char *name;
	bool        writes;
	ptrdiff_t (*run)(struct place *p, sennit_time deadline);
};

static ptrdiff_t do_read(struct place *p, sennit_time deadline)
{
	return sennit_read(p->fds[0], p->bytes, 64, deadline);
}

static ptrdiff_t do_readv(struct place *p, sennit_time deadline)
{
	const struct iovec v[2] = { { p->bytes, 1 }, { p->bytes + 1, 63 } };

	return sennit_readv(p->fds[0], v, 2, deadline);
}

static ptrdiff_t do_splice_in(struct place *p, sennit_time deadline)
{
	return sennit_splice(p->fds[0], NULL, p->pipe[1], NULL, 64, 0,
			     deadline);
}

static ptrdiff_t do_write(struct place *p, sennit_time deadline)
{
	return sennit_write(p->fds[0], p->bytes, PIECE, deadline);
}

static ptrdiff_t do_writev(struct place *p, sennit_time deadline)
{
	const struct iovec v[2] = { { p->bytes, 1 },
				    { p->bytes + 1, PIECE - 1 } };

	return sennit_writev(p->fds[0], v, 2, deadline);
}

static ptrdiff_t do_splice_out(struct place *p, sennit_time deadline)
{
	fill(p->pipe[1]);
	return sennit_splice(p->pipe[0], NULL, p->fds[0], NULL, PIECE, 0,
			     deadline);
}

static ptrdiff_t do_sendfile(struct place *p, sennit_time deadline)
{
	int64_t at = 0;

	return sennit_sendfile(p->fds[0], p->file, &at, PIECE, deadline);
}

static const struct call calls[] = {
	{ "read", false, do_read },
	{ "readv", false, do_readv },
	{ "splice from it", false, do_splice_in },
	{ "write", true, do_write },
	{ "writev", true, do_writev },
	{ "splice to it", true, do_splice_out },
	{ "sendfile to it", true, do_sendfile },
};

/* --- cells -------------------------------------------------------------- */

struct cell {
	const struct kind *kind;
	const struct call *call;
	struct place       p;
	int                flags; /* of the descriptor */
	sennit_group       group;
	ptrdiff_t          result;       /* of the last call */
	size_t             moved;        /* by all calls */
	int                begun, ended; /* calls that have begun and ended */
};

static void expect_of(const struct cell *c, bool holds, const char *claim)
{
	if (!holds)
		fprintf(stderr, "%s, %s: expected: %s; %td after %zu bytes\n",
			c->call->name, c->kind->name, claim, c->result,
			c->moved);
	EXPECT(holds);
}

#define EXPECT_OF(c, claim) expect_of((c), (claim), #claim)

static struct rlimit descriptors;

/* Use up all descriptors, so that nothing can be opened again. */
static void shut(bool on)
{
	struct rlimit limit = descriptors;

	if (on)
		limit.rlim_cur = 3;
	must(!setrlimit(RLIMIT_NOFILE, &limit), "setrlimit");
}

static void begin_cell(struct cell *c)
{
	char name[] = "/tmp/terminals-XXXXXX";

	c->kind->open(c->p.fds);
	begin_pipe(c->p.pipe);
	c->p.file = mkostemp(name, O_CLOEXEC);
	must(c->p.file >= 0 && !unlink(name), "mkostemp");
	must(write(c->p.file, c->p.bytes, PIECE) == PIECE, "write");
	c->flags = fcntl(c->p.fds[0], F_GETFL);
	shut(c->kind->shut);
}

static void end_cell(struct cell *c)
{
	shut(false);
	EXPECT_OF(c, fcntl(c->p.fds[0], F_GETFL) == c->flags);
	close(c->p.fds[0]);
	if (c->p.fds[1] >= 0)
		close(c->p.fds[1]);
	close(c->p.pipe[0]);
	close(c->p.pipe[1]);
	close(c->p.file);
}

static bool is_of(const struct kind *k, const struct call *a)
{
	return a->writes ? !k->no_writes : !k->no_reads;
}

/* Every call on every kind of descriptor that may or may not wait. */
static void in_each_cell(void (*f)(struct cell *c), bool ready)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		for (size_t k = 0; k < sizeof(calls) / sizeof(calls[0]); k++) {
			static struct cell c;

			if (kinds[i].ready != ready ||
			    !is_of(&kinds[i], &calls[k]))
				continue;
			c = (struct cell){ .kind = &kinds[i],
					   .call = &calls[k] };
			begin_cell(&c);
			f(&c);
			end_cell(&c);
		}
}

/* Repeat until a call moves nothing. */
static void call_on(struct cell *c, sennit_time deadline)
{
	do {
		c->result = c->call->run(&c->p, deadline);
		c->moved += c->result > 0 ? (size_t)c->result : 0;
	} while (c->result > 0 && c->moved < MUCH);
}

/* --- the deadline ------------------------------------------------------- */

static void pass_deadline(struct cell *c)
{
	call_on(c, in_ms(3));
	EXPECT_OF(c,
		  c->result == -ETIMEDOUT && (c->moved > 0) == c->call->writes);
	call_on(c, 0); /* more, if the system has made room meanwhile */
	EXPECT_OF(c,
		  c->result == -ETIMEDOUT && (c->moved > 0) == c->call->writes);
}

static void pass_each_deadline(void *unused)
{
	(void)unused;
	in_each_cell(pass_deadline, false);
}

TEST_WITH_WORKERS(the_deadline_ends_each_call_on_each_descriptor)
{
	in_each_place(pass_each_deadline, NULL);
}

/* --- cancelling --------------------------------------------------------- */

/* Wait until this many calls have begun, and for some time. Writers have first
 * filled the descriptor. */
static void let_call(struct cell *c, int fibers)
{
	EXPECT_SOON(c->begun == fibers);
	EXPECT_SOON(c->moved || !c->call->writes);
	for (int i = 0; i < 10; i++)
		sennit_yield();
	EXPECT_OF(c, !c->ended);
}

static int call_for_ever(void *argument)
{
	struct cell *c = argument;

	c->begun++;
	call_on(c, SENNIT_NEVER);
	c->ended++;
	return 0;
}

static void cancel(struct cell *c)
{
	sennit_group_init(&c->group, SENNIT_NEVER, 0);
	must(!sennit_group_spawn_task(
		     &c->group,
		     SENNIT_MEMBER(.run = call_for_ever, .argument = c,
				   .flags = SENNIT_MEMBER_SAME_THREAD)),
	     "spawn");
	let_call(c, 1);
	sennit_group_cancel(&c->group);
	(void)sennit_group_wait(&c->group);
	EXPECT_OF(c, c->ended == 1 && c->result == -ECANCELED);
}

static void cancel_each(void *unused)
{
	(void)unused;
	in_each_cell(cancel, false);
}

TEST_WITH_WORKERS(cancelling_ends_each_call_on_each_descriptor)
{
	in_a_task(cancel_each, NULL);
}

/* --- the other end ------------------------------------------------------ */

/* Serve the other end until the call has ended, on the same worker. */
static void serve(struct cell *c)
{
	char bytes[4096];

	if (!c->call->writes)
		must(write(c->p.fds[1], "ab\n", 3) == 3, "write");
	set_nonblock(c->p.fds[1], true);
	while (c->call->writes && !c->ended) {
		while (read(c->p.fds[1], bytes, sizeof(bytes)) > 0)
			;
		sennit_yield();
	}
}

static int call_once(void *argument)
{
	struct cell *c = argument;

	c->begun++;
	if (c->call->writes)
		call_on(c, SENNIT_NEVER);
	else
		c->result = c->call->run(&c->p, SENNIT_NEVER);
	c->ended++;
	return 0;
}

static void meet(struct cell *c)
{
	sennit_group_init(&c->group, SENNIT_NEVER, 0);
	must(!sennit_group_spawn_task(
		     &c->group,
		     SENNIT_MEMBER(.run = call_once, .argument = c,
				   .flags = SENNIT_MEMBER_SAME_THREAD)),
	     "spawn");
	let_call(c, 1);
	serve(c);
	(void)sennit_group_wait(&c->group);
	EXPECT_OF(c, c->call->writes ? c->moved >= MUCH : c->result == 3);
}

static void meet_each(void *unused)
{
	(void)unused;
	in_each_cell(meet, false);
}

TEST_WITH_WORKERS(each_call_leaves_its_worker_to_the_other_end)
{
	in_a_task(meet_each, NULL);
}

/* --- several ------------------------------------------------------------ */

enum { SEVERAL = 4 };

static int share(void *argument)
{
	struct cell *c = argument;

	c->begun++;
	call_on(c, SENNIT_NEVER);
	EXPECT_OF(c, c->result == -ECANCELED);
	c->ended++;
	return 0;
}

/* Readers share a line, and writers share the room; then they are cancelled. */
static void several(struct cell *c)
{
	sennit_group_init(&c->group, SENNIT_NEVER, 0);
	for (int i = 0; i < SEVERAL; i++)
		must(!sennit_group_spawn_task(
			     &c->group,
			     SENNIT_MEMBER(.run = share, .argument = c,
					   .flags = SENNIT_MEMBER_SAME_THREAD)),
		     "spawn");
	let_call(c, SEVERAL);
	if (!c->call->writes) {
		must(write(c->p.fds[1], "ab\n", 3) == 3, "write");
		EXPECT_SOON(c->moved == 3);
	}
	let_call(c, SEVERAL);
	sennit_group_cancel(&c->group);
	(void)sennit_group_wait(&c->group);
	EXPECT_OF(c, c->ended == SEVERAL);
}

static void several_on_each(void *unused)
{
	(void)unused;
	in_each_cell(several, false);
}

TEST_WITH_WORKERS(several_calls_on_one_descriptor_do_not_keep_each_other)
{
	in_a_task(several_on_each, NULL);
}

/* --- calls that never wait ---------------------------------------------- */

static void run_at_once(struct cell *c)
{
	c->result = c->call->run(&c->p, in_ms(100000));
	EXPECT_OF(c, c->result > 0 || c->result == -EINVAL);
}

static void use_each_device(void *unused)
{
	(void)unused;
	in_each_cell(run_at_once, true);
}

TEST_WITH_WORKERS(devices_that_are_always_ready_do_not_wait)
{
	in_each_place(use_each_device, NULL);
}

static int begin_all(void)
{
	signal(SIGHUP, SIG_IGN);
	return getrlimit(RLIMIT_NOFILE, &descriptors);
}

BEFORE_ALL(begin_all);
USES_BACKEND;

/* SPDX-License-Identifier: Apache-2.0 */
/* standard.c - standard input can be read whatever it is: a terminal, a pipe, a
 * FIFO, a file, or a device. The worker runs other tasks meanwhile.
 *
 * Each case puts another kind of file at descriptor 0.
 */
#include "operations.h"

#include <signal.h>
#include <sys/stat.h>
#include <termios.h>

static int kept;

/* Make fd descriptor 0, and close fd. */
static void put_at_0(int fd)
{
	must(dup2(fd, STDIN_FILENO) == STDIN_FILENO, "dup2");
	close(fd);
}

static void restore(void)
{
	must(dup2(kept, STDIN_FILENO) == STDIN_FILENO, "dup2");
}

static void expect_read(const char *expected)
{
	char      text[64] = "";
	ptrdiff_t n = sennit_read(STDIN_FILENO, text, sizeof(text) - 1,
				  in_ms(100000));

	EXPECT(n == (ptrdiff_t)strlen(expected));
	EXPECT(!strcmp(text, expected));
}

static void expect_nothing(void)
{
	char text[8];

	EXPECT(sennit_read(STDIN_FILENO, text, sizeof(text), 0) == -ETIMEDOUT);
	EXPECT(sennit_read(STDIN_FILENO, text, sizeof(text), in_ms(2)) ==
	       -ETIMEDOUT);
	EXPECT(sennit_poll(STDIN_FILENO, POLLIN, 0) == -ETIMEDOUT);
}

/* Read while the worker runs the task that writes. */
struct gift {
	int         to;
	const char *text;
	atomic_bool over;
};

static void give(void *argument)
{
	struct gift *g = argument;

	for (int i = 0; i < 5; i++)
		sennit_yield();
	must(write(g->to, g->text, strlen(g->text)) == (ssize_t)strlen(g->text),
	     "write");
	atomic_store(&g->over, true);
}

/* Writes on the same worker. A read that blocks the worker would keep it from
 * writing. */
static void expect_gift(int to, const char *text, const char *expected)
{
	struct gift g = { .to = to, .text = text };

	must_schedule_here(give, &g);
	expect_read(expected);
	EXPECT_SOON(atomic_load(&g.over));
}

/* --- terminals ---------------------------------------------------------- */

static int open_terminal(void)
{
	int  master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	char name[64];
	int  slave;

	must(master >= 0 && !grantpt(master) && !unlockpt(master), "openpt");
	must(!ptsname_r(master, name, sizeof(name)), "ptsname");
	slave = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
	must(slave >= 0, "open");
	put_at_0(slave);
	return master;
}

static void read_lines(void *unused)
{
	int master = open_terminal();

	(void)unused;
	expect_nothing();
	must(write(master, "half", 4) == 4, "write");
	expect_nothing(); /* the line is not complete */
	expect_gift(master, " and half\n", "half and half\n");
	expect_gift(master, "\004", ""); /* the end of input */
	expect_gift(master, "more\n", "more\n");
	close(master);
	restore();
}

TEST_WITH_WORKERS(a_terminal_gives_lines)
{
	read_lines(NULL);
	in_a_task(read_lines, NULL);
}

static void read_keys(void *unused)
{
	int            master = open_terminal();
	struct termios t;
	char           text[8];

	(void)unused;
	must(!tcgetattr(STDIN_FILENO, &t), "tcgetattr");
	cfmakeraw(&t);
	must(!tcsetattr(STDIN_FILENO, TCSANOW, &t), "tcsetattr");
	expect_nothing();
	expect_gift(master, "k", "k");
	EXPECT(sennit_write(STDIN_FILENO, "screen", 6, in_ms(100000)) == 6);
	EXPECT(sennit_read(master, text, sizeof(text), in_ms(100000)) == 6);
	close(master); /* hung up */
	EXPECT(sennit_poll(STDIN_FILENO, POLLIN, in_ms(100000)) & POLLHUP);
	EXPECT(sennit_read(STDIN_FILENO, text, 1, in_ms(100000)) <= 0);
	restore();
}

TEST_WITH_WORKERS(a_raw_terminal_gives_keys_and_hangs_up)
{
	read_keys(NULL);
	in_a_task(read_keys, NULL);
}

/* --- pipes and FIFOs ---------------------------------------------------- */

static void read_pipe(int writer)
{
	expect_nothing();
	expect_gift(writer, "ab", "ab");
	must(write(writer, "c", 1) == 1, "write");
	close(writer);
	expect_read("c");
	expect_read("");
}

static void read_pipe_at_0(void *unused)
{
	int fds[2];

	(void)unused;
	begin_pipe(fds);
	put_at_0(fds[0]);
	read_pipe(fds[1]);
	restore();
}

static void read_fifo_at_0(void *unused)
{
	char folder[] = "/tmp/standard-XXXXXX";
	char path[64];
	int  reader, writer;

	(void)unused;
	must(mkdtemp(folder), "mkdtemp");
	snprintf(path, sizeof(path), "%s/fifo", folder);
	must(!mkfifo(path, 0600), "mkfifo");
	reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	writer = open(path, O_WRONLY | O_CLOEXEC);
	must(reader >= 0 && writer >= 0, "open");
	for (int i = 0; i < 2; i++) { /* with O_NONBLOCK, and without */
		int w = dup(writer);

		set_nonblock(reader, !i);
		must(dup2(reader, STDIN_FILENO) == 0, "dup2");
		if (i)
			close(writer);
		expect_nothing();
		expect_gift(w, "ab", "ab");
		close(w);
	}
	expect_read("");
	close(reader);
	unlink(path);
	rmdir(folder);
	restore();
}

TEST_WITH_WORKERS(pipes_and_fifos_give_bytes_and_end)
{
	read_pipe_at_0(NULL);
	in_a_task(read_pipe_at_0, NULL);
	read_fifo_at_0(NULL);
	in_a_task(read_fifo_at_0, NULL);
}

/* --- files and devices -------------------------------------------------- */

static void read_files(void *unused)
{
	char path[] = "/tmp/standard-XXXXXX";
	int  fd = mkostemp(path, O_CLOEXEC);
	char zeroes[4] = "xxx";

	(void)unused;
	must(fd >= 0 && write(fd, "line\n", 5) == 5, "mkostemp");
	must(!lseek(fd, 0, SEEK_SET), "lseek");
	unlink(path);
	put_at_0(fd);
	expect_read("line\n");
	expect_read("");
	put_at_0(open("/dev/null", O_RDONLY | O_CLOEXEC));
	expect_read("");
	put_at_0(open("/dev/zero", O_RDONLY | O_CLOEXEC));
	EXPECT(sennit_read(0, zeroes, 3, in_ms(100000)) == 3 && !zeroes[0]);
	put_at_0(open("/proc/self/comm", O_RDONLY | O_CLOEXEC));
	EXPECT(sennit_read(0, zeroes, 3, in_ms(100000)) == 3 && zeroes[0]);
	put_at_0(open("/", O_RDONLY | O_CLOEXEC));
	EXPECT(sennit_read(0, zeroes, 3, in_ms(100000)) == -EISDIR);
	restore();
}

TEST_WITH_WORKERS(files_and_devices_are_read_in_place)
{
	in_each_place(read_files, NULL);
}

static int begin_all(void)
{
	kept = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	if (kept < 0)
		kept = open("/dev/null", O_RDONLY | O_CLOEXEC);
	signal(SIGHUP, SIG_IGN);
	return 0;
}

BEFORE_ALL(begin_all);
USES_BACKEND;

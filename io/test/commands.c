/* SPDX-License-Identifier: Apache-2.0 */
/* commands.c - a child gets the file, arguments, descriptors, directory and
 * signals of its command, and an invalid command starts nothing. */
#include "children.h"

/* --- what a child gets -------------------------------------------------- */

/* Read everything from fd, and close it. */
static void expect_text(int fd, const char *expected)
{
	char      text[256];
	size_t    have = 0;
	ptrdiff_t n;

	while ((n = sennit_read(fd, text + have, sizeof(text) - 1 - have,
				SENNIT_NEVER)) > 0)
		have += (size_t)n;
	EXPECT(n == 0);
	text[have] = '\0';
	EXPECT(!strcmp(text, expected));
	if (strcmp(text, expected) != 0)
		fprintf(stderr, "said \"%s\", not \"%s\"\n", text, expected);
	close(fd);
}

/* Run it with its standard output in a pipe and nothing as its input, and
 * compare its output. */
static void expect_words(const sennit_process_command *command,
			 const char                   *expected)
{
	sennit_process_command c = *command;
	int                    ends[2];
	pid_t                  child;

	begin_pipe(ends);
	c.fds = (const sennit_process_fd[]){ { SENNIT_PROCESS_NULL, 0 },
					     { ends[1], 1 } };
	c.fd_count = 2;
	child = must_spawn(&c);
	close(ends[1]);
	expect_text(ends[0], expected);
	expect_end(child, EXITED(0));
}

static void give_things(void *unused)
{
	char *const argv[] = { "sh", "-c", "echo $A-$HOME-$(pwd)", NULL };
	char *const env[] = { "A=b", "PATH=/bin:/usr/bin", NULL };
	char *const cat[] = { "cat", NULL };
	char *const mask[] = {
		"grep",
		"SigBlk",
		"/proc/self/status",
		NULL,
	};
	char *const ignored[] = { "sh", "-c", "kill -PIPE $$; echo ignored",
				  NULL };
	int         fds[2];
	int         status;

	(void)unused;
	expect_words(SENNIT_PROCESS_COMMAND(.argv = argv, .env = env,
					    .directory = "/usr"),
		     "b--/usr\n");
	expect_words(SENNIT_PROCESS_COMMAND(.file = "/bin/sh", .argv = argv,
					    .env = env, .directory = "/"),
		     "b--/\n");
	expect_words(SENNIT_PROCESS_COMMAND(.argv = cat), "");
	expect_words(SENNIT_PROCESS_COMMAND(.argv = mask),
		     "SigBlk:\t0000000000000000\n");
	begin_pipe(fds);
	EXPECT(sennit_process_wait(
		       must_spawn(SENNIT_PROCESS_COMMAND(.argv = ignored,
							 FDS({ fds[1], 1 }))),
		       &status, SENNIT_NEVER) == 0);
	EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE);
	close(fds[1]);
	expect_text(fds[0], "");
}

TEST_WITH_WORKERS(a_child_gets_what_its_command_says)
{
	in_each_place(give_things, NULL);
}

/* err = 1 means the caller's standard output, although the child's standard
 * output is already another one. The two can also be the same pipe. */
static void swap_descriptors(void *unused)
{
	char *const argv[] = { "sh", "-c", "echo out; echo err >&2", NULL };
	int         out[2], err[2], both[2];
	pid_t       child;
	int         kept = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);

	(void)unused;
	fflush(stdout);
	begin_pipe(out);
	begin_pipe(err);
	begin_pipe(both);
	must(dup2(err[1], STDOUT_FILENO) == STDOUT_FILENO, "dup2");
	child = must_spawn(SENNIT_PROCESS_COMMAND(.argv = argv,
						  FDS({ out[1], 1 },
						      { STDOUT_FILENO, 2 })));
	must(dup2(kept, STDOUT_FILENO) == STDOUT_FILENO, "dup2");
	close(kept);
	close(out[1]);
	close(err[1]);
	expect_text(out[0], "out\n");
	expect_text(err[0], "err\n");
	expect_end(child, EXITED(0));
	child = must_spawn(
		SENNIT_PROCESS_COMMAND(.argv = argv,
				       FDS({ both[1], 1 }, { both[1], 2 })));
	close(both[1]);
	expect_text(both[0], "out\nerr\n");
	expect_end(child, EXITED(0));
}

/* A filter whose pipes may get the numbers 0 to 2, because the caller has
 * closed these standard descriptors. The child does not get descriptors that
 * the command does not name: with the write end of its own input pipe it would
 * never see the end. */
static void filter_with_closed(unsigned mask, bool in_first)
{
	char *const argv[] = { "cat", NULL };
	int         kept[3], out[2], in[2];
	pid_t       child;

	fflush(stdout);
	for (int i = 0; i < 3; i++)
		kept[i] = fcntl(i, F_DUPFD_CLOEXEC, 10);
	for (int i = 0; i < 3; i++)
		if (mask >> i & 1)
			close(i);
	begin_pipe(in_first ? in : out);
	begin_pipe(in_first ? out : in);
	child = must_spawn(
		SENNIT_PROCESS_COMMAND(.argv = argv,
				       FDS({ in[0], 0 }, { out[1], 1 })));
	close(in[0]);
	close(out[1]);
	must(write(in[1], "x", 1) == 1, "write");
	close(in[1]);
	expect_text(out[0], "x");
	expect_end(child, EXITED(0));
	for (int i = 0; i < 3; i++) {
		must(dup2(kept[i], i) == i, "dup2");
		close(kept[i]);
	}
}

static void filter_with_first_numbers(void *unused)
{
	(void)unused;
	for (unsigned mask = 0; mask < 8; mask++) {
		filter_with_closed(mask, true);
		filter_with_closed(mask, false);
	}
}

TEST_WITH_WORKERS(ends_of_pipes_may_be_standard_descriptors)
{
	filter_with_first_numbers(NULL);
	in_a_task(filter_with_first_numbers, NULL);
}

TEST_WITH_WORKERS(redirections_do_not_disturb_each_other)
{
	swap_descriptors(NULL);
	in_a_task(swap_descriptors, NULL);
}

/* Two that are exchanged, one that stays, one whose number may be the caller's
 * own for something else, and none. */
static void give_further_descriptors(void *unused)
{
	char *const argv[] = { "sh", "-c",
			       "echo 0 >/dev/fd/$A; echo 1 >/dev/fd/$B; "
			       "echo 2 >/dev/fd/$C; echo 3 >/dev/fd/200",
			       NULL };
	char        a[8], b[8], c[8];
	char *const env[] = { a, b, c, "PATH=/bin:/usr/bin", NULL };
	int         first[2], second[2], third[2], fourth[2];
	pid_t       child;

	(void)unused;
	begin_pipe(first);
	begin_pipe(second);
	begin_pipe(third);
	begin_pipe(fourth);
	snprintf(a, sizeof(a), "A=%d", second[1]);
	snprintf(b, sizeof(b), "B=%d", first[1]);
	snprintf(c, sizeof(c), "C=%d", third[1]);
	child = must_spawn(SENNIT_PROCESS_COMMAND(
			.argv = argv, .env = env,
			FDS({ first[1], second[1] }, { second[1], first[1] },
			    { third[1], third[1] }, { fourth[1], 200 },
			    { SENNIT_PROCESS_NULL, 2 })));
	close(first[1]);
	close(second[1]);
	close(third[1]);
	close(fourth[1]);
	expect_text(first[0], "0\n");
	expect_text(second[0], "1\n");
	expect_text(third[0], "2\n");
	expect_text(fourth[0], "3\n");
	expect_end(child, EXITED(0));
}

TEST_WITH_WORKERS(a_child_gets_any_number_of_descriptors)
{
	give_further_descriptors(NULL);
	in_a_task(give_further_descriptors, NULL);
}

/* The number of a copy for the exchange must not be that of a descriptor which
 * the caller does not have. */
static void exchange_and_name_closed(void *unused)
{
	char *const argv[] = { "true", NULL };
	int         ends[2];
	pid_t       child;
	int         lowest = dup(STDIN_FILENO);

	(void)unused;
	close(lowest);
	begin_pipe(ends);
	for (int closed = lowest; closed < lowest + 8; closed++)
		if (fcntl(closed, F_GETFD) < 0)
			EXPECT(sennit_process_spawn(
				       &child,
				       SENNIT_PROCESS_COMMAND(
						       .argv = argv,
						       FDS({ ends[0], ends[1] },
							   { ends[1], ends[0] },
							   { closed, 200 }))) ==
			       -EBADF);
	close(ends[0]);
	close(ends[1]);
}

TEST_WITH_WORKERS(a_closed_descriptor_is_refused_beside_an_exchange)
{
	exchange_and_name_closed(NULL);
}

/* A command of a newer program, with members that this library does not know.
 */
struct newer_command {
	sennit_process_command known;
	uint64_t               more[2];
};

static void spawn_newer(void *unused)
{
	char *const          argv[] = { "true", NULL };
	struct newer_command c = { .known = { .argv = argv } };
	pid_t                child = 7;

	(void)unused;
	c.known.size = sizeof(c);
	expect_end(must_spawn(&c.known), EXITED(0));
	c.more[1] = 1;
	EXPECT(sennit_process_spawn(&child, &c.known) == -E2BIG);
	c.known.size = sizeof(c.known);
	expect_end(must_spawn(&c.known), EXITED(0));
	c.known.size--;
	EXPECT(sennit_process_spawn(&child, &c.known) == -EINVAL);
	c.known.size = 0;
	EXPECT(sennit_process_spawn(&child, &c.known) == -EINVAL);
	EXPECT(child == 7);
}

TEST_WITH_WORKERS(a_newer_command_is_known_unless_it_asks_for_more)
{
	in_each_place(spawn_newer, NULL);
}

static void refuse(const sennit_process_command *command, int expected)
{
	pid_t child = 7;

	EXPECT(sennit_process_spawn(&child, command) == expected);
	EXPECT(child == 7);
}

static void spawn_in_vain(void *unused)
{
	char *const argv[] = { "/no/such/file", NULL };
	char *const none[] = { NULL };
	char *const sh[] = { "sh", "-c", ":", NULL };

	(void)unused;
	refuse(SENNIT_PROCESS_COMMAND(.argv = argv), -ENOENT);
	refuse(SENNIT_PROCESS_COMMAND(.argv = none), -EINVAL);
	refuse(SENNIT_PROCESS_COMMAND(.argv = NULL), -EINVAL);
	refuse(SENNIT_PROCESS_COMMAND(.argv = sh, .directory = "/no"), -ENOENT);
	refuse(SENNIT_PROCESS_COMMAND(.argv = sh, .flags = 4), -EINVAL);
	refuse(SENNIT_PROCESS_COMMAND(.argv = sh,
				      .flags = SENNIT_PROCESS_GROUP |
					       SENNIT_PROCESS_SESSION),
	       -EINVAL);
	refuse(SENNIT_PROCESS_COMMAND(.argv = sh, FDS({ 1 << 20, 1 })), -EBADF);
	refuse(SENNIT_PROCESS_COMMAND(.argv = sh, FDS({ 1 << 20, 1 << 20 })),
	       -EBADF);
	refuse(SENNIT_PROCESS_COMMAND(.argv = sh, FDS({ -2, 1 })), -EBADF);
	refuse(SENNIT_PROCESS_COMMAND(.argv = sh, FDS({ 1, -1 })), -EBADF);
	refuse(SENNIT_PROCESS_COMMAND(.argv = sh, FDS({ 1, 5 }, { 2, 5 })),
	       -EINVAL);
}

TEST_WITH_WORKERS(what_cannot_start_is_told)
{
	in_each_place(spawn_in_vain, NULL);
}

static int begin_all(void)
{
	signal(SIGPIPE, SIG_IGN); /* a child does not inherit this */
	return 0;
}

BEFORE_ALL(begin_all);
USES_BACKEND;

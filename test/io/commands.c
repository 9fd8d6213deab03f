/* SPDX-License-Identifier: Apache-2.0 */
/* commands.c - a child gets the file, arguments, descriptors, directory and
 * signals of its command, and nothing starts that cannot. */
#include "children.h"

/* --- what a child gets -------------------------------------------------- */

/* All that comes from fd, which is closed. */
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

/* Run it with its standard output in a pipe, and compare what it says. */
static void expect_words(sennit_process_command c, const char *expected)
{
	int   fds[2];
	pid_t child;

	begin_pipe(fds);
	c.out = fds[1];
	child = must_spawn(&c);
	close(fds[1]);
	expect_text(fds[0], expected);
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
	expect_words((sennit_process_command){ .argv = argv,
					       .env = env,
					       .directory = "/usr" },
		     "b--/usr\n");
	expect_words((sennit_process_command){ .file = "/bin/sh",
					       .argv = argv,
					       .env = env,
					       .directory = "/" },
		     "b--/\n");
	expect_words((sennit_process_command){ .argv = cat,
					       .in = SENNIT_PROCESS_NULL },
		     "");
	expect_words((sennit_process_command){ .argv = mask },
		     "SigBlk:\t0000000000000000\n");
	begin_pipe(fds);
	EXPECT(sennit_process_wait(must_spawn(&(sennit_process_command){
					   .argv = ignored, .out = fds[1] }),
				   &status, SENNIT_NEVER) == 0);
	EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE);
	close(fds[1]);
	expect_text(fds[0], "");
}

TEST_WITH_WORKERS(a_child_gets_what_its_command_says)
{
	in_each_place(give_things, NULL);
}

/* err = 1 is the caller's standard output, though the child's is another by
 * then; and the two can be one pipe. */
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
	child = must_spawn(&(sennit_process_command){
		.argv = argv, .out = out[1], .err = STDOUT_FILENO });
	must(dup2(kept, STDOUT_FILENO) == STDOUT_FILENO, "dup2");
	close(kept);
	close(out[1]);
	close(err[1]);
	expect_text(out[0], "out\n");
	expect_text(err[0], "err\n");
	expect_end(child, EXITED(0));
	child = must_spawn(&(sennit_process_command){
		.argv = argv, .out = both[1], .err = both[1] });
	close(both[1]);
	expect_text(both[0], "out\nerr\n");
	expect_end(child, EXITED(0));
}

/* A filter whose pipes get the first numbers, as the caller has closed its
 * standard descriptors below `count`. */
static void filter_with_closed(int count)
{
	char *const argv[] = { "cat", NULL };
	int         kept[2], out[2], in[2];
	pid_t       child;

	fflush(stdout);
	for (int i = 0; i < count; i++)
		kept[i] = fcntl(i, F_DUPFD_CLOEXEC, 3);
	for (int i = 0; i < count; i++)
		close(i);
	begin_pipe(count == 1 ? in : out);
	begin_pipe(count == 1 ? out : in);
	EXPECT((count == 1 ? in : out)[0] == 0);
	child = must_spawn(&(sennit_process_command){
		.argv = argv, .in = in[0], .out = out[1] });
	close(in[0]);
	close(out[1]);
	must(write(in[1], "x", 1) == 1, "write");
	close(in[1]);
	expect_text(out[0], "x");
	expect_end(child, EXITED(0));
	for (int i = 0; i < count; i++) {
		must(dup2(kept[i], i) == i, "dup2");
		close(kept[i]);
	}
}

static void filter_with_first_numbers(void *unused)
{
	(void)unused;
	/* A worker that waits for the first time would get one of them. */
	EXPECT(sennit_io_backend());
	filter_with_closed(1);
	filter_with_closed(2);
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

static void spawn_in_vain(void *unused)
{
	char *const argv[] = { "/no/such/file", NULL };
	char *const none[] = { NULL };
	char *const sh[] = { "sh", "-c", ":", NULL };
	pid_t       child = 7;

	(void)unused;
	EXPECT(sennit_process_spawn(&(sennit_process_command){ .argv = argv },
				    &child) == -ENOENT);
	EXPECT(sennit_process_spawn(&(sennit_process_command){ .argv = none },
				    &child) == -EINVAL);
	EXPECT(sennit_process_spawn(&(sennit_process_command){ .argv = NULL },
				    &child) == -EINVAL);
	EXPECT(sennit_process_spawn(
		       &(sennit_process_command){ .argv = sh, .out = 1 << 20 },
		       &child) == -EBADF);
	EXPECT(sennit_process_spawn(
		       &(sennit_process_command){ .argv = sh,
						  .directory = "/no" },
		       &child) == -ENOENT);
	EXPECT(child == 7);
}

TEST_WITH_WORKERS(what_cannot_start_is_told)
{
	in_each_place(spawn_in_vain, NULL);
}

static int begin_all(void)
{
	signal(SIGPIPE, SIG_IGN); /* which a child does not inherit */
	return 0;
}

BEFORE_ALL(begin_all);
USES_BACKEND;

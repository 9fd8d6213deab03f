/* SPDX-License-Identifier: Apache-2.0 */
/* closed_files.c - the program closes each descriptor that a word of
 * SENNIT_DEBUG has opened, as daemons do, and opens a file or a connection with
 * the same number. The library must report that, write nothing to it, and not
 * close it. Each case is a child.
 */
#include "testing/stalls.h"
#include "testing/switched_on.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

/* What the number is used for next, and how the process ends. */
enum { NOTHING, A_FILE, A_CONNECTION, WAYS };
enum { RETURNS, EXITS, IS_WRONG };

static const struct word {
	const char *name;
	int         end;
} words[] = {
	{ "trace", RETURNS },   { "trace", EXITS },    { "trace", IS_WRONG },
	{ "profile", RETURNS }, { "fatal", IS_WRONG }, { "live", RETURNS },
};

static const char text[] = "the program's own text\n";

/* --- the program ---------------------------------------------------------- */

enum { NUMBERS = 256 };

static bool        taken[NUMBERS];
static struct stat own; /* the file that has these numbers now */

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

/* Runs after everything that the library does at exit. */
static void expect_own(void)
{
	struct stat now;

	for (int fd = 0; fd < NUMBERS; fd++)
		if (taken[fd] && (fstat(fd, &now) || now.st_ino != own.st_ino))
			_exit(4);
}

/* Take the numbers that were opened since `before`. */
static void take_numbers(const bool before[NUMBERS], int keep, int replacement)
{
	unsigned count = 0;

	if (replacement >= 0)
		REQUIRE(!fstat(replacement, &own));
	for (int fd = 3; fd < NUMBERS; fd++) {
		if (!is_open(fd) || before[fd] || fd == keep)
			continue;
		count++;
		close(fd);
		if (replacement < 0)
			continue;
		REQUIRE(dup2(replacement, fd) == fd);
		taken[fd] = true;
	}
	REQUIRE(count);
}

/* A client of the live view that has been accepted and watches. */
static int watch_view(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const int          fd = socket(AF_UNIX, SOCK_STREAM, 0);
	char               byte;

	strcpy(address.sun_path, path);
	REQUIRE(!connect(fd, (struct sockaddr *)&address, sizeof(address)));
	REQUIRE(read(fd, &byte, 1) == 1);
	REQUIRE(write(fd, "watch 100\n", 10) == 10);
	return fd;
}

static void do_nothing(void *unused)
{
	(void)unused;
}

static void run_program(const struct word *w, const char *path, int replacement)
{
	sennit_scheduler *s;
	bool              before[NUMBERS];
	unsigned          threads;
	char              debug[256];
	int               client = -1;

	atexit(expect_own);
	for (int fd = 0; fd < NUMBERS; fd++)
		before[fd] = is_open(fd);
	snprintf(debug, sizeof(debug), "%s=%s", w->name, path);
	setenv("SENNIT_DEBUG", debug, 1);
	s = stall_scheduler(1);
	start_task(s, do_nothing, NULL);
	if (!strcmp(w->name, "live"))
		client = watch_view(path);
	threads = threads_now();
	take_numbers(before, client, replacement);
	while (client >= 0 && threads_now() >= threads)
		usleep(1000); /* wait for the view to end by itself */
	if (w->end == IS_WRONG)
		sennit_thread_unbind(); /* misuse */
	if (w->end == RETURNS)
		end_scheduler(s);
	exit(0);
}

/* --- one of each ---------------------------------------------------------- */

static int open_text(void)
{
	char      path[] = "/tmp/sennit-closed-XXXXXX";
	const int fd = mkstemp(path);

	assert_true(fd >= 0);
	unlink(path);
	assert_int_equal(write(fd, text, sizeof(text)), sizeof(text));
	return fd;
}

static bool is_text(int fd)
{
	char there[sizeof(text) + 1];

	return pread(fd, there, sizeof(there), 0) == sizeof(text) &&
	       !memcmp(there, text, sizeof(text));
}

static bool said_so(const struct word *w, const char *said, int status)
{
	const bool ended = w->end == IS_WRONG
				   ? WIFSIGNALED(status) &&
					     WTERMSIG(status) == SIGABRT
				   : !status;

	return ended && times_in(said, "the program has closed") ==
				(strcmp(w->name, "profile") ? 1u : 2u);
}

static void close_and_run(const struct word *w, int way)
{
	static char said[1 << 16];
	char        path[64], more[80], byte;
	int         pair[2], file = open_text(), status, heard;
	pid_t       child;

	snprintf(path, sizeof(path), "/tmp/sennit-closed-%ld", (long)getpid());
	snprintf(more, sizeof(more), "%s.waits", path);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	child = begin_heard_child(&heard);
	if (!child) {
		close(pair[0]);
		run_program(w, path,
			    way == NOTHING  ? -1
			    : way == A_FILE ? file
					    : pair[1]);
	}
	close(pair[1]);
	status = await_words(child, heard, said, sizeof(said));
	unlink(path);
	unlink(more);
	if (!said_so(w, said, status)) {
		print_error("%s, end %d, way %d: status %#x, it said: %s\n",
			    w->name, w->end, way, (unsigned)status, said);
		fail();
	}
	assert_true(is_text(file));
	assert_int_equal(read(pair[0], &byte, 1), 0);
	close(pair[0]);
	close(file);
}

static void close_in_all_ways(const char *name)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		for (int way = 0; way < WAYS; way++)
			if (!strcmp(words[i].name, name))
				close_and_run(&words[i], way);
}

TEST(a_trace_is_written_to_no_other_file)
{
	close_in_all_ways("trace");
}

TEST(nor_is_a_profile)
{
	close_in_all_ways("profile");
}

TEST(nor_are_the_stacks_of_a_crash)
{
	close_in_all_ways("fatal");
}

TEST(a_live_view_takes_no_connection_of_the_program)
{
#ifdef SN_TSAN
	print_message("a race, for ThreadSanitizer: who owns the number\n");
	skip();
#endif
	close_in_all_ways("live");
}

/* SPDX-License-Identifier: Apache-2.0 */
/* live_hostile.c - clients that break the protocol, do not read, are too many,
 * or belong to another user. The view still answers others. */
#include "live.h"

#include "../src/live/live.h"

#include "testing/child.h"

#include <dirent.h>
#include <grp.h>
#include <time.h>

enum { NOBODY = 65534 };

/* No signal: the view may have closed the connection. */
static void flood(int fd, const char *text, size_t size)
{
	(void)!send(fd, text, size, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void hear_error(int fd, const char *why)
{
	char line[LINE];

	assert_non_null(strstr(hear(fd, line), "\"type\":\"error\""));
	assert_non_null(strstr(line, why));
	assert_string_equal(hear(fd, line), ""); /* disconnected */
	close(fd);
}

static void refuses(const struct place *p, const char *request, const char *why)
{
	int fd = must_connect(p);

	hear_hello(fd);
	ask(fd, request);
	hear_error(fd, why);
}

TEST_PLACED(what_is_no_request_ends_the_connection)
{
	char line[LINE];

	start_live(p);
	refuses(p, "GET / HTTP/1.1\r\n\r\n", "requests are");
	refuses(p, "\n", "requests are");
	refuses(p, "get \n", "requests are");
	refuses(p, "watch\n", "requests are");
	refuses(p, "stacks\n", "requests are");
	refuses(p, "stacks text\n", "requests are");
	refuses(p, "watch \n", "requests are");
	refuses(p, "watch -1\n", "requests are");
	refuses(p, "watch 60001\n", "requests are");
	refuses(p, "watch 18446744073709551617\n", "requests are");
	refuses(p,
		"0123456789012345678901234567890123456789"
		"0123456789012345678901234567890123456789",
		"too long");
	snapshot(p, line);
}

TEST_PLACED(a_zero_byte_does_not_end_a_request)
{
	int fd;

	start_live(p);
	fd = must_connect(p);
	hear_hello(fd);
	assert_int_equal(send(fd, "get\0x\n", 6, MSG_NOSIGNAL), 6);
	hear_error(fd, "requests are");
}

/* The view sends as much as the socket accepts, and no more. */
TEST_PLACED(a_client_that_does_not_read_holds_up_nobody)
{
	const int small = 1;
	char      line[LINE];
	int       deaf;

	start_live(p);
	deaf = must_connect(p);
	setsockopt(deaf, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
	ask(deaf, "watch 1\n");
	for (unsigned i = 0; i < 5; i++)
		snapshot(p, line);
	close(deaf);
}

TEST_PLACED(floods_of_requests_hold_up_nobody)
{
	char requests[4 * 1000];
	char line[LINE];
	int  fd[4];

	for (unsigned i = 0; i < 1000; i++)
		memcpy(requests + 4 * i, "get\n", 4);
	start_live(p);
	for (unsigned i = 0; i < 4; i++)
		fd[i] = must_connect(p);
	for (unsigned round = 0; round < 3; round++) {
		for (unsigned i = 0; i < 4; i++)
			flood(fd[i], requests, sizeof(requests));
		snapshot(p, line);
	}
	for (unsigned i = 0; i < 4; i++)
		close(fd[i]);
}

TEST_PLACED(a_crowd_is_turned_away_until_some_leave)
{
	char line[LINE];
	int  fd[SENNIT_LIVE_CLIENTS];

	start_live(p);
	for (unsigned i = 0; i < SENNIT_LIVE_CLIENTS; i++) {
		fd[i] = must_connect(p);
		hear_hello(fd[i]);
	}
	for (unsigned i = 0; i < 20; i++)
		hear_error(must_connect(p), "too many clients");
	close(fd[0]);
	for (;;) {
		fd[0] = must_connect(p);
		if (strstr(hear(fd[0], line), "hello"))
			break;
		close(fd[0]);
	}
	for (unsigned i = 0; i < SENNIT_LIVE_CLIENTS; i++)
		close(fd[i]);
}

TEST_PLACED(connecting_and_leaving_holds_up_nobody)
{
	char line[LINE];

	start_live(p);
	for (unsigned i = 0; i < 200; i++)
		close(must_connect(p));
	snapshot(p, line);
}

TEST_PLACED(clients_learn_that_the_view_stops)
{
	char line[LINE];
	int  fd;

	start_live(p);
	fd = must_connect(p);
	hear_hello(fd);
	sennit_live_stop(p->live);
	p->live = NULL;
	assert_string_equal(hear(fd, line), "");
	assert_int_equal(try_to_connect(p), -1);
	close(fd);
}

/* --- other users --------------------------------------------------------- */

/* In a child that is another user: return 0 if the view rejects it with a
 * message. */
static int try_as_nobody(const struct place *p)
{
	char line[LINE];
	int  fd;

	if (setgroups(0, NULL) || setgid(NOBODY) || setuid(NOBODY))
		return SKIPPED;
	fd = try_to_connect(p);
	if (fd < 0)
		return errno == EACCES ? 2 : 1;
	hear(fd, line);
	return strstr(line, "for the owner only") && !*hear(fd, line) ? 0 : 1;
}

static int status_of_nobody(const struct place *p)
{
	pid_t child = begin_child();
	int   status;

	if (!child)
		_exit(try_as_nobody(p));
	status = await_child(child);
	skip_if_told(status, "only root can become another user");
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* First the file's mode rejects it, then the check of the peer. */
TEST_PLACED(another_user_sees_nothing)
{
	char line[LINE];

	start_live(p);
	assert_int_equal(chmod(p->folder, 0755), 0);
	assert_int_equal(status_of_nobody(p), 2);
	assert_int_equal(chmod(p->path, 0666), 0);
	assert_int_equal(status_of_nobody(p), 0);
	snapshot(p, line);
}

/* --- time ---------------------------------------------------------------- */

/* A client, its other end, and a time that the test sets. */
static int open_pair(struct live_client *c, sennit_time now)
{
	int fd[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
	sn_live_client_init(c);
	sn_live_client_open(c, fd[0], now);
	hear_hello(fd[1]);
	return fd[1];
}

TEST(who_asks_for_nothing_is_disconnected)
{
	struct live_client c;
	int                other = open_pair(&c, 1000);

	sn_live_client_serve(&c, 0, 1000 + LIVE_PATIENCE);
	assert_true(c.file.fd >= 0);
	sn_live_client_serve(&c, 0, 1001 + LIVE_PATIENCE);
	assert_int_equal(c.file.fd, -1);
	close(other);
}

TEST(who_watches_may_be_silent)
{
	struct live_client c;
	int                other = open_pair(&c, 1000);

	ask(other, "watch 60000\n");
	sn_live_client_serve(&c, POLLIN, 1000);
	sn_live_client_serve(&c, 0, 1000 + 5 * LIVE_PATIENCE);
	assert_true(sn_live_client_is_due(&c, 1000));
	sn_live_client_close(&c);
	close(other);
}

TEST(who_does_not_read_an_answer_is_disconnected)
{
	static char        text[1 << 20];
	struct live_client c;
	int                other = open_pair(&c, 1000);

	ask(other, "watch 1\n");
	sn_live_client_serve(&c, POLLIN, 1000);
	sn_live_client_give(&c, text, sizeof(text), 1000);
	assert_non_null(c.out); /* more than the socket accepts */
	assert_false(sn_live_client_is_due(&c, 1000 + LIVE_PATIENCE));
	sn_live_client_serve(&c, 0, 1000 + LIVE_PATIENCE);
	assert_true(c.file.fd >= 0);
	sn_live_client_serve(&c, 0, 1001 + LIVE_PATIENCE);
	assert_int_equal(c.file.fd, -1);
	close(other);
}

/* --- the cost ------------------------------------------------------------ */

/* Return the CPU time in ns of the view's thread. 0: there is none. */
static uint64_t cpu_of_view(void)
{
	DIR           *tasks = opendir("/proc/self/task");
	struct dirent *task;
	uint64_t       ns = 0;
	char           path[300], name[32];

	assert_non_null(tasks);
	while ((task = readdir(tasks))) {
		FILE *file;

		snprintf(path, sizeof(path), "/proc/self/task/%s/comm",
			 task->d_name);
		file = fopen(path, "r");
		if (!file)
			continue;
		if (fgets(name, sizeof(name), file) &&
		    !strncmp(name, "sn-live/", 8)) {
			struct timespec t = { 0, 0 };
			/* The kernel's CPU clock of a thread. */
			clockid_t clock =
				(clockid_t)(~(unsigned)atoi(task->d_name) << 3 |
					    6u);

			clock_gettime(clock, &t);
			ns = (uint64_t)t.tv_sec * SENNIT_SECOND +
			     (uint64_t)t.tv_nsec;
		}
		fclose(file);
	}
	closedir(tasks);
	return ns;
}

/* With hostile clients the view uses less than a fifth of a CPU, even in builds
 * that are several times slower. On a busy machine it uses less. */
TEST_PLACED(hostile_clients_take_little_time_from_the_program)
{
	sennit_time begin;
	uint64_t    before;
	int         fd[4];

	start_live(p);
	for (unsigned i = 0; i < 4; i++) {
		fd[i] = must_connect(p);
		ask(fd[i], "watch 1\n");
	}
	assert_soon(cpu_of_view() > 0); /* the thread has its name */
	begin = sennit_now();
	before = cpu_of_view();
	while (sennit_now() < begin + 600 * SENNIT_MILLISECOND) {
		char line[4096];

		close(try_to_connect(p));
		for (unsigned i = 0; i < 4; i++) {
			flood(fd[i], "watch 1\n", 8);
			(void)!recv(fd[i], line, sizeof(line), MSG_DONTWAIT);
		}
	}
	print_message("%u us of CPU in 600 ms\n",
		      (unsigned)((cpu_of_view() - before) / 1000));
	assert_true(cpu_of_view() - before < (sennit_now() - begin) / 5);
	for (unsigned i = 0; i < 4; i++)
		close(fd[i]);
}

/* Report whether the view used no CPU for twice the time between two looks. */
static bool is_still(void)
{
	const sennit_time begin = sennit_now();
	const uint64_t    before = cpu_of_view();

	while (sennit_now() < begin + 100 * SENNIT_MILLISECOND)
		sched_yield();
	return before && cpu_of_view() == before;
}

TEST_PLACED(a_view_without_clients_sleeps)
{
	char line[LINE];

	start_live(p);
	assert_soon(is_still());
	snapshot(p, line);
	assert_soon(is_still()); /* again */
}

#define PLACED(f) cmocka_unit_test_setup_teardown(f, open_place, close_place)

/* SPDX-License-Identifier: Apache-2.0 */
/* live.c - the contents of a live view, and its socket. */
#include "live.h"

#include "sennit/metrics.h"

#include "testing/child.h"

/* --- the socket ---------------------------------------------------------- */

TEST_PLACED(the_socket_is_the_owners_and_goes_with_the_view)
{
	struct stat st;
	mode_t      mask = umask(0);

	start_live(p);
	umask(mask);
	assert_int_equal(lstat(p->path, &st), 0);
	assert_int_equal(st.st_mode, S_IFSOCK | 0600);
	assert_int_equal(st.st_uid, geteuid());
	sennit_live_stop(p->live);
	p->live = NULL;
	assert_int_equal(lstat(p->path, &st), -1);
	assert_int_equal(errno, ENOENT);
}

static int start_error(struct place *p)
{
	sennit_live *live = (sennit_live *)p;
	int          err = sennit_live_start(&live, p->s, p->path);

	assert_ptr_equal(live, p); /* unchanged */
	return err;
}

TEST_PLACED(what_lies_at_the_path_stays)
{
	struct stat st;
	char        target[80];
	FILE       *file;

	snprintf(target, sizeof(target), "%s/target", p->folder);
	assert_int_equal(symlink(target, p->path), 0); /* dangling */
	assert_int_equal(start_error(p), -EEXIST);
	assert_int_equal(lstat(target, &st), -1);
	unlink(p->path);

	file = fopen(p->path, "w");
	assert_non_null(file);
	fclose(file);
	assert_int_equal(start_error(p), -EEXIST);
	assert_int_equal(lstat(p->path, &st), 0);
	assert_true(S_ISREG(st.st_mode));
}

TEST_PLACED(a_view_in_use_is_not_replaced)
{
	char line[LINE];

	start_live(p);
	assert_int_equal(start_error(p), -EADDRINUSE);
	snapshot(p, line);
}

/* Leave a socket like a process that was killed. */
TEST_PLACED(a_socket_that_nobody_listens_at_is_replaced)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int                fd = socket(AF_UNIX, SOCK_STREAM, 0);
	char               line[LINE];

	strcpy(at.sun_path, p->path);
	assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	close(fd);
	start_live(p);
	snapshot(p, line);
}

TEST_PLACED(a_file_that_took_the_sockets_place_stays)
{
	struct stat st;
	FILE       *file;

	start_live(p);
	unlink(p->path);
	file = fopen(p->path, "w");
	assert_non_null(file);
	fclose(file);
	sennit_live_stop(p->live);
	p->live = NULL;
	assert_int_equal(lstat(p->path, &st), 0);
}

TEST_PLACED(a_folder_that_others_can_change_is_refused)
{
	assert_int_equal(chmod(p->folder, 0777), 0);
	assert_int_equal(start_error(p), -EPERM);
	assert_int_equal(chmod(p->folder, 01777), 0);
	start_live(p);
}

TEST_PLACED(paths_that_cannot_be_are_refused)
{
	sennit_live *live;
	char         path[200];

	memset(path, 'x', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	memcpy(path, "/tmp/", 5);
	assert_int_equal(sennit_live_start(&live, p->s, path), -ENAMETOOLONG);
	assert_int_equal(sennit_live_start(&live, p->s, ""), -EINVAL);
	assert_int_equal(sennit_live_start(&live, p->s, NULL), -EINVAL);
	assert_int_equal(sennit_live_start(NULL, p->s, p->path), -EINVAL);
	assert_int_equal(sennit_live_start(&live, p->s, "/tmp/"), -EINVAL);
	assert_int_equal(sennit_live_start(&live, p->s, "/no/such/folder"),
			 -ENOENT);
}

TEST_PLACED(a_forked_child_leaves_the_view_alone)
{
	char  line[LINE];
	pid_t child;

	start_live(p);
	child = begin_child();
	if (!child) {
		sennit_live_stop(p->live);
		_exit(0);
	}
	assert_int_equal(await_child(child), 0);
	snapshot(p, line);
}

/* --- the contents -------------------------------------------------------- */

struct scene {
	atomic_bool       over;
	sennit_event      never;
	sennit_wait_group ended;
};

static void run_hot(void *argument)
{
	struct scene *s = argument;

	sennit_task_set_name("hot one");
	while (!atomic_load(&s->over))
		sched_yield();
	sennit_wait_group_done(&s->ended);
}

static void wait_long(void *argument)
{
	struct scene *s = argument;

	sennit_task_set_name("a\"b\\\n\x1b[31m\xff\xe2\x80\xae");
	(void)!sennit_event_wait(&s->never);
	sennit_wait_group_done(&s->ended);
}

/* Return the number after "key": */
static long long number(const char *line, const char *key)
{
	const char *at = strstr(line, key);

	assert_non_null(at);
	return strtoll(at + strlen(key), NULL, 10);
}

TEST_PLACED(running_tasks_and_waiters_are_shown)
{
	static struct scene s;
	sennit_task         hot = { .run = run_hot, .argument = &s };
	sennit_task         waits = { .run = wait_long, .argument = &s };
	char                line[LINE];
	const char         *at;

	sennit_event_init(&s.never, SENNIT_EVENT_MANUAL);
	sennit_wait_group_init(&s.ended, 2);
	assert_int_equal(sennit_schedule_task_on(p->s, &waits), 0);
	assert_int_equal(sennit_schedule_task_on(p->s, &hot), 0);
	start_live(p);
	assert_soon(fibers_of(p->s) == 1);
	assert_soon(
		strstr(snapshot(p, line), "\"hot\":[{\"task\":\"hot one\""));
	assert_true(number(line, "\"run_permille\":") > 0);
	assert_int_equal(number(line, "\"blocked\":"), 1);
	assert_int_equal(number(line, "\"running\":"), 1);
	at = strstr(line, "\"waiters\":[{");
	assert_non_null(at);
	/* One line of safe characters: JSON's escapes around those of
	 * sennit. */
	assert_non_null(
		strstr(at, "\"task\":\"a\\\"b\\\\\\\\\\\\n\\\\x1b[31m\\\\xff"
			   "\\\\xe2\\\\x80\\\\xae\""));
	assert_non_null(strstr(at, "\"waits_for\":\"event\""));
	assert_true(number(at, "\"for_ns\":") > 0);
	assert_non_null(strstr(line, "\"state\":\"busy\",\"busy_permille\":"));
	atomic_store(&s.over, true);
	sennit_event_set(&s.never);
	sennit_wait_group_wait(&s.ended);
}

static void run_briefly(void *unused)
{
	(void)unused;
}

/* Only those of the last period, and only while they are recorded. */
TEST_PLACED(latencies_are_shown_while_they_are_recorded)
{
	sennit_task t = { .run = run_briefly };
	char        line[LINE];

	start_live(p);
	assert_non_null(strstr(snapshot(p, line), "\"latencies\":[]"));
	sennit_metrics_record(p->s, true);
	do
		for (unsigned i = 0; i < 1000; i++)
			assert_int_equal(sennit_schedule_task_on(p->s, &t), 0);
	while (!strstr(snapshot(p, line),
		       "{\"name\":\"sennit_task_run_seconds\",\"kind\":\"\","
		       "\"count\":"));
	assert_true(number(line, "\"p99_ns\":") >= number(line, "\"p50_ns\":"));
}

TEST_PLACED(watchers_get_one_snapshot_after_the_other)
{
	char      line[LINE];
	long long last = 0;
	int       fd;

	start_live(p);
	fd = must_connect(p);
	hear_hello(fd);
	ask(fd, "watch 1\n");
	for (unsigned i = 0; i < 3; i++) {
		hear(fd, line);
		assert_true(number(line, "\"time_ns\":") >=
			    last + (long long)(50 * SENNIT_MILLISECOND));
		last = number(line, "\"time_ns\":");
	}
	close(fd);
}

TEST_PLACED(a_request_is_answered_though_no_more_come)
{
	char line[LINE];
	int  fd;

	start_live(p);
	fd = must_connect(p);
	ask(fd, "get\n");
	shutdown(fd, SHUT_WR);
	hear_hello(fd);
	assert_non_null(strstr(hear(fd, line), "\"type\":\"snapshot\""));
	assert_string_equal(hear(fd, line), "");
	close(fd);
}

TEST_PLACED(a_view_shows_its_scheduler_or_all)
{
	sennit_scheduler *other =
		start_with(SENNIT_CONFIG(.workers = 1, .name = "other"));
	char line[LINE];

	start_live(p);
	assert_null(strstr(snapshot(p, line), "\"name\":\"other\""));
	sennit_live_stop(p->live);
	assert_int_equal(sennit_live_start(&p->live, NULL, p->path), 0);
	assert_non_null(strstr(snapshot(p, line), "\"name\":\"other\""));
	end_scheduler(other);
	assert_soon(!strstr(snapshot(p, line), "\"name\":\"other\""));
}

/* The view holds no reference that would keep the scheduler. */
TEST_PLACED(a_scheduler_ends_under_a_view)
{
	char line[LINE];
	int  fd;

	start_live(p);
	fd = must_connect(p);
	hear_hello(fd);
	ask(fd, "watch 100\n");
	hear(fd, line);
	end_scheduler(p->s);
	p->s = start_scheduler(1);
	while (!strstr(line, "\"schedulers\":[]"))
		assert_int_not_equal(*hear(fd, line), 0);
	close(fd);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* standard_closed.c - a program is started without some of the standard
 * descriptors: the library does not open its own descriptors with these
 * numbers. So a daemon can open /dev/null there later.
 *
 * Each combination runs in its own process.
 */
#include "operations.h"

#include "sennit/process.h"
#include "sennit/signals.h"
#include "sennit/watch.h"

#include <signal.h>
#include <sys/eventfd.h>
#include <sys/wait.h>

#if !defined(SN_TSAN) /* where a child cannot create threads */

enum { FIRST_OF_PROGRAM = 20 };

static int messages;

static int move_up(int low)
{
	int fd = fcntl(low, F_DUPFD_CLOEXEC, FIRST_OF_PROGRAM);

	must(fd >= 0, "fcntl");
	close(low);
	return fd;
}

static void open_room(int fds[2])
{
	open_full_sockets(fds);
	must(!shutdown(fds[1], SHUT_WR), "shutdown");
	fds[0] = move_up(fds[0]);
	fds[1] = move_up(fds[1]);
}

static void check(bool holds, const char *claim, int mask)
{
	if (holds)
		return;
	dprintf(messages, "without descriptors %d: expected: %s\n", mask,
		claim);
	_exit(1);
}

/* --- calls that open descriptors ---------------------------------------- */

struct scene {
	int         mask;
	int         silent, other;
	int         full[2]; /* the peer has shut down sending */
	atomic_uint over;
};

static int wait_for_one(void *scene)
{
	struct scene *c = scene;

	return sennit_poll(c->silent, POLLIN, SENNIT_NEVER) > 0 ? 0 : -EIO;
}

static int wait_for_several(void *scene)
{
	struct scene *c = scene;
	struct pollfd p[] = { { .fd = c->silent, .events = POLLIN },
			      { .fd = c->other, .events = POLLIN } };

	return sennit_poll_many(p, 2, SENNIT_NEVER) > 0 ? 0 : -EIO;
}

static int wait_in_select(void *scene)
{
	struct scene *c = scene;
	sennit_case   k[] = { sennit_case_readable(c->silent),
			      sennit_case_readable(c->other) };
	size_t        which;

	return sennit_select_until(k, 2, &which, SENNIT_NEVER);
}

static int wait_for_room(void *scene)
{
	struct scene *c = scene;

	return sennit_send(c->full[0], "x", 1, 0, SENNIT_NEVER) == 1 ? 0 : -EIO;
}

static int poll_for_room(void *scene)
{
	struct scene *c = scene;
	struct pollfd p = { .fd = c->full[0], .events = POLLOUT };

	return sennit_poll_many(&p, 1, SENNIT_NEVER) > 0 ? 0 : -EIO;
}

static int (*const waits[])(void *) = { wait_for_one, wait_for_several,
					wait_in_select, wait_for_room,
					poll_for_room };

enum { WAITS = sizeof(waits) / sizeof(waits[0]) };

static void *wait_as_thread(void *scene)
{
	struct scene  *c = scene;
	const unsigned i = atomic_fetch_add(&c->over, 1) % WAITS;

	check(!waits[i](c), "a thread's wait ends", c->mask);
	return NULL;
}

static bool is_taken(const struct scene *c)
{
	for (int fd = 0; fd < 3; fd++)
		if (c->mask >> fd & 1 && fcntl(fd, F_GETFD) >= 0)
			return true;
	return false;
}

/* Check that the library has opened none of the missing descriptors. A thread
 * may briefly have one that is about to be moved to a higher number. */
static void look(const struct scene *c)
{
	for (int i = 0; i < 30000 && is_taken(c); i++)
		usleep(1000);
	check(!is_taken(c), "no standard descriptor is the library's", c->mask);
}

static void open_others(const struct scene *c)
{
	sennit_watch   *watch;
	sennit_signals *signals;
	sigset_t        set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	check(!sennit_watch_open(&watch), "a watch opens", c->mask);
	check(!sennit_signals_open(&signals, &set), "signals open", c->mask);
	look(c);
	sennit_watch_close(watch);
	sennit_signals_close(signals);
}

/* --- a process ---------------------------------------------------------- */

static void become_daemon(void)
{
	int null = open("/dev/null", O_RDWR);

	for (int fd = 0; fd < 3; fd++)
		if (fd != null)
			dup2(null, fd);
}

/* Once all wait, open /dev/null at these numbers. Then let all continue. */
static void use_all(void *scene)
{
	struct scene *c = scene;
	pthread_t     threads[WAITS];
	sennit_group  g;

	sennit_group_init(&g, SENNIT_NEVER, 0);
	for (int i = 0; i < 4 * WAITS; i++)
		check(!sennit_group_spawn(&g, waits[i % WAITS], c), "spawn",
		      c->mask);
	for (int i = 0; i < WAITS; i++)
		threads[i] = must_start_thread(wait_as_thread, c);
	while (io_waits(sennit_scheduler_current()) < 4 * WAITS)
		sennit_yield();
	while (atomic_load(&c->over) < WAITS) /* threads may still be
					       * starting */
		sennit_yield();
	look(c);
	open_others(c);
	become_daemon();
	must(write(c->silent, &(uint64_t){ 1 }, 8) == 8, "write");
	drain(c->full);
	check(!sennit_group_wait(&g), "every wait ends", c->mask);
	for (int i = 0; i < WAITS; i++)
		pthread_join(threads[i], NULL);
}

static _Noreturn void live(int mask)
{
	struct scene      c = { .mask = mask };
	sennit_scheduler *s;

	messages = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, FIRST_OF_PROGRAM);
	c.silent = move_up(eventfd(0, EFD_CLOEXEC));
	c.other = move_up(eventfd(0, EFD_CLOEXEC));
	open_room(c.full);
	for (int fd = 0; fd < 3; fd++)
		if (mask >> fd & 1)
			close(fd);
	check(!sennit_scheduler_create(&s, SENNIT_CONFIG(.workers = 2)),
	      "a scheduler", mask);
	check(!sennit_scheduler_run(s, use_all, &c), "a task", mask);
	check(!sennit_scheduler_shutdown(s, SENNIT_NEVER), "an end", mask);
	_exit(0);
}

TEST_ALONE(the_librarys_descriptors_are_no_standard_ones)
{
	for (int mask = 0; mask < 8; mask++) {
		int   status = -1;
		pid_t child = fork();

		if (!child)
			live(mask);
		assert_true(waitpid(child, &status, 0) == child);
		assert_int_equal(status, 0);
	}
}

#else
SKIP_ALL("in ThreadSanitizer a child of fork() has no threads");
#endif

USES_BACKEND;

/* SPDX-License-Identifier: Apache-2.0 */
/* steps.c - between any two steps of each call, its descriptor is closed and
 * its number reused, or its group is cancelled.
 *
 * A step is a place where a call yields, waits, moves to a helper thread, or is
 * about to make the system wait: each is a function that the linker replaces
 * (--wrap) by one of this file. Between two steps a worker runs nothing else.
 * Each call is repeated until the test has acted at all its steps. It is always
 * the call after which the worker lets other fibers run.
 *
 * At each step the following holds: the call ends; it transfers nothing from or
 * to the next file with the number; if it ends with -ECANCELED, it has taken
 * nothing from a descriptor that stays open.
 */

#include "sennit/file.h"
#include "sennit/stream.h"

#include <sys/un.h>

#include "operations.h"

#include "sennit/blocking.h"
#include "sennit/group.h"
#include "sennit/poller.h"

#include <sys/epoll.h>

/* A call that pauses is made able to continue after this many steps. */
#define PAUSES 8

enum action { CLOSE_HERE, CLOSE_BESIDE, CANCEL, ACTIONS };

static const char *const action_names[] = { "closed by the fiber's worker",
					    "closed by a thread", "cancelled" };

#if defined(SN_TSAN) /* which reports a close of a descriptor in use */
#define FIRST CANCEL
#else
#define FIRST CLOSE_HERE
#endif

static struct scene {
	const struct operation *of;
	enum action             action;
	int                     old[2], next[2];
	sennit_group            group;
	unsigned                at; /* the number of the step */
	atomic_uint             passed;
	atomic_uint             yields;
	atomic_bool             inside; /* the call is running, and its fiber
					 * has not been switched out */
	atomic_bool             acted;
	char                    step[32]; /* the name of the step */
	atomic_bool             over;
	ptrdiff_t               result;
} x;

/* --- the actions --------------------------------------------------------- */

static void *close_and_use_again(void *unused)
{
	EXPECT(sennit_close(x.old[0]) == 0);
	must(dup2(x.next[0], x.old[0]) == x.old[0], "dup2");
	return unused;
}

static void act(const char *step)
{
	x.acted = true;
	snprintf(x.step, sizeof(x.step), "%s", step);
	if (x.action == CANCEL)
		sennit_group_cancel(&x.group);
	else if (x.action == CLOSE_HERE)
		close_and_use_again(NULL);
	else
		pthread_join(must_start_thread(close_and_use_again, NULL),
			     NULL);
}

static void pass(const char *step)
{
	if (!x.acted && x.passed++ == x.at)
		act(step);
}

/* --- the steps ------------------------------------------------------------ */

void __real_sennit_yield(void);
void __wrap_sennit_yield(void);
int  __real_sennit_sleep_until(sennit_time deadline);
int  __wrap_sennit_sleep_until(sennit_time deadline);
int  __real_sennit_poller_wait(sennit_poller_op *op, int fd, sennit_time d);
int  __wrap_sennit_poller_wait(sennit_poller_op *op, int fd, sennit_time d);
int  __real_epoll_ctl(int epoll, int what, int fd, struct epoll_event *event);
int  __wrap_epoll_ctl(int epoll, int what, int fd, struct epoll_event *event);
int  __real_sennit_blocking_call_until(sennit_blocking_fn *f, void *argument,
				       void **result, sennit_time deadline);
int  __wrap_sennit_blocking_call_until(sennit_blocking_fn *f, void *argument,
				       void **result, sennit_time deadline);

/* Called before the call's fiber may be switched out. Returns whether it is
 * that fiber. */
static bool leave(const char *step)
{
	const bool is_calls = x.inside;

	x.inside = false;
	if (is_calls)
		pass(step);
	return is_calls;
}

static void come_back(bool is_calls, const char *step)
{
	if (is_calls)
		pass(step);
	x.inside = is_calls;
}

void __wrap_sennit_yield(void)
{
	bool is_calls = leave("before a yield");

	x.yields++;
	__real_sennit_yield();
	come_back(is_calls, "after a yield");
}

int __wrap_sennit_sleep_until(sennit_time deadline)
{
	bool is_calls = leave("before a pause");
	int  err = __real_sennit_sleep_until(deadline);

	come_back(is_calls, "after a pause");
	return err;
}

int __wrap_sennit_poller_wait(sennit_poller_op *op, int fd, sennit_time d)
{
	bool is_calls = leave("before a wait");
	int  err = __real_sennit_poller_wait(op, fd, d);

	come_back(is_calls, "after a wait");
	return err;
}

int __wrap_epoll_ctl(int epoll, int what, int fd, struct epoll_event *event)
{
	/* No other fiber of the worker can run here. */
	if (x.inside && x.action == CLOSE_BESIDE)
		pass("before epoll_ctl");
	return __real_epoll_ctl(epoll, what, fd, event);
}

struct late_call {
	sennit_blocking_fn *f;
	void               *argument;
};

/* The call has waited for a thread. */
static void *call_late(void *argument)
{
	const struct late_call *c = argument;

	pass("before a helper thread begins");
	return c->f(c->argument);
}

int __wrap_sennit_blocking_call_until(sennit_blocking_fn *f, void *argument,
				      void **result, sennit_time deadline)
{
	struct late_call c = { f, argument };
	bool             is_calls = leave("before a blocking call");
	int              err;

	err = is_calls ? __real_sennit_blocking_call_until(call_late, &c,
							   result, deadline)
		       : __real_sennit_blocking_call_until(f, argument, result,
							   deadline);
	come_back(is_calls, "after a blocking call");
	return err;
}

struct operation_of {
	struct operation of;
	bool (*untouched)(int fds[2]); /* whether nothing was transferred */
};

/* --- more calls ----------------------------------------------------------- */

static ptrdiff_t call_stream(int fd, sennit_time deadline)
{
	sennit_stream *s;
	void          *bytes;
	ptrdiff_t      n = sennit_stream_open(&s, fd);

	if (n)
		return n;
	n = sennit_stream_next(s, &bytes, deadline);
	EXPECT(n != 2 || !memcmp(bytes, "ab", 2));
	sennit_stream_close(s);
	return n;
}

static void open_file(int fds[2])
{
	fds[0] = memfd_create("steps", MFD_CLOEXEC);
	fds[1] = fcntl(fds[0], F_DUPFD_CLOEXEC, 0);
	must(fds[1] >= 0, "memfd_create");
}

static ptrdiff_t call_ftruncate(int fd, sennit_time deadline)
{
	int err = sennit_ftruncate(fd, 1, deadline);

	return err ? err : 1;
}

static void leave_as_it_is(int fds[2])
{
	(void)fds;
}

static bool is_empty_file(int fds[2])
{
	return lseek(fds[0], 0, SEEK_END) == 0;
}

/* For what a file never has, so that the deadline ends the call. */
static ptrdiff_t call_poll(int fd, sennit_time deadline)
{
	(void)deadline;
	return sennit_poll(fd, POLLPRI, in_ms(20));
}

/* The next file has an event that a call for the old one never has. */
static void become_closed_pipe(int fds[2])
{
	int ends[2];

	if (fds != x.next)
		return;
	begin_pipe(ends);
	close(ends[1]);
	must(dup2(ends[0], fds[0]) == fds[0], "dup2");
	close(ends[0]);
}

static bool is_as_it_was(int fds[2])
{
	(void)fds;
	return true;
}

static struct sockaddr_un name;
static int                in_queue = -1;

static int unix_socket(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	must(fd >= 0, "socket");
	return fd;
}

/* A listener whose queue is full with one connection. */
static void open_full_queue(int fds[2])
{
	socklen_t size = sizeof(name);

	fds[0] = unix_socket();
	fds[1] = unix_socket();
	name = (struct sockaddr_un){ .sun_family = AF_UNIX };
	must(!bind(fds[1], (struct sockaddr *)&name, sizeof(sa_family_t)) &&
		     !listen(fds[1], 0) &&
		     !getsockname(fds[1], (struct sockaddr *)&name, &size),
	     "listen");
	in_queue = unix_socket();
	must(!connect(in_queue, (struct sockaddr *)&name, size), "connect");
}

static ptrdiff_t call_connect(int fd, sennit_time deadline)
{
	socklen_t size = offsetof(struct sockaddr_un, sun_path) + 6;
	int err = sennit_connect(fd, (struct sockaddr *)&name, size, deadline);

	return err ? err : 1;
}

static void empty_queue(int fds[2])
{
	int fd = accept(fds[1], NULL, NULL);

	must(fd >= 0, "accept");
	close(fd);
	close(in_queue);
}

static bool is_unconnected(int fds[2])
{
	struct sockaddr_storage peer;
	socklen_t               size = sizeof(peer);

	return getpeername(fds[0], (struct sockaddr *)&peer, &size) < 0;
}

static const struct operation_of more[] = {
	{ { "stream", open_sockets, call_stream, give_two_bytes, 2, 0 }, NULL },
	{ { "ftruncate", open_file, call_ftruncate, leave_as_it_is, 1, 0 },
	  is_empty_file },
	{ { "poll of a file", open_file, call_poll, become_closed_pipe,
	    -ETIMEDOUT, 0 },
	  is_as_it_was },
	{ { "connect", open_full_queue, call_connect, empty_queue, 1, 0 },
	  is_unconnected },
};

#define MORE (sizeof(more) / sizeof(more[0]))

/* --- one call ------------------------------------------------------------- */

/* Make the next call the one after which the worker lets other fibers run. */
static void use_up_turns(void)
{
	const unsigned before = x.yields;
	int            ends[2];

	open_sockets(ends);
	while (x.yields == before)
		(void)!sennit_poll(ends[0], POLLOUT, 0);
	for (int i = 0; i < 63; i++)
		(void)!sennit_poll(ends[0], POLLOUT, 0);
	close(ends[0]);
	close(ends[1]);
}

static int call(void *unused)
{
	(void)unused;
	use_up_turns();
	x.inside = true;
	x.result = x.of->call(x.old[0], SENNIT_NEVER);
	x.inside = false;
	atomic_store(&x.over, true);
	return 0;
}

static bool nothing_came(int fds[2])
{
	char byte;
	int  flags = fcntl(fds[1], F_GETFL);
	bool none;

	must(!fcntl(fds[1], F_SETFL, flags | O_NONBLOCK), "fcntl");
	none = read(fds[1], &byte, 1) < 0 && errno == EAGAIN;
	must(!fcntl(fds[1], F_SETFL, flags), "fcntl");
	return none;
}

/* Whether the operation that fds are ready for was not done. */
static bool is_untouched(const struct operation_of *o, int fds[2])
{
	if (o->untouched)
		return o->untouched(fds);
	if (o->of.make_ready == drain)
		return nothing_came(fds);
	return o->of.call(fds[0], SENNIT_SECOND + sennit_now()) == o->of.done;
}

static void close_both(int fds[2])
{
	close(fds[0]);
	close(fds[1]);
}

static void check(const struct operation_of *o, bool ready)
{
	bool right = x.result == o->of.done || is_closed(x.result);

	if (x.action != CANCEL)
		right = right && is_untouched(o, x.next);
	else if (x.result == -ECANCELED) {
		if (!ready)
			o->of.make_ready(x.old);
		right = right && is_untouched(o, x.old);
	}
	if (!right)
		fprintf(stderr, "%s, %s %s: %td\n", o->of.name,
			action_names[x.action], x.step, x.result);
	EXPECT(right);
}

/* Returns whether the call has such a step. */
static bool acts_at(const struct world *w, const struct operation_of *o,
		    enum action action, unsigned at)
{
	bool ready = false;

	x = (struct scene){ .of = &o->of, .action = action, .at = at };
	o->of.open(x.next);
	o->of.make_ready(x.next);
	o->of.open(x.old);
	sennit_group_init(&x.group, SENNIT_NEVER, 0);
	EXPECT(!sennit_group_spawn_task(
		&x.group, SENNIT_MEMBER(.run = call,
					.flags = SENNIT_MEMBER_SAME_THREAD)));
	while (!atomic_load(&x.over)) {
		if (!ready && !x.acted &&
		    (io_waits(w->s) || x.passed > PAUSES)) {
			o->of.make_ready(x.old);
			ready = true;
		}
		sennit_yield();
	}
	(void)!sennit_group_wait(&x.group);
	if (x.acted)
		check(o, ready);
	close_both(x.old);
	close_both(x.next);
	return x.acted;
}

static void is_safe_at_each_step(const struct world        *w,
				 const struct operation_of *o)
{
	for (unsigned action = FIRST; action < ACTIONS; action++) {
		unsigned at = 0;

		while (acts_at(w, o, (enum action)action, at))
			at++;
		assert_true(at > 0);
	}
}

TEST_WITHOUT(calls_do_not_go_on_with_what_a_number_means_next)
{
	for (size_t i = 0; i < OPERATIONS; i++) {
		const struct operation_of o = { .of = operations[i] };

		is_safe_at_each_step(w, &o);
	}
}

TEST_WITHOUT(nor_do_those_that_pause_or_use_helper_threads)
{
	for (size_t i = 0; i < MORE; i++)
		is_safe_at_each_step(w, &more[i]);
}

USES_BACKEND;

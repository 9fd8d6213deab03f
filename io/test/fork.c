/* SPDX-License-Identifier: Apache-2.0 */
/* fork.c - a process whose unbound threads, and no others, use the library
 * forks. Its child can use the library from the start, whatever the parent's
 * threads were doing. */
#include "operations.h"

#include "testing/child.h"

#include <poll.h>
#include <sys/eventfd.h>

static atomic_bool held;      /* eventfd() does not return */
static atomic_bool entered;   /* a thread is in eventfd() */
static atomic_int  last = -1; /* the last result of eventfd() */
static atomic_uint polls;     /* calls of ppoll() */

/* Replaces eventfd(). The library creates the descriptor with which it notifies
 * threads under its lock.
 */
int eventfd(unsigned count, int flags)
{
	int fd;

	atomic_store(&entered, true);
	while (atomic_load(&held))
		usleep(100);
	fd = (int)syscall(SYS_eventfd2, count, flags);
	atomic_store(&last, fd);
	return fd;
}

int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *limit,
	  const sigset_t *mask)
{
	struct timespec left = limit ? *limit : (struct timespec){ 0 };

	atomic_fetch_add(&polls, 1);
	return (int)syscall(SYS_ppoll, fds, count, limit ? &left : NULL, mask,
			    (size_t)8);
}

struct reader {
	int       fds[2];
	pthread_t thread;
	ptrdiff_t result;
};

static void *read_one(void *argument)
{
	struct reader *r = argument;
	char           byte;

	r->result = sennit_recv(r->fds[0], &byte, 1, 0, SENNIT_NEVER);
	return NULL;
}

static void begin_reading(struct reader *r)
{
	open_sockets(r->fds);
	r->thread = must_start_thread(read_one, r);
}

static void end_reading(struct reader *r)
{
	must(write(r->fds[1], "x", 1) == 1, "write");
	pthread_join(r->thread, NULL);
	assert_int_equal(r->result, 1);
	close(r->fds[0]);
	close(r->fds[1]);
}

/* --- in the child --------------------------------------------------------- */

enum { WAIT_MS = 50, FEW = 20 };

/* Wait until the deadline, then close. The descriptor that notifies threads
 * works if ppoll() is called only a few times. */
static bool works(void)
{
	const unsigned before = atomic_load(&polls);
	int            fds[2];
	char           byte;

	open_sockets(fds);
	return sennit_recv(fds[0], &byte, 1, 0, in_ms(WAIT_MS)) == -ETIMEDOUT &&
	       atomic_load(&polls) - before < FEW && !sennit_close(fds[0]) &&
	       !sennit_close(fds[1]);
}

/* A file of the child's has the number of the parent's descriptor. */
static bool spares_files(const struct reader *parents)
{
	int file = memfd_create("fork", MFD_CLOEXEC);

	must(dup2(file, atomic_load(&last)) >= 0, "dup2");
	return !sennit_close(parents->fds[0]) && works() &&
	       !lseek(file, 0, SEEK_END);
}

/* The variable that blocks the parent's thread does not block the child's
 * copy. */
static bool works_alone(const struct reader *r)
{
	(void)r;
	atomic_store(&held, false);
	return works();
}

static int child_status(bool (*run)(const struct reader *),
			const struct reader *r)
{
	const pid_t child = begin_child();

	if (!child) {
		alarm(60);
		_exit(run(r) ? 0 : 1);
	}
	return await_child(child);
}

static bool works_and_so_does_its_child(const struct reader *r)
{
	return works() && !child_status(works_alone, r);
}

/* --- in the parent -------------------------------------------------------- */

TEST_ALONE(a_child_waits_though_a_thread_had_the_lock)
{
	struct reader r;

	atomic_store(&held, true);
	begin_reading(&r);
	assert_soon(atomic_load(&entered));
	assert_int_equal(child_status(works_alone, &r), 0);
	atomic_store(&held, false);
	end_reading(&r);
}

TEST_ALONE(a_child_does_not_use_its_parents_descriptors)
{
	struct reader r;

	begin_reading(&r);
	assert_soon(atomic_load(&polls) && atomic_load(&last) >= 0);
	assert_int_equal(child_status(spares_files, &r), 0);
	end_reading(&r);
}

TEST_ALONE(children_of_children_work)
{
	struct reader r;

	begin_reading(&r);
	assert_int_equal(child_status(works_and_so_does_its_child, &r), 0);
	end_reading(&r);
}

static int begin_all(void)
{
	/* No scheduler is created before: its pollers would do what this case
	 * tests. */
	return 0;
}

BEFORE_ALL(begin_all);

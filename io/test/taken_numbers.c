/* SPDX-License-Identifier: Apache-2.0 */
/* taken_numbers.c - a program closes all descriptors, as daemons do, and opens
 * files and connections that get the numbers of the library's descriptors: the
 * library does not close them at its end, nor in the child of a fork. Each case
 * runs in a child.
 */
#include "operations.h"
#include "streams.h"

#include "testing/child.h"

#include <sys/stat.h>

USES_BACKEND;

enum { NUMBERS = 256 };

static bool        taken[NUMBERS];
static struct stat own; /* the file that has their numbers now */

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

static bool has_own(void)
{
	struct stat now;

	for (int fd = 0; fd < NUMBERS; fd++)
		if (taken[fd] && (fstat(fd, &now) || now.st_ino != own.st_ino))
			return false;
	return true;
}

/* Store the descriptors that were opened since. Returns their number. */
static unsigned take_numbers(const bool before[NUMBERS], int replacement)
{
	unsigned count = 0;

	EXPECT(!fstat(replacement, &own));
	for (int fd = 3; fd < NUMBERS; fd++) {
		if (!is_open(fd) || before[fd])
			continue;
		EXPECT(dup2(replacement, fd) == fd);
		taken[fd] = true;
		count++;
	}
	return count;
}

static void wait_in_vain(void *fd)
{
	char byte;

	EXPECT(sennit_recv(*(int *)fd, &byte, 1, 0, in_ms(1)) == -ETIMEDOUT);
}

/* Returns the exit status of the process. */
static int run_program(int fds[2], int replacement)
{
	bool              before[NUMBERS];
	sennit_scheduler *s;
	pid_t             child;

	for (int fd = 0; fd < NUMBERS; fd++)
		before[fd] = is_open(fd);
	s = start_scheduler(SENNIT_WORKERS_NONE);
	EXPECT(!sennit_thread_bind(s));
	wait_in_vain(&fds[0]);
	in_a_thread(wait_in_vain, &fds[0]);
	if (!take_numbers(before, replacement))
		return 2;
	child = begin_child();
	if (!child)
		_exit(!has_own());
	if (await_child(child))
		return 3;
	sennit_thread_unbind();
	EXPECT(!sennit_scheduler_shutdown(s, SENNIT_NEVER));
	if (!has_own())
		return 4;
	return atomic_load(&broken_claims) ? 5 : 0;
}

static void take_for(bool connection)
{
	int   fds[2], others[2], status;
	FILE *file = tmpfile();
	pid_t child;

	assert_non_null(file);
	open_sockets(fds);
	open_sockets(others);
	child = begin_child();
	if (!child)
		_exit(run_program(fds, connection ? others[0] : fileno(file)));
	status = await_child(child);
	assert_int_equal(status, 0);
	close_both(fds);
	close_both(others);
	fclose(file);
}

TEST_ALONE(a_file_that_got_the_number_stays_open)
{
	(void)w;
	take_for(false);
}

TEST_ALONE(a_connection_that_got_the_number_stays_open)
{
	(void)w;
	take_for(true);
}

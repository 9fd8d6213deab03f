/* SPDX-License-Identifier: Apache-2.0 */
/* process_end.c - ending a child process whose wait has failed, and the process
 * group that it leads.
 *
 * The child is reaped last. Until then its number, which is that of the group,
 * is not given to another process, so each signal reaches this group or no
 * process.
 *
 * SIGTERM may miss a process: shells, and posix_spawn(), block all signals
 * while they start one, and what is pending for them then is not for the new
 * process. SIGKILL cannot be blocked, so it misses no process.
 *
 * The waits here are on a helper thread: the caller's group is cancelled, and
 * would end waits of a fiber at once.
 */
#include "call/child.h"
#include "sennit/blocking.h"
#include "sennit/process.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct ending {
	pid_t    child;
	bool     leads; /* a process group */
	uint64_t grace;
	int     *status; /* the caller's, or NULL */
	int      err;
};

/* Errors are ignored: no process may be left. */
static void signal_child(const struct ending *e, int number)
{
	(void)kill(e->leads ? -e->child : e->child, number);
}

/* --- the members of a group ----------------------------------------------- */

/* Whether a line of /proc/<pid>/stat is that of a process of the group that has
 * not ended: `pid (name) state parent group ...`, with the number of threads
 * after 14 others. The name may have anything in it. A process whose first
 * thread has ended is a zombie that lives on as long as the others. */
static bool is_living_member(const char *line, pid_t group)
{
	const char *rest = strrchr(line, ')');
	char        state;
	int         parent, its, threads;

	return rest &&
	       sscanf(rest + 1,
		      " %c %d %d %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
		      "%*s %*s %*s %d",
		      &state, &parent, &its, &threads) == 4 &&
	       its == group && ((state != 'Z' && state != 'X') || threads > 1);
}

/* A process that has ended meanwhile has no file. */
static bool lives_in_group(const char *pid, pid_t group)
{
	char    path[64], line[512];
	ssize_t n;
	int     fd;

	snprintf(path, sizeof(path), "/proc/%.20s/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, line, sizeof(line) - 1);
	close(fd);
	line[n > 0 ? n : 0] = '\0';
	return is_living_member(line, group);
}

/* Without /proc they are taken to live on, and have all of the grace. */
static bool has_living_members(pid_t group)
{
	DIR           *d = opendir("/proc");
	struct dirent *entry;
	bool           found = !d;

	while (!found && (entry = readdir(d)))
		found = isdigit((unsigned char)entry->d_name[0]) &&
			lives_in_group(entry->d_name, group);
	if (d)
		closedir(d);
	return found;
}

/* --- the end -------------------------------------------------------------- */

/* Pauses between two looks grow from 50 us to 16 ms. */
#define FIRST_LOOK_PAUSE   (50 * SENNIT_MICROSECOND)
#define LONGEST_LOOK_PAUSE (16 * SENNIT_MILLISECOND)

static void pause_and_grow(uint64_t *pause)
{
	const struct timespec length = { .tv_nsec = (long)*pause };

	(void)nanosleep(&length, NULL);
	*pause = *pause < LONGEST_LOOK_PAUSE / 2 ? *pause * 2
						 : LONGEST_LOOK_PAUSE;
}

static bool is_child_over(const struct ending *e)
{
	return sn_child_look(e->child) != -EAGAIN &&
	       !(e->leads && has_living_members(e->child));
}

static void wait_for_end(const struct ending *e)
{
	const sennit_time until = sennit_after(e->grace);
	uint64_t          pause = FIRST_LOOK_PAUSE;

	while (!is_child_over(e) && sennit_now() < until)
		pause_and_grow(&pause);
}

static void *end_child(void *argument)
{
	struct ending *e = argument;
	uint64_t       pause = FIRST_LOOK_PAUSE;

	if (e->grace) {
		signal_child(e, SIGTERM);
		signal_child(e, SIGCONT);
		wait_for_end(e);
	}
	signal_child(e, SIGKILL);
	while ((e->err = sn_child_reap(e->child, e->status)) == -EAGAIN)
		pause_and_grow(&pause);
	return NULL;
}

int sennit_process_wait_or_end(pid_t child, int *status, uint64_t grace,
			       sennit_time deadline)
{
	int           err = sennit_process_wait(child, status, deadline);
	struct ending e = { .child = child, .grace = grace, .status = status };

	if (!err || err == -ECHILD)
		return err;
	if (!sn_child_reap(child, status)) /* it has ended just now */
		return 0;
	if (kill(child, 0) && errno == EPERM)
		return -EPERM;
	e.leads = getpgid(child) == child;
	(void)sennit_blocking_call(end_child, &e);
	return e.err ? e.err : err;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* verify.c - runs sha256sum, batch by batch. */
#include "verify.h"

#include "interrupt.h"
#include "line.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Well below the system's limits for one command. */
#define BATCH_FILES 500
#define BATCH_BYTES ((size_t)64 * 1024)

struct batch {
	struct entry *files[BATCH_FILES];
	size_t        count;
	char         *answer; /* what sha256sum printed, zero-terminated */
	size_t        length;
	size_t        room;
};

/* Fill the batch from the sorted entries at i. Returns the index after the
 * last. */
static size_t fill(struct batch *b, const struct entries *all, size_t i)
{
	size_t bytes = 0;

	b->count = 0;
	b->length = 0;
	for (; i < all->count && b->count < BATCH_FILES; i++) {
		if (!all->sorted[i]->is_file)
			continue;
		bytes += strlen(all->sorted[i]->path) + 1;
		if (b->count && bytes > BATCH_BYTES)
			break;
		b->files[b->count++] = all->sorted[i];
	}
	return i;
}

static int spawn_actions(posix_spawn_file_actions_t *actions, int output)
{
	int error = posix_spawn_file_actions_addopen(actions, STDIN_FILENO,
						     "/dev/null", O_RDONLY, 0);

	if (!error)
		error = posix_spawn_file_actions_adddup2(actions, output,
							 STDOUT_FILENO);
	/* The program itself reports files that cannot be read, once. */
	if (!error)
		error = posix_spawn_file_actions_addopen(
			actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	return error;
}

/* Start sha256sum on the batch, writing to output.
 * Returns 0 or an errno value. */
static int spawn(const struct batch *b, int output, pid_t *pid)
{
	static char                name[] = "sha256sum", end[] = "--";
	char                      *arguments[BATCH_FILES + 3] = { name, end };
	posix_spawn_file_actions_t actions;
	size_t                     i;
	int                        error;

	for (i = 0; i < b->count; i++)
		arguments[i + 2] = b->files[i]->path;
	error = posix_spawn_file_actions_init(&actions);
	if (error)
		return error;
	error = spawn_actions(&actions, output);
	if (!error)
		error = posix_spawnp(pid, name, &actions, NULL, arguments,
				     environ);
	posix_spawn_file_actions_destroy(&actions);
	return error;
}

static int reserve(struct batch *b)
{
	size_t room = b->room ? 2 * b->room : 64 * 1024;
	char  *answer;

	if (b->room - b->length > 1)
		return 0;
	answer = realloc(b->answer, room);
	if (!answer)
		return -ENOMEM;
	b->answer = answer;
	b->room = room;
	return 0;
}

/* Read all output of the child. Polls, so that it notices an interrupt that
 * arrives just before a read. Returns 0 or a negative errno value. */
static int listen_to(struct batch *b, int input)
{
	struct pollfd wanted = { .fd = input, .events = POLLIN };
	ssize_t       got = 1;

	while (got) {
		if (interrupt_asked())
			return -EINTR;
		if (poll(&wanted, 1, 100) <= 0)
			continue;
		if (reserve(b))
			return -ENOMEM;
		got = read(input, b->answer + b->length,
			   b->room - b->length - 1);
		if (got < 0 && errno != EINTR)
			return -errno;
		if (got > 0)
			b->length += (size_t)got;
	}
	if (reserve(b))
		return -ENOMEM;
	b->answer[b->length] = '\0';
	return 0;
}

/* Returns 0, or -EIO if the child did not exit normally. */
static int wait_for(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) && WEXITSTATUS(status) <= 1 ? 0 : -EIO;
}

static int ask(struct batch *b)
{
	pid_t pid;
	int   ends[2];
	int   error, ended;

	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	error = spawn(b, ends[1], &pid);
	close(ends[1]);
	if (error) {
		close(ends[0]);
		return -error;
	}
	error = listen_to(b, ends[0]);
	close(ends[0]);
	if (error)
		kill(pid, SIGTERM);
	ended = wait_for(pid);
	return error ? error : ended;
}

/* Return the verdict of the line at text about the file whose line should be
 * *ours. */
static enum verdict judge_line(const char *text, const struct line *ours)
{
	if (!strncmp(text, ours->text, ours->length))
		return SAME;
	if (strnlen(text, ours->name) == ours->name &&
	    !strncmp(text + ours->name, ours->text + ours->name,
		     ours->length - ours->name))
		return DIFFERENT;
	return NO_ANSWER;
}

/* sha256sum answers in the order of its arguments and leaves out files that it
 * cannot read. */
static int judge(struct batch *b)
{
	const char   *text = b->answer;
	struct line   ours = { 0 };
	struct entry *e;
	size_t        i;
	int           error = 0;

	for (i = 0; i < b->count && !error; i++) {
		e = b->files[i];
		error = line_format(&ours, e);
		if (error)
			break;
		e->verdict = judge_line(text, &ours);
		if (e->verdict != NO_ANSWER)
			text += ours.length;
	}
	line_free(&ours);
	return error;
}

int verify(struct entries *all, const struct progress *p)
{
	struct batch b = { .answer = NULL };
	size_t       i = 0;
	int          error = 0;

	while (!error && !interrupt_asked()) {
		i = fill(&b, all, i);
		if (!b.count)
			break;
		error = ask(&b);
		if (!error)
			error = judge(&b);
		progress_compared(p, i, all->count);
	}
	progress_clear(p);
	free(b.answer);
	return error;
}

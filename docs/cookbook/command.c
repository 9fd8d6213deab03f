/* SPDX-License-Identifier: Apache-2.0 */
/* command.c - runs a command, takes its output and its status, and ends it
 * after a time limit. */
#define _GNU_SOURCE /* pipe2 */
#include <sennit.h>
#include <sennit/io.h>
#include <sennit/process.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define GRACE (5 * SENNIT_SECOND) /* between SIGTERM and SIGKILL */

/* Read until the end, the size of the buffer, or the deadline. Returns 0 or a
 * negative errno. */
static int read_all(int fd, char *out, size_t size, sennit_time deadline)
{
	ptrdiff_t n = 1;

	while (n > 0 && size > 1) {
		n = sennit_read(fd, out, size - 1, deadline);
		if (n > 0) {
			out += n;
			size -= (size_t)n;
		}
	}
	*out = 0;
	return n < 0 ? (int)n : 0;
}

/* Returns 0, and the output and the status of the command; or -ETIMEDOUT, and
 * then it was ended, with all that it has started; or another error. */
static int run_command(char *const argv[], char *out, size_t size, int *status,
		       sennit_time deadline)
{
	sennit_process_fd fds[2];
	int               ends[2], err, ended;
	pid_t             child;

	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	fds[0] = (sennit_process_fd){ SENNIT_PROCESS_NULL, STDIN_FILENO };
	fds[1] = (sennit_process_fd){ ends[1], STDOUT_FILENO };
	err = sennit_process_spawn(
		&child,
		SENNIT_PROCESS_COMMAND(.argv = argv, .fds = fds, .fd_count = 2,
				       .flags = SENNIT_PROCESS_GROUP));
	sennit_close(ends[1]); /* the child's: else there is no end */
	if (!err) {
		err = read_all(ends[0], out, size, deadline);
		ended = sennit_process_wait_or_end(child, status, GRACE,
						   err ? 0 : deadline);
		err = err ? err : ended;
	}
	sennit_close(ends[0]);
	return err;
}

static int program(void *unused)
{
	(void)unused;
	char sh[] = "sh", c[] = "-c", script[] = "echo warp, weft; exit 3";
	char nap[] = "sleep 600 & sleep 600; exit 4";
	char *const say[] = { sh, c, script, NULL };
	char *const hang[] = { sh, c, nap, NULL };
	char        text[100], none[100];
	int         status[2], errs[2];

	errs[0] = run_command(say, text, sizeof(text), &status[0],
			      sennit_after(60 * SENNIT_SECOND));
	errs[1] = run_command(hang, none, sizeof(none), &status[1],
			      sennit_after(20 * SENNIT_MILLISECOND));
	if (errs[0])
		return 1;
	printf("status %d, output: %s", WEXITSTATUS(status[0]), text);
	printf("sleep: %s\n", sennit_strerror(errs[1]));
	return WEXITSTATUS(status[0]) == 3 && errs[1] == -ETIMEDOUT &&
			       WIFSIGNALED(status[1])
		       ? 0
		       : 1;
}

int main(void)
{
	int result;

	return sennit_run(program, NULL, NULL, &result) || result;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* filter.c - pipes text through another program: one fiber writes, another
 * reads, so neither the program nor the fibers wait for each other in a circle,
 * however much there is.
 *
 *	filter [lines [program [argument...]]]
 *
 * The program is `sort -r` unless named.
 */
#include <sennit.h>
#include <sennit/io.h>
#include <sennit/process.h>

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define LINE_SIZE 9 /* "00001234\n" */

static unsigned lines = 40000; /* 360 kB: more than pipes hold */

struct filter {
	int   to, from; /* our ends */
	pid_t child;
};

/* A task. Closing our end tells the program that this was all. */
static int feed(void *argument)
{
	struct filter *f = argument;
	int            err = 0;

	for (unsigned i = 0; i < lines && !err; i++) {
		char line[LINE_SIZE + 1];

		snprintf(line, sizeof(line), "%08u\n", i % 100000000);
		err = sennit_write_all(f->to, line, LINE_SIZE, NULL,
				       SENNIT_NEVER);
	}
	sennit_close(f->to);
	return err;
}

/* A task. */
static int drain(void *argument)
{
	struct filter *f = argument;
	char           bytes[4096];
	uint64_t       total = 0, count = 0;
	ptrdiff_t      n;

	while ((n = sennit_read(f->from, bytes, sizeof(bytes), SENNIT_NEVER)) >
	       0) {
		total += (uint64_t)n;
		for (ptrdiff_t i = 0; i < n; i++)
			count += bytes[i] == '\n';
	}
	sennit_close(f->from);
	printf("%" PRIu64 " bytes, %" PRIu64 " lines came back\n", total,
	       count);
	return n < 0 ? (int)n : count == lines ? 0 : -1;
}

static int start(struct filter *f, char *const argv[])
{
	sennit_process_fd fds[2];
	int               in[2], out[2], err;

	if (pipe2(in, O_CLOEXEC))
		return -1;
	if (pipe2(out, O_CLOEXEC)) {
		close(in[0]);
		close(in[1]);
		return -1;
	}
	fds[0] = (sennit_process_fd){ in[0], STDIN_FILENO };
	fds[1] = (sennit_process_fd){ out[1], STDOUT_FILENO };
	err = sennit_process_spawn(
		&f->child, SENNIT_PROCESS_COMMAND(.argv = argv, .fds = fds,
						  .fd_count = 2));
	close(in[0]); /* the child's: otherwise the end is not seen */
	close(out[1]);
	f->to = in[1];
	f->from = out[0];
	return err;
}

static int run(char *const argv[])
{
	struct filter f;
	sennit_group  g;
	int           status = 0;
	int           err = start(&f, argv);

	if (err) {
		fprintf(stderr, "%s: %s\n", argv[0], sennit_strerror(err));
		return err;
	}
	sennit_group_init(&g, SENNIT_NEVER, 0);
	err = sennit_group_spawn(&g, feed, &f);
	if (!err)
		err = sennit_group_spawn(&g, drain, &f);
	if (sennit_group_wait(&g))
		err = -1;
	if (sennit_process_wait(f.child, &status, SENNIT_NEVER))
		err = -1;
	return err || !WIFEXITED(status) || WEXITSTATUS(status) ? -1 : 0;
}

int main(int argc, char **argv)
{
	char *const       sort[] = { "sort", "-r", NULL };
	sennit_scheduler *s;
	int               err;

	if (argc > 1)
		lines = (unsigned)atoi(argv[1]);
	if (sennit_scheduler_create(&s, NULL) || sennit_thread_bind(s))
		return 1;
	err = run(argc > 2 ? argv + 2 : sort);
	sennit_thread_unbind();
	return sennit_scheduler_shutdown(s, SENNIT_NEVER) || err ? 1 : 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* select_loop.c - one fiber serves a pipe, a channel and a timer, until a child
 * process ends. */
#define _GNU_SOURCE /* pipe2 */
#include <sennit.h>
#include <sennit/io.h>
#include <sennit/process.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define TICK (10 * SENNIT_MILLISECOND)

struct loop {
	int            from;  /* a pipe; -1: it has ended */
	sennit_channel jobs;  /* of numbers */
	pid_t          child; /* ends when `keep` is closed */
	int            keep;
	int            bytes, sum, ticks, status;
};

static void take_bytes(struct loop *l)
{
	char      buffer[16];
	ptrdiff_t n = sennit_read(l->from, buffer, sizeof(buffer), 0);

	if (n > 0)
		l->bytes += (int)n;
	else if (n != -ETIMEDOUT) /* which says that there is nothing */
		l->from = -1;
}

static int serve(void *argument)
{
	struct loop *l = argument;
	sennit_time  tick = sennit_after(TICK);
	size_t       which = 0;
	int          job, err = 0;

	while (!err && which != 3) {
		sennit_case cases[] = {
			sennit_case_readable(l->from),
			sennit_case_receive(&l->jobs, &job),
			sennit_case_deadline(tick),
			sennit_case_process(l->child, &l->status),
		};

		err = sennit_select(cases, 4, &which);
		if (err)
			return err; /* the group is cancelled */
		err = which ? cases[which].result : 0;
		if (which == 0)
			take_bytes(l);
		if (which == 1)
			l->sum += job;
		if (which == 2) {
			tick += TICK;
			l->ticks++;
		}
		if (l->bytes == 3 && l->sum == 42 && l->ticks && l->keep >= 0) {
			close(l->keep);
			l->keep = -1;
		}
	}
	return err;
}

static int start_child(struct loop *l)
{
	char *const       argv[] = { "cat", NULL };
	sennit_process_fd fd;
	int               ends[2], err;

	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	fd = (sennit_process_fd){ ends[0], STDIN_FILENO };
	err = sennit_process_spawn(
		&l->child, SENNIT_PROCESS_COMMAND(.argv = argv, .fds = &fd,
						  .fd_count = 1));
	close(ends[0]);
	l->keep = ends[1];
	return err;
}

static int run(struct loop *l, int to)
{
	const int    jobs[] = { 40, 2 };
	sennit_group g;
	int          err = start_child(l);

	if (err)
		return err;
	sennit_group_init(&g, sennit_after(60 * SENNIT_SECOND), 0);
	err = sennit_group_spawn(&g, serve, l);
	if (!err && sennit_write(to, "abc", 3, SENNIT_NEVER) != 3)
		err = -EIO;
	for (int i = 0; i < 2 && !err; i++)
		err = sennit_channel_send(&l->jobs, &jobs[i]);
	if (err)
		sennit_group_cancel(&g);
	return sennit_group_wait(&g);
}

static int program(void *unused)
{
	struct loop l = { .jobs = SENNIT_CHANNEL_INIT(sizeof(int)) };
	int         ends[2];

	(void)unused;
	if (pipe2(ends, O_CLOEXEC))
		return 1;
	l.from = ends[0];
	if (run(&l, ends[1]))
		return 1;
	printf("%d bytes, the sum %d, ticks, and the child's status %d\n",
	       l.bytes, l.sum, l.status);
	return l.ticks > 0 ? 0 : 1;
}

int main(void)
{
	int result;

	return sennit_run(program, NULL, NULL, &result) || result;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - sennit-grep: a walk and its searches, on all workers. */
#include "grep/walk.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

/* Searches in progress per worker. While one is long, others wait for their
 * turn to print. */
#define SEARCHES 8

/* Returns 0 or a negative errno value, which may be a write error. */
static int search_all(struct run *run, sennit_scheduler *s)
{
	int error = searches_init(run, SEARCHES * sennit_scheduler_workers(s));

	if (error)
		return error;
	output_init(&run->output);
	sennit_group_init_on(&run->group, s, SENNIT_NEVER, 0);
	error = sennit_group_spawn(&run->group, walk_all, run);
	if (error)
		sennit_group_cancel(&run->group);
	error = sennit_group_wait(&run->group);
	if (run->written)
		return run->written;
	return error ? error : output_flush(&run->output);
}

static int run_all(struct run *run)
{
	sennit_scheduler *s;
	int               error;

	error = sennit_scheduler_create(
		&s, SENNIT_CONFIG(.workers = run->options.workers,
				  .name = "grep", .stack_size = 256 << 10));
	if (error)
		return error;
	error = search_all(run, s);
	(void)!sennit_scheduler_shutdown(s, SENNIT_NEVER);
	searches_free(run);
	text_free(&run->output.text);
	return error;
}

int main(int count, char **arguments)
{
	static struct run run; /* all bytes zero */
	int               status, error;

	if (!options_read(&run.options, count, arguments, &status))
		return status;
	run.pattern = pattern_new(&run.options);
	if (!run.pattern)
		return 2;
	error = run_all(&run);
	pattern_free(run.pattern);
	/* The thread that writes to a pipe may block SIGPIPE. */
	if (error == -EPIPE)
		raise(SIGPIPE);
	if (error)
		run_failed(&run, "standard output", strerror(-error));
	if (atomic_load(&run.failed))
		return 2;
	return atomic_load(&run.matched) ? 0 : 1;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - sums a directory tree with one task per directory and file.
 *
 *	walk ---task per file---> sum ---entries---> verify --> report
 *	  \--task per directory--> walk
 */
#include "interrupt.h"
#include "options.h"
#include "report.h"
#include "timeline.h"
#include "verify.h"
#include "walk.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* The largest number of tasks that wait for a buffer at once. Further files
 * wait unstarted. */
#define MOST_FIBERS 512

/* The number of events that are kept of each worker for the picture, in 32
 * bytes each. */
#define TRACE_EVENTS (1 << 20)

struct run {
	struct options  options;
	struct job      job;
	struct report   report;
	struct timeline timeline;
	int             untraced; /* 0, or why there is no picture */
};

/* Walk and sum everything, on a bound thread. */
static void sum_all(struct run *run, sennit_scheduler *s)
{
	struct job *job = &run->job;
	char      **path;

	progress_init(&job->progress);
	for (path = run->options.paths; *path; path++)
		walk_start(job, *path);
	progress_wait(&job->progress, &job->tasks);
	run->report.elapsed = sennit_now() - job->progress.begin;
	run->report.bytes = progress_read(&job->progress.bytes);
	run->report.links = progress_read(&job->progress.links);
	run->report.stats.size = sizeof(sennit_stats);
	sennit_scheduler_get_stats(s, &run->report.stats);
	run->untraced = timeline_collect(&run->timeline, s,
					 job->progress.begin);
}

/* Fewer buffers than workers, so that one worker walks ahead while others
 * sum. */
static uint32_t buffer_count(const struct run *run)
{
	uint32_t workers = run->report.workers;

	if (run->options.buffers)
		return run->options.buffers;
	return workers < 2 ? 1 : workers * 3 / 4;
}

static int sum_in_scheduler(struct run *run, sennit_scheduler *s)
{
	int error;

	run->report.workers = sennit_scheduler_workers(s);
	error = buffers_init(&run->job.buffers, buffer_count(run));
	if (error)
		return error;
	error = sennit_thread_bind(s);
	if (error)
		return error;
	sum_all(run, s);
	sennit_thread_unbind();
	return 0;
}

/* Returns 0 or a negative errno value. In both cases no thread is left. */
static int sum(struct run *run)
{
	sennit_scheduler *s;
	int               error, ended;

	error = sennit_scheduler_create(
		&s, SENNIT_CONFIG(.workers = run->options.workers,
				  .max_fibers = MOST_FIBERS, .name = "treesum",
				  .trace_events = TRACE_EVENTS));
	if (error)
		return error;
	error = sum_in_scheduler(run, s);
	ended = sennit_scheduler_shutdown(s, SENNIT_NEVER);
	if (!error)
		error = ended;
	return error ? error : entries_sort(&run->job.entries);
}

/* Returns whether the picture was written. Prints the reason if not. */
static bool draw(const struct run *run)
{
	const struct report *r = &run->report;
	char                 title[160], subtitle[160], n[5][NUMBER_SIZE];
	int                  error = run->untraced;

	snprintf(title, sizeof(title), "%s files, %s in %.3f s on %u worker%s",
		 progress_number(n[0], r->summed),
		 progress_bytes(n[1], (double)r->bytes),
		 (double)r->elapsed / 1e9, (unsigned int)r->workers,
		 r->workers == 1 ? "" : "s");
	snprintf(subtitle, sizeof(subtitle),
		 PROGRAM ": %s fibers at peak, %s waits, %s steals",
		 progress_number(n[2], r->stats.fibers_peak),
		 progress_number(n[3], r->stats.blocks),
		 progress_number(n[4], r->stats.steals));
	if (!error)
		error = timeline_write(&run->timeline, run->options.timeline,
				       title, subtitle);
	if (error)
		fprintf(stderr, PROGRAM ": %s: %s\n", run->options.timeline,
			sennit_strerror(error));
	return !error;
}

static int interrupted(const struct run *run)
{
	fprintf(stderr,
		PROGRAM ": interrupted after %" PRIu64 " of the %" PRIu64
			" files found so far\n",
		progress_read(&run->job.progress.done),
		progress_read(&run->job.progress.found));
	return INTERRUPT_STATUS;
}

/* Compares before anything is written, since the sums or the picture may be
 * written into the tree. */
static int finish(struct run *run)
{
	const struct options *o = &run->options;
	struct entries       *all = &run->job.entries;
	struct report        *r = &run->report;
	int                   unverified = 0;
	bool                  written, drawn;

	if (o->verify)
		unverified = verify(all, &run->job.progress);
	if (interrupt_asked())
		return interrupted(run);
	report_messages(r, all);
	written = report_sums(all, o->output);
	drawn = draw(run);
	report_summary(r, drawn ? o->timeline : NULL);
	report_end(r, o, unverified);
	if (fflush(stdout))
		written = false;
	return written && drawn && !unverified && !r->failed && !r->different
		       ? EXIT_SUCCESS
		       : EXIT_FAILURE;
}

int main(int count, char **arguments)
{
	static struct run run; /* all bytes zero */
	int               status, error;

	if (!options_read(&run.options, count, arguments, &status))
		return status;
	interrupt_install();
	error = sum(&run);
	if (error) {
		fprintf(stderr, PROGRAM ": %s\n", sennit_strerror(error));
		status = EXIT_FAILURE;
	} else if (interrupt_asked()) {
		status = interrupted(&run);
	} else {
		status = finish(&run);
	}
	timeline_free(&run.timeline);
	entries_free(&run.job.entries);
	buffers_free(&run.job.buffers);
	return status;
}

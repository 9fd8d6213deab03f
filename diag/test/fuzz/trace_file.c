/* SPDX-License-Identifier: Apache-2.0 */
/* trace_file.c - any bytes as a file for sennit-trace: what it makes of them
 * is a timeline that keeps the promises of timeline.h, and every output of it
 * is written. */
#include "trace/file.h"
#include "trace/output.h"
#include "trace/replay.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void check_slice(const struct timeline *t, const struct slice *s)
{
	const struct slice *outer = &t->slices[s->outer];

	require(s->begin <= s->end && s->end <= t->length);
	require(s->opened < s->closed && s->closed < t->edges);
	require(s->track < t->track_count && s->name < t->name_count);
	require(s->plain < t->name_count && s->kind < SLICE_KINDS);
	if (s->outer == TIMELINE_NONE)
		return;
	require(s->outer < t->slice_count && outer->track == s->track);
	require(outer->opened < s->opened && s->closed < outer->closed);
	require(outer->begin <= s->begin && s->end <= outer->end);
}

static void check_wait(const struct timeline *t, const struct wait *w)
{
	require(w->begin <= w->woken && w->woken <= w->end);
	require(w->task < t->name_count && w->what < t->name_count);
	require(w->waker < t->name_count || w->waker == TIMELINE_NONE);
	require(w->outer < t->slice_count);
}

static void check(const struct timeline *t)
{
	for (uint32_t i = 0; i < t->slice_count; i++)
		check_slice(t, &t->slices[i]);
	for (uint32_t i = 0; i < t->wait_count; i++)
		check_wait(t, &t->waits[i]);
	for (uint32_t i = 0; i < t->task_count; i++)
		require(t->tasks[i].begin <= t->tasks[i].end &&
			t->tasks[i].ran <= t->tasks[i].end - t->tasks[i].begin);
	for (uint32_t i = 0; i < t->flow_count; i++) {
		require(t->flows[i].mark < t->mark_count);
		require(t->flows[i].slice < t->slice_count);
		require(t->marks[t->flows[i].mark].time <=
			t->slices[t->flows[i].slice].begin);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static FILE    *null;
	struct file     f;
	struct timeline t;

	if (!null)
		null = fopen("/dev/null", "we");
	if (file_parse(&f, bytes, size))
		return 0;
	replay(&t, &f);
	file_free(&f);
	check(&t);
	require(!output_json(null, &t));
	(void)output_perfetto(null, &t);
	require(!output_summary(null, &t, 20));
	require(!output_svg(null, &t, TRACK_WORKER, 20));
	require(!output_svg(null, &t, TRACK_FIBER, 20));
	require(!output_flame(null, &t, true));
	require(!output_flame(null, &t, false));
	timeline_free(&t);
	return 0;
}

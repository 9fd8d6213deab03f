/* SPDX-License-Identifier: Apache-2.0 */
/* names.c - in a program that contains libsennit-diag, libsennit's output has
 * the names of functions that are not exported.
 */
#include "testing/with_workers.h"
#include "marks.h"
#include "written.h"

#include "sennit/blocking.h"
#include "sennit/report.h"
#include "sennit/stack_use.h"
#include "sennit/stacks.h"
#include "sennit/trace.h"

static sennit_event go;
static atomic_uint  called;

static void wait_unexported(void *unused)
{
	(void)unused;
	EXPECT(!sennit_event_wait(&go));
	NOT_LAST();
}

static void *block_unexported(void *unused)
{
	(void)unused;
	atomic_fetch_add(&called, 1);
	EXPECT(!sennit_event_wait(&go));
	return NULL;
}

static void call_unexported(void *unused)
{
	EXPECT(!sennit_blocking_call(block_unexported, unused));
	NOT_LAST();
}

/* Return what write(s, fd) writes. */
static const char *written(sennit_scheduler *s,
			   int (*write)(sennit_scheduler *s, int fd))
{
	FILE *file = begin_written();

	assert_int_equal(write(s, fileno(file)), 0);
	return end_written(file);
}

static int write_stacks(sennit_scheduler *s, int fd)
{
	return sennit_stacks_print(s, fd, SENNIT_STACKS_TEXT);
}

static void begin(struct world *w)
{
	sennit_event_init(&go, SENNIT_EVENT_MANUAL);
	atomic_store(&called, 0);
	assert_int_equal(sennit_trace_start(w->s, NULL), 0);
	assert_int_equal(enqueue(w->s, wait_unexported, NULL), 0);
	assert_int_equal(enqueue(w->s, call_unexported, NULL), 0);
	while (fibers_of(w->s) < 2 || !atomic_load(&called))
		sched_yield();
}

static void assert_has(const char *words)
{
	if (!strstr(written_text, words))
		fail_msg("\"%s\" not in: %s", words, written_text);
}

/* Symptom: the output had `program+0x15e0` where gdb shows a name. */
TEST_WITH_ONE(static_functions_are_named_in_all_that_is_written)
{
	begin(w);
	written(w->s, sennit_report_print);
	assert_has(": wait_unexported: waits for event 0x");
	assert_has(": call_unexported: waits for a blocking call of "
		   "block_unexported, for ");
	written(w->s, write_stacks);
	assert_has(": call_unexported: waits for a blocking call of "
		   "block_unexported, for ");
	written(w->s, sennit_trace_write);
	assert_has("wait_unexported");
	assert_has("block_unexported");
	sennit_event_set(&go);
}

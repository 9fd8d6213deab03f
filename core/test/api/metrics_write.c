/* SPDX-License-Identifier: Apache-2.0 */
/* metrics_write.c - the text of metrics, and metrics while they change.
 * testing/build/metrics.sh shows the text to Prometheus. */
#include "find_metric.h"
#include "sennit/metrics.h"

#include <errno.h>
#include <fcntl.h>

static size_t read_text(sennit_scheduler *s, enum sennit_metrics_format format,
			char *text, size_t size)
{
	FILE  *file = tmpfile();
	size_t length;

	assert_non_null(file);
	assert_int_equal(sennit_metrics_write(s, fileno(file), format), 0);
	rewind(file);
	length = fread(text, 1, size - 1, file);
	text[length] = '\0';
	fclose(file);
	return length;
}

TEST_WITH_WORKERS(the_text_ends_with_eof)
{
	static char text[256 * 1024];
	size_t      length = read_text(w->s, SENNIT_METRICS_OPENMETRICS, text,
				       sizeof(text));

	assert_true(length > 1000 && length < sizeof(text) - 1);
	assert_string_equal(text + length - 6, "# EOF\n");
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		assert_true(line[0] == '#' || strstr(line, "{scheduler=\""));
}

/* In the format of Prometheus a counter's family is called as its lines. */
TEST_WITH_WORKERS(prometheus_reads_its_own_format)
{
	static char text[256 * 1024];

	read_text(w->s, SENNIT_METRICS_PROMETHEUS, text, sizeof(text));
	assert_null(strstr(text, "# EOF"));
	assert_null(strstr(text, "# UNIT"));
	assert_non_null(strstr(text, "# TYPE sennit_waits_total counter\n"));
	assert_non_null(strstr(text, "# HELP sennit_waits_total "));
	assert_non_null(strstr(text, "# TYPE sennit_workers gauge\n"));
	assert_non_null(strstr(text, "\nsennit_waits_total{scheduler=\""));
	assert_int_equal(
		sennit_metrics_write(w->s, 1, (enum sennit_metrics_format)2),
		-EINVAL);
}

/* Names are escaped for terminals first, and then for the text. */
TEST_ALONE(names_are_escaped)
{
	static char       text[256 * 1024];
	sennit_scheduler *s =
		start_with(SENNIT_CONFIG(.workers = 1, .name = "a\"b\\c\ne"));

	read_text(s, SENNIT_METRICS_OPENMETRICS, text, sizeof(text));
	assert_non_null(strstr(text, "{scheduler=\"a\\\"b\\\\\\\\c\\\\ne\""));
	assert_null(strstr(text, "a\"b"));
	end_scheduler(s);
}

TEST_WITH_WORKERS(an_error_is_returned)
{
	int ends[2], n;

	assert_int_equal(
		sennit_metrics_write(w->s, -1, SENNIT_METRICS_OPENMETRICS),
		-EBADF);
	assert_int_equal(pipe2(ends, O_NONBLOCK | O_CLOEXEC), 0);
	for (n = 0;
	     n < 1000 &&
	     !sennit_metrics_write(w->s, ends[1], SENNIT_METRICS_OPENMETRICS);
	     n++)
		;
	assert_int_equal(
		sennit_metrics_write(w->s, ends[1], SENNIT_METRICS_OPENMETRICS),
		-EAGAIN);
	close(ends[0]);
	close(ends[1]);
}

/* --- while it runs ------------------------------------------------------ */

static void nothing(void *unused)
{
}

struct busy {
	sennit_scheduler *s;
	atomic_bool       over;
	sennit_wait_group ended;
};

static void yield_until_over(void *argument)
{
	struct busy *b = argument;

	while (!atomic_load(&b->over)) {
		must_schedule(nothing, NULL);
		sennit_yield();
	}
	sennit_wait_group_done(&b->ended);
}

static void *write_often(void *argument)
{
	struct busy *b = argument;
	int          null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	uint64_t     before = 0;

	EXPECT(null >= 0);
	for (uint32_t i = 0; i < LOAD(300); i++) {
		uint64_t now;

		sennit_metrics_record(b->s, i % 3);
		EXPECT(!sennit_metrics_write(b->s, null,
					     SENNIT_METRICS_OPENMETRICS));
		now = tasks_timed(b->s);
		EXPECT(now >= before);
		before = now;
	}
	close(null);
	return NULL;
}

TEST_WITH_WORKERS(they_are_read_while_they_change)
{
	struct busy b = { .s = w->s };
	pthread_t   thread;

	sennit_wait_group_init(&b.ended, 4);
	for (int i = 0; i < 4; i++)
		must_schedule(yield_until_over, &b);
	thread = must_start_thread(write_often, &b);
	pthread_join(thread, NULL);
	atomic_store(&b.over, true);
	sennit_wait_group_wait(&b.ended);
}

/* --- memory ------------------------------------------------------------- */

struct scarce {
	atomic_bool refuses;
};

static void *take(void *context, size_t size, size_t alignment)
{
	struct scarce *m = context;
	void          *memory;

	if (atomic_load(&m->refuses) && size > 16384 && size < 65536)
		return NULL;
	return posix_memalign(&memory, alignment < 8 ? 8 : alignment, size)
		       ? NULL
		       : memory;
}

static void give(void *context, void *memory, size_t size)
{
	free(memory);
}

TEST_WITH_ONE(without_memory_workers_are_unmeasured)
{
	struct scarce     m = { .refuses = false };
	sennit_allocator  allocator = { take, give, &m };
	sennit_scheduler *s = start_with(
		SENNIT_CONFIG(.workers = w->workers, .allocator = &allocator));
	sennit_task task = { .run = nothing };

	atomic_store(&m.refuses, true);
	sennit_metrics_record(s, 1);
	assert_false(sennit_schedule_task_on(s, &task));
	assert_soon(value_of(s, "sennit_tasks") == 1);
	assert_int_equal(tasks_timed(s), 0);
	assert_int_equal(value_of(s, "sennit_workers_unmeasured"), 1);
	atomic_store(&m.refuses, false);
	do {
		assert_false(sennit_schedule_task_on(s, &task));
		usleep(1000);
	} while (!tasks_timed(s));
	assert_int_equal(value_of(s, "sennit_workers_unmeasured"), 0);
	end_scheduler(s);
}

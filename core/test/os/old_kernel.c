/* SPDX-License-Identifier: Apache-2.0 */
/* old_kernel.c - more tasks wait than stacks can have guards, on a kernel
 * before 6.13 with its usual vm.max_map_count: by default no stack is without a
 * guard, the reason is said, and all tasks end. Each case is a child that is
 * refused what such a kernel lacks.
 */
#include "testing/with_workers.h"
#include "testing/child.h"
#include "refusal.h"

#include "os/os.h"

#if defined(SN_ASAN) || defined(SN_TSAN)

SKIP_ALL("sanitizers need these system calls");

#else

/* A quarter of 65,530 mappings. Some stacks of each scheduler do not count. */
enum { GUARDS = 65530 / 8, OTHERS = 64 + 2, TASKS = GUARDS + OTHERS + 500 };

static struct {
	sennit_event      gate;
	sennit_wait_group left;
	atomic_uint       started;
} crowd;

/* vm.max_map_count cannot be read, so the kernel's default counts. */
static bool become_old(void)
{
	static const struct refusal old[] = {
		{ .call = SYS_madvise,
		  .advice = GUARD_INSTALL,
		  .error = EINVAL },
		{ .call = SYS_process_madvise, .error = ENOSYS },
		{ .call = SYS_openat, .error = EACCES },
	};

	for (int i = 0; i < 3; i++)
		if (!refuse(&old[i]))
			return false;
	return true;
}

static void wait_at_the_gate(void *unused)
{
	atomic_fetch_add(&crowd.started, 1);
	EXPECT(!sennit_event_wait(&crowd.gate));
	sennit_wait_group_done(&crowd.left);
}

static void say(const char *text)
{
	if (write(STDERR_FILENO, text, strlen(text)) < 0)
		_exit(9);
}

/* Until no task can start, or all have. The report, a file, says the first. */
static void await_standstill(sennit_scheduler *s, int report)
{
	static char text[1 << 21];
	const char *said = NULL;
	ssize_t     length;

	while (!said && atomic_load(&crowd.started) < TASKS) {
		sennit_sleep(10 * SENNIT_MILLISECOND);
		if (ftruncate(report, 0) || lseek(report, 0, SEEK_SET))
			_exit(8);
		sennit_report_print(s, report);
		length = pread(report, text, sizeof(text) - 1, 0);
		text[length > 0 ? length : 0] = 0;
		said = strstr(text, "no other can have a guard page");
	}
	if (said)
		say("reported\n");
}

static int gather_crowd(enum sennit_guards guards)
{
	FILE             *report = tmpfile();
	sennit_scheduler *s;
	sennit_stats      stats;

	if (!report || !become_old())
		return SKIPPED;
	if (os_guard_kind() != OS_GUARD_MAPPING || os_mapping_limit() != 65530)
		return 2;
	sennit_event_init(&crowd.gate, SENNIT_EVENT_MANUAL);
	sennit_wait_group_init(&crowd.left, TASKS);
	if (sennit_scheduler_create(
		    &s, SENNIT_CONFIG(.workers = 2, .guards = guards)))
		return 3;
	for (uint32_t i = 0; i < TASKS; i++) {
		const sennit_task task = { .run = wait_at_the_gate };

		if (sennit_schedule_task_on(s, &task))
			return 4;
	}
	await_standstill(s, fileno(report));
	stats = stats_of(s);
	if (stats.stacks_unguarded)
		say("unguarded\n");
	if (stats.stacks > GUARDS + OTHERS + stats.stacks_unguarded)
		return 5;
	sennit_event_set(&crowd.gate);
	sennit_wait_group_wait(&crowd.left);
	return sennit_scheduler_shutdown(s, SENNIT_NEVER) ? 6 : 0;
}

/* What the child says of the crowd. */
static void hear_of_crowd(enum sennit_guards guards, char *text, size_t size)
{
	int         words, status;
	const pid_t child = begin_heard_child(&words);

	if (!child)
		_exit(gather_crowd(guards));
	status = await_words(child, words, text, size);
	skip_if_told(status, "no filters of system calls here");
	assert_int_equal(status, 0);
}

/* Symptom: 500 tasks ran on stacks without guards, and an overflow wrote into
 * the stack of another. */
TEST(tasks_without_a_guarded_stack_wait_unstarted)
{
	char        text[1024];
	const char *first;

	hear_of_crowd(SENNIT_GUARDS_REQUIRED, text, sizeof(text));
	assert_null(strstr(text, "unguarded\n"));
	assert_non_null(strstr(text, "reported\n"));
	first = strstr(text, "vm.max_map_count");
	assert_non_null(first); /* said once */
	assert_null(strstr(first + 1, "vm.max_map_count"));
}

TEST(on_request_they_have_canaries)
{
	char text[1024];

	hear_of_crowd(SENNIT_GUARDS_OPTIONAL, text, sizeof(text));
	assert_string_equal(text, "unguarded\n");
}

/* --- not one guard ------------------------------------------------------- */

static int bind_without_guards(void)
{
	static const struct refusal none = { .call = SYS_mprotect,
					     .error = ENOMEM };
	sennit_scheduler           *s;

	if (!become_old() || !refuse(&none))
		return SKIPPED;
	if (sennit_scheduler_create(&s, SENNIT_CONFIG(.workers = 2)) != -ENOMEM)
		return 2;
	if (sennit_scheduler_create(
		    &s, SENNIT_CONFIG(.workers = SENNIT_WORKERS_NONE)))
		return 3;
	return sennit_thread_bind(s) == -ENOMEM ? 0 : 4;
}

TEST(whoever_needs_the_first_stack_gets_an_error)
{
	const pid_t child = begin_child();
	int         status;

	if (!child)
		_exit(bind_without_guards());
	status = await_child(child);
	skip_if_told(status, "no filters of system calls here");
	assert_int_equal(status, 0);
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* merged.c - equal stacks are counted in every format. The program knows how
 * many of its fibers are at each place. */
#include "testing/with_workers.h"
#include "testing/child.h"
#include "testing/proc_self.h"
#include "marks.h"
#include "written.h"

#include "../src/unwind.h"
#include "sennit/dump.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <sys/mman.h>

/* Fewer where the stacks would not fit. */
#define MANY   LOAD(sizeof(void *) < 8 ? 10000u : 100000u)
#define DEPTHS 3u

/* The stack on which a worker sleeps cannot be sampled, so its frames are not
 * counted. */
#if defined(SN_TSAN)
SKIP_ALL("ThreadSanitizer puts signals off");
#endif

static sennit_event     go;
static sennit_semaphore none;
static atomic_uint      inside;

/* --- fibers at known places --------------------------------------------- */

__attribute__((noinline)) static void at_an_event(unsigned depth)
{
	if (depth) {
		at_an_event(depth - 1);
	} else {
		atomic_fetch_add(&inside, 1);
		EXPECT(!sennit_event_wait(&go));
	}
	NOT_LAST();
}

__attribute__((noinline)) static void at_a_semaphore(unsigned depth)
{
	if (depth) {
		at_a_semaphore(depth - 1);
	} else {
		atomic_fetch_add(&inside, 1);
		EXPECT(!sennit_semaphore_acquire(&none, 1));
	}
	NOT_LAST();
}

static void wait_task(void *depth)
{
	at_an_event((unsigned)(uintptr_t)depth);
	NOT_LAST();
}

static void acquire_task(void *depth)
{
	at_a_semaphore((unsigned)(uintptr_t)depth);
	NOT_LAST();
}

static void count_blocked(void *count, const sennit_report_entry *e)
{
	*(unsigned *)count += e->state == SENNIT_REPORT_BLOCKED;
}

/* Wait until all fibers wait, according to the report. */
static void await_inside(sennit_scheduler *s, unsigned count)
{
	unsigned blocked;

	while (atomic_load(&inside) < count)
		sched_yield();
	do {
		blocked = 0;
		sennit_report_visit(s, count_blocked, &blocked);
		sched_yield();
	} while (blocked < count);
}

/* `events` fibers wait for the event at DEPTHS depths, `permits` for a
 * permit. */
static void begin(sennit_scheduler *s, unsigned events, unsigned permits)
{
	sennit_event_init(&go, SENNIT_EVENT_MANUAL);
	sennit_semaphore_init(&none, 0);
	atomic_store(&inside, 0);
	for (unsigned i = 0; i < events; i++)
		assert_int_equal(
			enqueue(s, wait_task, (void *)(uintptr_t)(i % DEPTHS)),
			0);
	for (unsigned i = 0; i < permits; i++)
		assert_int_equal(enqueue(s, acquire_task, NULL), 0);
	await_inside(s, events + permits);
}

static void finish(unsigned permits)
{
	sennit_semaphore_release(&none, permits);
	sennit_event_set(&go);
}

/* --- the text ----------------------------------------------------------- */

/* Return the sum of the numbers before each `word`. */
static unsigned long sum_before(const char *said, const char *word)
{
	unsigned long sum = 0;

	for (const char *at = said; (at = strstr(at, word)); at++) {
		const char *number = at;

		while (number > said && number[-1] >= '0' && number[-1] <= '9')
			number--;
		sum += strtoul(number, NULL, 10);
	}
	return sum;
}

static unsigned long sum_behind(const char *said, const char *word)
{
	unsigned long sum = 0;

	for (const char *at = said; (at = strstr(at, word)); at++)
		sum += strtoul(at + strlen(word), NULL, 10);
	return sum;
}

/* --- processes without resources ---------------------------------------- */

enum { NO_WORLD = 20, BAD_PRINT };

static sennit_scheduler *begin_small_world(void)
{
	sennit_scheduler *s = NULL;

	if (sennit_scheduler_create(&s, SENNIT_CONFIG(.workers = 2)))
		_exit(NO_WORLD);
	begin(s, 30, 0);
	return s;
}

static void take_descriptors(void)
{
	const struct rlimit limit = { 64, 64 };

	setrlimit(RLIMIT_NOFILE, &limit);
	while (open("/dev/null", O_RDONLY) >= 0)
		;
}

/* The files are opened when the dump is turned on. */
_Noreturn static void dump_without_descriptors(void)
{
	begin_small_world();
	if (sennit_dump_start(SIGUSR1, STDERR_FILENO, SENNIT_STACKS_MERGED))
		_exit(NO_WORLD);
	take_descriptors();
	raise(SIGUSR1);
	sennit_dump_stop(); /* after the dump */
	_exit(0);
}

_Noreturn static void print_without_descriptors(void)
{
	begin_small_world();
	take_descriptors();
	if (sennit_stacks_print(NULL, STDERR_FILENO, SENNIT_STACKS_MERGED))
		_exit(BAD_PRINT);
	_exit(0);
}

/* Use up the memory of malloc and mmap. */
_Noreturn static void print_without_memory(void)
{
	const struct rlimit limit = { 4096, RLIM_INFINITY };

	begin_small_world();
	sn_program_image_open(NULL, 0);
	if (setrlimit(RLIMIT_AS, &limit))
		_exit(SKIPPED);
	for (size_t size = 1 << 20; size; size /= 2)
		while (malloc(size))
			;
	if (mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) !=
	    MAP_FAILED)
		_exit(NO_WORLD);
	if (sennit_stacks_print(NULL, STDERR_FILENO, SENNIT_STACKS_MERGED) ||
	    sennit_stacks_print(NULL, STDERR_FILENO, SENNIT_STACKS_PPROF) ||
	    sennit_stacks_print(NULL, STDERR_FILENO, SENNIT_STACKS_TEXT))
		_exit(BAD_PRINT);
	_exit(0);
}

static void hear(void (*live)(void))
{
	int         words;
	const pid_t child = begin_heard_child(&words);
	int         status;

	if (!child)
		live();
	status = await_words(child, words, written_text, sizeof(written_text));
	skip_if_told(status, "no limit of memory");
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		fail_msg("ended with %#x: %s", (unsigned)status, written_text);
}

/* This must be the first case, so that no file is open. */
TEST_ALONE(names_that_lack_for_want_of_descriptors_are_said_to_lack)
{
	if (!HAS_FRAMES || under_emulator())
		skip(); /* an emulator needs descriptors for /proc/self */
	hear(print_without_descriptors);
	assert_int_equal(occurrences(written_text, "names are missing: "), 1);
	assert_int_equal(occurrences(written_text, "Too many open files"), 1);
	assert_int_equal(sum_before(written_text, " of "), 30);
}

/* --- counts ------------------------------------------------------------- */

TEST_WITH_THREADS(as_text_the_counts_are_those_of_the_fibers)
{
	const char *said;

	if (!HAS_FRAMES)
		skip();
	begin(w->s, 300, 40);
	said = written_stacks(w->s, SENNIT_STACKS_MERGED);
	assert_true(sum_before(said, " of wait_task wait for event") == 300);
	assert_true(sum_before(said, " of acquire_task wait for sem") == 40);
	assert_true(!HAS_LINES || strstr(said, "merged.c:"));
	assert_non_null(strstr(said, ", longest "));
	assert_null(strstr(said, "is deeper"));
	assert_null(strstr(said, "not known"));
	assert_null(strstr(said, "missing"));
	finish(40);
}

TEST_WITH_THREADS(as_json_the_counts_are_those_of_the_fibers)
{
	const char *said;

	if (!HAS_FRAMES)
		skip();
	begin(w->s, 300, 40);
	said = written_stacks(w->s, SENNIT_STACKS_MERGED_JSON);
	assert_int_equal(sum_behind(said, "\"count\": "), 341);
	assert_int_equal(sum_behind(said, "\"fibers\": "), 341);
	assert_int_equal(sum_behind(said, "\"left_out\": "), 0);
	assert_non_null(strstr(said, "\"rest\": \"none\""));
	assert_non_null(strstr(said, "\"error\": null}\n"));
	finish(40);
}

/* --- pprof -------------------------------------------------------------- */

static void ask_pprof(sennit_scheduler *s, const char *options)
{
	FILE *file = begin_written();

	assert_int_equal(
		sennit_stacks_print(s, fileno(file), SENNIT_STACKS_PPROF), 0);
	end_by_pprof(file, options);
}

/* Read the cumulated number of a line of -top, `flat flat% sum% all all%
 * function`. */
static long all_of(const char *function)
{
	const char *at = strstr(written_text, "flat%");

	while (at && (at = strchr(at, '\n')) && *++at) {
		char name[128];
		long all;

		if (sscanf(at, "%*s %*s %*s %ld %*s %127s", &all, name) == 2 &&
		    !strcmp(name, function))
			return all;
	}
	return -1;
}

TEST_WITH_THREADS(pprof_counts_what_there_is)
{
	if (!HAS_FRAMES || !has_pprof())
		skip();
	begin(w->s, 300, 40);
	ask_pprof(w->s, "-top");
	assert_non_null(strstr(written_text, "Type: fibers"));
	assert_int_equal(all_of("at_an_event"), 300);
	assert_int_equal(all_of("wait_task"), 300);
	assert_int_equal(all_of("at_a_semaphore"), 40);
	assert_int_equal(all_of("acquire_task"), 40);
	ask_pprof(w->s, "-top -tagfocus=task=acquire_task");
	assert_int_equal(all_of("at_an_event"), -1);
	assert_int_equal(all_of("at_a_semaphore"), 40);
	ask_pprof(w->s, "-raw");
	assert_non_null(strstr(written_text, "wait/nanoseconds fibers/count"));
	assert_non_null(strstr(written_text, "waits_for:[event]"));
	assert_non_null(strstr(written_text, "longest:["));
	finish(40);
}

/* --- many --------------------------------------------------------------- */

/* Where guards use mappings, there are fewer guards than fibers. */
TEST_ALONE(a_hundred_thousand_fibers_are_counted)
{
	sennit_scheduler *s = NULL;

	assert_int_equal(
		sennit_scheduler_create(
			&s, SENNIT_CONFIG(.workers = 2,
					  .guards = SENNIT_GUARDS_OPTIONAL)),
		0);
	if (HAS_FRAMES) {
		begin(s, MANY - 40, 40);
		written_stacks(s, SENNIT_STACKS_MERGED);
		assert_true(sum_before(written_text,
				       " of wait_task wait for event") ==
			    MANY - 40);
		assert_true(sum_before(written_text,
				       " of acquire_task wait for sem") == 40);
		if (has_pprof()) {
			ask_pprof(s, "-top");
			assert_int_equal(all_of("at_an_event"), MANY - 40);
			assert_int_equal(all_of("at_a_semaphore"), 40);
		}
		finish(40);
	}
	end_scheduler(s);
}

/* The first table has room for 128 groups. */
TEST_WITH_ONE(more_groups_than_the_first_table_are_counted)
{
	if (!HAS_FRAMES)
		skip();
	sennit_event_init(&go, SENNIT_EVENT_MANUAL);
	sennit_semaphore_init(&none, 0);
	atomic_store(&inside, 0);
	for (uintptr_t i = 0; i < 4 * 100; i++)
		assert_int_equal(enqueue(w->s, i % 2 ? wait_task : acquire_task,
					 (void *)(i / 2 % 100)),
				 0);
	await_inside(w->s, 4 * 100);
	written_stacks(w->s, SENNIT_STACKS_MERGED_JSON);
	assert_int_equal(sum_behind(written_text, "\"count\": "), 401);
	/* the worker sleeps on one of the stacks */
	assert_int_equal(occurrences(written_text, "\"count\": 2, "), 199);
	assert_int_equal(occurrences(written_text, "\"count\": 1, "), 3);
	assert_int_equal(sum_behind(written_text, "\"left_out\": "), 0);
	finish(200);
}

/* --- frames of the library --------------------------------------------- */

/* The first frame that is shown of a fiber that waits is the public call. */
TEST_WITH_ONE(a_stack_begins_at_the_call_that_waits)
{
	static const char first[] = "\n  #0 ";
	const char       *call, *line;

	if (!HAS_FRAMES)
		skip();
	begin(w->s, 2, 0);
	written_stacks(w->s, SENNIT_STACKS_TEXT);
	assert_int_equal(occurrences(written_text, " sennit_event_wait"), 2);
	call = strstr(written_text, " sennit_event_wait");
	for (line = call; line > written_text && *line != '\n';)
		line--;
	assert_memory_equal(line, first, strlen(first));
	assert_null(strstr(written_text, " sn_loop_suspend"));
	finish(0);
}

/* --- missing frames ----------------------------------------------------- */

TEST_WITH_ONE(a_stack_that_is_cut_says_so)
{
	if (!HAS_FRAMES)
		skip();
	sennit_event_init(&go, SENNIT_EVENT_MANUAL);
	atomic_store(&inside, 0);
	assert_int_equal(enqueue(w->s, wait_task, (void *)(uintptr_t)200), 0);
	await_inside(w->s, 1);
	written_stacks(w->s, SENNIT_STACKS_TEXT);
	assert_int_equal(occurrences(written_text, "it is deeper: "), 1);
	/* Of 128 frames those inside of the public call are not shown. */
	assert_int_equal(occurrences(written_text, "#100"), 1);
	assert_int_equal(occurrences(written_text, "#127"), 0);
	written_stacks(w->s, SENNIT_STACKS_JSON);
	assert_int_equal(occurrences(written_text, "\"rest\": \"deeper\""), 1);
	written_stacks(w->s, SENNIT_STACKS_MERGED);
	assert_int_equal(occurrences(written_text, "it is deeper: "), 1);
	written_stacks(w->s, SENNIT_STACKS_MERGED_JSON);
	assert_int_equal(occurrences(written_text, "\"rest\": \"deeper\""), 1);
	finish(0);
}

/* --- without descriptors, without memory -------------------------------- */

TEST_ALONE(a_dump_that_was_turned_on_needs_no_descriptors)
{
	if (!HAS_FRAMES)
		skip();
	hear(dump_without_descriptors);
	assert_int_equal(
		sum_before(written_text, " of wait_task wait for event"), 30);
	assert_true(occurrences(written_text, "at_an_event+0x") > 0);
	assert_int_equal(occurrences(written_text, "names are missing"), 0);
}

TEST_ALONE(stacks_are_merged_without_memory)
{
#if defined(SN_ASAN)
	skip(); /* it needs memory itself */
#endif
	if (under_emulator())
		skip(); /* qemu does not limit memory */
	hear(print_without_memory);
	assert_int_equal(sum_before(written_text, " fibers, "), 30);
	assert_int_equal(sum_before(written_text, " of "), 30);
	assert_int_equal(occurrences(written_text, "there is no memory"),
			 HAS_LINES);
}

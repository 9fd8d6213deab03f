/* SPDX-License-Identifier: Apache-2.0 */
/* planted_bugs.c - what users see of sanitizers: a bug in a task is reported,
 * and a task without a bug is not. The program runs itself with the name of a
 * bug: with AddressSanitizer, with ThreadSanitizer, under Valgrind's helgrind
 * if the library is built for it, or else under memcheck.
 */
#include "testing/with_workers.h"
#include "testing/child.h"

#include <signal.h>

/* --- the bugs ------------------------------------------------------------- */

static struct {
	sennit_wait_group done;
	atomic_uint       met;
	sennit_event      go;
	sennit_mutex      lock;
	int               unlocked;
	/* Apart: among others' accesses to the same word, ThreadSanitizer may
	 * miss two that happen at the same instant. */
	_Alignas(8) int locked;
	int *hanging;
} plot;

/* Receives results. Each thread has its own, so that the write is not itself a
 * race. */
static _Thread_local volatile int sink;

/* What every task does in addition: wait, switch, free a stack. */
static void live(void)
{
	char scratch[256];

	memset(scratch, 1, sizeof(scratch));
	sennit_yield();
	sennit_sleep(10 * SENNIT_MICROSECOND);
	sink = scratch[sizeof(scratch) - 1];
}

static void do_nothing_wrong(void *unused)
{
	int *block = malloc(sizeof(*block));

	if (!block)
		abort();
	*block = 1;
	live();
	sennit_mutex_lock(&plot.lock);
	plot.locked += *block;
	sennit_mutex_unlock(&plot.lock);
	free(block);
	sennit_wait_group_done(&plot.done);
}

static void overflow_the_heap(void *unused)
{
	volatile char *block = malloc(16);
	volatile int   beyond = 16;

	live();
	block[beyond] = 1;
	free((void *)(uintptr_t)block);
	do_nothing_wrong(unused);
}

static void overflow_the_stack(void *unused)
{
	volatile char array[16];
	volatile int  beyond = 16;

	live();
	array[beyond] = 1;
	sink = array[0];
	do_nothing_wrong(unused);
}

static void use_after_free(void *unused)
{
	volatile int *volatile block = malloc(sizeof(int)); /* hides the block
							     * from the
							     * compiler */

	*block = 1;
	live();
	free((void *)(uintptr_t)block);
	live();
	sink = *block;
	do_nothing_wrong(unused);
}

static NOINLINE void let_hang(void)
{
	volatile int gone = 1;

	plot.hanging = (int *)(uintptr_t)&gone;
	live();
}

static void use_after_return(void *unused)
{
	let_hang();
	live();
	sink = *(volatile int *)plot.hanging;
	do_nothing_wrong(unused);
}

static void leak(void *unused)
{
	volatile char *block = malloc(100);

	block[0] = 1;
	live();
	block = NULL;
	do_nothing_wrong(unused);
}

static void branch_on_nothing(void *unused)
{
	volatile int *block = malloc(sizeof(int));

	live();
	if (*block == 17)
		sink = 1;
	free((void *)(uintptr_t)block);
	do_nothing_wrong(unused);
}

/* Two tasks that run at the same time. A task that has not waited keeps its
 * thread, so two of them that exist at the same time are on two threads.
 * Relaxed accesses do not order them. */
static void race(void *unused)
{
	atomic_fetch_add_explicit(&plot.met, 1, memory_order_relaxed);
	while (atomic_load_explicit(&plot.met, memory_order_relaxed) < 2)
		sched_yield();
	for (int i = 0; i < 1000; i++)
		plot.unlocked++;
	do_nothing_wrong(unused);
}

/* Each tool detects only some of these bugs. */
static sennit_task_fn *const all[] __attribute__((unused)) = {
	overflow_the_heap,
	overflow_the_stack,
	use_after_free,
	use_after_return,
	leak,
	branch_on_nothing,
	race,
};

static const struct bug {
	const char     *name;
	sennit_task_fn *task;
	const char     *options; /* options for the tool */
	const char     *report;
} bugs[] = {
#if defined(SN_ASAN)
	{ "nothing", do_nothing_wrong, "detect_stack_use_after_return=1", "" },
	{ "heap", overflow_the_heap, "", "heap-buffer-overflow" },
	{ "stack", overflow_the_stack, "", "stack-buffer-overflow" },
	{ "free", use_after_free, "", "heap-use-after-free" },
	{ "return", use_after_return, "detect_stack_use_after_return=1",
	  "stack-use-after-return" },
	{ "leak", leak, "detect_leaks=1", "detected memory leaks" },
#elif defined(SN_TSAN)
	{ "nothing", do_nothing_wrong, "", "" },
	{ "race", race, "", "data race" },
#elif defined(SENNIT_HELGRIND)
	{ "nothing", do_nothing_wrong, "--tool=helgrind", "" },
	{ "race", race, "--tool=helgrind", "data race" },
#else
	{ "nothing", do_nothing_wrong, "--leak-check=full", "" },
	{ "heap", overflow_the_heap, "--leak-check=full", "Invalid write" },
	{ "free", use_after_free, "--leak-check=full", "Invalid read" },
	{ "leak", leak, "--leak-check=full", "definitely lost" },
	{ "branch", branch_on_nothing, "--leak-check=full",
	  "uninitialised value" },
#endif
};

#define BUGS (sizeof(bugs) / sizeof(bugs[0]))

static int commit(const char *name)
{
	const struct bug *b = bugs;
	sennit_scheduler *s;

	while (strcmp(b->name, name))
		b++;
	if (sennit_scheduler_create(&s, SENNIT_CONFIG(.workers = 2)))
		return 3;
	sennit_wait_group_init(&plot.done, 20);
	for (unsigned i = 0; i < 20; i++) {
		const sennit_task t = { .run = i == 7 || i == 8
						       ? b->task
						       : do_nothing_wrong };

		if (sennit_schedule_task_on(s, &t))
			return 4;
	}
	sennit_wait_group_wait(&plot.done);
	return sennit_scheduler_shutdown(s, SENNIT_NEVER) ? 5 : 0;
}

/* --- watching ------------------------------------------------------------- */

_Noreturn static void run_self(const struct bug *b)
{
	dup2(STDERR_FILENO, STDOUT_FILENO);
#if defined(SN_ASAN) || defined(SN_TSAN)
	setenv("ASAN_OPTIONS", b->options, 1);
	setenv("TSAN_OPTIONS", b->options, 1);
	execl(test_argv[0], test_argv[0], b->name, NULL);
#elif defined(SENNIT_HAVE_VALGRIND) /* else it does not know of fibers */
	execlp("valgrind", "valgrind", "-q", "--fair-sched=yes", b->options,
	       "--error-exitcode=1", test_argv[0], b->name, NULL);
#endif
	_exit(SKIPPED);
}

static void is_reported(const struct bug *b)
{
	static char text[1 << 16];
	int         words, status;
	const pid_t child = begin_heard_child(&words);

	if (!child)
		run_self(b);
	status = await_words(child, words, text, sizeof(text));
	skip_if_told(status, "no valgrind here");
	if (!strstr(text, b->report))
		fail_msg("%s: no \"%s\": %s", b->name, b->report, text);
	/* Valgrind's own remarks lack its error mark. */
	if (!*b->report && (strstr(text, "==") || status))
		fail_msg("%s: ended with %#x: %s", b->name, (unsigned)status,
			 text);
	if (*b->report && !status)
		fail_msg("%s: reported, but ended well", b->name);
}

TEST(each_bug_is_reported_and_nothing_else)
{
	for (unsigned i = 0; i < BUGS; i++)
		is_reported(&bugs[i]);
}

static int commit_if_told(void)
{
	if (test_argc > 1)
		exit(commit(test_argv[1]));
	return 0;
}

BEFORE_ALL(commit_if_told);

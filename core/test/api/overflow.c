/* SPDX-License-Identifier: Apache-2.0 */
/* overflow.c - a task that overflows its stack is named before the process
 * ends; other faults, and other handlers, are unaffected. Each fault happens in
 * a child.
 */
#include "testing/child.h"
#include "testing/dig.h"
#include "testing/with_workers.h"

#include "arch/cpu.h"
#include "os/os.h"
#include "sched/state.h"
#include "sennit/blocking.h"

#include <unistd.h>
#include <glob.h>
#include <signal.h>
#include <sys/mman.h>

struct fate {
	int  status;
	char text[8192];
};

struct plan {
	uint32_t workers;
	uint32_t overflow;
	void (*prepare)(void);
	sennit_task_fn *task;
};

static void run_off_the_stack(void *unused)
{
	(void)!dig(1);
}

/* Bytes. Such a frame touches only its far end, as libc's frames with alloca
 * do: near the end of a stack it accesses memory far below it. The test's own
 * compiler options would make a frame touch every page.
 */
enum { GREAT_FRAME = 60 * 1024, ROOM_LEFT = 4 * 1024 };

static NOINLINE NO_SANITIZE unsigned touch_the_far_end(void)
{
	const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	volatile char  *end = (volatile char *)(here - GREAT_FRAME);

	*end = 1;
	return (unsigned)*end;
}

static NOINLINE unsigned dig_to(uintptr_t end)
{
	volatile char frame[512];

	frame[0] = 1;
	return (uintptr_t)frame > end ? dig_to(end) + (unsigned)frame[0]
				      : touch_the_far_end();
}

static void step_over_a_page(void *unused)
{
	(void)!dig_to((uintptr_t)sn_self->home.current->low + ROOM_LEFT);
}

/* Symptom: this corrupted memory without any message. */
static void glob_much(void *unused)
{
	glob_t found;

	if (!glob("/usr/share/*/*/*", 0, NULL, &found))
		globfree(&found);
	_exit(0);
}

static void run_off_after_a_wait(void *unused)
{
	sennit_sleep(SENNIT_MILLISECOND);
	run_off_the_stack(unused);
}

static void read_nowhere(void *unused)
{
	volatile char *nowhere = mmap(NULL, 4096, PROT_NONE,
				      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)nowhere[8];
}

static arch_stack read_nowhere_from_there(void *unused)
{
	read_nowhere(unused);
	return NULL;
}

static void fault_off_the_stack(void *unused)
{
	static _Alignas(16) char elsewhere[64 * 1024];
	arch_stack               here;

	arch_start(&here, elsewhere + sizeof(elsewhere),
		   read_nowhere_from_there, unused, arch_fp_control());
}

static void raise_segv(void *unused)
{
	raise(SIGSEGV);
}

_Noreturn static void meet_fate(const struct plan *p)
{
	sennit_scheduler *s = NULL;

	signal(SIGSEGV, SIG_DFL); /* instead of the sanitizer's handler */
	if (p->prepare)
		p->prepare();
	if (sennit_scheduler_create(&s, SENNIT_CONFIG(.workers = p->workers,
						      .overflow = p->overflow)))
		_exit(3);
	if (sennit_thread_bind(s) || sennit_schedule(p->task, NULL))
		_exit(4);
	sennit_thread_unbind();
	(void)!sennit_scheduler_shutdown(s, SENNIT_NEVER);
	_exit(0);
}

static struct fate fate_of(struct world *w, struct plan p)
{
	struct fate f = { .status = 0 };
	int         words;
	pid_t       child;

	p.workers = w->workers;
	child = begin_heard_child(&words);
	if (!child)
		meet_fate(&p);
	f.status = await_words(child, words, f.text, sizeof(f.text));
	return f;
}

static void assert_killed_by(const struct fate *f, int number)
{
	if (!WIFSIGNALED(f->status) || WTERMSIG(f->status) != number)
		fail_msg("ended with %#x: %s", (unsigned)f->status, f->text);
}

static void assert_says(const struct fate *f, const char *words)
{
	if (!strstr(f->text, words))
		fail_msg("\"%s\" not in: %s", words, f->text);
}

/* As far as the program exports function names. */
static void assert_names(const struct fate *f, sennit_task_fn *task)
{
	char name[160], words[256];

	os_function_name((uintptr_t)task, name, sizeof(name));
	snprintf(words, sizeof(words), "sennit: stack overflow in task %s [",
		 name);
	assert_says(f, words);
}

TEST_WITH_COUNTS(the_task_and_its_stack_are_named)
{
	struct fate f = fate_of(w, (struct plan){ .task = run_off_the_stack });

	assert_killed_by(&f, SIGSEGV);
	assert_names(&f, run_off_the_stack);
	assert_says(&f, ", fiber ");
	assert_says(&f, "KiB are used up; raise sennit_config.stack_size");
}

static void name_it(void)
{
	if (sennit_function_set_name(run_off_the_stack, "digger"))
		_exit(5);
}

static void *run_off_in_a_call(void *unused)
{
	run_off_the_stack(unused);
	return NULL;
}

static void call_what_runs_off(void *unused)
{
	sennit_blocking_call(run_off_in_a_call, unused);
}

static void name_both(void)
{
	if (sennit_function_set_name(call_what_runs_off, "caller") ||
	    sennit_function_set_name(
		    (sennit_task_fn *)(void (*)(void))run_off_in_a_call,
		    "called"))
		_exit(5);
}

/* Symptom: the process ended without a word. */
TEST_WITH_COUNTS(an_overflow_in_a_blocking_call_is_named)
{
	struct fate f = fate_of(w, (struct plan){ .task = call_what_runs_off,
						  .prepare = name_both });

	assert_killed_by(&f, SIGSEGV);
	assert_says(&f, "sennit: stack overflow in the blocking call of called "
			"by task caller: the ");
	assert_says(&f, "KiB of its thread are used up");
}

TEST_WITH_COUNTS(the_programs_name_for_it_is_said)
{
	struct fate f = fate_of(w, (struct plan){ .task = run_off_the_stack,
						  .prepare = name_it });

	assert_says(&f, "sennit: stack overflow in task digger [");
}

TEST_WITH_COUNTS(the_frames_are_listed)
{
	struct fate f = fate_of(w, (struct plan){ .task = run_off_the_stack });
	unsigned    lines = 0;

	for (const char *at = f.text; (at = strchr(at, '\n')); at++)
		lines++;
	if (lines < 10)
		fail_msg("%u lines: %s", lines, f.text);
}

TEST_WITH_COUNTS(a_task_that_has_waited_is_named)
{
	struct fate f = fate_of(w,
				(struct plan){ .task = run_off_after_a_wait });

	assert_killed_by(&f, SIGSEGV);
	assert_names(&f, run_off_after_a_wait);
}

TEST_WITH_COUNTS(a_great_frame_does_not_step_over_the_guard)
{
	struct fate f = fate_of(w, (struct plan){ .task = step_over_a_page });

	assert_killed_by(&f, SIGSEGV);
	assert_names(&f, step_over_a_page);
}

/* On a bound thread libc's alloca limit is higher than on a worker thread.
 * Where worker threads have stacks of more than 64 KiB (aarch64), it is higher
 * there, too. */
TEST_WITH_COUNTS(glob_fits_or_is_named)
{
	struct fate f = fate_of(w, (struct plan){ .task = glob_much });

	if (WIFEXITED(f.status)) {
		assert_int_equal(WEXITSTATUS(f.status), 0);
		return;
	}
	if (sysconf(_SC_THREAD_STACK_MIN) <= 64 * 1024)
		assert_int_equal(w->workers, SENNIT_WORKERS_NONE);
	assert_killed_by(&f, SIGSEGV);
	assert_names(&f, glob_much);
}

TEST_WITH_COUNTS(a_fault_off_the_stack_is_named)
{
	struct fate f = fate_of(w,
				(struct plan){ .task = fault_off_the_stack });

	assert_killed_by(&f, SIGSEGV);
#if defined(__x86_64__) || defined(__aarch64__)
	assert_says(&f, "sennit: fault off the stack in task ");
#endif
}

TEST_WITH_COUNTS(other_faults_pass_in_silence)
{
	struct fate f = fate_of(w, (struct plan){ .task = read_nowhere });

	assert_killed_by(&f, SIGSEGV);
	assert_null(strstr(f.text, "sennit:"));
	f = fate_of(w, (struct plan){ .task = raise_segv });
	assert_killed_by(&f, SIGSEGV);
	assert_null(strstr(f.text, "sennit:"));
}

TEST_WITH_COUNTS(silence_can_be_had)
{
	struct fate f =
		fate_of(w, (struct plan){ .task = run_off_the_stack,
					  .overflow = SENNIT_OVERFLOW_SILENT });

	assert_killed_by(&f, SIGSEGV);
	assert_null(strstr(f.text, "sennit:"));
}

/* --- with a handler of the program --------------------------------------- */

static void exit_with_7(int number, siginfo_t *info, void *context)
{
	static const char words[] = "the program's own\n";

	_exit(write(STDERR_FILENO, words, sizeof(words) - 1) > 0 ? 7 : 8);
}

static void handle_faults(void)
{
	struct sigaction act = { .sa_sigaction = exit_with_7,
				 .sa_flags = SA_SIGINFO | SA_ONSTACK };

	sigemptyset(&act.sa_mask);
	sigaction(SIGSEGV, &act, NULL);
}

TEST_WITH_COUNTS(the_programs_handler_comes_after)
{
	struct fate f = fate_of(w, (struct plan){ .task = run_off_the_stack,
						  .prepare = handle_faults });

	assert_true(WIFEXITED(f.status));
	assert_int_equal(WEXITSTATUS(f.status), 7);
	assert_says(&f, "sennit: stack overflow in task ");
	assert_says(&f, "the program's own\n");
	f = fate_of(w, (struct plan){ .task = read_nowhere,
				      .prepare = handle_faults });
	assert_int_equal(WEXITSTATUS(f.status), 7);
	assert_null(strstr(f.text, "sennit:"));
}

/* --- after an overflow upwards ------------------------------------------- */

static const unsigned char patterns[] = { 0x00, 0x41, 0xff };
static unsigned            pattern;

/* Overwrite what lies above the frames. */
static NO_SANITIZE void overwrite_the_record(void *unused)
{
	volatile unsigned char *record = (void *)sn_self->home.current;

	for (size_t i = 0; i < sizeof(struct sennit_fiber); i++)
		record[i] = patterns[pattern];
	read_nowhere(unused);
}

static NO_SANITIZE void overwrite_the_current_fiber(void *unused)
{
	volatile unsigned char *current = (void *)&sn_self->home.current;

	for (size_t i = 0; i < sizeof(sn_self->home.current); i++)
		current[i] = patterns[pattern];
	read_nowhere(unused);
}

/* The record is right, but nothing that a report prints can be found. */
static NO_SANITIZE void overwrite_the_scheduler(void *unused)
{
	volatile unsigned char *pointer = (void *)&sn_self->scheduler;

	for (size_t i = 0; i < sizeof(sn_self->scheduler); i++)
		pointer[i] = patterns[pattern];
	run_off_the_stack(unused);
}

/* Symptom: the library's handler faulted, and the program's was not called. */
TEST_WITH_COUNTS(a_fault_with_damaged_records_is_passed_on)
{
	static sennit_task_fn *const damages[] = { overwrite_the_record,
						   overwrite_the_current_fiber,
						   overwrite_the_scheduler };

	for (size_t i = 0; i < sizeof(damages) / sizeof(damages[0]); i++)
		for (pattern = 0; pattern < sizeof(patterns); pattern++) {
			struct fate f = fate_of(
				w, (struct plan){ .task = damages[i],
						  .prepare = handle_faults });

			if (!WIFEXITED(f.status) || WEXITSTATUS(f.status) != 7)
				fail_msg("damage %zu by %#x: ended with %#x: "
					 "%s",
					 i, patterns[pattern],
					 (unsigned)f.status, f.text);
		}
}

TEST_WITH_COUNTS(an_overflow_upwards_is_told)
{
	struct fate f;

	pattern = 1;
	f = fate_of(w, (struct plan){ .task = overwrite_the_record });
	assert_killed_by(&f, SIGSEGV);
	assert_says(&f, "sennit: the record of the running fiber is "
			"overwritten");
}

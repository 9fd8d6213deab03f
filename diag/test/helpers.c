/* SPDX-License-Identifier: Apache-2.0 */
/* helpers.c - the stacks show where the threads of blocking calls are, and do
 * not disturb the calls. */
#include "testing/with_workers.h"
#include "marks.h"
#include "written.h"

#include "../src/fibers.h"
#include "sennit/blocking.h"
#include "sennit/stacks.h"

#include <errno.h>
#include <poll.h>
#include <semaphore.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

MARK(marks_run)
MARK(marks_deep)
MARK(marks_left)
MARK(marks_call)

/* Sanitizers call their functions around system calls by pointers. */
#if defined(SN_ASAN) || defined(SN_TSAN) || defined(SN_MSAN)
#define MAY_WALK false
#else
#define MAY_WALK HAS_FRAMES
#endif

enum kind { READ, SLEEP, POLL, SELECT, SPIN, KINDS };

/* What a call does, and how often a visit has seen it. */
struct job {
	enum kind   kind;
	unsigned    depth;
	bool        has_deadline;
	int         ends[2];
	atomic_uint thread; /* 0: the call has not begun */
	unsigned    seen;   /* with all its frames */
};

static atomic_bool stop;
static atomic_uint ended;

/* --- the calls ---------------------------------------------------------- */

/* Each of these returns EINTR after a signal, even if its handler restarts
 * system calls. */
static bool pause_once(enum kind kind)
{
	const struct timespec t = { .tv_nsec = 20000000 };
	struct timeval        v = { .tv_usec = 20000 };

	return kind == SLEEP  ? !nanosleep(&t, NULL)
	       : kind == POLL ? !poll(NULL, 0, 20)
			      : !select(0, NULL, NULL, NULL, &v);
}

/* The buffer contains the frames that leave_frames has left. */
MARKED(marks_deep) static void block(struct job *j)
{
	char buffer[4096];

	__asm__ volatile("" ::"r"(buffer) : "memory");
	if (j->kind == READ)
		EXPECT(read(j->ends[0], buffer, sizeof(buffer)) == 1);
	while (!atomic_load(&stop))
		if (j->kind != SPIN && j->kind != READ)
			EXPECT(pause_once(j->kind));
	NOT_LAST();
}

MARKED(marks_deep) static void go_deep(struct job *j, unsigned depth)
{
	if (depth)
		go_deep(j, depth - 1);
	else
		block(j);
	NOT_LAST();
}

MARKED(marks_left) static void leave_frames(unsigned depth)
{
	if (depth)
		leave_frames(depth - 1);
	NOT_LAST();
}

MARKED(marks_run) static void *run(void *job)
{
	struct job *j = job;

	leave_frames(200);
	atomic_store(&j->thread, (unsigned)syscall(SYS_gettid));
	go_deep(j, j->depth);
	NOT_LAST();
	return j;
}

MARKED(marks_call) static void call(void *job)
{
	struct job *j = job;
	void       *result = NULL;
	char        name[32];

	snprintf(name, sizeof(name), "%p", job);
	sennit_task_set_name(name);
	if (j->has_deadline)
		EXPECT(!sennit_blocking_call_until(run, j, &result,
						   sennit_after(GIVE_UP)));
	else
		result = sennit_blocking_call(run, j);
	EXPECT(result == j);
	atomic_fetch_add(&ended, 1);
}

/* --- the visit ---------------------------------------------------------- */

static sem_t       never;
static atomic_uint waiting;

static void *wait_for_nothing(void *unused)
{
	atomic_store(&waiting, (unsigned)syscall(SYS_gettid));
	while (sem_wait(&never))
		;
	return unused;
}

/* Report whether the kernel knows where a blocked thread is. Emulators do
 * not. */
static bool kernel_says(void)
{
	static char          copy[THREAD_SAMPLE_COPY];
	struct thread_sample s;
	pthread_t            t;
	bool                 says = false;

	atomic_store(&waiting, 0);
	sem_init(&never, 0, 0);
	assert_true(sn_own_memory_is_readable());
	assert_int_equal(pthread_create(&t, NULL, wait_for_nothing, NULL), 0);
	while (!atomic_load(&waiting))
		sched_yield();
	for (int i = 0; i < 1000 && !says; i++) {
		usleep(1000);
		says = sn_thread_blocked_copy(atomic_load(&waiting), &s, copy);
	}
	sem_post(&never);
	pthread_join(t, NULL);
	return says;
}

static bool is_deep(const void *frame)
{
	const char *at = (const char *)frame - 1;

	return at >= __start_marks_deep && at < __stop_marks_deep;
}

static bool is_of_run(const void *frame)
{
	const char *at = (const char *)frame - 1;

	return at >= __start_marks_run && at < __stop_marks_run;
}

/* Check that the frames are the functions of the call, and no others of the
 * program. */
static void check_frames(struct job *j, const sennit_stack *s)
{
	const sennit_stack helper = { .count = s->call_count,
				      .frames = s->frames };
	const uint32_t     last = s->call_count - 1;

	EXPECT(is_of_run(s->frames[last]));
	EXPECT(count_marks_run(&helper) == 1);
	EXPECT(count_marks_left(&helper) == 0);
	EXPECT(count_marks_call(&helper) == 0);
	if (s->call_rest != SENNIT_STACK_NO_REST)
		return;
	/* The calls of go_deep, and block. A call that spins was stopped by a
	 * page that was not present. */
	EXPECT(count_marks_deep(&helper) == j->depth + 2);
	for (uint32_t i = 1; i <= j->depth + 2; i++)
		EXPECT(is_deep(s->frames[last - i]));
	j->seen++;
}

static void look(void *context, const sennit_stack *s)
{
	const sennit_report_entry *e = s->fiber;
	struct job                *j = NULL;

	(void)context;
	if (e->name)
		(void)sscanf(e->name, "%p", (void **)&j);
	if (!j || e->waits_for != SENNIT_WAITS_FOR_CALL || !s->call_thread) {
		EXPECT(s->call_thread == 0);
		EXPECT(s->call_count == 0);
		return;
	}
	EXPECT(s->call_thread == atomic_load(&j->thread));
	EXPECT(s->call_count >= 1);
	EXPECT(s->count <= SENNIT_STACK_FRAMES);
	check_frames(j, s);
	if (HAS_FRAMES && s->source == SENNIT_STACK_SUSPENDED) {
		EXPECT(count_marks_call(s) == 1);
		EXPECT(s->rest == SENNIT_STACK_NO_REST);
	}
}

/* --- jobs --------------------------------------------------------------- */

static void begin(sennit_scheduler *s, struct job *jobs, unsigned count)
{
	atomic_store(&stop, false);
	atomic_store(&ended, 0);
	for (unsigned i = 0; i < count; i++) {
		assert_int_equal(pipe(jobs[i].ends), 0);
		assert_int_equal(enqueue(s, call, &jobs[i]), 0);
	}
}

static void await_begin(const struct job *j)
{
	assert_soon(atomic_load(&j->thread));
}

static void end(struct job *jobs, unsigned count)
{
	atomic_store(&stop, true);
	for (unsigned i = 0; i < count; i++)
		assert_int_equal(write(jobs[i].ends[1], "x", 1), 1);
	assert_soon(atomic_load(&ended) == count);
	for (unsigned i = 0; i < count; i++) {
		close(jobs[i].ends[0]);
		close(jobs[i].ends[1]);
	}
}

static bool all_are_seen(sennit_scheduler *s, const struct job *jobs,
			 unsigned count)
{
	bool all = true;

	assert_int_equal(sennit_stacks_visit(s, look, NULL), 0);
	for (unsigned i = 0; i < count; i++)
		all &= jobs[i].kind == SPIN || jobs[i].seen;
	return all;
}

TEST_WITH_THREADS(calls_are_shown_where_they_are_and_not_disturbed)
{
	enum { COUNT = 3 * (KINDS - 1) + 1 };
	struct job jobs[COUNT];
	const bool may_walk = MAY_WALK && kernel_says();

	for (unsigned i = 0; i < COUNT; i++)
		jobs[i] = (struct job){ .kind = i == COUNT - 1
							? SPIN
							: i % (KINDS - 1),
					.depth = i % 5,
					.has_deadline = i % 2 };
	begin(w->s, jobs, COUNT);
	for (unsigned i = 0; i < COUNT; i++)
		await_begin(&jobs[i]);
	if (may_walk)
		assert_soon(all_are_seen(w->s, jobs, COUNT));
	for (int i = 0; i < 20; i++)
		(void)all_are_seen(w->s, jobs, COUNT);
	end(jobs, COUNT);
}

/* --- the text ----------------------------------------------------------- */

static bool has(const char *words)
{
	if (strstr(written_text, words))
		return true;
	fprintf(stderr, "\"%s\" not in: %s\n", words, written_text);
	return false;
}

TEST_WITH_ONE(what_is_written_has_the_frames_of_calls)
{
	struct job j = { .kind = READ, .depth = 3 };
	char       words[128];

	if (!HAS_FRAMES)
		skip();
	begin(w->s, &j, 1);
	await_begin(&j);
	if (MAY_WALK && kernel_says())
		assert_soon(all_are_seen(w->s, &j, 1));
	written_stacks(w->s, SENNIT_STACKS_TEXT);
	snprintf(words, sizeof(words), "  thread %u makes the call:\n",
		 atomic_load(&j.thread));
	assert_true(has("waits for a blocking call of "));
	assert_true(has(words));
#if !defined(SN_TSAN) /* TSan delays the signal to the caller's thread */
	assert_true(has("  called by:\n"));
#endif
	if (j.seen)
		assert_true(has(" go_deep+0x"));
	written_stacks(w->s, SENNIT_STACKS_JSON);
	snprintf(words, sizeof(words), "\"call\": {\"thread\": %u, ",
		 atomic_load(&j.thread));
	assert_true(has(words));
	assert_true(has("\"call\": null"));
	written_stacks(w->s, SENNIT_STACKS_MERGED);
	assert_true(has("wait for a blocking call of "));
	assert_true(has("  a thread makes the call:\n"));
	written_stacks(w->s, SENNIT_STACKS_MERGED_JSON);
	if (j.seen)
		assert_true(has("\"call_rest\": \"none\""));
	end(&j, 1);
}

/* --- calls that have not begun ------------------------------------------ */

static void count_calls(void *context, const sennit_stack *s)
{
	unsigned *counts = context;

	if (s->fiber->waits_for == SENNIT_WAITS_FOR_CALL)
		counts[s->call_thread != 0]++;
}

static bool one_of_two_has_a_thread(sennit_scheduler *s)
{
	unsigned counts[2] = { 0, 0 };

	assert_int_equal(sennit_stacks_visit(s, count_calls, counts), 0);
	return counts[0] == 1 && counts[1] == 1;
}

TEST_ALONE(a_call_that_has_not_begun_has_no_thread)
{
	sennit_scheduler *s = start_with(
		SENNIT_CONFIG(.workers = 1, .max_blocking_threads = 1));
	struct job jobs[2] = { { .kind = READ }, { .kind = READ } };

	begin(s, jobs, 2);
	assert_soon(one_of_two_has_a_thread(s));
	end(jobs, 2);
	end_scheduler(s);
}

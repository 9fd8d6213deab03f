/* SPDX-License-Identifier: Apache-2.0 */
/* stacks.c - every fiber's backtrace is its own: of fibers that wait, run,
 * block their worker, or on whose stack their worker sleeps. */
#include "testing/with_workers.h"
#include "marks.h"

#include "sennit/stacks.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

MARK(marks_deep)
MARK(marks_spin)
MARK(marks_read)
MARK(marks_main)

#define MANY LOAD(1000u)

#if defined(SN_TSAN)
#define ANSWER SENNIT_STACK_UNSAMPLED
#else
#define ANSWER SENNIT_STACK_SAMPLED
#endif

static sennit_event go;
static sennit_event have_read;
static atomic_bool  stop;
static atomic_uint  inside;
static int          ends[2];

MARKED(marks_deep) static void wait_deep(unsigned depth)
{
	if (depth) {
		wait_deep(depth - 1);
	} else {
		atomic_fetch_add(&inside, 1);
		EXPECT(!sennit_event_wait(&go));
	}
	NOT_LAST();
}

static void wait_task(void *depth)
{
	wait_deep((unsigned)(uintptr_t)depth);
}

MARKED(marks_spin) static void spin_task(void *unused)
{
	(void)unused;
	atomic_fetch_add(&inside, 1);
	while (!atomic_load(&stop))
		;
}

MARKED(marks_read) static void read_task(void *unused)
{
	char byte = 0;

	(void)unused;
	atomic_fetch_add(&inside, 1);
	EXPECT(read(ends[0], &byte, 1) == 1);
	EXPECT(byte == 'x');
	sennit_event_set(&have_read);
}

/* The results of a visit. */
struct found {
	unsigned fibers;
	unsigned of[4];         /* by source */
	unsigned with_depth[8]; /* by frames in wait_deep */
	unsigned spins, reads, mains;
	uint32_t spin_source, read_source, main_source;
};

static void look(void *context, const sennit_stack *s)
{
	struct found *f = context;
	unsigned      depth = count_marks_deep(s);

	assert_int_equal(s->size, sizeof(*s));
	assert_true(s->source <= SENNIT_STACK_CHANGED);
	assert_true(s->count <= SENNIT_STACK_FRAMES);
	f->fibers++;
	f->of[s->source]++;
	f->with_depth[depth < 8 ? depth : 7]++;
	if (s->fiber->task == spin_task) {
		f->spins += count_marks_spin(s);
		f->spin_source = s->source;
	}
	if (s->fiber->task == read_task) {
		f->reads += count_marks_read(s);
		f->read_source = s->source;
	}
	if (s->fiber->worker == SENNIT_REPORT_BOUND) {
		f->mains += count_marks_main(s);
		f->main_source = s->source;
	}
}

static struct found visit_once(sennit_scheduler *s)
{
	struct found f = { .fibers = 0 };

	assert_int_equal(sennit_stacks_visit(s, look, &f), 0);
	return f;
}

/* On a busy machine a thread may not get the CPU in time to answer, so try
 * again. */
static struct found visit(sennit_scheduler *s)
{
	struct found f;
	int          tries = 100;

	do
		f = visit_once(s);
	while (ANSWER == SENNIT_STACK_SAMPLED && f.of[SENNIT_STACK_UNSAMPLED] &&
	       --tries);
	return f;
}

static void begin(struct world *w, sennit_task_fn *run, unsigned count)
{
	sennit_event_init(&go, SENNIT_EVENT_MANUAL);
	atomic_store(&stop, false);
	atomic_store(&inside, 0);
	for (unsigned i = 0; i < count; i++)
		assert_int_equal(
			sennit_schedule(run, (void *)(uintptr_t)(i % 4)), 0);
	(void)w;
	while (atomic_load(&inside) < count)
		sched_yield();
}

static void add(sennit_task_fn *run)
{
	const unsigned before = atomic_load(&inside);

	assert_int_equal(sennit_schedule(run, NULL), 0);
	while (atomic_load(&inside) == before)
		sched_yield();
}

/* Wait until all tasks have begun their waits, according to the report. */
static void count_blocked(void *context, const sennit_report_entry *e)
{
	*(unsigned *)context += e->state == SENNIT_REPORT_BLOCKED;
}

static void await_blocked(struct world *w, unsigned count)
{
	unsigned blocked;

	do {
		blocked = 0;
		sennit_report_visit(w->s, count_blocked, &blocked);
		sched_yield();
	} while (blocked < count);
}

static void finish(void)
{
	atomic_store(&stop, true);
	sennit_event_set(&go);
}

/* --- fibers that wait --------------------------------------------------- */

TEST_WITH_THREADS(a_thousand_waiting_fibers_have_their_own_frames)
{
	struct found f;

	if (!HAS_FRAMES)
		skip();
	begin(w, wait_task, MANY);
	await_blocked(w, MANY);
	f = visit(w->s);
	assert_int_equal(f.fibers, MANY + 1);
	assert_int_equal(f.of[SENNIT_STACK_CHANGED], 0);
	/* Each worker sleeps on one stack at most. */
	assert_true(f.of[SENNIT_STACK_SUSPENDED] >= MANY - w->threads);
	for (unsigned i = 1; i <= 4; i++)
		assert_in_range(f.with_depth[i],
				MANY / 4 - (ANSWER == SENNIT_STACK_SAMPLED
						    ? 0
						    : w->threads),
				MANY / 4);
	assert_int_equal(f.with_depth[5] + f.with_depth[6] + f.with_depth[7],
			 0);
	finish();
}

/* The worker has nothing else to do, so it sleeps on the fiber's stack. */
TEST_WITH_ONE(the_stack_on_which_a_worker_sleeps_is_sampled)
{
	struct found f;

	if (!HAS_FRAMES)
		skip();
	begin(w, wait_task, 1);
	await_blocked(w, 1);
	f = visit(w->s);
	assert_int_equal(f.fibers, 2);
	assert_int_equal(f.of[SENNIT_STACK_CHANGED], 0);
	assert_int_equal(f.of[SENNIT_STACK_SUSPENDED], 0);
	assert_int_equal(f.of[ANSWER], 2);
	if (ANSWER == SENNIT_STACK_SAMPLED)
		assert_int_equal(f.with_depth[1], 1);
	finish();
}

/* --- workers that do not respond ---------------------------------------- */

TEST_WITH_ONE(fibers_of_a_busy_worker_are_shown)
{
	struct found f;

	if (!HAS_FRAMES)
		skip();
	begin(w, wait_task, 8);
	await_blocked(w, 8);
	add(spin_task);
	f = visit(w->s);
	assert_int_equal(f.fibers, 10);
	assert_int_equal(f.of[SENNIT_STACK_SUSPENDED], 8);
	assert_int_equal(f.spin_source, ANSWER);
	assert_int_equal(f.spins, ANSWER == SENNIT_STACK_SAMPLED);
	for (unsigned i = 1; i <= 4; i++)
		assert_int_equal(f.with_depth[i], 2);
	finish();
}

TEST_WITH_ONE(fibers_of_a_worker_in_a_system_call_are_shown)
{
	struct found f;

	if (!HAS_FRAMES)
		skip();
	assert_int_equal(pipe(ends), 0);
	sennit_event_init(&have_read, SENNIT_EVENT_MANUAL);
	begin(w, wait_task, 8);
	await_blocked(w, 8);
	add(read_task);
	f = visit(w->s);
	assert_int_equal(f.fibers, 10);
	assert_int_equal(f.of[SENNIT_STACK_SUSPENDED], 8);
	assert_int_equal(f.read_source, ANSWER);
	assert_int_equal(f.reads, ANSWER == SENNIT_STACK_SAMPLED);
	assert_int_equal(write(ends[1], "x", 1), 1); /* it was restarted */
	finish();
	EXPECT(!sennit_event_wait(&have_read));
	close(ends[0]);
	close(ends[1]);
}

/* --- a bound thread's own stack ----------------------------------------- */

static struct found seen_by_a_thread;

static void *visit_from_a_thread(void *world)
{
	struct world *w = world;

	await_blocked(w, 1);
	seen_by_a_thread = visit(w->s);
	sennit_event_set(&go);
	return NULL;
}

MARKED(marks_main) static void wait_on_own_stack(void)
{
	EXPECT(!sennit_event_wait(&go));
	NOT_LAST();
}

TEST_WITH_ONE(a_bound_thread_that_waits_is_shown)
{
	pthread_t t;

	if (!HAS_FRAMES)
		skip();
	sennit_event_init(&go, SENNIT_EVENT_MANUAL);
	assert_int_equal(pthread_create(&t, NULL, visit_from_a_thread, w), 0);
	wait_on_own_stack();
	pthread_join(t, NULL);
	assert_int_equal(seen_by_a_thread.fibers, 1);
	assert_int_equal(seen_by_a_thread.main_source, ANSWER);
	assert_int_equal(seen_by_a_thread.mains,
			 ANSWER == SENNIT_STACK_SAMPLED);
}

/* --- the signal --------------------------------------------------------- */

static atomic_uint signals;

static void count_signal(int number)
{
	(void)number;
	atomic_fetch_add(&signals, 1);
}

TEST_WITH_ONE(a_handler_of_the_program_is_left_alone)
{
	struct sigaction own = { .sa_handler = count_signal };
	struct sigaction before;
	struct found     f;

	if (!HAS_FRAMES)
		skip();
	assert_int_equal(sigaction(SIGURG, &own, &before), 0);
	begin(w, wait_task, 8);
	await_blocked(w, 8);
	add(spin_task);
	f = visit_once(w->s);
	assert_int_equal(atomic_load(&signals), 0);
	assert_int_equal(f.fibers, 10);
	assert_int_equal(f.of[SENNIT_STACK_SUSPENDED], 8);
	assert_int_equal(f.of[SENNIT_STACK_UNSAMPLED], 2);
	assert_int_equal(f.of[SENNIT_STACK_CHANGED], 0);
	finish();
	assert_int_equal(sigaction(SIGURG, &before, NULL), 0);
}

/* --- all schedulers ----------------------------------------------------- */

/* Symptom: the task overflowed its stack inside libdw. */
static void print_in_each_format(void *unused)
{
	const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);

	(void)unused;
	for (uint32_t f = SENNIT_STACKS_TEXT; f <= SENNIT_STACKS_PPROF; f++) {
		const int err = sennit_stacks_print(NULL, nowhere, f);

		EXPECT(!err || err == -EPERM || err == -ENOTSUP);
	}
	close(nowhere);
}

TEST_WITH_ONE(a_task_with_the_default_stack_prints_them)
{
	(void)w;
	in_a_task(print_in_each_format, NULL);
}

TEST_WITH_ONE(null_means_every_scheduler)
{
	sennit_scheduler *other = start_scheduler(1);
	struct found      f;

	if (!HAS_FRAMES)
		skip();
	begin(w, wait_task, 4);
	await_blocked(w, 4);
	f = visit(other);
	assert_int_equal(f.fibers, 0);
	f = visit(NULL);
	assert_int_equal(f.fibers, 5);
	finish();
	end_scheduler(other);
}

/* --- without libdw ------------------------------------------------------ */

static void count_frames(void *frames, const sennit_stack *s)
{
	*(unsigned *)frames += s->count;
}

TEST_WITH_ONE(without_unwind_tables_the_first_frame_is_shown)
{
	unsigned frames = 0;

	if (HAS_FRAMES)
		skip();
	begin(w, wait_task, 8);
	await_blocked(w, 8);
	add(spin_task);
	assert_int_equal(sennit_stacks_visit(w->s, count_frames, &frames), 0);
	assert_in_range(frames, 8, 10);
	finish();
}

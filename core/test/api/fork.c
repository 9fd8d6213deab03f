/* SPDX-License-Identifier: Apache-2.0 */
/* fork.c - the child of a fork, wherever the fork happened and whatever other
 * threads did meanwhile, starts without a scheduler, creates one and uses it.
 * It must not use inherited schedulers. The parent continues. */
#include "testing/misuse.h"
#include "testing/random.h"

#include "sennit/workers.h"
#include "sennit/trace.h"

/* AddressSanitizer of gcc 12 and clang 14 does not take its allocator's locks
 * at a fork. A lock that another thread holds at that moment stays locked in
 * the child. */
#if defined(SN_ASAN)

SKIP_ALL("the allocator does not outlive a fork");

#else

/* ThreadSanitizer does not support a second thread in a child, and would sleep
 * for 1 s at the end of each. */
#if defined(SN_TSAN)
const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
	return "atexit_sleep_ms=0";
}

enum { CHILDS_WORKERS = -1 }; /* SENNIT_WORKERS_NONE */
#else
enum { CHILDS_WORKERS = 2 };
#endif

/* LeakSanitizer reports memory as lost that only threads of the parent point
 * to. */
const char *__lsan_default_options(void);
const char *__lsan_default_options(void)
{
	return "detect_leaks=0";
}

/* --- in the child ------------------------------------------------------- */

typedef void child_fn(void *argument);

/* The exit status of a child that runs run(argument), or 1000 plus its signal.
 * If text is not NULL it receives the child's messages. */
static int in_a_child(child_fn *run, void *argument, char *text, size_t size)
{
	int         words, status;
	const pid_t child = text ? begin_heard_child(&words) : begin_child();

	if (!child) {
		run(argument);
		exit(atomic_load(&broken_claims) ? 99 : 0);
	}
	status = text ? await_words(child, words, text, size)
		      : await_child(child);
	return WIFEXITED(status) ? WEXITSTATUS(status)
				 : 1000 + WTERMSIG(status);
}

struct lot {
	sennit_event      go;
	sennit_wait_group arrived;
	sennit_wait_group done;
};

static void wait_and_finish(void *argument)
{
	struct lot *l = argument;

	sennit_wait_group_done(&l->arrived);
	EXPECT(!sennit_event_wait(&l->go));
	sennit_sleep(SENNIT_MICROSECOND);
	sennit_wait_group_done(&l->done);
}

static void keep_thread(void *thread, const sennit_worker_view *view)
{
	*(uint32_t *)thread = view->thread;
}

/* Create a scheduler, block forty fibers, wake them, end it. */
static void use_a_scheduler(uint32_t workers)
{
	sennit_scheduler *s = NULL;
	struct lot        l;
	uint32_t          thread = 0; /* the bound one, which comes last */

	sennit_event_init(&l.go, SENNIT_EVENT_MANUAL);
	sennit_wait_group_init(&l.arrived, 40);
	sennit_wait_group_init(&l.done, 40);
	EXPECT(sennit_scheduler_current() == NULL);
	EXPECT(sennit_scheduler_create(&s, SENNIT_CONFIG(.workers = workers)) ==
	       0);
	EXPECT(sennit_thread_bind(s) == 0);
	EXPECT(sennit_scheduler_current() == s);
	sennit_workers_visit(s, keep_thread, &thread);
	EXPECT(thread == (uint32_t)getpid()); /* not the parent's */
	for (int i = 0; i < 40; i++)
		must_schedule(wait_and_finish, &l);
	sennit_wait_group_wait(&l.arrived);
	sennit_event_set(&l.go);
	sennit_wait_group_wait(&l.done);
	sennit_thread_unbind();
	EXPECT(sennit_scheduler_current() == NULL);
	EXPECT(sennit_scheduler_shutdown(s, sennit_after(GIVE_UP)) == 0);
}

static void start_anew(void *argument)
{
	EXPECT(sennit_scheduler_current() == NULL);
	EXPECT(sennit_fiber_current() == NULL);
	use_a_scheduler((uint32_t)CHILDS_WORKERS);
	use_a_scheduler(SENNIT_WORKERS_NONE);
}

/* Fork again, while bound to a scheduler of its own. */
static void start_anew_and_fork(void *argument)
{
	sennit_scheduler *s = NULL;

	EXPECT(sennit_scheduler_create(
		       &s,
		       SENNIT_CONFIG(.workers = (uint32_t)CHILDS_WORKERS)) ==
	       0);
	EXPECT(sennit_thread_bind(s) == 0);
	EXPECT(in_a_child(start_anew, argument, NULL, 0) == 0);
	EXPECT(sennit_scheduler_current() == s);
	sennit_thread_unbind();
	EXPECT(sennit_scheduler_shutdown(s, sennit_after(GIVE_UP)) == 0);
}

/* --- from where --------------------------------------------------------- */

static void fork_here(void *argument)
{
	child_fn         *child = *(child_fn **)argument;
	sennit_scheduler *before = sennit_scheduler_current();

	EXPECT(in_a_child(child, NULL, NULL, 0) == 0);
	EXPECT(sennit_scheduler_current() == before);
}

static void fork_here_after_a_wait(void *argument)
{
	sennit_sleep(SENNIT_MILLISECOND);
	fork_here(argument);
	sennit_sleep(SENNIT_MILLISECOND);
}

/* The parent's scheduler has sleeping fibers meanwhile, and continues to work
 * afterwards. */
static void fork_in(void (*where)(sennit_task_fn *run, void *argument),
		    sennit_task_fn *how, child_fn *child)
{
	struct lot l;

	sennit_event_init(&l.go, SENNIT_EVENT_MANUAL);
	sennit_wait_group_init(&l.arrived, 10);
	sennit_wait_group_init(&l.done, 10);
	for (int i = 0; i < 10; i++)
		must_schedule(wait_and_finish, &l);
	sennit_wait_group_wait(&l.arrived);
	where(how, &child);
	sennit_event_set(&l.go);
	sennit_wait_group_wait(&l.done);
}

static void in_place(sennit_task_fn *run, void *argument)
{
	run(argument);
}

TEST_WITH_WORKERS(a_bound_thread_forks)
{
	fork_in(in_place, fork_here, start_anew);
	fork_in(in_place, fork_here_after_a_wait, start_anew);
}

TEST_WITH_WORKERS(an_unbound_thread_forks)
{
	fork_in(in_a_thread, fork_here, start_anew);
}

TEST_WITH_WORKERS(a_task_forks)
{
	fork_in(in_a_task, fork_here, start_anew);
	fork_in(in_a_task, fork_here_after_a_wait, start_anew);
}

struct blocking_call {
	sennit_task_fn *run;
	void           *argument;
};

static void *run_call(void *argument)
{
	const struct blocking_call *c = argument;

	c->run(c->argument);
	return NULL;
}

static void in_a_call(sennit_task_fn *run, void *argument)
{
	struct blocking_call c = { run, argument };

	sennit_blocking_call(run_call, &c);
}

TEST_WITH_WORKERS(a_blocking_call_forks)
{
	fork_in(in_a_call, fork_here, start_anew);
}

TEST_WITH_WORKERS(a_child_forks)
{
	fork_in(in_place, fork_here, start_anew_and_fork);
	fork_in(in_a_task, fork_here, start_anew_and_fork);
}

/* --- during other activity ---------------------------------------------- */

struct bustle {
	sennit_scheduler *s;
	atomic_bool       over;
};

static void churn(void *argument)
{
	struct bustle *b = *(struct bustle **)argument;
	char           big[200] = { 0 };

	memcpy(big, &b, sizeof(b));
	sennit_sleep(10 * SENNIT_MICROSECOND);
	if (!atomic_load(&b->over))
		EXPECT(sennit_schedule_copy(churn, big, sizeof(big)) == 0);
}

static void *bind_and_unbind(void *argument)
{
	struct bustle *b = argument;

	while (!atomic_load(&b->over)) {
		EXPECT(sennit_thread_bind(b->s) == 0);
		sennit_sleep(1);
		sennit_thread_unbind();
	}
	return NULL;
}

TEST_WITH_WORKERS(forks_amid_work_harm_nobody)
{
	static struct bustle b; /* its tasks may outlive this call */
	struct bustle       *address = &b;
	pthread_t            thread;

#if defined(SN_ASAN) || defined(SN_TSAN)
	skip(); /* their own locks may be held at the fork, and then stay
		 * locked */
#endif
	b.s = w->s;
	atomic_store(&b.over, false);
	for (uint64_t i = 0; i < 8; i++)
		EXPECT(sennit_schedule_copy(churn, &address, sizeof(address)) ==
		       0);
	thread = must_start_thread(bind_and_unbind, &b);
	for (uint64_t i = scaled(40); i-- > 0 && !atomic_load(&broken_claims);)
		EXPECT(in_a_child(start_anew, NULL, NULL, 0) == 0);
	atomic_store(&b.over, true);
	pthread_join(thread, NULL);
}

/* --- inherited objects -------------------------------------------------- */

static void name_in_retain(void *s)
{
	sennit_scheduler_retain(s);
}

static void name_in_release(void *s)
{
	sennit_scheduler_release(s);
}

static void name_in_shutdown(void *s)
{
	(void)!sennit_scheduler_shutdown(s, SENNIT_NEVER);
}

static void name_in_bind(void *s)
{
	(void)!sennit_thread_bind(s);
}

static void name_in_workers(void *s)
{
	(void)sennit_scheduler_workers(s);
}

static void name_in_stats(void *s)
{
	(void)fibers_of(s);
}

static void do_nothing(void *argument)
{
}

static void name_in_enqueue(void *s)
{
	const sennit_task t = { .run = do_nothing };

	(void)!sennit_schedule_task_on(s, &t);
}

static void see_span(void *context, const sennit_trace_span *span)
{
}

static void name_in_trace(void *s)
{
	sennit_trace_visit(s, see_span, NULL);
}

static void unbind_what_the_parent_bound(void *s)
{
	sennit_thread_unbind();
}

static void schedule_where_the_parent_was_bound(void *s)
{
	(void)!sennit_schedule(do_nothing, s);
}

TEST_WITH_WORKERS(to_name_it_in_the_child_is_misuse)
{
	static const struct {
		const char *call;
		child_fn   *run;
	} calls[] = {
		{ "sennit_scheduler_retain", name_in_retain },
		{ "sennit_scheduler_release", name_in_release },
		{ "sennit_scheduler_shutdown", name_in_shutdown },
		{ "sennit_thread_bind", name_in_bind },
		{ "sennit_scheduler_workers", name_in_workers },
		{ "sennit_scheduler_get_stats", name_in_stats },
		{ "sennit_schedule_task_on", name_in_enqueue },
		{ "sennit_trace_visit", name_in_trace },
		{ "sennit_thread_unbind", unbind_what_the_parent_bound },
		{ "sennit_schedule", schedule_where_the_parent_was_bound },
	};
	char text[2048];

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		assert_int_equal(
			in_a_child(calls[i].run, w->s, text, sizeof(text)),
			1000 + SIGABRT);
		drop_tools_words(text);
		assert_says(text, calls[i].call);
	}
}

#endif

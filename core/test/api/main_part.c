/* SPDX-License-Identifier: Apache-2.0 */
/* main_part.c - sennit_run: the function is a task of a scheduler of its own,
 * and all that it started has ended when the call returns with its result.
 */
#include "testing/child.h"
#include "testing/counting_allocator.h"
#include "fork_fib.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>

/* sennit_run, for functions whose results are none of its own errors. An error
 * leaves the result as it was. */
static int run_main(sennit_main_fn *run, void *argument,
		    const sennit_config *config)
{
	int       result = INT_MIN;
	const int err = sennit_run(run, argument, config, &result);

	EXPECT(!err || result == INT_MIN);
	return err ? err : result;
}

enum { LEFT = 100, ANSWER = 42 };

static sennit_config with_workers(uint32_t workers)
{
	return (sennit_config){ .size = sizeof(sennit_config),
				.workers = workers };
}

/* --- what it runs, and where --------------------------------------------- */

struct program {
	sennit_scheduler *s;
	pthread_t         ran_on;
	sennit_fiber     *ran_as;
	atomic_uint       runs;
	atomic_uint       left; /* tasks that have ended */
	sennit_event     *go;   /* NULL: they wait for nothing */
};

static void wait_and_count(void *program)
{
	struct program *p = program;

	sennit_yield();
	if (p->go)
		EXPECT(!sennit_event_wait_until(p->go, SENNIT_UNCANCELLED));
	atomic_fetch_add(&p->left, 1);
}

/* The newest one starts the next one. */
static void start_next(void *program)
{
	struct program *p = program;

	wait_and_count(p);
	if (atomic_load(&p->left) < LEFT)
		must_schedule(start_next, p);
}

static int play(void *program)
{
	struct program *p = program;

	p->s = sennit_scheduler_current();
	p->ran_on = pthread_self();
	p->ran_as = sennit_fiber_current();
	for (int i = 0; i < LEFT; i++)
		must_schedule(wait_and_count, p);
	atomic_fetch_add(&p->runs, 1);
	return ANSWER;
}

static void assert_played(struct program *p)
{
	assert_int_equal(atomic_load(&p->runs), 1);
	assert_int_equal(atomic_load(&p->left), LEFT);
	assert_non_null(p->s);
	assert_non_null(p->ran_as);
}

TEST_WITH_COUNTS(it_waits_for_all_that_the_function_started)
{
	sennit_config  c = with_workers(w->workers);
	struct program p = { .runs = 0 };

	assert_int_equal(run_main(play, &p, &c), ANSWER);
	assert_played(&p);
	assert_null(sennit_scheduler_current());
	/* On a worker, if there is one. */
	assert_int_equal(!!pthread_equal(p.ran_on, pthread_self()),
			 w->threads == 0);
}

static int start_chain(void *program)
{
	must_schedule(start_next, program);
	return -EXDEV;
}

TEST_WITH_COUNTS(it_waits_for_what_tasks_start)
{
	sennit_config  c = with_workers(w->workers);
	struct program p = { .runs = 0 };

	assert_int_equal(run_main(start_chain, &p, &c), -EXDEV);
	assert_int_equal(atomic_load(&p.left), LEFT);
}

TEST_ALONE(without_a_config_it_has_the_defaults)
{
	struct program p = { .runs = 0 };

	assert_int_equal(run_main(play, &p, NULL), ANSWER);
	assert_played(&p);
}

static int run_fib(void *n)
{
	return (int)SENNIT_FORK_RUN(fib, *(const unsigned *)n);
}

TEST_WITH_COUNTS(the_function_forks_and_joins)
{
	sennit_config c = with_workers(w->workers);
	unsigned      n = 15;

	assert_int_equal(run_main(run_fib, &n, &c), 610);
}

/* --- its name ----------------------------------------------------------- */

struct search {
	sennit_task_fn *wanted;
	unsigned        found;
};

static void look_for_task(void *search, const sennit_report_entry *e)
{
	struct search *s = search;

	s->found += e->task == s->wanted;
}

static unsigned count_shown(void (*function)(void))
{
	struct search s = { .wanted = (sennit_task_fn *)function };

	sennit_report_visit(sennit_scheduler_current(), look_for_task, &s);
	return s.found;
}

static int report_itself(void *unused)
{
	return (int)count_shown((void (*)(void))report_itself);
}

static void report_as_task(void *found)
{
	*(unsigned *)found = count_shown((void (*)(void))report_as_task);
}

/* A report names what the program wrote, not what the library wrapped it in. */
TEST_WITH_COUNTS(a_report_shows_the_function_as_the_task)
{
	sennit_config     c = with_workers(w->workers);
	sennit_scheduler *s = start_scheduler(w->workers);
	unsigned          found = 0;

	assert_int_equal(run_main(report_itself, NULL, &c), 1);
	assert_int_equal(sennit_scheduler_run(s, report_as_task, &found), 0);
	assert_int_equal(found, 1);
	end_scheduler(s);
}

/* --- errors ------------------------------------------------------------- */

static int must_not_run(void *program)
{
	atomic_fetch_add(&((struct program *)program)->runs, 1);
	return 0;
}

TEST_ALONE(without_a_scheduler_the_function_does_not_run)
{
	struct program p = { .runs = 0 };
	sennit_config  c = with_workers(SENNIT_WORKERS_MAX + 1);

	assert_int_equal(run_main(must_not_run, &p, &c), -EINVAL);
	c = with_workers(1);
	assert_int_equal(run_main(NULL, &p, &c), -EINVAL);
	c.size = 4;
	assert_int_equal(run_main(must_not_run, &p, &c), -EINVAL);
	assert_int_equal(atomic_load(&p.runs), 0);
}

static int get_zero(void *program)
{
	must_not_run(program);
	return ANSWER;
}

static int return_no_memory(void *unused)
{
	return -ENOMEM;
}

TEST_WITH_COUNTS(the_result_is_apart_from_the_errors)
{
	const sennit_config c = with_workers(w->workers);
	int                 result = 0;

	assert_int_equal(sennit_run(return_no_memory, NULL, &c, &result), 0);
	assert_int_equal(result, -ENOMEM);
	assert_int_equal(sennit_run(return_no_memory, NULL, &c, NULL), 0);
}

/* Each allocation fails once. */
static void fail_each(uint32_t workers)
{
	int      result = -ENOMEM;
	unsigned failing;

	for (failing = 1; result == -ENOMEM; failing++) {
		struct counting_allocator a = { .failing = failing };
		const sennit_allocator    memory = COUNTING_ALLOCATOR(&a);
		struct program            p = { .runs = 0 };
		sennit_config             c = with_workers(workers);

		c.allocator = &memory;
		result = run_main(get_zero, &p, &c);
		EXPECT(result == -ENOMEM || result == ANSWER);
		EXPECT(atomic_load(&p.runs) == (result == ANSWER));
		EXPECT(atomic_load(&a.live) == 0);
	}
	EXPECT(failing > 4); /* the first ones are needed */
}

TEST_WITH_COUNTS(without_memory_the_function_does_not_run)
{
	fail_each(w->workers);
}

/* --- from a fiber -------------------------------------------------------- */

/* Tasks of the inner scheduler wait for a task of the caller's thread. */
struct nested {
	struct program p;
	sennit_event   go;
	uint32_t       workers;
	int            result;
};

static void let_go(void *nested)
{
	sennit_event_set(&((struct nested *)nested)->go);
}

static void call_main(void *nested)
{
	struct nested    *n = nested;
	sennit_config     c = with_workers(n->workers);
	sennit_scheduler *mine = sennit_scheduler_current();

	n->p.go = &n->go;
	must_schedule_here(let_go, n);
	n->result = run_main(play, &n->p, &c);
	EXPECT(sennit_scheduler_current() == mine && n->p.s != mine);
}

static void assert_nested(struct nested *n)
{
	assert_int_equal(n->result, ANSWER);
	assert_played(&n->p);
}

TEST_WITH_WORKERS(a_bound_thread_waits_as_a_fiber_for_all_of_it)
{
	struct nested n = { .workers = 2 };

	call_main(&n);
	assert_nested(&n);
}

TEST_WITH_WORKERS(a_task_waits_as_a_fiber_for_all_of_it)
{
	struct nested n = { .workers = 1 };

	in_a_task(call_main, &n);
	assert_nested(&n);
}

static int call_main_as_member(void *nested)
{
	call_main(nested);
	return 0;
}

/* Neither the wait nor what runs inside follows the caller's group. */
static void call_in_group(sennit_time deadline, bool cancelled, int outcome)
{
	struct nested n = { .workers = 2 };
	sennit_group  g;

	sennit_group_init(&g, deadline, 0);
	assert_int_equal(sennit_group_spawn(&g, call_main_as_member, &n), 0);
	if (cancelled)
		sennit_group_cancel(&g);
	assert_int_equal(sennit_group_wait(&g), outcome);
	assert_nested(&n);
}

TEST_WITH_WORKERS(a_cancelled_group_does_not_reach_it)
{
	call_in_group(SENNIT_NEVER, true, -ECANCELED);
}

TEST_WITH_WORKERS(a_deadline_of_a_group_does_not_reach_it)
{
	call_in_group(1, false, 0);
}

/* --- several at once ----------------------------------------------------- */

static void *call_on_a_thread(void *program)
{
	sennit_config c = with_workers(2);

	return (void *)(intptr_t)run_main(play, program, &c);
}

TEST_ALONE(threads_that_call_at_once_have_a_scheduler_each)
{
	struct program p[4] = { { .runs = 0 } };
	pthread_t      t[4];

	for (int i = 0; i < 4; i++)
		assert_int_equal(
			pthread_create(&t[i], NULL, call_on_a_thread, &p[i]),
			0);
	for (int i = 0; i < 4; i++) {
		void *result;

		assert_int_equal(pthread_join(t[i], &result), 0);
		assert_int_equal((intptr_t)result, ANSWER);
		assert_played(&p[i]);
	}
}

/* --- signals, exit ------------------------------------------------------- */

static sennit_event arrived = SENNIT_EVENT_INIT(SENNIT_EVENT_MANUAL);
static atomic_uint  handled;

static void handle(int number)
{
	atomic_store(&handled, 1);
}

/* The signal goes to whichever thread the system chooses. */
static int signal_itself(void *unused)
{
	EXPECT(!kill(getpid(), SIGUSR1));
	while (!atomic_load(&handled))
		sennit_yield();
	return ANSWER;
}

TEST_WITH_COUNTS(a_signal_does_not_end_the_wait)
{
	sennit_config          c = with_workers(w->workers);
	const struct sigaction action = { .sa_handler = handle };
	struct sigaction       before;

	atomic_store(&handled, 0);
	assert_int_equal(sigaction(SIGUSR1, &action, &before), 0);
	assert_int_equal(run_main(signal_itself, NULL, &c), ANSWER);
	assert_int_equal(sigaction(SIGUSR1, &before, NULL), 0);
}

static void wait_for_ever(void *unused)
{
	(void)!sennit_event_wait_until(&arrived, SENNIT_UNCANCELLED);
}

/* Asked by LeakSanitizer, which does not see the main thread's stack from a
 * fiber that exits. */
static bool leaving;
int         __lsan_is_turned_off(void);
int         __lsan_is_turned_off(void)
{
	return leaving;
}

static int leave_by_exit(void *unused)
{
	must_schedule(wait_for_ever, unused);
	sennit_yield();
	exit(ANSWER);
}

TEST_WITH_COUNTS(exit_inside_ends_the_process_at_once)
{
	sennit_config c = with_workers(w->workers);
	pid_t         child = begin_child();
	int           status;

	if (!child) {
		leaving = true;
		_exit(sennit_run(leave_by_exit, NULL, &c, NULL) ? 1 : 2);
	}
	status = await_child(child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), ANSWER);
}

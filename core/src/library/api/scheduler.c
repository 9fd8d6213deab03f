/* SPDX-License-Identifier: Apache-2.0 */
/* scheduler.c - the calls of sennit/scheduler.h: create, bind, shut down, run.
 * */
#include "api/config.h"
#include "base/sized.h"
#include "base/text.h"
#include "local/names.h"
#include "life/end.h"
#include "life/bind.h"
#include "life/fork.h"
#include "life/start.h"
#include "trim/trim.h"
#include "life/worker_threads.h"
#include "observe/overflow.h"
#include "cpus/slots.h"
#include "observe/report.h"
#include "os/os.h"
#include "os/quota.h"
#include "sched/fiber.h"
#include "sched/worker.h"
#include "blocking/blocking.h"
#include "group/group.h"
#include "wait/wait.h"
#include "sennit/end.h"
#include "sennit/event.h"
#include "sennit/report.h"
#include "sennit/scheduler.h"
#include "sennit/task.h"
#include "sennit/wait_group.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Write ", task <name>" for the task that runs on f, if it has a name. */
static void describe_task(char *text, size_t size, struct sennit_fiber *f)
{
	char own[SENNIT_TASK_NAME_SIZE];
	char shown[4 * SENNIT_TASK_NAME_SIZE]; /* each byte may become \xNN */
	const char *name = own;

	if (!sn_task_name_read(&f->name, own))
		name = sn_task_names_get(
			(sennit_task_fn *)a_load_rlx(&f->state.task));
	if (!name)
		return;
	sn_escape(shown, sizeof(shown), name);
	snprintf(text, size, ", task %s", shown);
}

/* Describe the running worker and fiber, for messages. */
static void describe_caller(char *text, size_t size)
{
	struct worker *w = sn_self;
	uint32_t       thread = os_thread_id();
	char           task[4 * SENNIT_TASK_NAME_SIZE + 8] = "";

	if (w)
		describe_task(task, sizeof(task), w->home.current);
	if (!w)
		snprintf(text, size, "unbound thread %u", thread);
	else if (w->threaded)
		snprintf(text, size, "%s worker %u, fiber %u%s, thread %u",
			 w->scheduler->name, w->index, w->home.current->id,
			 task, thread);
	else
		snprintf(text, size, "thread %u bound to %s, fiber %u%s",
			 thread, w->scheduler->name, w->home.current->id, task);
}

static void print_report_of(void *scheduler)
{
	sennit_report_print(scheduler, STDERR_FILENO);
}

int sennit_scheduler_create(sennit_scheduler **out, const sennit_config *config)
{
	sennit_config c;
	const char   *field;
	int           err = sn_config_read(&c, config, &field);

	MISUSE(!out, "sennit_scheduler_create", "out is NULL");
	sn_check_describe(describe_caller);
	sn_debugger_keep();
	if (!err)
		err = sn_fork_exit_prepare();
	MISUSE(!err && c.resources &&
		       c.resources->process != a_load_rlx(&sn_process),
	       "sennit_scheduler_create",
	       "the resources belong to the parent process");
	if (!err && c.overflow == SENNIT_OVERFLOW_REPORT)
		sn_stack_overflow_watch();
	if (!err)
		err = sn_start(out, &c);
	if (!err)
		sn_deterministic_explain(print_report_of, *out);
	return err;
}

int sennit_config_check(const sennit_config *config, const char **field)
{
	sennit_config c;
	const char   *fault;
	int           err = sn_config_read(&c, config, &fault);

	if (err && field)
		*field = fault;
	return err;
}

sennit_scheduler *sennit_scheduler_retain(sennit_scheduler *s)
{
	MISUSE_INHERITED(s, "sennit_scheduler_retain");
	MISUSE(!sn_gate_retain(&s->gate), "sennit_scheduler_retain",
	       "the scheduler has ended: no reference is held");
	return s;
}

void sennit_scheduler_release(sennit_scheduler *s)
{
	MISUSE_INHERITED(s, "sennit_scheduler_release");
	sn_end_release(s);
}

int sennit_scheduler_shutdown(sennit_scheduler *s, sennit_time deadline)
{
	MISUSE_INHERITED(s, "sennit_scheduler_shutdown");
	MISUSE(sn_self && sn_self->scheduler == s, "sennit_scheduler_shutdown",
	       "called from the scheduler's own task or bound thread, which "
	       "would wait for itself");
	MISUSE(!sn_gate_references(&s->gate), "sennit_scheduler_shutdown",
	       "the caller has no reference to release");
	sn_check_deadline(deadline);
	return sn_end_wait(s, deadline) ? 0 : -ETIMEDOUT;
}

int sennit_thread_bind(sennit_scheduler *s)
{
	MISUSE_INHERITED(s, "sennit_thread_bind");
	MISUSE(sn_self, "sennit_thread_bind", "this thread is already bound");
	MISUSE(sn_group_open_count(), "sennit_thread_bind", SN_GROUP_LEFT_OPEN);
	return sn_bind(s);
}

void sennit_thread_unbind(void)
{
	struct worker *w = sn_self;

	MISUSE(!w, "sennit_thread_unbind",
	       "no scheduler is bound to this thread");
	MISUSE(w->threaded, "sennit_thread_unbind",
	       "a worker thread cannot be unbound");
	sn_longjmp_check(w);
	MISUSE(w->home.current != &w->main, "sennit_thread_unbind",
	       "called from a task, not from the thread's own stack");
	MISUSE(w->binding.leaving, "sennit_thread_unbind",
	       "called from a task that it runs, or after a task was left by "
	       "longjmp()");
	MISUSE(w->main.cleanup & CLEANUP_HELD, "sennit_thread_unbind",
	       "the thread holds a mutex or a reader-writer lock");
	MISUSE(sn_group_open_count(), "sennit_thread_unbind",
	       SN_GROUP_LEFT_OPEN);
	sn_unbind(w);
	FRAME_IS_KEPT();
}

sennit_scheduler *sennit_scheduler_current(void)
{
	return sn_self ? sn_self->scheduler : NULL;
}

uint32_t sennit_scheduler_workers(const sennit_scheduler *s)
{
	MISUSE_INHERITED(s, "sennit_scheduler_workers");
	return sn_worker_counts_target(
		&s->counts); /* any answer may be stale */
}

size_t sennit_scheduler_stack_size(const sennit_scheduler *s)
{
	MISUSE_INHERITED(s, "sennit_scheduler_stack_size");
	return s->config.stack_size;
}

void *sennit_scheduler_owner(const sennit_scheduler *s, const char *type)
{
	MISUSE(!type, "sennit_scheduler_owner", "there is no type");
	if (!s || !s->config.owner_type ||
	    strcmp(s->config.owner_type, type) != 0)
		return NULL;
	return s->config.owner;
}

int sennit_scheduler_set_workers(sennit_scheduler *s, uint32_t count)
{
	int err;

	MISUSE_INHERITED(s, "sennit_scheduler_set_workers");
	if (!count || count > s->capacity)
		return -EINVAL;
	if (!sn_gate_retain(&s->gate))
		return -ESHUTDOWN;
	err = sn_worker_threads_resize(s, count);
	sn_end_release(s);
	return err;
}

uint32_t sennit_cpu_count(void)
{
	return os_cpu_count();
}

void sennit_scheduler_trim(sennit_scheduler *s)
{
	MISUSE_INHERITED(s, "sennit_scheduler_trim");
	sn_trim_tell(s);
}

/* The counters are read while their owners write them: see sennit_stats. */
static void add_worker(sennit_stats *sum, struct counters_sum *done,
		       struct worker *w)
{
	uint64_t fibers = sn_counters_blocked(&w->counters);
	uint64_t stacks = sn_roster_count(&w->roster);

	sn_counters_add(done, &w->counters);
	sum->fibers += fibers;
	sum->stacks_idle += stacks > fibers ? stacks - fibers : 0;
	if (!w->threaded ||
	    sn_thread_is_present(&w->thread)) /* only a statistic */
		sum->trims_due += sn_trim_is_pending(w);
	sum->threads += w->threaded && /* only a statistic */
			sn_thread_is_present(&w->thread);
}

#define STATS_FIRST SIZE_THROUGH(sennit_stats, blocking_stuck_ms)
ENDS_WITH(sennit_stats, blocking_stuck_ms);

static void add_workers(sennit_stats *sum, sennit_scheduler *s)
{
	struct counters_sum done = { .tasks = 0 };
	struct binding     *b = NULL;

	for (uint32_t i = 0; i < s->capacity; i++)
		add_worker(sum, &done, s->workers[i]);
	os_lock(&s->bound.lock);
	sn_counters_join(&done, &s->bound.past);
	while ((b = sn_bound_next(&s->bound, b)))
		add_worker(sum, &done, sn_worker_bound(b));
	pthread_mutex_unlock(&s->bound.lock);
	sum->tasks = done.tasks;
	sum->steals = done.steals;
	sum->blocks = done.blocks;
	sum->parks = done.parks;
	sum->fibers_peak = done.fibers_peak;
}

static void add_stacks(sennit_stats *sum, sennit_scheduler *s)
{
	struct stacks_count stacks = sn_stacks_count(&s->stacks);

	sum->stacks = stacks.made;
	sum->stacks_idle += stacks.resting;
	sum->stacks_trimmed = stacks.trimmed;
	sum->stack_bytes = stacks.bytes;
	sum->stacks_unguarded = stacks.unguarded;
}

static void add_blocking(sennit_stats *sum, struct blocking_count c)
{
	sum->blocking_threads = c.threads;
	sum->blocking_waiting = c.waiting;
	sum->blocking_stuck_ms = c.stuck / SENNIT_MILLISECOND;
}

void sennit_scheduler_get_stats(sennit_scheduler *s, sennit_stats *stats)
{
	sennit_stats sum = { .size = sizeof(sum) };

	MISUSE_INHERITED(s, "sennit_scheduler_get_stats");
	MISUSE(!stats, "sennit_scheduler_get_stats", "stats is NULL");
	add_workers(&sum, s);
	sn_slots_count(s, &sum.active, &sum.waiting);
	add_stacks(&sum, s);
	add_blocking(&sum, sn_blocking_threads_count(&s->blocking));
	MISUSE(!sn_sized_write(stats, &sum, sizeof(sum), STATS_FIRST),
	       "sennit_scheduler_get_stats", "stats->size is not set");
}

/* --- run ------------------------------------------------------------------ */

/* sennit_scheduler_run and sennit_run of task.h. */

struct program {
	sennit_task_fn   *run;
	void             *argument;
	sennit_wait_group ended;
};

struct main_part {
	sennit_main_fn *run;
	void           *argument;
	int             result;
};

/* Reports show the program's function as the task from now on. */
static void show_task_function(void (*run)(void))
{
	sn_fiber_state_set_task(&sn_self->home.current->state,
				(sennit_task_fn *)run);
}

static void run_main_part(void *part)
{
	struct main_part *p = part;

	show_task_function((void (*)(void))p->run);
	p->result = p->run(p->argument);
}

static void run_program(void *program)
{
	struct program *p = program;

	if (p->run != run_main_part)
		show_task_function((void (*)(void))p->run);
	p->run(p->argument);
	(void)sennit_wait_group_done(&p->ended);
}

static int run_as_task(sennit_scheduler *s, sennit_task_fn *run, void *argument)
{
	struct program    p = { .run = run, .argument = argument };
	const sennit_task task = { .run = run_program, .argument = &p };
	int               err;

	sennit_wait_group_init(&p.ended, 1);
	err = sennit_schedule_task_on(s, &task);
	if (!err)
		sennit_wait_group_wait(&p.ended);
	return err;
}

/* Without workers a task runs on the thread that has scheduled it. */
static int run_bound(sennit_scheduler *s, sennit_task_fn *run, void *argument)
{
	int err = sennit_thread_bind(s);

	if (err)
		return err;
	err = run_as_task(s, run, argument);
	sennit_thread_unbind();
	return err;
}

static bool is_task_of(const sennit_scheduler *s)
{
	const struct worker *w = sn_self;

	return w && w->scheduler == s && w->home.current != &w->main;
}

int sennit_scheduler_run(sennit_scheduler *s, sennit_task_fn *run,
			 void *argument)
{
	MISUSE_INHERITED(s, "sennit_scheduler_run");
	if (!run)
		return -EINVAL;
	if (is_task_of(s)) {
		run(argument);
		return 0;
	}
	if (!s->capacity && !sn_self)
		return run_bound(s, run, argument);
	return run_as_task(s, run, argument);
}

/* --- main ----------------------------------------------------------------- */

/* On a thread that must not sleep: its fibers may be what the scheduler's last
 * tasks wait for. */
static int run_in_fiber(sennit_scheduler *s, struct main_part *p)
{
	sennit_event freed = SENNIT_EVENT_INIT(SENNIT_EVENT_MANUAL);
	int          err;

	s->end.freed = &freed; /* no one else knows *s yet */
	err = sennit_scheduler_run(s, run_main_part, p);
	sennit_scheduler_release(s);
	(void)!sennit_event_wait_until(&freed, SENNIT_UNCANCELLED);
	return err;
}

static int run_in_thread(sennit_scheduler *s, struct main_part *p)
{
	const int err = sennit_scheduler_run(s, run_main_part, p);

	(void)sn_end_wait(s, SENNIT_NEVER);
	return err;
}

int sennit_run(sennit_main_fn *run, void *argument, const sennit_config *config,
	       int *result)
{
	struct main_part  p = { .run = run, .argument = argument };
	sennit_scheduler *s;
	int               err;

	err = run ? sennit_scheduler_create(&s, config) : -EINVAL;
	if (err)
		return err;
	MISUSE(sn_self && !s->capacity, "sennit_run",
	       "without workers the function would run on the caller's thread, "
	       "which is bound or runs a task");
	err = sn_self ? run_in_fiber(s, &p) : run_in_thread(s, &p);
	if (!err && result)
		*result = p.result;
	return err;
}

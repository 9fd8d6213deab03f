/* SPDX-License-Identifier: Apache-2.0 */
/* run.c - sennit_run of task.h. */
#include "sennit/task.h"

#include "sennit/scheduler.h"
#include "sennit/wait_group.h"
#include "worker/fork_exit.h"

#include <errno.h>

struct program {
	sennit_task_fn   *run;
	void             *argument;
	sennit_wait_group ended;
};

static void run_program(void *program)
{
	struct program *p = program;

	p->run(p->argument);
	(void)sennit_wait_group_done(&p->ended);
}

static int run_as_task(sennit_scheduler *s, sennit_task_fn *run, void *argument)
{
	struct program    p = { .run = run, .argument = argument };
	const sennit_task task = { .run = run_program, .argument = &p };
	int               err;

	sennit_wait_group_init(&p.ended, 1);
	err = sennit_enqueue(s, &task);
	if (!err)
		sennit_wait_group_wait(&p.ended);
	return err;
}

/* Without workers a task runs on the thread that has scheduled it. */
static int run_bound(sennit_scheduler *s, sennit_task_fn *run, void *argument)
{
	int err = sennit_bind(s);

	if (err)
		return err;
	err = run_as_task(s, run, argument);
	sennit_unbind();
	return err;
}

static bool is_task_of(const sennit_scheduler *s)
{
	const struct worker *w = sn_self;

	return w && w->scheduler == s && w->home.current != &w->main;
}

int sennit_run(sennit_scheduler *s, sennit_task_fn *run, void *argument)
{
	MISUSE_INHERITED(s, "sennit_run");
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

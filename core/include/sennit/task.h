/* SPDX-License-Identifier: Apache-2.0 */
/* task.h - scheduling of tasks.
 *
 * A task is a function and its argument: a pointer, or a copy of any number of
 * bytes. It runs once, on one worker. It may schedule tasks and may block.
 * Until it has started another worker may steal it.
 */
#ifndef SENNIT_TASK_H
#define SENNIT_TASK_H

#include "sennit/scheduler.h"

SENNIT_BEGIN

typedef void sennit_task_fn(void *argument);

/* A flag of sennit_task: run on the worker or bound thread that schedules the
 * task; never stolen. Of these tasks the oldest starts first (see enum
 * sennit_order). It is misuse on a thread that is not bound to the
 * scheduler. */
#define SENNIT_TASK_SAME_THREAD UINT32_C(1)

/* A flag of sennit_task: a background task. A worker starts it only when it has
 * nothing else to do: no ready fiber, no task of its own and none to steal. On
 * a scheduler without workers it starts when the bound thread that scheduled it
 * waits or unbinds and has no other task. The oldest background task starts
 * first.
 *
 * So that none starves, one background task is started every 10 ms, even if
 * there is always other work. The first worker that has made 61 dispatches by
 * then starts it. Once started it is an ordinary task: nothing interrupts it,
 * and its fiber resumes in turn with all others. To schedule one takes a lock
 * that all background tasks share. With SENNIT_TASK_SAME_THREAD scheduling
 * returns -EINVAL. */
#define SENNIT_TASK_BACKGROUND UINT32_C(2)

/* Copies of up to this many bytes do not call the allocator, except when a
 * reused pool of blocks grows. */
#define SENNIT_COPY_SMALL 48

typedef struct sennit_task {
	sennit_task_fn *run;
	void           *argument;  /* passed to run; or, with copy_size > 0, the
				    * bytes to copy */
	size_t          copy_size; /* bytes to copy; 0: pass the pointer. The
				    * copy is aligned to 16 bytes and valid
				    * until run returns */
	uint32_t        flags;     /* SENNIT_TASK_* */
	uint32_t        reserved_; /* must be 0 */
} sennit_task;

/* Schedule run(argument) on the bound scheduler. Placement:
 *   - From a task, the new task goes to the task's worker. That worker runs it,
 *     or an idle worker steals it.
 *   - From a bound thread, and from a task with SENNIT_PLACEMENT_SPREAD, tasks
 *     go to the workers in turn. The worker runs it, or an idle worker takes a
 *     share of the tasks that the first has not looked at. Tasks that come one
 *     by one while all workers sleep go to the same one, until one waits there.
 *   - Without workers, the calling thread runs it when it blocks or unbinds.
 * It is misuse if no scheduler is bound.
 *
 * No task starves. In the default order a worker runs its newest task first.
 * But a task that is its oldest starts within 1 ms of the worker's running
 * time, whatever newer tasks and fibers do, or after two dispatches of these if
 * they take longer than 0.5 ms each. After a long one, tasks that are older
 * than the rest start one after the other for as long as it took, 64 at most.
 * So n of them start within n * 1 ms, apart from what they take themselves, if
 * they are short; at least one starts after each. Same-thread tasks and others
 * take turns. Where dispatches have just begun to take longer than those
 * before, the worker notices after 488 of them at the latest: beside a loop of
 * parallel.h, whose pieces take some 10 us, after 2.5 ms. A task that neither
 * waits nor ends holds its worker; nothing interrupts it.
 *
 * Once a task waits it stays with its worker. So tasks that wait are
 * distributed before they start, if all of them wait, or every k-th, k up to 8.
 * Of n tasks that will wait and that are sent in turn to W idle workers, no
 * worker starts more than 3/2 n/W + 4. If the tasks are with one worker, each
 * idle worker gets a share whenever that worker has begun 2 more waits: the
 * oldest tasks. So where those that wait are fewer, or are neighbours among
 * many that end, one worker may start most of them. A worker that is busy, or
 * is kept from running, may get fewer tasks, and others more.
 * Returns 0, -EINVAL if run is NULL, or -ENOMEM. On error nothing is scheduled.
 *
 * From: fiber.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_schedule(sennit_task_fn *run,
					       void           *argument);

/* Schedule run on a copy of the `size` bytes at *arguments. The copy is made
 * before the call returns, and run gets its address. With a size of 0 run gets
 * the pointer itself.
 * Returns 0, -EINVAL if run is NULL, or -ENOMEM. On error nothing is scheduled.
 *
 * From: fiber.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_schedule_copy(sennit_task_fn *run,
						    const void     *arguments,
						    size_t          size);

/* Schedule *task, with its flags, on the bound scheduler. *task may be reused
 * at once. It is misuse if no scheduler is bound.
 * Returns 0, -EINVAL if flags are unknown or exclude each other, if reserved_
 * is not 0 or if run is NULL, or -ENOMEM. On error nothing is scheduled.
 *
 * From: fiber.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_schedule_task(const sennit_task *task);

/* Schedule run(argument) on *s. The caller must hold a reference to *s or run a
 * task of it. If *s has no workers, the caller must be bound to *s or run one
 * of its tasks. Otherwise it need not be bound.
 * Returns 0, -EINVAL if run is NULL, -ENOMEM, or -ESHUTDOWN if *s has ended and
 * only a weak handle (end.h) keeps its memory.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_schedule_on(sennit_scheduler *s,
						  sennit_task_fn   *run,
						  void             *argument);

/* Like sennit_schedule_copy, on *s, under the conditions of sennit_schedule_on.
 * Returns what sennit_schedule_on returns.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_schedule_copy_on(sennit_scheduler *s,
						       sennit_task_fn   *run,
						       const void *arguments,
						       size_t      size);

/* Schedule *task, with its flags, on *s, under the conditions of
 * sennit_schedule_on. If the task is SENNIT_TASK_SAME_THREAD, the caller must
 * be bound to *s or run one of its tasks.
 * Returns 0, -EINVAL or -ENOMEM as sennit_schedule_task does, or -ESHUTDOWN as
 * sennit_schedule_on does.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_schedule_task_on(sennit_scheduler  *s,
						       const sennit_task *task);

/* --- many at once -------------------------------------------------------- */

/* Schedule tasks[0..count-1], with their flags, on the bound scheduler, in this
 * order, all or none. All tasks must have the same flags. They take the same
 * way, become visible in one step, and the call wakes at most one sleeping
 * worker, which has the next one woken if there is more to do. The array may be
 * reused at once. With a count of 0 the call does nothing. To wait for all of
 * them:
 *
 *	sennit_wait_group done;
 *
 *	sennit_wait_group_init(&done, n);	// each task calls ..._done
 *	err = sennit_schedule_many(tasks, n);
 *	if (!err)
 *		sennit_wait_group_wait(&done);
 *
 * From a task they go to the queue of its worker: the worker takes the last
 * task first, thieves take the first one first. From a bound thread they all go
 * to one worker, which begins with the first task, and from which others steal.
 * With SENNIT_PLACEMENT_SPREAD each worker gets a run of adjacent tasks.
 * Returns 0, -EINVAL if flags differ or as sennit_schedule_task does for any
 * task, or -ENOMEM. On error nothing is scheduled.
 *
 * From: fiber.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_schedule_many(const sennit_task *tasks,
						    size_t             count);

/* Like sennit_schedule_many, on *s, under the conditions of
 * sennit_schedule_on. Returns 0, -EINVAL or -ENOMEM as
 * sennit_schedule_many does, or -ESHUTDOWN as sennit_schedule_on does.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_schedule_many_on(sennit_scheduler  *s,
						       const sennit_task *tasks,
						       size_t count);

/* --- a program as a task -------------------------------------------------- */

/* A program's main part, for sennit_run. */
typedef int sennit_main_fn(void *argument);

/* Create a scheduler as *config says (NULL: all defaults), run run(argument) as
 * a task of it, and return when that task, all tasks that it has started and
 * the scheduler have ended. This is all that most programs need:
 *
 *	static int program(void *unused);
 *
 *	int main(void)
 *	{
 *		int result;
 *
 *		return sennit_run(program, NULL, NULL, &result) || result;
 *	}
 *
 * The function runs on a worker's thread. So its fork-joins cost what those of
 * any task do; it has a stack of sennit_config.stack_size bytes; and it is not
 * on the thread that called. A program of which a library demands the main
 * thread calls sennit_thread_bind instead. The caller's thread sleeps
 * meanwhile, and signals of the process may be handled there. exit() may be
 * called in the function, as in any task; it waits for nothing.
 *
 * When the call returns, the allocator is not used any more, unless a task has
 * left a weak handle.
 *
 * A bound thread and a task may call it as well, and wait as fibers; the
 * caller's group does not reach the new scheduler. The last threads of the
 * scheduler may then still be about to end when the call returns. With
 * SENNIT_WORKERS_NONE the function runs on the caller's thread, in a task; it
 * is misuse then on a thread that is bound, and in a task.
 * Returns 0, and stores what the function returned in *result unless result is
 * NULL. If the function was not run, returns -EINVAL if it is NULL, or an error
 * of sennit_scheduler_create.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_run(sennit_main_fn *run, void *argument,
					  const sennit_config *config,
					  int                 *result);

/* Run run(argument) as a task of *s, and return when it has ended. A bound
 * thread is not a worker: its tasks run on other threads, and so do the tasks
 * that it waits for. A program that forks and joins often should therefore run
 * its main part by this call, on a thread that is not bound:
 *
 *	err = sennit_scheduler_create(&s, NULL);
 *	if (!err)
 *		err = sennit_scheduler_run(s, program, &arguments);
 *
 * The function has a stack of the scheduler, sennit_config.stack_size bytes,
 * and may do what a task may do. A thread that is bound, or a task of another
 * scheduler, waits as a fiber meanwhile; any other thread sleeps. From a task
 * of *s, run is called at once. Without workers, the thread is bound while the
 * call lasts if it is not bound to *s; it is misuse then if it is bound to
 * another scheduler. Tasks that run has left may still run when the call
 * returns.
 * Returns 0, -EINVAL if run is NULL, -ENOMEM, or -ESHUTDOWN as
 * sennit_schedule_on does. On error nothing was run.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_scheduler_run(sennit_scheduler *s,
						    sennit_task_fn   *run,
						    void             *argument);

/* --- names --------------------------------------------------------------- */

/* The number of functions that can be given a name. */
#define SENNIT_FUNCTION_NAMES 1024

/* Name the tasks that run the function, in reports and messages of misuse, in
 * the whole process. The name must stay valid for ever; usually it is a
 * literal. NULL removes the name, but the function keeps its place among the
 * SENNIT_FUNCTION_NAMES functions.
 * Returns 0, -EINVAL if run is NULL, or -ENOSPC if SENNIT_FUNCTION_NAMES
 * functions have been given a name.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API int sennit_function_set_name(sennit_task_fn *run, const char *name);

/* Return the name of the function, or NULL if it has none.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API const char *sennit_function_name(sennit_task_fn *run);

/* The size of a running task's own name in bytes, including the 0 at its
 * end. */
#define SENNIT_TASK_NAME_SIZE 32

/* --- arguments made in place -------------------------------------------- */

/* Allocate memory for an argument of `size` bytes, aligned to 16 bytes, from
 * *s, or from the bound scheduler if s is NULL. It comes from where copies of
 * arguments come from: up to SENNIT_COPY_SMALL bytes need no call to the
 * allocator. Use it for objects that cannot be copied as bytes, for example
 * objects of C++: construct the object there, pass its address to a task, and
 * free the memory when the task is done with it. It is misuse if s is NULL and
 * no scheduler is bound.
 * Returns NULL if there is no memory.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE void *sennit_argument_alloc(sennit_scheduler *s,
						       size_t            size);

/* Free memory that was allocated from the same scheduler with the same size,
 * before that scheduler ends. The task itself may do so, at any time, or any
 * other caller.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_argument_free(sennit_scheduler *s, void *argument,
				     size_t size);

SENNIT_END

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* stack_use.h - how much of their stacks tasks need, by function.
 *
 * To size stacks: run a program's worst cases with sennit_config.measure_stacks
 * and stacks that are large enough, look, and set stack_size to the largest
 * `least` with room to spare for what those cases have not met.
 *
 * Exact to the word: each stack is painted beforehand, and the lowest word that
 * changed is looked for when a task ends. So of the deepest frame only what was
 * written counts, and what signal handlers and waits have put below it counts
 * as well.
 *
 * While measuring each stack costs its whole size in memory from the start, and
 * a task some microseconds more; members of groups and forks have stacks of
 * their own instead of running on that of whoever waits for them, and
 * reductions are cut less. Not measured are tasks that have not ended (members
 * of a group have when its wait returns), what a bound thread runs on its own
 * stack, and blocking calls. Under AddressSanitizer and ThreadSanitizer frames
 * are others, and larger.
 */
#ifndef SENNIT_STACK_USE_H
#define SENNIT_STACK_USE_H

#include "sennit/task.h"

SENNIT_BEGIN

/* What the tasks of one function have used. */
typedef struct sennit_stack_use {
	size_t          size;    /* sizeof(sennit_stack_use) in the library's
				  * build */
	sennit_task_fn *task;    /* the function; NULL: all those that came
				  * after 1024 others */
	const char     *name;    /* its name (sennit_task_set_name), or NULL */
	uint64_t        tasks;   /* how many have ended */
	size_t          deepest; /* bytes that the deepest of them used, with
				  * what the library needed below it */
	size_t          least;   /* a stack_size in which that fits; above
				  * 16 KiB twice as much, for a member that
				  * runs on its opener's stack finds half of
				  * it. A function that never does so needs
				  * `deepest`, 1.5 KiB and a page */
} sennit_stack_use;

/* Call visit(context, use) for each function whose tasks have ended since *s
 * began, in no order. Members of groups, forks and the nodes of DAGs count by
 * their functions too, cast. *use is valid until visit returns. Nothing is
 * visited without sennit_config.measure_stacks. Tasks may go on meanwhile.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_scheduler_stack_report(
	sennit_scheduler *s,
	void (*visit)(void *context, const sennit_stack_use *use),
	void *context);

/* Write that to the file descriptor, a line per function which begins with the
 * bytes, as `sort -n` likes it. Functions without a name are named as
 * sennit_scheduler_print_report does. Allocates nothing. The text is for people
 * and may change with any release.
 *
 * From: fiber, thread.  Blocks: yes (the thread, while it writes).  */
SENNIT_API void sennit_scheduler_print_stacks(sennit_scheduler *s, int fd);

SENNIT_END

#endif

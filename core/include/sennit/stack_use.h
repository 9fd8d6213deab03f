/* SPDX-License-Identifier: Apache-2.0 */
/* stack_use.h - measurement of how much stack tasks use, by function.
 *
 * To choose a stack size: run the worst cases of the program with
 * sennit_config.measure_stacks and with stacks that are large enough, read the
 * report, and set stack_size to the largest `least`, with a margin for cases
 * that the run did not cover.
 *
 * The measurement is exact to the word. The library fills each stack with a
 * pattern beforehand and looks for the lowest changed word when a task ends. So
 * only the written part of the deepest frame counts, and so does what signal
 * handlers and waits wrote below it.
 *
 * While it measures, each stack takes its whole size in memory from the start,
 * and each task takes some microseconds more. Members of groups and forks run
 * on stacks of their own instead of the waiting task's stack, and reductions
 * are split less. The measurement does not cover tasks that have not ended
 * (members of a group have ended when its wait returns), code that a bound
 * thread runs on its own stack, and blocking calls. Under AddressSanitizer and
 * ThreadSanitizer frames are different and larger.
 *
 * Experimental: what this header declares may change in each minor version.
 */
#ifndef SENNIT_STACK_USE_H
#define SENNIT_STACK_USE_H

#include "sennit/task.h"

SENNIT_BEGIN

/* How much stack the tasks of one function have used. */
typedef struct sennit_stack_use {
	size_t          size; /* sizeof(sennit_stack_use) in the library's
				  * build */
	sennit_task_fn *task; /* the function; NULL: all functions after the
				  * first 1024 */
	const char     *name; /* its name (sennit_function_set_name), or NULL */
	uint64_t        tasks;   /* number of tasks that have ended */
	size_t          deepest; /* bytes that the deepest task used, including
				  * what the library needed below it */
	size_t          least;   /* a stack_size in which that fits. Above 16
				  * KiB it is twice that, since a member that
				  * runs on its opener's stack finds half of it.
				  * A function that never runs so needs
				  * `deepest`, 1.5 KiB and a page */
} sennit_stack_use;

/* Call visit(context, use) for each function whose tasks have ended since *s
 * was created, in no particular order. Members of groups, forks and the nodes
 * of DAGs also count by their functions, cast to sennit_task_fn. *use is valid
 * until visit returns. Without sennit_config.measure_stacks nothing is visited.
 * Tasks may run during the call.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_stack_use_visit(
	sennit_scheduler *s,
	void (*visit)(void *context, const sennit_stack_use *use),
	void *context);

/* Write the report to the file descriptor, one line per function. A line begins
 * with the number of bytes, so `sort -n` sorts the report. Functions without a
 * name are named as in sennit_report_print. The call allocates
 * nothing. The text is for people and may change with any release. Returns 0 or
 * the error of the first write() that failed, as a negative errno; no line is
 * written after it.
 *
 * From: fiber, thread.  Blocks: yes (the thread, while it writes).  */
SENNIT_API int sennit_stack_use_print(sennit_scheduler *s, int fd);

SENNIT_END

#endif

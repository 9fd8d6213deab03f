/* SPDX-License-Identifier: Apache-2.0 */
/* report.h - what reports and debuggers read of a scheduler. */
#ifndef SN_REPORT_H
#define SN_REPORT_H

#include "os/os.h"
#include "sched/state.h"
#include "sennit/detail/debugger.h"
#include "sennit/report.h"

#define SN_REPORT_WAITS (SENNIT_WAITS_FOR_MEMBERS + 1)

/* Read the entry of f, a fiber of w. e->name may point to `name`. Returns false
 * if f runs no task. */
bool sn_report_read(struct worker *w, struct sennit_fiber *f,
		    sennit_report_entry *e, char name[SENNIT_TASK_NAME_SIZE]);

/* Return the number of tasks that ended, waits that began and fibers that
 * resumed in *s. The number only grows. If it is the same before and after a
 * report, and no worker was awake, then all entries were true at the same
 * time. */
uint64_t sn_report_version(sennit_scheduler *s);

/* The parts of sennit_report_print: the fibers of *s, and the waits
 * whose holder is known; NULL: in all schedulers. */
void sn_report_print_fibers(sennit_scheduler *s, struct os_lines *lines);
void sn_report_print_graph(sennit_scheduler *s, struct os_lines *lines);

/* Write the name of the function. If libsennit-diag is loaded, any function
 * whose file is not stripped has a name, otherwise only exported ones have. Not
 * for signal handlers. */
void sn_report_function_name(uintptr_t function, char *text, size_t size);

/* The names of enum sennit_waits_for, for people. */
extern const char *const sn_report_waits[SN_REPORT_WAITS];

/* --- descriptor ----------------------------------------------------------- */

/* Keep the descriptor, which nothing in the process reads. Without a use that
 * the compiler cannot analyse, archives, --gc-sections and link-time
 * optimisation would remove it. */
static inline void sn_debugger_keep(void)
{
	__asm__ volatile("" : : "r"(&sennit_debug_descriptor));
}

/* --- scheduler list ------------------------------------------------------- */

/* All schedulers of the process, for debuggers.
 *
 * A scheduler is in the list from before its first thread starts until its
 * parts are freed. A debugger stops the process at any moment and takes no
 * lock. So a walk forward from the head must only reach links in valid memory
 * at all times.
 *
 * The child of a fork begins with an empty list: the schedulers that it has
 * inherited have no threads.
 */

/* Under the list's lock: the `in_list` of the first scheduler; NULL: none. */
extern struct link *sn_scheduler_list;

void sn_scheduler_list_join(sennit_scheduler *s);
/* Called when *s has been created successfully. The caller holds a
 * reference. */
void sn_scheduler_list_set_ready(sennit_scheduler *s);

void sn_scheduler_list_leave(sennit_scheduler *s);

/* Store up to `size` schedulers that are ready and have not ended in out[],
 * with a reference to each. Returns their number. */
size_t sn_scheduler_list_retain(sennit_scheduler *out[], size_t size);

/* Return its number. No other scheduler of the process ever has it. */
uint64_t sn_scheduler_list_number(const sennit_scheduler *s);

/* Return the scheduler with that number, with a reference; NULL: it has
 * ended. */
sennit_scheduler *sn_scheduler_list_find(uint64_t number);

/* In the child of a fork, before anything else uses the list. */
void sn_scheduler_list_fork(void);

#endif

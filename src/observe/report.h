/* SPDX-License-Identifier: Apache-2.0 */
/* report.h - what is read of a scheduler from outside: by reports, and by
 * debuggers. */
#ifndef SN_REPORT_H
#define SN_REPORT_H

#include "sched/state.h"
#include "sennit/debugger.h"
#include "sennit/report.h"

#define SN_REPORT_WAITS (SENNIT_WAITS_FOR_MEMBERS + 1)

/* Read what the report says of f, a fiber of w. e->name may point to `name`.
 * Returns false if f runs no task. */
bool sn_report_read(struct worker *w, struct sennit_fiber *f,
		    sennit_report_entry *e, char name[SENNIT_NAME_SIZE]);

/* The sum of all counts of tasks that ended, waits that began and fibers that
 * went on, in *s. They only grow. If it is the same before and after a report,
 * all entries were true at once, if no worker was awake. */
uint64_t sn_report_version(sennit_scheduler *s);

/* The parts of sennit_scheduler_print_report: the fibers of *s, and who waits
 * for whom; NULL: in all schedulers. */
void sn_report_print_fibers(sennit_scheduler *s, int fd);
void sn_report_print_graph(sennit_scheduler *s, int fd);

/* Write the name of the function: where libsennit-diag is loaded that of any
 * function whose file is not stripped, otherwise only of those that are
 * exported. Not for signal handlers. */
void sn_report_function_name(uintptr_t function, char *text, size_t size);

/* The names of enum sennit_waits_for, for people. */
extern const char *const sn_report_waits[SN_REPORT_WAITS];

/* --- descriptor ----------------------------------------------------------- */

/* Nothing reads the descriptor in the process. A use that the compiler cannot
 * see through makes archives, --gc-sections and link-time optimisation keep
 * it. */
static inline void sn_debugger_keep(void)
{
	__asm__ volatile("" : : "r"(&sennit_debug_descriptor));
}

/* --- scheduler list ------------------------------------------------------- */

/* All schedulers of the process, for debuggers.
 *
 * A scheduler is in the list from before its first thread starts until its
 * parts are freed. A debugger stops the process and takes no lock, so at any
 * moment a walk forward from the head must reach links that are valid memory.
 *
 * The child of a fork begins with an empty list: the schedulers that it has
 * inherited have no threads.
 */

/* Under the list's lock: the first one's `in_list`; NULL: none. */
extern struct link *sn_scheduler_list;

void sn_scheduler_list_join(sennit_scheduler *s);
/* Its creation has succeeded, and the caller holds a reference. */
void sn_scheduler_list_set_ready(sennit_scheduler *s);

void sn_scheduler_list_leave(sennit_scheduler *s);

/* Store up to `size` schedulers that are ready and have not ended in out[],
 * with a reference to each. Returns their number. */
size_t sn_scheduler_list_retain(sennit_scheduler *out[], size_t size);

/* In the child of a fork, before anything else uses the list. */
void sn_scheduler_list_fork(void);

#endif

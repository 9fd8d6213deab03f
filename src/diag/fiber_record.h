/* SPDX-License-Identifier: Apache-2.0 */
/* fiber_record.h - reads schedulers, workers and fibers as a debugger does: by
 * sennit_debug_descriptor, without locks, from memory that may change or vanish
 * meanwhile. All addresses are numbers, because nothing may follow them but
 * own_memory.h. */
#ifndef SN_FIBER_RECORD_H
#define SN_FIBER_RECORD_H

#include "sennit/debugger.h"
#include "sennit/report.h"

#include <stdbool.h>

struct worker_record {
	uintptr_t at;
	uintptr_t current; /* the fiber that runs, or is about to */
	uintptr_t main;    /* the fiber of the thread's own stack */
	uint32_t  index;   /* UINT32_MAX: bound */
	uint32_t  thread;
	uint64_t  clock;
};

struct fiber_record {
	uintptr_t at;
	uintptr_t context;
	uintptr_t low; /* 0: a thread's own stack */
	uintptr_t worker;
	uintptr_t task;
	uintptr_t object;
	uintptr_t identity;
	uintptr_t scope;
	uintptr_t owner; /* address of the owner word of the lock that it waits
			  * for; 0: none */
	uint64_t  since;
	uint64_t  deadline;
	uint32_t  id;
	uint32_t  doing;
	char      name[SENNIT_NAME_SIZE]; /* "": none */
};

/* A list of addresses, which free() ends. A list that changes while it is read
 * is read again; `pauses` is how often a list that breaks each time may have a
 * pause of 5 ms, for the thread that changes it to go on. */
struct address_list {
	uintptr_t *items;
	size_t     count;
	size_t     room;
	unsigned   pauses;
	uintptr_t  broken_at; /* where it cannot be read, or does not lead back:
			       * the rest is missing. 0: it is whole */
};

/* Return false if the record cannot be read, or, of a fiber, says what none
 * says. */
bool sn_worker_record_read(struct worker_record *w, uintptr_t at);
bool sn_fiber_record_read(struct fiber_record *f, uintptr_t at);

/* Fill the list. Lists in memory that has been freed or overwritten break.
 * Return false if there is no memory. */
bool sn_record_list_schedulers(struct address_list *l);
bool sn_record_list_workers(struct address_list *l, uintptr_t scheduler);
bool sn_record_list_fibers(struct address_list *l, uintptr_t worker);

void sn_record_scheduler_name(uintptr_t scheduler, char *name, size_t size);

/* Write the name that sennit_task_set_name has given the function; "": none. */
void sn_record_function_name(uintptr_t function, char *name, size_t size);

static inline uint32_t sn_fiber_record_state(const struct fiber_record *f)
{
	return f->doing & sennit_debug_descriptor.doing_state;
}

/* Whether a task is alive on the stack. */
static inline bool sn_fiber_record_is_alive(const struct fiber_record *f)
{
	return f->task || sn_fiber_record_state(f) != SENNIT_REPORT_RUNNING;
}

/* The words of the report. name is that of f, which must live as long. */
void sn_fiber_record_report(const struct fiber_record  *f,
			    const struct worker_record *w,
			    sennit_report_entry        *e);

#endif

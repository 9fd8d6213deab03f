/* SPDX-License-Identifier: Apache-2.0 */
/* fibers.h - reads schedulers, workers and fibers as a debugger does: by
 * sennit_debug_descriptor, without locks, from memory that may change or vanish
 * meanwhile. All addresses are numbers, because nothing may follow them but
 * unwind.h. */
#ifndef SN_FIBERS_H
#define SN_FIBERS_H

#include "diag/unwind.h"
#include "base/wait_cycles.h"
#include "sennit/debugger.h"
#include "sennit/report.h"

#include <signal.h>
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
	uintptr_t site; /* where that was spawned; 0: not known */
	uintptr_t object;
	uintptr_t identity;
	uintptr_t scope;
	uintptr_t owner; /* address of the owner word of the lock that it waits
			  * for; 0: none */
	void     *reads[WAIT_NODES_READS]; /* locks that it holds as a reader;
					    * NULL: none */
	uint64_t  since;
	uint64_t  deadline;
	uint32_t  id;
	uint32_t  doing;
	uint32_t  helper; /* the thread that makes its blocking call; 0: none */
	char      name[SENNIT_NAME_SIZE]; /* "": none */
};

/* A list of addresses. Its memory is `few` as long as that suffices, so that
 * without memory there are the first addresses at least. A list that changes
 * while it is read is read again; `pauses` is how often a list that breaks each
 * time may have a pause of 5 ms, for the thread that changes it to go on. */
struct address_list {
	uintptr_t *items;
	size_t     count;
	size_t     room;
	uintptr_t *few; /* NULL: none */
	size_t     few_room;
	unsigned   pauses;
	uintptr_t  broken_at; /* where it cannot be read, or does not lead back:
			       * the rest is missing. 0: it is whole */
};

void sn_address_list_free(struct address_list *l);

/* Return false if the record cannot be read, or, of a fiber, says what none
 * says. */
bool sn_worker_record_read(struct worker_record *w, uintptr_t at);
bool sn_fiber_record_read(struct fiber_record *f, uintptr_t at);

/* Several fibers, read by one system call. */
#define FIBERS_BATCH 16u
#define FIBER_SIZE   2048u
struct fiber_records {
	size_t              count;
	uintptr_t           at[FIBERS_BATCH];     /* set by the caller */
	struct fiber_record fibers[FIBERS_BATCH]; /* `at` is 0 if
						   * sn_fiber_record_read would
						   * return false */
	char                bytes[FIBERS_BATCH][FIBER_SIZE];
};
void sn_fiber_records_read(struct fiber_records *r);

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

/* --- signals -------------------------------------------------------------- */

typedef void signal_handler(int number, siginfo_t *info, void *interrupted);

/* Have the handler called at the signal, on a stack of its own where the thread
 * has one. Returns false if the program has a handler for it. */
bool sn_signal_take(int number, signal_handler *handler);

/* The time of the system's clock, in milliseconds, not that of a deterministic
 * run. Async-signal-safe. */
uint64_t sn_clock_ms(void);

/* --- thread sample -------------------------------------------------------- */

/* Where another thread of the process is: its registers, and a copy of the
 * stack that it is on, taken by itself in a signal handler.
 *
 * One sample at a time: callers hold a lock of their own. */

#define THREAD_SAMPLE_COPY ((size_t)32 * 1024)

/* How long a thread has to answer. */
#define THREAD_SAMPLE_WAIT_MS 200

struct thread_sample {
	struct call_frame        frame;
	struct call_frame_memory memory; /* valid until the next sample */
};

/* Set *f to the registers of a context at the address `base`, whose bytes were
 * copied to `bytes`. Returns false if the processor is not known. */
bool sn_call_frame_begin(struct call_frame                 *f,
			 const struct sennit_debug_context *layout,
			 uintptr_t base, const char *bytes);

/* Whether a signal can be used: no handler of the program is in the way. */
bool sn_thread_sample_is_possible(void);

/* If `ask` is false, only a kept sample is taken. Returns false if the thread
 * has not answered in time, or has ended. */
bool sn_thread_sample_take(struct thread_sample *s, uint32_t thread, bool ask);

/* Keep where the thread is, which will not go on: it runs the handler of a
 * signal that has this context. Once. Async-signal-safe. */
void sn_thread_sample_keep(uint32_t thread, const void *context);

/* The stack pointer of a thread that is blocked in the kernel; 0: it runs, or
 * the kernel does not say. */
uintptr_t sn_thread_blocked_at(uint32_t thread);

/* Copy the stack of such a thread, as far as there is room. Of its registers
 * only the stack pointer and the program counter become known. No signal is
 * sent, so the system call is not disturbed. Returns false if it ran meanwhile,
 * or the kernel does not say. */
bool sn_thread_blocked_copy(uint32_t thread, struct thread_sample *s,
			    char copy[THREAD_SAMPLE_COPY]);

/* The number of the system call that such a thread is in; -1: none. */
long sn_thread_system_call(uint32_t thread);

/* --- damage --------------------------------------------------------------- */

/* What a visit of all fibers finds damaged, told in a line each.
 *
 * A record that ends while it is read looks damaged as well. So what seems
 * damaged is told only if it is still listed where it was found. */

#define DAMAGE_LINE 256u

typedef void damage_teller(void *context, const char *line);

struct damage {
	damage_teller *tell; /* NULL: nobody is told */
	void          *context;
	bool     is_given; /* the caller named the scheduler: it is there */
	unsigned count;    /* so far */
	struct address_list again;
};

/* Something of the scheduler's is damaged, or, unless worker is 0, of that
 * worker's, if they are still there. `name` is the scheduler's. */
void sn_damage_add(struct damage *d, uintptr_t scheduler, uintptr_t worker,
		   const char *name, const char *what, uintptr_t at);

/* The fiber was listed by the worker, and its record made no sense. Whether
 * that lasts. */
bool sn_damage_is_lasting(struct damage *d, const struct worker_record *w,
			  uintptr_t fiber);

/* --- suspended stack ------------------------------------------------------ */

/* The copy of a stack, and the proof that the stack was suspended while it was
 * copied. For a fiber f of a worker w:
 *
 *   1. f's state word says that f waits, or is ready (struct fiber_before).
 *   2. w is somewhere else, on another stack than f's: the caller knows that.
 *   3. The stack is copied (sn_suspended_stacks_copy).
 *   4. w->current is not f, and f's state word names the same wait
 *      (sn_suspended_stacks_check).
 *
 * 1 and 2 prove that w has left f after f began the wait. A fiber that is
 * resumed becomes w->current before it changes its stack, and its state word
 * changes before w->current does so again. So 4 proves that f was not resumed
 * before the copy was complete. sn_own_memory_barrier() stands between 1 and 2,
 * and between 3 and 4. */

/* What a fiber was before its worker was found somewhere else. */
struct fiber_before {
	uintptr_t at;
	uintptr_t context;
	uintptr_t low;
	uintptr_t task;
	uint32_t  doing;
};

struct suspended_stack {
	struct fiber_before        before; /* set by the caller */
	const struct fiber_record *seen;   /* if it is whole */
	struct call_frame          frame;
	size_t                     size; /* of the copy */
	bool                       is_whole;
	char                       copy[THREAD_SAMPLE_COPY];
};

/* Whether f runs, or waits, as before. */
bool sn_fiber_before_is_same(const struct fiber_before *b,
			     const struct fiber_record *f);

/* Copy the stacks, FIBERS_BATCH at most, of fibers of the worker. */
void sn_suspended_stacks_copy(struct suspended_stack *s, size_t count);

/* Find which of the copies are whole: of fibers that were suspended all the
 * time. *r is where they are read. */
void sn_suspended_stacks_check(struct suspended_stack *s, size_t count,
			       uintptr_t worker, struct fiber_records *r);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* fibers.h - reads schedulers, workers and fibers like a debugger: with
 * sennit_debug_descriptor, without locks, from memory that may change or be
 * unmapped at any time. All addresses are integers, because only the functions
 * of unwind.h may read through them. */
#ifndef SN_FIBERS_H
#define SN_FIBERS_H

#include "unwind.h"
#include "base/wait_cycles.h"
#include "sennit/detail/debugger.h"
#include "sennit/report.h"

#include <signal.h>
#include <stdbool.h>

struct worker_record {
	uintptr_t at;
	uintptr_t current; /* the fiber that runs, or is about to run */
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
	uintptr_t site; /* return address of the call that spawned the task; 0:
			 * not known */
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
	uint32_t  helper; /* the TID of the thread that makes its blocking call;
			   * 0: none */
	char      name[SENNIT_TASK_NAME_SIZE]; /* "": none */
};

/* A list of addresses. Its memory is `few` as long as that suffices, so that
 * without memory the first addresses are available at least. A list that
 * changes during the read is read again. If it breaks each time, the reader
 * pauses for 5 ms up to `pauses` times, so that the thread that changes it can
 * finish. */
struct address_list {
	uintptr_t *items;
	size_t     count;
	size_t     room;
	uintptr_t *few; /* NULL: none */
	size_t     few_room;
	unsigned   pauses;
	uintptr_t  broken_at; /* where it cannot be read or its links do not
			       * match, so that the rest is missing. 0: it is
			       * complete */
};

void sn_address_list_free(struct address_list *l);

/* Read the record at `at`. Return false if it cannot be read, or if a fiber's
 * record has values that no fiber has. */
bool sn_worker_record_read(struct worker_record *w, uintptr_t at);
bool sn_fiber_record_read(struct fiber_record *f, uintptr_t at);

/* Several fibers, read with one system call. */
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

/* Fill the list. Reading stops in memory that has been freed or overwritten.
 * Return false if there is no memory. */
bool sn_record_list_schedulers(struct address_list *l);
bool sn_record_list_workers(struct address_list *l, uintptr_t scheduler);
bool sn_record_list_fibers(struct address_list *l, uintptr_t worker);

void sn_record_scheduler_name(uintptr_t scheduler, char *name, size_t size);

/* Write the name that sennit_function_set_name has given the function; "":
 * none. */
void sn_record_function_name(uintptr_t function, char *name, size_t size);

static inline uint32_t sn_fiber_record_state(const struct fiber_record *f)
{
	return f->doing & sennit_debug_descriptor.doing_state;
}

/* Report whether the stack has a live task. */
static inline bool sn_fiber_record_is_alive(const struct fiber_record *f)
{
	return f->task || sn_fiber_record_state(f) != SENNIT_REPORT_RUNNING;
}

/* Fill *e as a report does. e->name becomes that of f, so *f must outlive
 * *e. */
void sn_fiber_record_report(const struct fiber_record  *f,
			    const struct worker_record *w,
			    sennit_report_entry        *e);

/* --- signals -------------------------------------------------------------- */

typedef void signal_handler(int number, siginfo_t *info, void *interrupted);

/* Install the handler for the signal, on the alternate signal stack of a thread
 * that has one. Returns false if the program has a handler for the signal. */
bool sn_signal_take(int number, signal_handler *handler);

/* Return the time of the system's clock in milliseconds, not that of a
 * deterministic run. Async-signal-safe. */
uint64_t sn_clock_ms(void);

/* --- thread sample -------------------------------------------------------- */

/* Where another thread of the process is: its registers and a copy of its
 * current stack, which the thread takes itself in a signal handler.
 *
 * Only one sample is taken at a time: callers hold a lock of their own. */

#define THREAD_SAMPLE_COPY ((size_t)32 * 1024)

/* How long to wait for a thread's answer. */
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

/* Report whether the signal can be used: the program has no handler for it. */
bool sn_thread_sample_is_possible(void);

/* Take a sample of the thread. If `ask` is false, send no signal and only use a
 * sample that sn_thread_sample_keep has kept. Returns false if the thread has
 * not answered in time, or has ended. */
bool sn_thread_sample_take(struct thread_sample *s, uint32_t thread, bool ask);

/* Keep a sample of a thread that will not continue. The thread runs a signal
 * handler that got this context. Only the first call has an effect.
 * Async-signal-safe. */
void sn_thread_sample_keep(uint32_t thread, const void *context);

/* Return the stack pointer of a thread that is blocked in the kernel; 0: it
 * runs, or the kernel does not report it. */
uintptr_t sn_thread_blocked_at(uint32_t thread);

/* Copy the stack of such a thread, as much of it as fits. Only the stack
 * pointer and the program counter of its registers become known. The function
 * sends no signal, so the system call is not disturbed. Returns false if the
 * thread ran during the copy, or the kernel does not report it. */
bool sn_thread_blocked_copy(uint32_t thread, struct thread_sample *s,
			    char copy[THREAD_SAMPLE_COPY]);

/* Return the number of the system call that such a thread is in; -1: none. */
long sn_thread_system_call(uint32_t thread);

/* --- damage --------------------------------------------------------------- */

/* Damaged records that a visit of all fibers finds. Each is reported in one
 * line.
 *
 * A record that ends while it is read also looks damaged. So a record is
 * reported only if it is still listed where it was found. */

#define DAMAGE_LINE 256u

typedef void damage_fn(void *context, const char *line);

struct damage {
	damage_fn *on_damage; /* NULL: do not report */
	void      *context;
	bool       is_given; /* the caller named the scheduler, so it exists */
	unsigned   count;    /* damages so far */
	struct address_list again;
};

/* Report that a record of the scheduler is damaged, or, unless worker is 0, one
 * of that worker, if both are still listed. `name` is the scheduler's name. */
void sn_damage_add(struct damage *d, uintptr_t scheduler, uintptr_t worker,
		   const char *name, const char *what, uintptr_t at);

/* The worker listed the fiber, and the fiber's record made no sense. Report
 * whether that persists. */
bool sn_damage_is_lasting(struct damage *d, const struct worker_record *w,
			  uintptr_t fiber);

/* --- suspended stack ------------------------------------------------------ */

/* The copy of a stack, with a proof that the stack was suspended while it was
 * copied. For a fiber f of a worker w:
 *
 *   1. f's state word says that f waits or is ready (struct fiber_before).
 *   2. w runs on another stack than f's. The caller makes sure of that.
 *   3. The stack is copied (sn_suspended_stacks_copy).
 *   4. w->current is not f, and f's state word names the same wait
 *      (sn_suspended_stacks_check).
 *
 * 1 and 2 prove that w switched away from f after f began the wait. A fiber
 * that is resumed becomes w->current before it changes its stack, and its state
 * word changes before w->current changes again. So 4 proves that f was not
 * resumed before the copy was complete. sn_own_memory_barrier() stands between
 * 1 and 2, and between 3 and 4. */

/* The state of a fiber before its worker was found on another stack. */
struct fiber_before {
	uintptr_t at;
	uintptr_t context;
	uintptr_t low;
	uintptr_t task;
	uint32_t  doing;
};

struct suspended_stack {
	struct fiber_before        before; /* set by the caller */
	const struct fiber_record *seen;   /* the record, if it is valid */
	struct call_frame          frame;
	size_t                     size; /* of the copy */
	bool                       is_whole;
	char                       copy[THREAD_SAMPLE_COPY];
};

/* Report whether f still runs, or is in the same wait, as before. */
bool sn_fiber_before_is_same(const struct fiber_before *b,
			     const struct fiber_record *f);

/* Copy the stacks of fibers of one worker, at most FIBERS_BATCH. */
void sn_suspended_stacks_copy(struct suspended_stack *s, size_t count);

/* Find which of the copies are valid: those of fibers that were suspended
 * during the whole copy. *r is the buffer for their records. */
void sn_suspended_stacks_check(struct suspended_stack *s, size_t count,
			       uintptr_t worker, struct fiber_records *r);

#endif

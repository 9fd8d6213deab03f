/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/overflow.h"

#include "base/compiler.h"
#include "base/text.h"
#include "local/names.h"
#include "observe/observe.h"
#include "observe/profiler.h"
#include "observe/report.h"
#include "observe/stall.h"
#include "observe/trace.h"
#include "os/os.h"
#include "sennit/detail/debugger.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The name that the program gave the task, else the exported name. */
static void name_task(uintptr_t task, char *name, size_t size)
{
	const char *given = sn_task_names_get((sennit_task_fn *)task);

	if (given)
		sn_escape(name, size, given);
	else
		os_function_name(task, name, size);
}

static void print_overflow(const struct sennit_fiber *f, bool in_guard)
{
	uintptr_t task = a_load_rlx(&f->state.task);
	size_t    size = sn_worker_of(f)->scheduler->config.stack_size / 1024;
	char      who[256], name[160] = "no task";

	PROBE(overflow, (int32_t)sn_worker_of(f)->index, f->id, task, size);
	sn_check_who(who, sizeof(who));
	if (task)
		name_task(task, name, sizeof(name));
	if (in_guard)
		os_print(STDERR_FILENO,
			 "sennit: stack overflow in task %s [%s]: its %zu KiB "
			 "are used up; raise sennit_config.stack_size, or make "
			 "these frames smaller:\n",
			 name, who, size);
	else
		os_print(STDERR_FILENO,
			 "sennit: fault off the stack in task %s [%s]: a frame "
			 "skipped the guard of its %zu KiB, or it runs on "
			 "a stack of the program:\n",
			 name, who, size);
	os_write_backtrace(STDERR_FILENO);
	sn_trace_crash();
}

/* f: the fiber whose call runs on this thread. */
static void print_call_overflow(const struct sennit_fiber *f, size_t size)
{
	const uintptr_t call = (uintptr_t)a_load_rlx(&f->state.object);
	const uintptr_t task = a_load_rlx(&f->state.task);
	char            function[160] = "a function", name[160] = "no task";

	if (call)
		name_task(call, function, sizeof(function));
	if (task)
		name_task(task, name, sizeof(name));
	os_print(STDERR_FILENO,
		 "sennit: stack overflow in the blocking call of %s by task "
		 "%s: the %zu KiB of its thread are used up; raise the size of "
		 "threads' stacks (ulimit -s), or make these frames smaller:\n",
		 function, name, size / 1024);
	os_write_backtrace(STDERR_FILENO);
	sn_trace_crash();
}

/* Where NULL and the fields behind it lie. An address that no pointer can have
 * is reported as 0 on x86-64. */
#define NULL_SIZE 65536

/* Whether the instruction is one of that public call, or of libc's for it. In a
 * program that has the library inside only the innermost function tells. */
static bool is_in_call(char *call, size_t size)
{
	const uintptr_t code = os_fault_code();

	if (!code)
		return false;
	if (os_is_loaded())
		return sn_call_name(code, call, size);
	os_function_around(code, call, size);
	return !strncmp(call, "sennit_", strlen("sennit_"));
}

static void print_null_fault(uintptr_t address)
{
	const struct worker *w = sn_self;
	uintptr_t task = w ? a_load_rlx(&w->home.current->state.task) : 0;
	char      who[256], call[96], name[160] = "";

	if (!is_in_call(call, sizeof(call)))
		return;
	sn_check_who(who, sizeof(who));
	if (task)
		name_task(task, name, sizeof(name));
	os_print(STDERR_FILENO,
		 "sennit: misuse of %s: it was given NULL, or an object that "
		 "was never initialised or is gone%s%s [%s]: it faults at "
		 "%#" PRIxPTR "\n",
		 call, task ? ", in task " : "", name, who, address);
	sn_trace_crash();
}

static bool is_aligned(const void *pointer, size_t alignment)
{
	return (uintptr_t)pointer % alignment == 0;
}

/* An overflow upwards reaches the record, which lies above the frames. What is
 * fixed in it tells, and pointers that no record has. */
static bool is_whole(const struct worker *w, const struct sennit_fiber *f)
{
	return is_aligned(f, _Alignof(struct sennit_fiber)) && w->scheduler &&
	       is_aligned(w->scheduler, _Alignof(sennit_scheduler)) &&
	       f->home == &w->home &&
	       (uintptr_t)f->low + f->size == (uintptr_t)f;
}

/* Of the record nothing can be used, so the task is not known. */
static void print_overwritten_record(void)
{
	os_print(STDERR_FILENO,
		 "sennit: the record of the running fiber is overwritten: a "
		 "buffer on its stack may have overflowed upwards\n");
}

/* Runs in a signal handler, on any thread. Where a record that is damaged leads
 * to a second fault, os_faults_watch ends this call. The guard lies directly
 * below the stack. A stack pointer there, or elsewhere outside, had left the
 * stack before the fault. */
static void diagnose_fault(uintptr_t address, uintptr_t stack_pointer)
{
	const struct worker       *w = sn_self;
	const struct sennit_fiber *f = w ? w->home.current : NULL;
	uintptr_t                  low, gap;
	size_t                     size;

	if (address < NULL_SIZE)
		print_null_fault(address);
	if (!w && sn_called_by && os_thread_is_below_stack(address, &size))
		print_call_overflow(sn_called_by, size);
	if (!f || f == &w->main)
		return;
	if (!is_whole(w, f)) {
		print_overwritten_record();
		return;
	}
	low = (uintptr_t)f->low;
	gap = w->scheduler->stacks.slabs.gap;
	if (low - address - 1 < gap || low - stack_pointer - 1 < gap)
		print_overflow(f, true);
	else if (stack_pointer && stack_pointer - low > f->size)
		print_overflow(f, false);
}

/* Its value is the signal stack that the library gave to a thread which binds.
 * It stays until the thread ends, so that binding again needs no system
 * call. */
static pthread_key_t signal_stack_key;
static bool          has_key;

static void unmap_signal_stack(void *memory)
{
	os_fault_stack_drop(memory);
	os_unmap(memory, os_fault_stack_size());
}

static void start_fault_watch(void)
{
	os_faults_watch(diagnose_fault);
	has_key = !pthread_key_create(&signal_stack_key, unmap_signal_stack);
}

void sn_stack_overflow_watch(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, start_fault_watch);
}

static int watch_deaths(const struct sennit_debug_death *d)
{
	sn_stack_overflow_watch();
	return os_death_watch(d);
}

const struct sennit_debug_calls sennit_debug_calls = {
	.size = sizeof(struct sennit_debug_calls),
	.at_death = watch_deaths,
	.profile = sn_profiler_set,
	.look = sn_stall_look,
	.number = sn_scheduler_list_number,
	.find = sn_scheduler_list_find,
};

/* While fibers run, a worker's own stack is idle except for a few frames, so
 * its far end serves as signal stack. It stays so until the thread ends.
 * Valgrind takes what lies there for dead when a handler goes to another
 * stack. */
static bool use_stack_end_for_signals(const struct worker *w)
{
	const size_t size = os_fault_stack_size();
	void        *memory = NULL;

	if (w->threaded && !under_valgrind())
		memory = os_thread_far_end(size);
	if (memory) /* if it has another one, that stays */
		(void)os_fault_stack_use(memory, size);
	return memory;
}

/* Without memory the thread gets no signal stack. An overflow is then an
 * ordinary fault. */
static void map_signal_stack(void)
{
	const size_t size = os_fault_stack_size();
	void        *memory = os_map(size);

	if (!memory)
		return;
	if (!os_fault_stack_use(memory, size))
		os_unmap(memory, size);
	else if (pthread_setspecific(signal_stack_key, memory))
		unmap_signal_stack(memory);
}

/* A call uses all of its thread's stack. */
void sn_stack_overflow_enter_call(const sennit_scheduler *s)
{
	size_t size;

	if (s->config.overflow != SENNIT_OVERFLOW_REPORT || !has_key)
		return;
	(void)os_thread_is_below_stack(0, &size); /* before a handler does */
	map_signal_stack();
}

void sn_stack_overflow_enter(const struct worker *w)
{
	if (w->scheduler->config.overflow != SENNIT_OVERFLOW_REPORT ||
	    !has_key || pthread_getspecific(signal_stack_key))
		return;
	if (!use_stack_end_for_signals(w))
		map_signal_stack();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* os.h - what the library asks of an operating system. */
#ifndef SN_OS_H
#define SN_OS_H

#include "base/atomic.h"
#include "sennit/scheduler.h"

#include <pthread.h>

/* --- time --------------------------------------------------------------- */

/* Nanoseconds of the monotonic clock. */
sennit_time os_now(void);

/* The time so many nanoseconds from now; SENNIT_NEVER if there is none. */
static inline sennit_time os_after(uint64_t nanoseconds)
{
	sennit_time now = os_now();

	return nanoseconds > SENNIT_NEVER - now ? SENNIT_NEVER
						: now + nanoseconds;
}

/* The same, up to 10 ms behind and never ahead, for a fraction of the cost. */
sennit_time os_now_coarse(void);

/* --- sleeping on a word ------------------------------------------------- */

/* Sleep while *word == expected, at most until the deadline. May return for no
 * reason; returns false only when the deadline has passed. */
bool os_word_wait(a_u32 *word, uint32_t expected, sennit_time deadline);

/* Wake one, or all, who sleep on *word. *word itself is not read and may be
 * gone: a wake that comes late is spurious to whoever sleeps there by then. */
void os_word_wake_one(a_u32 *word);
void os_word_wake_all(a_u32 *word);

/* --- threads ------------------------------------------------------------ */

/* Start a thread; -EAGAIN when the system refuses. stack: so many bytes, or 64
 * KiB, are its stack, unless the system wants more or its default is less; 0:
 * the default. libc takes large variables (alloca) from the stack up to a
 * quarter of what the thread's own stack has, wherever it runs. */
int os_thread_start(pthread_t *out, void *(*run)(void *), void *argument,
		    size_t stack);

/* Wait for the end of a thread, and forget it. 0 or a negative errno. */
int os_thread_join(pthread_t thread);

/* Name the calling thread "name/index", cut to what the system holds. */
void os_thread_name(const char *name, uint32_t index);

/* Restrict the calling thread to the given CPUs; 0 or a negative errno. */
int os_thread_affinity(const uint32_t *cpus, size_t count);

/* Block all signals in the calling thread but those that faults raise: blocked,
 * they would end the process without asking its handlers. */
void os_thread_block_signals(void);

/* Write what printf would, cut to OS_LINE bytes; what cannot be written is
 * lost. */
enum { OS_LINE = 640 };
void os_print(int fd, const char *format, ...) PRINTF(2, 3);

/* Name the function at the address, which lies in this process: as it is
 * exported, else file+offset. Always terminated. */
void os_function_name(uintptr_t address, char *text, size_t size);

/* The system's number for the calling thread, for messages. */
uint32_t os_thread_id(void);

/* Whether the address lies on the calling thread's own stack. */
bool os_thread_has_stack(uintptr_t address);

/* The last size bytes that frames on the calling thread's own stack would come
 * to; NULL when that is small. Not for a stack that grows as it is used: the
 * main thread's. */
void *os_thread_far_end(size_t size);

/* Give the CPU to another thread. */
void os_thread_yield(void);

/* --- locks -------------------------------------------------------------- */

/* Lock; pthread_mutex_unlock unlocks. */
void os_lock(pthread_mutex_t *lock);

/* --- faults ------------------------------------------------------------- */

/* Call look(address, stack_pointer) whenever a thread faults on memory, and
 * then what handled such faults before. The stack pointer is 0 where it is
 * unknown, and where the thread ran on an alternate signal stack. Once in a
 * process. */
void os_faults_watch(void (*look)(uintptr_t address, uintptr_t stack_pointer));

/* Where the calling thread can look on, even if it is its stack that faults: so
 * many bytes, used until dropped. False: the thread has such a place already,
 * and `memory` is not used. */
size_t os_fault_stack_size(void);
bool   os_fault_stack_use(void *memory, size_t size);
void   os_fault_stack_drop(const void *memory);

/* Write the frames of the calling thread, innermost first. */
void os_write_backtrace(int fd);

/* --- barrier on other threads ------------------------------------------- */

/* Prepare os_process_barrier(); false when the system has none, then the fast
 * sides that it would serve need fences of their own. */
bool os_process_barrier_init(void);

/* Every running thread of this process passes a full fence before this
 * returns. Costs 0.3 us alone, some microseconds with other threads running. */
void os_process_barrier(void);

/* --- memory for stacks -------------------------------------------------- */

size_t os_page_size(void);

/* Map size bytes of memory without reserving it; NULL when refused. */
void *os_map(size_t size);
void  os_unmap(void *memory, size_t size);

/* Make what os_map gave, or whole pages of it, as it was then: zeros that cost
 * no memory, without guards. False: refused, and all is as before. Aborts if
 * the system then lacks what it had. */
bool os_map_anew(void *memory, size_t size);

/* The contents of the pages wholly inside are needed no more: afterwards they
 * are as they were, or zeros that cost no memory. Guards stay. Any memory of
 * the process. */
void os_discard(void *memory, size_t size);

enum os_guard {
	OS_GUARD_CHEAP,  /* needs no mapping of its own (MADV_GUARD_INSTALL) */
	OS_GUARD_MAPPING /* splits the mapping (mprotect) */
};

/* How this system guards pages; asked once. */
enum os_guard os_guard_kind(void);

/* Make size bytes from low[i] on, whole pages, fault on access, for each
 * i < count, by the given kind. 0, or a negative errno: some may be guarded
 * then, and of the first that is not, some pages, from the lowest on. */
int os_guard(enum os_guard kind, void *const low[], size_t count, size_t size);

/* The most mappings this process may have (vm.max_map_count). */
size_t os_mapping_limit(void);

/* --- CPUs --------------------------------------------------------------- */

/* The CPUs this process may use by its affinity mask, ascending, at most max
 * of them into cpus; returns how many there are (>= 1). */
size_t os_cpu_list(uint32_t *cpus, size_t max);

/* Where a CPU is; false: the system does not say. root is put before every path
 * that is read: "" for this system. */
bool os_cpu_place(const char *root, uint32_t cpu, sennit_cpu_place *out);

#endif

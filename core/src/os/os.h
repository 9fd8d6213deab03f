/* SPDX-License-Identifier: Apache-2.0 */
/* os.h - the interface to the operating system. One set of files per system
 * implements it. */
#ifndef SN_OS_H
#define SN_OS_H

#include "base/atomic.h"
#include "sennit/scheduler.h"

#include <pthread.h>

/* --- time --------------------------------------------------------------- */

/* The monotonic clock, in nanoseconds. */
sennit_time os_now(void);

/* The time `nanoseconds` from now. SENNIT_NEVER if it does not fit. */
static inline sennit_time os_after(uint64_t nanoseconds)
{
	sennit_time now = os_now();

	return nanoseconds > SENNIT_NEVER - now ? SENNIT_NEVER
						: now + nanoseconds;
}

/* As os_now, for a fraction of its cost. The result is up to 10 ms behind
 * os_now and never ahead of it. */
sennit_time os_now_coarse(void);

/* --- sleeping on a word ------------------------------------------------- */

/* Sleep while *word == expected, at most until the deadline. May return
 * spuriously. Returns false only when the deadline has passed. */
bool os_word_wait(a_u32 *word, uint32_t expected, sennit_time deadline);

/* Wake one or all threads that sleep on *word. The call does not read *word, so
 * its memory may already be free or reused. A late call then wakes an unrelated
 * sleeper spuriously. */
void os_word_wake_one(a_u32 *word);
void os_word_wake_all(a_u32 *word);

/* --- threads ------------------------------------------------------------ */

/* Start a thread. Returns -EAGAIN when the system refuses. `stack` is the size
 * of its stack in bytes. The size is raised to 64 KiB or to the system's
 * minimum, and lowered to the system's default size. 0 selects the default.
 * Note: on any stack libc uses alloca for buffers of up to a quarter of the
 * thread's own stack size. */
int os_thread_start(pthread_t *out, void *(*run)(void *), void *argument,
		    size_t stack);

/* Join a thread. Returns 0 or a negative errno value. */
int os_thread_join(pthread_t thread);

/* Detach the thread, which may be the calling one. Another thread must be about
 * to end, since the call may wait for its end. */
void os_thread_detach(pthread_t thread);

/* Name the calling thread "name/index". The name is cut to the system's maximum
 * length. */
void os_thread_name(const char *name, uint32_t index);

/* That name, cut so that it fits in `size` bytes of text. */
void os_thread_text(char *text, size_t size, const char *name, uint32_t index);

/* Restrict the calling thread to the given CPUs. Returns 0 or a negative errno
 * value. */
int os_thread_affinity(const uint32_t *cpus, size_t count);

/* Block all signals in the calling thread except those that faults raise, and
 * SIGPROF. A blocked fault signal would end the process without running its
 * handler. */
void os_thread_block_signals(void);

/* Create the file, or empty it, to be written. Returns a descriptor that is
 * closed on exec and no standard one, or a negative errno. */
int os_create_file(const char *name);

/* Format like printf and write at most OS_LINE bytes. Write errors are
 * ignored. */
enum { OS_LINE = 832 };
void os_print(int fd, const char *format, ...) PRINTF(2, 3);

/* A text of several such lines. After a write error no other line is
 * written. */
struct os_lines {
	int fd;
	int error; /* of the first write that failed, a negative errno; 0 */
};
void os_print_line(struct os_lines *lines, const char *format, ...)
	PRINTF(2, 3);

/* Write the name of the exported function that contains the address; "" if it
 * is not known. */
void os_function_around(uintptr_t address, char *text, size_t size);

/* Whether the code at `address` is in the file of that at `other`, or in this
 * library's or libc's. */
bool os_is_beside(uintptr_t address, uintptr_t other);

/* Write the name of the function at `address` in this process: its exported
 * name, else file+offset. The text is always terminated. */
void os_function_name(uintptr_t address, char *text, size_t size);

/* The system's id of the calling thread, for messages. A thread asks the system
 * once. os_thread_forked makes the child of a fork ask again. */
uint32_t os_thread_id(void);
void     os_thread_forked(void);

/* Whether the address lies on the calling thread's own stack. */
bool os_thread_has_stack(uintptr_t address);

/* Whether the address lies below the calling thread's own stack, within what
 * may be its guard. For a handler of faults, on a thread that has called one of
 * the two functions around this one. Stores the size of the stack in *size. */
bool os_thread_is_below_stack(uintptr_t address, size_t *size);

/* The lowest `size` bytes of the calling thread's own stack, which its frames
 * reach last. NULL when less than OS_STACK_LEFT bytes would remain above them.
 * Do not use it for a stack that grows on demand, as the main thread's does. */
#define OS_STACK_LEFT ((size_t)48 * 1024)
void *os_thread_far_end(size_t size);

/* Yield the CPU to another thread of the same priority or a higher one. A loop
 * that waits for a thread calls os_thread_give_way. */
void os_thread_yield(void);

/* Let other threads run before the caller looks again for what another thread
 * is about to do. `times` says how often this wait has called it before. The
 * first calls yield. The next ones sleep, at first for 1 us, later for 256 us:
 * the other thread may have a lower priority (SCHED_OTHER beside SCHED_FIFO)
 * and wait for this CPU, and a yield does not let it run. errno stays. */
void os_thread_give_way(uint32_t times);

/* The number of threads of this process, those of the kernel included, whose
 * names count. A thread that has ended does not count, even if it was the
 * first. 0: the system does not report it. */
uint32_t os_thread_count(bool (*counts)(const char *name));

/* --- the process -------------------------------------------------------- */

/* A variable of the environment. NULL: it is not set, or the process has other
 * rights than the user that started it. */
const char *os_environment(const char *name);

/* Whether this library is a file of its own, and no part of the program. */
bool os_is_loaded(void);

/* Load the library `file` from the folder that this one was loaded from. Does
 * nothing if this library is a part of the program. */
void os_load_beside(const char *file);

/* --- locks -------------------------------------------------------------- */

/* Lock. pthread_mutex_unlock unlocks. */
void os_lock(pthread_mutex_t *lock);

/* --- faults ------------------------------------------------------------- */

/* Register look(address, stack_pointer), which is called whenever a thread
 * faults on memory. The handler that was installed before runs afterwards, also
 * if `look` faults itself, which ends its call (not on Windows). The stack
 * pointer is 0 when it is unknown and when the thread ran on an alternate
 * signal stack. Call this once in a process. */
void os_faults_watch(void (*look)(uintptr_t address, uintptr_t stack_pointer));

/* Call what *d says about the end of the process. *d must stay. To be called
 * after os_faults_watch, by one thread at a time. Returns 0, or -ENOTSUP: not
 * on this system. */
struct sennit_debug_death;
int os_death_watch(const struct sennit_debug_death *d);

/* The alternate signal stack of the calling thread, which lets fault handlers
 * run when the thread's stack has overflowed. os_fault_stack_size gives its
 * size in bytes. os_fault_stack_use installs `memory`, which must stay until
 * os_fault_stack_drop. It returns false when the thread already has an
 * alternate stack; `memory` is then unused. */
size_t os_fault_stack_size(void);
bool   os_fault_stack_use(void *memory, size_t size);
void   os_fault_stack_drop(const void *memory);

/* Write the stack frames of the calling thread to fd, innermost first. A signal
 * handler may call this after os_backtrace_prepare(). */
void os_backtrace_prepare(void);
void os_write_backtrace(int fd);

/* Store the same frames, as addresses of code. Returns their number; 0 where
 * the system does not report them. */
size_t os_backtrace(void **frames, size_t size);

/* For a call of os_faults_watch: the address of the instruction that faulted.
 * 0: not known. */
uintptr_t os_fault_code(void);

/* --- barrier on other threads ------------------------------------------- */

/* Prepare os_process_barrier(). Returns false when the system has no such
 * barrier. The fast paths that rely on it then need fences of their own. */
bool os_process_barrier_init(void);

/* Every running thread of this process executes a full fence before this
 * returns. Costs 0.3 us in a process with one running thread, and several
 * microseconds with more. */
void os_process_barrier(void);

/* --- memory for stacks -------------------------------------------------- */

size_t os_page_size(void);

/* Map `size` bytes of memory without reserving swap. NULL when the system
 * refuses. */
void *os_map(size_t size);
void  os_unmap(void *memory, size_t size);

/* Reset memory of os_map, or whole pages of it, to its initial state: zeros
 * that use no memory, without guards. Returns false when the system refuses;
 * nothing has then changed. Aborts if the system unmaps the old pages but
 * cannot map the new ones. */
bool os_map_anew(void *memory, size_t size);

/* The contents of the pages that lie wholly inside this range are no longer
 * needed. Afterwards each page is unchanged, or is zeros that use no memory.
 * Guards stay. The range may be any memory of the process. Returns false if the
 * system refuses, as it does for locked memory; what lies before the first page
 * that it refuses is then zeros. */
bool os_discard(void *memory, size_t size);

enum os_guard {
	OS_GUARD_CHEAP,   /* MADV_GUARD_INSTALL: needs no mapping of its own */
	OS_GUARD_MAPPING, /* mprotect: splits the mapping */
	OS_GUARD_NONE     /* the system has none, and os_guard fails */
};

/* Bytes that os_guard and os_populate use of what is near the ranges, if there
 * are several: a list of these on the caller's stack, which may be that of a
 * fiber that waits, would take another page for it. */
#define OS_SCRATCH 512

/* The kind of guards that this system supports. The result is cached. */
enum os_guard os_guard_kind(void);

/* For each i < count, make `size` bytes (whole pages) from low + i * pitch on
 * fault on access, with guards of this kind. Returns 0 or a negative errno
 * value. After an error some ranges are guarded, and the first range that
 * failed may be guarded in part, from its lowest page up.
 * If count > 1, the first OS_SCRATCH bytes of the page below low + pitch, which
 * must not be guarded, are used, and zeros afterwards. */
int os_guard(enum os_guard kind, void *low, size_t pitch, size_t count,
	     size_t size);

/* Find memory now for `size` bytes (whole pages of os_map) from low + i * pitch
 * on, for each i < count, in fewer steps than by the first access to each. A
 * hint. If count > 1, the first OS_SCRATCH bytes are used, and zeros
 * afterwards. */
void os_populate(void *low, size_t pitch, size_t count, size_t size);

/* The maximum number of mappings of this process (vm.max_map_count). */
size_t os_mapping_limit(void);

/* --- CPUs --------------------------------------------------------------- */

/* The CPUs in this process's affinity mask. Writes at most `max` of them into
 * `cpus`, in ascending order. Returns the number of CPUs in the mask (>= 1). */
size_t os_cpu_list(uint32_t *cpus, size_t max);

/* The core, cache and node of a CPU. Returns false when the system does not
 * report them. `root` is prefixed to every path that is read; it is "" for the
 * real system. */
bool os_cpu_place(const char *root, uint32_t cpu, sennit_cpu_place *out);

/* --- exceptions of C++ -------------------------------------------------- */

/* Keeps the C++ exception state of each fiber, without a C++ runtime of its
 * own.
 *
 * The C++ runtime keeps per thread the exceptions that are being handled and
 * the number that are in flight (arch/arch.h). A fiber that waits inside a
 * catch block must find its own state again, and no other fiber may see it. So
 * a switch saves and restores it with the fiber. The state is nearly always
 * empty; then a switch only tests it. A fiber that leaves state behind clears
 * it.
 *
 * In a program without a C++ runtime, an empty object stands for the state.
 *
 * An exception that leaves a task reaches frames of the library, which are
 * barriers: see ARCH_BARRIER in arch/arch.h.
 */

/* The state of the calling thread; never NULL. */
struct cxx_globals *sn_cxx_globals(void);

static inline bool sn_cxx_is_busy(const struct cxx_globals *g)
{
	return unlikely(cxx_globals_used(g));
}

#endif

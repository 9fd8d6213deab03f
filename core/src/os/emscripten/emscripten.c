/* SPDX-License-Identifier: Apache-2.0 */
/* emscripten.c - os.h and quota.h with emscripten: threads, faults, CPUs. A
 * program of WebAssembly sees no signals, no files of the system, and of CPUs
 * only their number. */
#include "base/text.h"
#include "os/os.h"
#include "os/quota.h"

#include <emscripten/emscripten.h>
#include <emscripten/stack.h>
#include <emscripten/threading.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- threads ------------------------------------------------------------ */

/* emscripten stores it in builds with --threadprofiler. */
void os_thread_name(const char *name, uint32_t index)
{
	char text[32];

	os_thread_text(text, sizeof(text), name, index);
	emscripten_set_thread_name(pthread_self(), text);
}

/* WebAssembly has no signals between threads. */
void os_thread_block_signals(void)
{
}

/* The address of a function is its index in the table of functions. */
int os_create_file(const char *name)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

	return fd < 0 ? -errno : fd;
}

void os_function_name(uintptr_t address, char *text, size_t size)
{
	snprintf(text, size, "function %" PRIuPTR, address);
}

struct own_thread {
	uint32_t  id; /* 0: not asked for */
	uintptr_t low, top;
};

static _Thread_local struct own_thread own;

/* A worker asks before it leaves its own stack, whose bounds are those in force
 * then. */
uint32_t os_thread_id(void)
{
	if (!own.id) {
		own.low = emscripten_stack_get_end();
		own.top = emscripten_stack_get_base();
		own.id = (uint32_t)gettid();
	}
	return own.id;
}

const char *os_environment(const char *name)
{
	return getenv(name);
}

/* WebAssembly does not fork. */
void os_thread_forked(void)
{
}

bool os_thread_has_stack(uintptr_t address)
{
	return address - own.low < own.top - own.low;
}

bool os_thread_is_below_stack(uintptr_t address, size_t *size)
{
	(void)address;
	*size = 0;
	return false;
}

/* Frames of a suspended stack are written to its far end: see
 * arch/wasm/switch.c. */
void *os_thread_far_end(size_t size)
{
	(void)size;
	return NULL;
}

/* --- faults ------------------------------------------------------------- */

/* There are none: each address below the memory's size can be accessed, and an
 * access above it ends the program. */
void os_faults_watch(void (*look)(uintptr_t address, uintptr_t stack_pointer))
{
	(void)look;
}

void os_function_around(uintptr_t address, char *text, size_t size)
{
	(void)address;
	(void)size;
	text[0] = '\0';
}

bool os_is_beside(uintptr_t address, uintptr_t other)
{
	(void)address;
	(void)other;
	return false;
}

size_t os_backtrace(void **frames, size_t size)
{
	(void)frames;
	(void)size;
	return 0;
}

size_t os_fault_stack_size(void)
{
	return os_page_size();
}

bool os_fault_stack_use(void *memory, size_t size)
{
	(void)memory;
	(void)size;
	return false;
}

void os_fault_stack_drop(const void *memory)
{
	(void)memory;
}

void os_backtrace_prepare(void)
{
}

void os_write_backtrace(int fd)
{
	char text[4096];

	if (emscripten_get_callstack(EM_LOG_NO_PATHS, text, sizeof(text)) > 0)
		(void)sn_write_all(fd, text, strlen(text));
}

/* --- CPUs --------------------------------------------------------------- */

size_t os_cpu_list(uint32_t *cpus, size_t max)
{
	int    cores = emscripten_num_logical_cores();
	size_t count = cores > 0 ? (size_t)cores : 1;

	for (size_t i = 0; i < count && i < max; i++)
		cpus[i] = (uint32_t)i;
	return count;
}

/* A thread can only be allowed to run on all CPUs, which it is. */
int os_thread_affinity(const uint32_t *cpus, size_t count)
{
	(void)cpus;
	return count < os_cpu_list(NULL, 0) ? -ENOSYS : 0;
}

uint32_t os_thread_limit(void)
{
	return UINT32_MAX;
}

/* --- emscripten futex ----------------------------------------------------- */

/* os.h with emscripten: time, sleeping on a word. With SENNIT_DETERMINISTIC
 * deterministic_threads.c implements these. */

#ifndef SENNIT_DETERMINISTIC

#include <emscripten/em_js.h>
#include <emscripten/threading.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <time.h>

/* --- time --------------------------------------------------------------- */

/* Milliseconds; in node, where all threads have one clock, a negative number.
 * In a browser each thread has a clock of its own, which began with the thread.
 * What emscripten takes for the difference between two includes the time that a
 * message took. */
/* clang-format off */
EM_JS(double, clock_of_browser, (void), {
	return ENVIRONMENT_IS_NODE ? -1 :
		performance.timeOrigin + performance.now();
});
/* clang-format on */

/* The browser makes each of these clocks coarse by some microseconds, not at
 * the same moments. So no thread returns a time before one that another thread
 * has returned. */
static sennit_time not_before_others(sennit_time now)
{
	static a_u64 latest;
	uint64_t     seen = a_load_rlx(&latest);

	while (seen < now)
		if (a_cas_rlx(&latest, &seen, now))
			return now;
	return seen;
}

sennit_time os_now(void)
{
	const double    ms = clock_of_browser();
	struct timespec t;

	if (ms >= 0)
		return not_before_others(
			(sennit_time)(ms * (double)SENNIT_MILLISECOND));
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (sennit_time)t.tv_sec * SENNIT_SECOND + (sennit_time)t.tv_nsec;
}

sennit_time os_now_coarse(void)
{
	return os_now();
}

/* --- sleeping on a word ------------------------------------------------- */

/* Milliseconds until the deadline. */
static double until(sennit_time deadline)
{
	sennit_time now = os_now();

	if (deadline > INT64_MAX)
		return INFINITY;
	return deadline > now
		       ? (double)(deadline - now) / (double)SENNIT_MILLISECOND
		       : 0;
}

/* The clock says whether the time has passed, because the wait counts in
 * another one. */
bool os_word_wait(a_u32 *word, uint32_t expected, sennit_time deadline)
{
	int  saved = errno;
	bool in_time;

	in_time = emscripten_futex_wait(&word->value_, expected,
					until(deadline)) != -ETIMEDOUT ||
		  os_now() < deadline;
	errno = saved;
	return in_time;
}

void os_word_wake_one(a_u32 *word)
{
	emscripten_futex_wake(&word->value_, 1);
}

void os_word_wake_all(a_u32 *word)
{
	emscripten_futex_wake(&word->value_, INT_MAX);
}

#endif

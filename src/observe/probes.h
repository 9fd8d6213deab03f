/* SPDX-License-Identifier: Apache-2.0 */
/* probes.h - static probes (USDT) for bpftrace, perf, SystemTap and gdb.
 *
 * A probe is a nop whose place and arguments stand in a note of the library's
 * file. A tracer puts a breakpoint there and adds 1 to the probe's semaphore, a
 * word in the library's data. Workers look at the semaphores now and then (see
 * observe.h), so the hot paths have neither the nops nor the arguments.
 *
 * Arguments, all of them integers:
 *
 *	worker   index of the worker; -1: a bound thread; -2: another thread
 *	fiber    its number, as in reports
 *	task     address of the task's function; 0: a thread's own stack
 *	name     address of the name of the task's function; 0: none
 *	kind     enum sennit_waits_for
 *
 * Without <sys/sdt.h> there are no probes.
 */
#ifndef SN_PROBES_H
#define SN_PROBES_H

#include <stdbool.h>

#ifdef SENNIT_HAVE_SDT
#define _SDT_HAS_SEMAPHORES 1
#define SDT_USE_VARIADIC    1
#include <sys/sdt.h>

/* Written by the tracer: the kernel, or a debugger. */
#define PROBE_SEMAPHORE(name)                                    \
	extern volatile unsigned short sennit_##name##_semaphore \
		__attribute__((visibility("hidden")))

PROBE_SEMAPHORE(task__begin);
PROBE_SEMAPHORE(task__end);
PROBE_SEMAPHORE(wait);
PROBE_SEMAPHORE(wake);
PROBE_SEMAPHORE(steal);
PROBE_SEMAPHORE(park);
PROBE_SEMAPHORE(overflow);

#ifdef __clang__ /* the macros of the header leave an argument out */
#pragma clang diagnostic ignored "-Wgnu-zero-variadic-macro-arguments"
#endif

/* PROBE(name, argument...) with two to five arguments. */
#define PROBE(name, ...)                                            \
	do {                                                        \
		if (__builtin_expect(sennit_##name##_semaphore, 0)) \
			STAP_PROBEV(sennit, name, __VA_ARGS__);     \
	} while (0)

/* Whether a probe is in use that only observed workers pass. */
static inline bool sn_probes_wanted(void)
{
	return sennit_task__begin_semaphore | sennit_task__end_semaphore |
	       sennit_wait_semaphore | sennit_wake_semaphore;
}
#else
#define PROBE(name, ...) \
	do {             \
	} while (0)

static inline bool sn_probes_wanted(void)
{
	return false;
}
#endif

#endif

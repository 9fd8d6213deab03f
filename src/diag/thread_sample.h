/* SPDX-License-Identifier: Apache-2.0 */
/* thread_sample.h - where another thread of the process is: its registers, and
 * a copy of the stack that it is on, taken by itself in a signal handler.
 *
 * One sample at a time: callers hold a lock of their own. */
#ifndef SN_THREAD_SAMPLE_H
#define SN_THREAD_SAMPLE_H

#include "diag/call_frame.h"
#include "sennit/debugger.h"

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

/* Returns false if the thread has not answered in time, or has ended. */
bool sn_thread_sample_take(struct thread_sample *s, uint32_t thread);

/* The stack pointer of a thread that is blocked in the kernel; 0: it runs, or
 * the kernel does not say. */
uintptr_t sn_thread_blocked_at(uint32_t thread);

#endif

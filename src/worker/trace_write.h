/* SPDX-License-Identifier: Apache-2.0 */
/* trace_write.h - writes the rings of a scheduler in the format of
 * sennit/trace_format.h. It needs no memory except for names, and takes no lock
 * that a recording thread takes. */
#ifndef SN_TRACE_WRITE_H
#define SN_TRACE_WRITE_H

#include "worker/scheduler.h"

/* Write all. Returns 0, -ENOMEM, or an error of write(2). */
SENNIT_MUST_USE int sn_trace_write(sennit_scheduler *s, int fd);

/* Write the rings of s to fd if this process aborts or a stack overflows; -1:
 * no longer. One scheduler of a process can ask for that. Returns 0 or
 * -EBUSY. */
SENNIT_MUST_USE int sn_trace_crash_to(sennit_scheduler *s, int fd);

/* *s ends. */
void sn_trace_crash_forget(sennit_scheduler *s);

/* The process is about to end: write what was asked for, once. May run in a
 * signal handler. */
void sn_trace_crash(void);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* signals.h - waiting for signals in a fiber, by signalfd().
 *
 * In libsennit-io, on Linux only. Block the signals with pthread_sigmask() in
 * main(), before the scheduler or any thread is created. Threads inherit the
 * mask, and a signal is delivered to any thread that does not block it, instead
 * of to these calls. The helper threads of blocking calls block all signals. A
 * child process inherits the mask; sennit_process_spawn (process.h) clears it.
 *
 * Signals that are sent to the process are received: by kill(), by the
 * terminal, and the kernel's SIGCHLD and SIGALRM. Signals that are sent to one
 * thread (pthread_kill(), raise()) may not be received. Ignored signals
 * (SIG_IGN) are not received. If a pending signal is sent again, it is received
 * once: after one SIGCHLD, check all children. Real-time signals are received
 * as often as they were sent. If several sennit_signals have the same signal,
 * each signal is received by one of them.
 */
#ifndef SENNIT_SIGNALS_H
#define SENNIT_SIGNALS_H

#include "sennit/base.h"

#include <sys/select.h> /* sigset_t */

SENNIT_BEGIN

struct signalfd_siginfo; /* in <sys/signalfd.h> */

typedef struct sennit_signals sennit_signals;

/* Begin to receive the signals of *which, and store the object in *out. The
 * caller owns it until sennit_signals_close(). Returns 0, -EINVAL if the
 * calling thread does not block one of them (SIGKILL and SIGSTOP cannot be
 * blocked), or -EMFILE, -ENFILE or -ENOMEM.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_signals_open(sennit_signals **out,
						   const sigset_t  *which);

/* Wait for one of the signals, and store its details in *info unless info is
 * NULL. Several fibers may wait; each signal is received by one of them.
 * Returns the signal number, more than 0; or -ETIMEDOUT or -ECANCELED, and no
 * signal is lost; or another negative errno.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_signals_wait(
	sennit_signals *s, struct signalfd_siginfo *info, sennit_time deadline);

/* Stop receiving, and free *s, unless it is NULL. The signals stay blocked, and
 * pending signals stay pending. Only fibers of the caller's worker may be
 * waiting; their waits end with -ECANCELED.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_signals_close(sennit_signals *s);

SENNIT_END

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* signals.h - waiting for signals as a fiber, by signalfd().
 *
 * In libsennit-io. Block the signals by pthread_sigmask() in main(), before the
 * scheduler and any thread is created: threads inherit the mask, and a signal
 * that one thread does not block is delivered there, not here. Helper threads
 * of blocking calls block all signals. A child inherits the mask;
 * sennit_process_spawn (process.h) clears it.
 *
 * Signals sent to the process are received: kill(), the terminal, the kernel's
 * SIGCHLD and SIGALRM. Those sent to one thread (pthread_kill(), raise()) may
 * not be. Ignored signals (SIG_IGN) are not received. A pending signal that is
 * sent again is received once: after one SIGCHLD check all children. Real-time
 * signals come as often as they were sent. With several sennit_signals for one
 * signal, each signal comes to one of them.
 */
#ifndef SENNIT_SIGNALS_H
#define SENNIT_SIGNALS_H

#include "sennit/base.h"

#include <sys/select.h> /* sigset_t */

SENNIT_BEGIN

struct signalfd_siginfo; /* <sys/signalfd.h> */

typedef struct sennit_signals {
	int fd_;
} sennit_signals;

/* Begin to receive the signals of *which. Returns 0, -EINVAL if the calling
 * thread does not block one of them (SIGKILL and SIGSTOP cannot be blocked), or
 * -EMFILE, -ENFILE or -ENOMEM.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_signals_open(sennit_signals *s,
						   const sigset_t *which);

/* Wait for one of the signals. Returns its number, more than 0, and stores the
 * details in *info unless info is NULL; or -ETIMEDOUT or -ECANCELED, and no
 * signal is lost. Several fibers may wait: each signal is received by one.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_signals_wait(
	sennit_signals *s, struct signalfd_siginfo *info, sennit_time deadline);

/* Stop receiving. The signals stay blocked, and pending signals stay pending.
 * Only fibers of the caller's worker may be waiting; their waits end with
 * -ECANCELED.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_signals_close(sennit_signals *s);

SENNIT_END

#endif

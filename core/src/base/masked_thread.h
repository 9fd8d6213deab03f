/* SPDX-License-Identifier: Apache-2.0 */
/* masked_thread.h - starts threads of the library, in which no handler of the
 * program's signals runs. */
#ifndef SN_MASKED_THREAD_H
#define SN_MASKED_THREAD_H

#include <pthread.h>
#include <signal.h>

/* Start a thread that blocks all signals. attr may be NULL. Returns 0 or a
 * negative errno value. */
static inline int sn_masked_thread_start(pthread_t            *out,
					 const pthread_attr_t *attr,
					 void *(*run)(void *), void *argument)
{
	sigset_t all, before;
	int      err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(out, attr, run, argument);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -err;
}

#endif

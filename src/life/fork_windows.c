/* SPDX-License-Identifier: Apache-2.0 */
#include "life/life.h"

/* Windows does not fork, so only threads are watched. winpthreads calls the
 * destructor of a key that was cleared, too, with NULL. */
a_u32 sn_process;

static pthread_key_t key;
static int           error; /* fixed after sn_fork_exit_prepare */

static char last_round; /* its address is the key's value after the first round
			 * of destructors */

/* The compiler keeps thread-local variables in memory of an older key.
 *
 * Destructors of the program's own keys may unbind the thread, and run in any
 * order. So a thread that is still bound is detected in the second round. */
static void thread_exits(void *value)
{
	struct worker *w = value;

	if (!value)
		return;
	MISUSE(value == &last_round, "sennit_bind",
	       "a thread exited while bound");
	MISUSE(w->threaded, "pthread_exit",
	       "a task, or the thread's initialiser, ended its worker's thread "
	       "(pthread_exit or cancellation)");
	pthread_setspecific(key, &last_round);
	sn_self = w; /* a thread-local variable, so it has been destroyed */
}

void sn_fork_exit_unwatch(void)
{
	pthread_setspecific(key, NULL);
}

static void prepare(void)
{
	error = -pthread_key_create(&key, thread_exits);
}

int sn_fork_exit_prepare(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, prepare);
	return error;
}

int sn_fork_exit_watch(struct worker *w)
{
	return -pthread_setspecific(key, w);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "life/fork.h"

/* Windows does not fork, so only threads are watched. winpthreads calls the
 * destructor of a key that was cleared, too, with NULL. */
a_u32 sn_process;

static pthread_key_t bound_thread_key;
static int           fork_exit_error; /* fixed after sn_fork_exit_prepare */

static char
	second_round; /* its address is the key's value after the first round
			 * of destructors */

/* The compiler keeps thread-local variables in memory of an older key.
 *
 * Destructors of the program's own keys may unbind the thread, and run in any
 * order. So a thread that is still bound is detected in the second round. */
static void check_bound_thread_exit(void *value)
{
	struct worker *w = value;

	if (!value)
		return;
	MISUSE(value == &second_round, "sennit_thread_bind",
	       "a thread exited while bound");
	MISUSE(w->threaded, "pthread_exit",
	       "a task, or the thread's initialiser, ended its worker's thread "
	       "(pthread_exit or cancellation)");
	pthread_setspecific(bound_thread_key, &second_round);
	sn_self = w; /* a thread-local variable, so it has been destroyed */
}

void sn_fork_exit_unwatch(void)
{
	pthread_setspecific(bound_thread_key, NULL);
}

static void prepare_fork_exit(void)
{
	fork_exit_error = -pthread_key_create(&bound_thread_key,
					      check_bound_thread_exit);
}

int sn_fork_exit_prepare(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, prepare_fork_exit);
	return fork_exit_error;
}

int sn_fork_exit_watch(struct worker *w)
{
	return -pthread_setspecific(bound_thread_key, w);
}

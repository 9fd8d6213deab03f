/* SPDX-License-Identifier: Apache-2.0 */
#include "life/fork.h"
#include "local/locals.h"

#include "os/os.h"
#include "sched/hooks.h"
#include "stack/stack.h"
#include "wait/wait.h"

a_u32 sn_process;

static pthread_key_t bound_thread_key;
static int           fork_exit_error; /* fixed after sn_fork_exit_prepare */

static char
	second_round; /* its address is the key's value after the first round
			 * of destructors */

/* Destructors of the program's own keys may unbind the thread, and run in any
 * order. So a thread that is still bound is detected in the second round. */
static void check_bound_thread_exit(void *value)
{
	const struct worker *w = value;

	MISUSE(value == &second_round, "sennit_thread_bind",
	       "a thread exited while bound");
	MISUSE(w->threaded, "pthread_exit",
	       "a task, or the thread's initialiser, ended its worker's thread "
	       "(pthread_exit or cancellation)");
	pthread_setspecific(bound_thread_key, &second_round);
}

void sn_fork_exit_unwatch(void)
{
	pthread_setspecific(bound_thread_key, NULL);
}

/* Runs in the child, takes no lock, and has no counterpart in the parent. So
 * whatever other threads do during the fork, the child starts without their
 * state. */
static void reset_in_child(void)
{
	a_add_rlx(&sn_process, 1);
	if (sn_self)
		sn_task_local_fork(sn_self);
	sn_self = NULL;
	sn_parker.groups = 0; /* they are the parent's */
	os_thread_forked();
	sn_hook_fork();
	sn_kept_slab_fork();
	sn_fork_exit_unwatch();
}

static void prepare_fork_exit(void)
{
	fork_exit_error = -pthread_key_create(&bound_thread_key,
					      check_bound_thread_exit);
	if (!fork_exit_error)
		fork_exit_error = -pthread_atfork(NULL, NULL, reset_in_child);
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

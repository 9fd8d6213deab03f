/* SPDX-License-Identifier: Apache-2.0 */
#include "life/life.h"

#include "observe/environment.h"
#include "observe/profiler.h"
#include "observe/report.h"
#include "os/os.h"
#include "stack/stack.h"

a_u32 sn_process;

static pthread_key_t key;
static int           error; /* fixed after sn_fork_exit_prepare */

static char last_round; /* its address is the key's value after the first round
			 * of destructors */

/* Destructors of the program's own keys may unbind the thread, and run in any
 * order. So a thread that is still bound is detected in the second round. */
static void thread_exits(void *value)
{
	const struct worker *w = value;

	MISUSE(value == &last_round, "sennit_bind",
	       "a thread exited while bound");
	MISUSE(w->threaded, "pthread_exit",
	       "a task, or the thread's initialiser, ended its worker's thread "
	       "(pthread_exit or cancellation)");
	pthread_setspecific(key, &last_round);
}

void sn_fork_exit_unwatch(void)
{
	pthread_setspecific(key, NULL);
}

/* Runs in the child, takes no lock, and has no counterpart in the parent. So
 * whatever other threads do during the fork, the child starts without their
 * state. */
static void in_child(void)
{
	a_add_rlx(&sn_process, 1);
	if (sn_self)
		sn_task_local_fork(sn_self);
	sn_self = NULL;
	os_thread_forked();
	sn_scheduler_list_fork();
	sn_environment_fork();
	sn_profiler_fork();
	sn_kept_slab_fork();
	sn_fork_exit_unwatch();
}

static void prepare(void)
{
	error = -pthread_key_create(&key, thread_exits);
	if (!error)
		error = -pthread_atfork(NULL, NULL, in_child);
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

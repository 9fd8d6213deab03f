/* SPDX-License-Identifier: Apache-2.0 */
#include "dump.h"

#include "base/atomic.h"
#include "base/masked_thread.h"
#include "stacks.h"
#include "unwind.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The process has one dump. */
static struct dump {
	sem_t                     wake;   /* posted after `wanted` or `ending`
					   * is set */
	a_u32                     wanted; /* set by the handler, cleared by the
					   * thread */
	a_u32                     ending; /* set after the handler is removed */
	bool                      on;     /* under `lock` */
	bool                      lent;   /* under `lock`: started by the
					   * environment */
	int                       signal;
	int                       fd;
	enum sennit_stacks_format format;
	struct sigaction          before;
	pthread_t                 thread;
} dump;

static pthread_mutex_t dump_lock = PTHREAD_MUTEX_INITIALIZER;

/* --- the signal --------------------------------------------------------- */

static const struct {
	const char *name;
	int         number;
} known[] = {
	{ "HUP", SIGHUP },     { "INT", SIGINT },   { "QUIT", SIGQUIT },
	{ "USR1", SIGUSR1 },   { "USR2", SIGUSR2 }, { "TERM", SIGTERM },
	{ "WINCH", SIGWINCH },
};

/* Return the number of the signal; -1: there is no such signal. */
static int number_of(const char *name)
{
	char *end;
	long  number = strtol(name, &end, 10);

	if (end != name)
		return *end || number < 1 || number > SIGRTMAX ? -1
							       : (int)number;
	if (!strncmp(name, "SIG", 3))
		name += 3;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(name, known[i].name))
			return known[i].number;
	return -1;
}

/* Report whether a handler may only wake a thread. For other signals the
 * default effect would be lost. */
static bool is_usable(int number)
{
	static const int others[] = {
		SIGKILL, SIGSTOP, SIGSEGV, SIGBUS, SIGFPE,
		SIGILL,  SIGTRAP, SIGABRT, SIGSYS, SIGURG
	};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (number == others[i])
			return false;
	return number > 0 && number <= SIGRTMAX;
}

static void request_dump(int number)
{
	const int error = errno;

	(void)number;
	a_store_rel(&dump.wanted, true); /* -> dump.wanted: nothing more */
	sem_post(&dump.wake); /* async-signal-safe; fails only if the thread is
			       * SEM_VALUE_MAX posts behind */
	errno = error;
}

/* --- the thread --------------------------------------------------------- */

static void *write_dumps(void *unused)
{
	bool ending;

	(void)unused;
	pthread_setname_np(pthread_self(), "sn-dump");
	do {
		while (sem_wait(&dump.wake))
			;                            /* EINTR */
		ending = a_load_acq(&dump.ending);   /* <- dump.ending */
		if (a_swap_acq(&dump.wanted, false)) /* <- dump.wanted */
			sennit_stacks_print(NULL, dump.fd, dump.format);
	} while (!ending);
	return NULL;
}

/* Lock held. */
static void stop(void)
{
	struct sigaction now;

	if (!sigaction(dump.signal, NULL, &now) &&
	    !(now.sa_flags & SA_SIGINFO) && now.sa_handler == request_dump)
		sigaction(dump.signal, &dump.before, NULL);
	a_store_rel(&dump.ending, true); /* -> dump.ending: no handler */
	sem_post(&dump.wake);
	pthread_join(dump.thread, NULL);
	dump.on = false;
}

/* Lock held. */
static int start_dump(int number, int fd, enum sennit_stacks_format format,
		      bool lent)
{
	struct sigaction ours = { .sa_handler = request_dump,
				  .sa_flags = SA_RESTART };
	int              err;

	if (dump.on && dump.lent)
		stop();
	if (dump.on)
		return -EALREADY;
	sem_init(&dump.wake, 0, 0);
	a_store_rlx(&dump.ending, false); /* relaxed: the thread does not run
					   * yet */
	a_store_rlx(&dump.wanted, false);
	dump.signal = number;
	dump.fd = fd;
	dump.format = format;
	sn_program_image_open(NULL, 0); /* while descriptors are available */
	err = sn_masked_thread_start(&dump.thread, NULL, write_dumps, NULL);
	if (err)
		return err;
	sigemptyset(&ours.sa_mask);
	sigaction(number, &ours, &dump.before);
	dump.on = true;
	dump.lent = lent;
	return 0;
}

static int start_dump_locked(int number, int fd,
			     enum sennit_stacks_format format, bool lent)
{
	int err;

	if (!is_usable(number))
		return -EINVAL;
	pthread_mutex_lock(&dump_lock);
	err = start_dump(number, fd, format, lent);
	pthread_mutex_unlock(&dump_lock);
	return err;
}

int sn_dump_lend(const char *signal)
{
	const char               *wanted = secure_getenv("SENNIT_DUMP_SIGNAL");
	enum sennit_stacks_format format = SENNIT_STACKS_TEXT;
	const char               *colon;
	char                      name[16];

	if (!signal)
		signal = wanted && *wanted ? wanted : "QUIT";
	colon = strchr(signal, ':');
	if (colon && !sn_stacks_format(colon + 1, &format))
		return -EINVAL;
	if (snprintf(name, sizeof(name), "%.*s",
		     colon ? (int)(colon - signal) : (int)strlen(signal),
		     signal) >= (int)sizeof(name))
		return -EINVAL;
	return start_dump_locked(number_of(name), STDERR_FILENO, format, true);
}

int sennit_dump_start(int number, int fd, uint32_t format)
{
	if (number == SENNIT_DUMP_ENVIRONMENT) {
		const char *name = secure_getenv("SENNIT_DUMP_SIGNAL");

		if (!name || !*name)
			return 0;
		number = number_of(name);
	}
	return start_dump_locked(number, fd, format, false);
}

void sennit_dump_stop(void)
{
	pthread_mutex_lock(&dump_lock);
	if (dump.on)
		stop();
	pthread_mutex_unlock(&dump_lock);
}

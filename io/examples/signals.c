/* SPDX-License-Identifier: Apache-2.0 */
/* signals.c - a fiber waits for SIGHUP and SIGTERM. */
#include "../calls/calls.h"

#include <sennit/signals.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

static int serve(void *signals)
{
	struct signalfd_siginfo info;
	int                     number;

	while ((number = sennit_signals_wait(signals, &info, soon())) ==
	       SIGHUP) {
		printf("read the configuration again\n");
		kill(getpid(), SIGTERM);
	}
	return number == SIGTERM ? 0 : number;
}

static sigset_t which;

static void show(sennit_scheduler *s)
{
	sennit_signals *signals;
	sennit_group    g;

	(void)s;
	CHECK(sennit_signals_open(&signals, &which) == 0);
	sennit_group_init(&g, SENNIT_NEVER, 0);
	CHECK(sennit_group_spawn(&g, serve, signals) == 0);
	kill(getpid(), SIGHUP);
	CHECK(sennit_group_wait(&g) == 0);
	sennit_signals_close(signals);
}

int main(void)
{
	/* Before any thread begins: threads inherit the mask. */
	sigemptyset(&which);
	sigaddset(&which, SIGHUP);
	sigaddset(&which, SIGTERM);
	CHECK(pthread_sigmask(SIG_BLOCK, &which, NULL) == 0);
	return run(show);
}

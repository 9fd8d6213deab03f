/* SPDX-License-Identifier: Apache-2.0 */
/* interrupt.c - the SIGINT handler. */
#include "interrupt.h"

#include <signal.h>
#include <stdatomic.h>
#include <string.h>

/* Lock-free, so that a signal handler may set it. No other data depends on its
 * order. */
static atomic_bool asked;

static void remember(int number)
{
	(void)number;
	atomic_store_explicit(&asked, true, memory_order_relaxed);
}

void interrupt_install(void)
{
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_handler = remember;
	(void)sigaction(SIGINT, &action, NULL);
}

bool interrupt_asked(void)
{
	return atomic_load_explicit(&asked, memory_order_relaxed);
}

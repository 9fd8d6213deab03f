/* SPDX-License-Identifier: Apache-2.0 */
/* misuse_poller.c - broken contracts of pollers end the process with one line
 * that names the call. */
#include "testing/misuse.h"
#include "sennit/poller.h"

static sennit_poller_op op;

static sennit_time remove_self(sennit_poller_hook *h)
{
	sennit_poller_hook_remove(h);
	return SENNIT_NEVER;
}

static sennit_poller_hook hook = { .ask = remove_self };

MISUSE_BY(waiting_without_a_poller, "sennit_poller_wait",
	  (void)!sennit_poller_wait(&op, 0, SENNIT_NEVER));
MISUSE_BY(completing_an_operation_twice, "sennit_poller_complete",
	  sennit_poller_complete(&op, 0), sennit_poller_complete(&op, 0));
MISUSE_BY(asking_a_hook_of_nobody, "sennit_poller_hook_ask",
	  sennit_poller_hook_ask(&hook));
MISUSE_BY(removing_a_hook_in_its_function, "sennit_poller_hook_remove",
	  (void)!sennit_poller_hook_add(&hook), sennit_poller_hook_ask(&hook),
	  sennit_sleep(SENNIT_MILLISECOND));

static sennit_poller_hook removed = { .ask = remove_self };

static sennit_poller_hook *removed_hook(void)
{
	(void)!sennit_poller_hook_add(&removed);
	sennit_poller_hook_remove(&removed);
	return &removed;
}

MISUSE_BY(removing_a_hook_twice, "sennit_poller_hook_remove",
	  sennit_poller_hook_remove(removed_hook()));
MISUSE_BY(asking_a_removed_hook, "sennit_poller_hook_ask",
	  sennit_poller_hook_ask(removed_hook()));

/* SPDX-License-Identifier: Apache-2.0 */
/* misuse_poller.c - broken contracts of pollers end the process with one line
 * that names the call. */
#include "misuse.h"
#include "sennit/poller.h"

static sennit_poller_op op;

static void commit_wait_without_poller(const struct offence *o)
{
	(void)o;
	(void)!sennit_poller_wait(&op, 0, SENNIT_NEVER);
}

TEST_WITH_COUNTS(waiting_without_a_poller)
{
	assert_misuse(w, "sennit_poller_wait", commit_wait_without_poller);
}

static void commit_complete_twice(const struct offence *o)
{
	(void)o;
	sennit_poller_complete(&op, 0);
	sennit_poller_complete(&op, 0);
}

TEST_WITH_COUNTS(completing_an_operation_twice)
{
	assert_misuse(w, "sennit_poller_complete", commit_complete_twice);
}

static sennit_time remove_self(sennit_poller_hook *h)
{
	sennit_poller_hook_remove(h);
	return SENNIT_NEVER;
}

static sennit_poller_hook hook = { .ask = remove_self };

static void commit_remove_in_hook(const struct offence *o)
{
	(void)o;
	(void)!sennit_poller_hook_add(&hook);
	sennit_poller_hook_ask(&hook);
	sennit_sleep(SENNIT_MILLISECOND);
}

TEST_WITH_COUNTS(removing_a_hook_in_its_function)
{
	assert_misuse(w, "sennit_poller_hook_remove", commit_remove_in_hook);
}

static void commit_ask_a_hook_of_nobody(const struct offence *o)
{
	(void)o;
	sennit_poller_hook_ask(&hook);
}

TEST_WITH_COUNTS(asking_a_hook_of_nobody)
{
	assert_misuse(w, "sennit_poller_hook_ask", commit_ask_a_hook_of_nobody);
}

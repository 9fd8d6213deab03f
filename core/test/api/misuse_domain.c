/* SPDX-License-Identifier: Apache-2.0 */
/* misuse_domain.c - misuse of domains. */
#include "testing/misuse.h"
#include "sennit/domain.h"

static void wait_for_ever(void *argument)
{
	sennit_sleep_until(SENNIT_NEVER);
}

static sennit_domain *make_domain(const struct offence *o)
{
	sennit_domain *d = NULL;

	if (sennit_domain_create(&d, o->s, NULL, NULL))
		abort();
	return d;
}

MISUSE_TEST(releasing_what_only_its_tasks_keep, "sennit_domain_release")
{
	sennit_domain *d = make_domain(o);

	(void)!sennit_domain_schedule(d, wait_for_ever, NULL);
	sennit_domain_release(d);
	sennit_domain_release(d);
}

static void wait_for_own_end(void *domain)
{
	(void)!sennit_domain_shutdown(domain, SENNIT_NEVER);
}

MISUSE_TEST(waiting_for_the_end_inside, "sennit_domain_shutdown")
{
	sennit_domain *d = make_domain(o);

	(void)!sennit_domain_schedule(d, wait_for_own_end, d);
	for (;;)
		sennit_sleep(SENNIT_MILLISECOND);
}

MISUSE_TEST(waiting_for_the_end_of_what_was_released, "sennit_domain_shutdown")
{
	sennit_domain *d = make_domain(o);

	(void)!sennit_domain_schedule(d, wait_for_ever, NULL);
	sennit_domain_release(d);
	(void)!sennit_domain_shutdown(d, 0);
}

static void schedule_unbound(void *domain)
{
	(void)!sennit_domain_schedule(domain, wait_for_ever, NULL);
}

MISUSE_IN_BY(TEST_WITHOUT_COUNT, scheduling_unbound_where_nobody_works,
	     "sennit_domain_schedule",
	     in_a_thread(schedule_unbound, make_domain(o)));

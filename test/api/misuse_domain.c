/* SPDX-License-Identifier: Apache-2.0 */
/* misuse_domain.c - misuse of domains. */
#include "misuse.h"
#include "sennit/domain.h"

static void wait_for_ever(void *argument)
{
	(void)argument;
	sennit_sleep_until(SENNIT_NEVER);
}

static sennit_domain *make_domain(const struct offence *o)
{
	sennit_domain *d = NULL;

	if (sennit_domain_create(&d, o->s, NULL, NULL))
		abort();
	return d;
}

static void commit_release_too_often(const struct offence *o)
{
	sennit_domain *d = make_domain(o);

	(void)!sennit_domain_schedule(d, wait_for_ever, NULL);
	sennit_domain_release(d);
	sennit_domain_release(d);
}

TEST_WITH_COUNTS(releasing_what_only_its_tasks_keep)
{
	assert_misuse(w, "sennit_domain_release", commit_release_too_often);
}

static void wait_for_own_end(void *domain)
{
	(void)!sennit_domain_shutdown(domain, SENNIT_NEVER);
}

static void commit_wait_inside(const struct offence *o)
{
	sennit_domain *d = make_domain(o);

	(void)!sennit_domain_schedule(d, wait_for_own_end, d);
	for (;;)
		sennit_sleep(SENNIT_MILLISECOND);
}

static void commit_shutdown_too_often(const struct offence *o)
{
	sennit_domain *d = make_domain(o);

	(void)!sennit_domain_schedule(d, wait_for_ever, NULL);
	sennit_domain_release(d);
	(void)!sennit_domain_shutdown(d, 0);
}

TEST_WITH_COUNTS(waiting_for_the_end_where_it_cannot_be)
{
	assert_misuse(w, "sennit_domain_shutdown", commit_wait_inside);
	assert_misuse(w, "sennit_domain_shutdown", commit_shutdown_too_often);
}

static void schedule_unbound(void *domain)
{
	(void)!sennit_domain_schedule(domain, wait_for_ever, NULL);
}

static void commit_schedule_unbound(const struct offence *o)
{
	in_a_thread(schedule_unbound, make_domain(o));
}

TEST_IN_WORLDS(scheduling_unbound_where_nobody_works,
	       IN_WORLD(scheduling_unbound_where_nobody_works, "_w0",
			open_count, close_count, 0))
{
	assert_misuse(w, "sennit_domain_schedule", commit_schedule_unbound);
}

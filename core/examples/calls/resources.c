/* SPDX-License-Identifier: Apache-2.0 */
/* resources.c - two schedulers share a budget of CPUs. */
#include "calls.h"

int main(void)
{
	sennit_resources_stats stats = { .size = sizeof(stats) };
	sennit_resources      *r;
	sennit_scheduler      *urgent, *other;

	CHECK(sennit_resources_create(&r, 2, NULL) == 0);
	CHECK(sennit_scheduler_create(
		      &urgent, SENNIT_CONFIG(.workers = 2, .resources = r,
					     .resources_min = 1)) == 0);
	CHECK(sennit_scheduler_create(
		      &other, SENNIT_CONFIG(.workers = 2, .resources = r)) ==
	      0);
	sennit_resources_get_stats(r, &stats);
	CHECK(stats.cpus == 2 && stats.schedulers == 2 && stats.promised == 1);

	/* Night has come: the other one gets more of a smaller budget. */
	CHECK(sennit_resources_set_share(
		      urgent, &(sennit_resources_share){
				      .size = sizeof(sennit_resources_share),
				      .priority = 1 }) == 0);
	CHECK(sennit_resources_set_share(
		      other, &(sennit_resources_share){
				     .size = sizeof(sennit_resources_share),
				     .priority = 4 }) == 0);
	CHECK(sennit_resources_set_cpus(r, 1) == 0);

	/* A second owner, for example another part of the program. */
	CHECK(sennit_resources_retain(r) == r);
	sennit_resources_release(r);
	sennit_resources_release(r); /* the schedulers hold references */
	CHECK(sennit_scheduler_shutdown(urgent, SENNIT_NEVER) == 0);
	CHECK(sennit_scheduler_shutdown(other, SENNIT_NEVER) == 0);
	return 0;
}

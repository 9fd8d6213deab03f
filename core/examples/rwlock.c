/* SPDX-License-Identifier: Apache-2.0 */
/* rwlock.c - a table of routes that many requests read while they wait for an
 * answer, and that an update replaces from time to time.
 *
 * A request holds the table across a wait. With a mutex the requests would wait
 * for each other. The update gets the lock although there is always a request
 * under way, since a waiting writer holds back later readers.
 */
#include <sennit.h>

#include <stdio.h>

#define REQUESTS 200
#define UPDATES  5
#define HOSTS    8

struct router {
	sennit_rwlock     lock;
	uint32_t          version;      /* under lock */
	uint32_t          route[HOSTS]; /* under lock: all of one version */
	uint32_t          wrong;        /* under lock: torn tables seen */
	sennit_wait_group done;
};

/* Look up a host, ask it, look again: the table has not changed. */
static void request(void *argument)
{
	struct router *r = argument;
	uint32_t       version;
	bool           same = true;

	sennit_rwlock_lock_shared(&r->lock);
	version = r->version;
	sennit_sleep(100 * SENNIT_MICROSECOND);
	for (unsigned i = 0; i < HOSTS; i++)
		same = same && r->route[i] == version;
	sennit_rwlock_unlock_shared(&r->lock);

	if (!same) {
		sennit_rwlock_lock(&r->lock);
		r->wrong++;
		sennit_rwlock_unlock(&r->lock);
	}
	(void)sennit_wait_group_done(&r->done);
}

static void update(void *argument)
{
	struct router *r = argument;

	for (unsigned n = 0; n < UPDATES; n++) {
		sennit_rwlock_lock(&r->lock);
		r->version++;
		for (unsigned i = 0; i < HOSTS; i++) {
			r->route[i] = r->version;
			sennit_yield(); /* no reader sees half of it */
		}
		sennit_rwlock_unlock(&r->lock);
	}
	(void)sennit_wait_group_done(&r->done);
}

static int program(void *unused)
{
	struct router r = { .lock = SENNIT_RWLOCK_INIT };

	(void)unused;
	sennit_wait_group_init(&r.done, REQUESTS + 1);
	for (unsigned i = 0; i < REQUESTS; i++) {
		if (sennit_schedule(request, &r))
			return 1;
		if (i == REQUESTS / 2 && sennit_schedule(update, &r))
			return 1;
	}
	sennit_wait_group_wait(&r.done);
	printf("%d requests, table of version %u, seen torn %u times\n",
	       REQUESTS, (unsigned int)r.version, (unsigned int)r.wrong);
	return r.version == UPDATES && !r.wrong ? 0 : 1;
}

int main(void)
{
	int result;

	return sennit_run(program, NULL, NULL, &result) || result;
}

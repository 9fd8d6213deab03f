/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/scheduler_list.h"

#include "os/os.h"

struct link *sn_scheduler_list;

static uint32_t forks; /* changes only while there is no other thread */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* no other lock is
							  * taken under it */

void sn_scheduler_list_join(sennit_scheduler *s)
{
	os_lock(&lock);
	s->listed.forks = forks;
	sn_link_join(&sn_scheduler_list, &s->listed.link);
	pthread_mutex_unlock(&lock);
}

void sn_scheduler_list_set_ready(sennit_scheduler *s)
{
	os_lock(&lock);
	s->listed.ready = true;
	pthread_mutex_unlock(&lock);
}

void sn_scheduler_list_leave(sennit_scheduler *s)
{
	os_lock(&lock);
	if (s->listed.forks == forks)
		sn_link_leave(&sn_scheduler_list, &s->listed.link);
	pthread_mutex_unlock(&lock);
}

static sennit_scheduler *at(struct link *l)
{
	return container_of(l, struct sennit_scheduler, listed.link);
}

/* A scheduler in the list is memory that is valid, and its gate knows whether
 * it has ended. */
size_t sn_scheduler_list_retain(sennit_scheduler *out[], size_t size)
{
	size_t       count = 0;
	struct link *l;

	os_lock(&lock);
	for (l = sn_scheduler_list; l && count < size;
	     l = sn_link_after(l, sn_scheduler_list))
		if (at(l)->listed.ready && sn_gate_retain(&at(l)->gate))
			out[count++] = at(l);
	pthread_mutex_unlock(&lock);
	return count;
}

/* Another thread of the parent may have held the lock during the fork. */
void sn_scheduler_list_fork(void)
{
	forks++;
	sn_scheduler_list = NULL;
	pthread_mutex_init(&lock, NULL);
}

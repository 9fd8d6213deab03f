/* SPDX-License-Identifier: Apache-2.0 */
/* device.h - a device without a descriptor, for tests of hooks: it completes
 * jobs when any thread says so, and tells nobody. */
#ifndef SN_TEST_DEVICE_H
#define SN_TEST_DEVICE_H

#include "with_workers.h"
#include "sennit/poller.h"

struct job;

struct device {
	sennit_poller_hook    hook;        /* first */
	uint64_t              patience;    /* ns until it is asked again */
	atomic_uint           outstanding; /* fibers of one worker */
	atomic_uint           asks;
	_Atomic(struct job *) finished;
};

struct job {
	struct device     *of;
	struct job        *next;
	sennit_event       done;
	atomic_bool        submitted;
	sennit_wait_group *group;
};

static inline sennit_time ask_device(sennit_poller_hook *h)
{
	struct device *d = (struct device *)h;
	struct job    *j = atomic_exchange(&d->finished, NULL);

	atomic_fetch_add(&d->asks, 1);
	while (j) {
		struct job *this = j;

		j = j->next;
		d->outstanding--;
		sennit_event_set(&this->done); /* *this is gone */
	}
	if (!d->outstanding)
		return SENNIT_NEVER;
	return d->patience ? sennit_after(d->patience) : 0;
}

static inline void open_device(struct device *d, uint64_t patience)
{
	*d = (struct device){ .hook.ask = ask_device, .patience = patience };
	EXPECT(sennit_poller_hook_add(&d->hook) == 0);
}

static inline void close_device(struct device *d)
{
	sennit_poller_hook_remove(&d->hook);
}

/* Have the device do *j: from a fiber of its worker. */
static inline void do_job(struct job *j)
{
	j->of->outstanding++;
	sennit_poller_hook_ask(&j->of->hook);
	atomic_store(&j->submitted, true);
	EXPECT(!sennit_event_wait(&j->done));
}

/* The device has done *j. From any thread. */
static inline void finish(struct job *j)
{
	struct device *d = j->of;

	j->next = atomic_load(&d->finished);
	while (!atomic_compare_exchange_weak(&d->finished, &j->next, j))
		;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/poller.h"

void sn_poller_state_ask(struct poller_state *p)
{
	for (sennit_poller_hook *h = p->hooks; h; h = h->next_) {
		if (h->again_ == SENNIT_NEVER)
			continue;
		p->asking = h;
		h->again_ = h->ask(h);
		p->asking = NULL;
		p->active -= h->again_ == SENNIT_NEVER;
	}
}

sennit_time sn_poller_state_due(const struct poller_state *p)
{
	sennit_time due = SENNIT_NEVER;

	for (const sennit_poller_hook *h = p->hooks; h; h = h->next_)
		if (h->again_ < due)
			due = h->again_;
	return due;
}

void sn_poller_state_free(struct poller_state *p)
{
	while (p->hooks) {
		sennit_poller_hook *h = p->hooks;

		p->hooks = h->next_; /* first: h may be freed */
		if (h->destroy)
			h->destroy(h);
	}
}

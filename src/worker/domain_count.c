/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/domain_count.h"

size_t sn_domain_count_size(const sennit_scheduler *s)
{
	return sizeof(struct sennit_domain) +
	       s->capacity * sizeof(struct domain_part);
}

void sn_domain_count_begin(struct sennit_domain *d)
{
	sn_gate_init(&d->gate, 1, 0);
	a_init(&d->others, 0);
	d->parts_count = d->scheduler->capacity;
	for (uint32_t i = 0; i < d->parts_count; i++)
		a_init(&d->parts[i].balance, 0);
}

static bool found_work(struct sennit_domain *d)
{
	/* Only holders of references still change it, see domain_count.h.
	 * gate.out makes the earlier changes visible. */
	uint64_t sum = a_load_rlx(&d->others);

	for (uint32_t i = 0; i < d->parts_count; i++)
		sum += a_load_rlx(&d->parts[i].balance); /* the same */
	return sum != 0;
}

bool sn_domain_count_check(struct sennit_domain *d)
{
	enum gate_verdict verdict;

	do
		verdict = sn_gate_settle(&d->gate, found_work(d));
	while (verdict == GATE_AGAIN);
	return verdict == GATE_COMPLETED;
}

void sn_domain_become_active(struct sennit_domain *d)
{
	CHECK(sn_gate_enter(&d->gate), "a domain ended while it had a task");
}

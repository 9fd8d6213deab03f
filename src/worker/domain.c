/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/domain.h"

#include "base/memory.h"
#include "base/torture.h"
#include "worker/finalise.h"

_Static_assert(offsetof(struct sennit_domain, scope) == 0,
	       "a scope that is a domain is found at its address");

static size_t size_of(uint32_t parts)
{
	return sizeof(struct sennit_domain) +
	       parts * sizeof(struct domain_part);
}

struct sennit_domain *sn_domain_make(sennit_scheduler *s, sennit_end_fn *run,
				     void *argument)
{
	struct sennit_domain *d =
		sn_memory_take(&s->memory, size_of(s->capacity),
			       _Alignof(struct sennit_domain));

	if (!d)
		return NULL;
	d->scope = (struct sennit_cancel_scope){ .kind_ = SCOPE_DOMAIN,
						 .root_ = &d->scope,
						 .deadline_ = SENNIT_NEVER };
	sn_gate_init(&d->gate, 1, 0);
	a_init(&d->inside, 1);
	a_init(&d->others, 0);
	d->scheduler = s;
	d->run = run;
	d->argument = argument;
	d->parts_count = s->capacity;
	for (uint32_t i = 0; i < s->capacity; i++)
		a_init(&d->parts[i].balance, 0);
	return d;
}

/* --- the end ------------------------------------------------------------ */

/* No one uses *d any more. */
static void wind_up(struct sennit_domain *d)
{
	sennit_scheduler *s = d->scheduler;
	sennit_end_fn    *run = d->run;
	void             *argument = d->argument;

	sn_memory_give(&s->memory, d, size_of(d->parts_count));
	TORTURE_POINT();
	if (run)
		run(argument);
	sn_finalise_release(s);
}

static void step_out(struct sennit_domain *d)
{
	TORTURE_POINT();
	/* -> domain.inside: all that this worker did here <- domain.inside:
	 * what all others did */
	if (a_sub_acqrel(&d->inside, 1) == 1)
		wind_up(d);
}

static bool found_work(struct sennit_domain *d)
{
	/* Only holders of references still change it, see domain.h. gate.out
	 * makes the earlier changes visible. */
	uint64_t sum = a_load_rlx(&d->others);

	for (uint32_t i = 0; i < d->parts_count; i++)
		sum += a_load_rlx(&d->parts[i].balance); /* the same */
	return sum != 0;
}

/* The caller made both counts of the gate zero. */
static NOINLINE void sweep(struct sennit_domain *d)
{
	enum gate_verdict verdict;

	/* Count inside until settled: after a rollback others may end the
	 * domain. */
	a_add_rlx(&d->inside, 1);
	do
		verdict = sn_gate_settle(&d->gate, found_work(d));
	while (verdict == GATE_AGAIN);
	if (verdict == GATE_COMPLETED)
		/* -> domain.inside: the place kept until DONE; not the last <-
		 * domain.inside */
		a_sub_acqrel(&d->inside, 1);
	step_out(d);
}

void sn_domain_release(struct sennit_domain *d)
{
	if (sn_gate_release(&d->gate))
		sweep(d);
}

void sn_domain_become_active(struct sennit_domain *d)
{
	CHECK(sn_gate_enter(&d->gate), "a domain ended while it had a task");
}

void sn_domain_become_idle(struct sennit_domain *d)
{
	if (sn_gate_leave(&d->gate))
		sweep(d);
}

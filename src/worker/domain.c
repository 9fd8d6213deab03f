/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/domain.h"

#include "base/memory.h"
#include "base/torture.h"
#include "worker/finalise.h"

_Static_assert(offsetof(struct sennit_domain, scope) == 0,
	       "a scope that is a domain is found at its address");

struct sennit_domain *sn_domain_make(sennit_scheduler *s, sennit_end_fn *run,
				     void *argument)
{
	struct sennit_domain *d =
		sn_memory_take(&s->memory, sn_domain_count_size(s),
			       _Alignof(struct sennit_domain));

	if (!d)
		return NULL;
	d->scope = (struct sennit_cancel_scope){ .kind_ = SCOPE_DOMAIN,
						 .root_ = &d->scope,
						 .deadline_ = SENNIT_NEVER };
	a_init(&d->inside, 1);
	d->scheduler = s;
	d->run = run;
	d->argument = argument;
	sn_end_clients_init(&d->ended.clients);
	d->ended.memory = s->memory;
	d->ended.size = sn_domain_count_size(s);
	d->ended.process = s->process;
	sn_domain_count_begin(d);
	return d;
}

/* --- the end ------------------------------------------------------------ */

void sn_domain_drop(struct sennit_domain *d)
{
	const sennit_allocator memory = d->ended.memory;
	const size_t           size = d->ended.size;

	if (sn_end_clients_drop(&d->ended.clients))
		sn_memory_give(&memory, d, size);
}

/* No one uses *d any more, except for weak handles. Without these nothing of it
 * is left when its creator is told. */
static void wind_up(struct sennit_domain *d)
{
	sennit_scheduler *s = d->scheduler;
	sennit_end_fn    *run = d->run;
	void             *argument = d->argument;
	bool              alone = sn_end_clients_are_none(&d->ended.clients);

	if (alone)
		sn_domain_drop(d);
	TORTURE_POINT();
	if (run)
		run(argument);
	if (!alone) {
		sn_end_clients_tell(&d->ended.clients, &d->ended.memory);
		sn_domain_drop(d);
	}
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

void sn_domain_end(struct sennit_domain *d)
{
	/* Count inside until settled: after a rollback others may end the
	 * domain. */
	a_add_rlx(&d->inside, 1);
	if (sn_domain_count_check(d))
		/* -> domain.inside: the place kept until DONE; not the last <-
		 * domain.inside */
		a_sub_acqrel(&d->inside, 1);
	step_out(d);
}

void sn_domain_release(struct sennit_domain *d)
{
	if (sn_gate_release(&d->gate))
		sn_domain_end(d);
}

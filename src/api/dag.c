/* SPDX-License-Identifier: Apache-2.0 */
/* dag.c - a run is a group; its members go from node to node.
 *
 *	member   run the node; count it out of those that come after it; of
 *	         those that nothing is left before: spawn all but the last,
 *	         and go on with that one
 *
 * So a chain is a loop, on one stack. After each node the member asks what the
 * worker's loop would ask between two tasks, and lets others go first when it
 * is their turn.
 *
 * A node that has failed, or was never begun, is never counted out: what comes
 * after it does not begin. Nobody has to be told; the run ends with its
 * members.
 *
 * Whoever counts a slot down to nothing, and nobody else, touches it from then
 * on: its `left` becomes the link of a list of nodes for which there was no
 * memory to spawn them, and which the member runs itself, after its own.
 */
#include "api/dag.h"

#include "base/check.h"
#include "base/memory.h"
#include "os/os.h"
#include "wait/group_join.h"
#include "worker/loop.h"
#include "worker/task_cleanup.h"
#include "worker/fork_exit.h"
#include "worker/upkeep.h"

#include <errno.h>
#include <string.h>

#define ALL_FLAGS (SENNIT_GROUP_KEEP_GOING | SENNIT_GROUP_OWN_STACKS)
#define NO_NODE   UINT32_MAX

struct run {
	sennit_group    group;
	sennit_dag     *dag; /* fixed, as the rest */
	void           *data;
	void           *memory; /* the allocator's; NULL: the caller's */
	sennit_time     deadline;
	uint32_t        flags;
	struct dag_slot slots[]; /* any */
};

static struct run *run_of(struct dag_slot *s)
{
	char *first = (char *)(s - s->node);

	return (struct run *)(void *)(first - offsetof(struct run, slots));
}

/* --- members ------------------------------------------------------------ */

static int run_from(void *slot);

/* Why no further node may begin; 0: one may. */
static ALWAYS_INLINE int stopped(const struct run *r)
{
	const struct sennit_cancel_scope *scope = &r->group.scope_;

	if (sn_cancel_scope_is_cancelled(scope))
		return -ECANCELED;
	if (unlikely(scope->deadline_ != SENNIT_NEVER) &&
	    os_now() >= scope->deadline_)
		return -ETIMEDOUT;
	return 0;
}

/* In reports the member is what it runs. Local values and a name are the
 * node's, and end with it. */
static ALWAYS_INLINE int call(const struct run *r, struct sennit_fiber *f,
			      const struct dag_node *node)
{
	int err;

	if (!node->run)
		return 0;
	sn_fiber_state_set_task(&f->state,
				(sennit_task_fn *)(void (*)(void))node->run);
	err = node->run(r->data, node->argument);
	if (unlikely(f->cleanup))
		sn_task_cleanup_run(f);
	MISUSE(err > 0, "sennit_dag_run",
	       "a node returned neither 0 nor a negative error");
	return err;
}

/* One less before the node that the edge leads to: whether none is left. */
static ALWAYS_INLINE bool count_out(struct run *r, uint32_t edge)
{
	a_u32 *left;

	if (edge & DAG_ALONE)
		return true;
	left = &r->slots[edge].left;
	TORTURE_POINT();
	/* The last has nobody to count for. <- dag.node */
	return a_load_acq(left) == 1 ||
	       /* -> dag.node: what the node did <- dag.node: the others */
	       a_sub_acqrel(left, 1) == 1;
}

/* Let another member begin with the node. Returns the list, with the node if
 * there was no memory for that. */
static uint32_t hand_out(struct run *r, uint32_t node, uint32_t list)
{
	struct dag_slot *s = &r->slots[node];

	if (likely(sennit_group_spawn(&r->group, run_from, s) != -ENOMEM))
		return list;
	a_store_rlx(&s->left, list);
	return node;
}

/* The node has ended. Returns the list with what this member is to run, first
 * what has become ready last. */
static uint32_t count_out_all(struct run *r, const struct dag_node *node,
			      uint32_t list)
{
	const uint32_t *edges = r->dag->edges;
	uint32_t        ready = NO_NODE, i;

	for (i = node->begin; i < node->end; i++) {
		if (!count_out(r, edges[i]))
			continue;
		if (ready != NO_NODE)
			list = hand_out(r, ready, list);
		ready = edges[i] & ~DAG_ALONE;
	}
	if (ready == NO_NODE)
		return list;
	a_store_rlx(&r->slots[ready].left, list);
	return ready;
}

/* Whether the worker has nothing to do that goes before a task. */
static ALWAYS_INLINE bool may_go_on(struct worker *w)
{
	return !sn_run_queue_has_ready(&w->run) &&
	       !sn_mailbox_has_fibers(&w->mail) &&
	       (!w->threaded || !sn_run_queue_has_pinned(&w->run)) &&
	       sn_upkeep_tick(w);
}

/* Spawn what is on the list. Returns what there was no memory for. */
static NOINLINE uint32_t hand_out_all(struct run *r, uint32_t list)
{
	uint32_t kept = NO_NODE;

	while (list != NO_NODE) {
		const uint32_t node = list;

		list = a_load_rlx(&r->slots[node].left); /* ours */
		kept = hand_out(r, node, kept);
	}
	return kept;
}

/* Run the node of the slot, and those that it makes ready and keeps. */
static int run_from(void *slot)
{
	struct run    *r = run_of(slot);
	struct worker *w = sn_self;
	uint32_t       list = ((struct dag_slot *)slot)->node;

	a_store_rlx(&r->slots[list].left, NO_NODE);
	do {
		const uint32_t         number = list;
		const struct dag_node *node = &r->dag->nodes[number];
		int                    err = stopped(r);

		if (unlikely(err))
			return err;
		list = a_load_rlx(&r->slots[number].left); /* ours */
		err = call(r, w->home.current, node);
		if (likely(!err))
			list = count_out_all(r, node, list);
		else
			sn_group_fail(&r->group, err);
		if (list != NO_NODE && unlikely(!may_go_on(w)))
			list = hand_out_all(r, list);
	} while (list != NO_NODE);
	return 0;
}

/* --- runs --------------------------------------------------------------- */

size_t sennit_dag_run_size(const sennit_dag *d)
{
	return sizeof(struct run) +
	       ((size_t)d->start + 1) * sizeof(struct dag_slot);
}

/* Everything but the group. NULL: no memory. */
static struct run *make_run(sennit_dag *d, void *data,
			    const sennit_dag_options *o, sennit_time deadline,
			    const char *call_name)
{
	const sennit_allocator *a = &d->allocator;
	struct run             *r = o->memory;

	MISUSE(o->flags & ~ALL_FLAGS || o->reserved_, call_name,
	       "unknown flags");
	MISUSE((uintptr_t)r % _Alignof(max_align_t), call_name,
	       "the memory is not aligned");
	if (!r)
		r = a->allocate(a->context, sennit_dag_run_size(d),
				_Alignof(max_align_t));
	if (!r)
		return NULL;
	r->dag = d;
	r->data = data;
	r->memory = o->memory ? NULL : r;
	r->deadline = deadline;
	r->flags = o->flags;
	memcpy(r->slots, d->slots, ((size_t)d->start + 1) * sizeof(*r->slots));
	a_add_rlx(&d->runs, 1); /* the caller keeps *d until that is out */
	return r;
}

static void end_run(struct run *r)
{
	sennit_dag  *d = r->dag;
	const size_t size = sennit_dag_run_size(d);

	sn_memory_give(&d->allocator, r->memory, size);
	a_sub_rel(&d->runs, 1); /* -> dag.run: it is over */
}

/* The run's group is open: run all, and end. */
static int run_all(struct run *r)
{
	const int begun = sennit_group_spawn(&r->group, run_from,
					     &r->slots[r->dag->start]);
	const int err = sennit_group_wait(&r->group);

	end_run(r);
	return begun ? begun : err;
}

static const sennit_dag_options usual = { .memory = NULL };

int sennit_dag_run(sennit_dag *d, void *data, const sennit_dag_options *options,
		   sennit_time deadline)
{
	const sennit_dag_options *o = options ? options : &usual;
	struct run               *r;

	MISUSE(!o->scheduler && !sn_self, "sennit_dag_run",
	       "no scheduler is bound to this thread, nor given");
	r = make_run(d, data, o, deadline, "sennit_dag_run");
	if (!r)
		return -ENOMEM;
	if (o->scheduler)
		sennit_group_init_on(&r->group, o->scheduler, deadline,
				     r->flags);
	else
		sennit_group_init(&r->group, deadline, r->flags);
	return run_all(r);
}

static int run_as_member(void *argument)
{
	struct run *r = argument;

	sennit_group_init(&r->group, r->deadline, r->flags);
	return run_all(r);
}

int sennit_dag_spawn(sennit_group *g, sennit_dag *d, void *data,
		     const sennit_dag_options *options, sennit_time deadline)
{
	const sennit_dag_options *o = options ? options : &usual;
	struct run               *r;
	int                       err;

	MISUSE(o->scheduler, "sennit_dag_spawn",
	       "a scheduler is given, but the group has its own");
	r = make_run(d, data, o, deadline, "sennit_dag_spawn");
	if (!r)
		return -ENOMEM;
	err = sennit_group_spawn(g, run_as_member, r);
	if (err)
		end_run(r);
	return err;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "life/end_clients.h"

#include "base/memory.h"
#include "base/torture.h"
#include "os/os.h"
#include "wait/wait.h"

#include <errno.h>

void sn_end_clients_init(struct end_clients *e, const sennit_allocator *memory)
{
	e->memory = memory;
	a_init(&e->lock, 0);
	a_init(&e->awaited, 0);
	a_init(&e->weak.references, 1);
	e->clients = NULL;
	e->notices = NULL;
	e->told = false;
}

/* --- clients ------------------------------------------------------------ */

static void count_clients(struct end_clients *e, uint32_t more)
{
	/* Not raced: the lock is held. Others read it without the lock, as a
	 * hint. */
	a_store_rlx(&e->awaited, a_load_rlx(&e->awaited) + more);
}

void sn_end_clients_join(struct end_clients *e, struct client *c)
{
	uint32_t word = sn_wait_queue_lock(&e->lock);

	a_init(&c->state, CLIENT_WAITS);
	sn_link_join(&e->clients, &c->link);
	count_clients(e, 1);
	sn_wait_queue_unlock(&e->lock, word);
}

void sn_end_clients_give_up(struct end_clients *e, struct client *c)
{
	uint32_t word = sn_wait_queue_lock(&e->lock);

	sn_link_leave(&e->clients, &c->link);
	count_clients(e, UINT32_MAX);
	sn_wait_queue_unlock(&e->lock, word);
}

/* All but one of them, which may be NULL. A client that is told CLIENT_FREE may
 * be gone, and so may all when the last one is told. */
static void notify_clients(struct link *all, const struct client *except,
			   uint32_t state)
{
	struct link *l = all;

	while (l) {
		struct client *c = container_of(l, struct client, link);

		l = sn_link_after(l, all);
		TORTURE_POINT(); /* some are told, others still wait */
		if (c == except)
			continue;
		/* -> end_clients.told: what all others did */
		a_store_rel(&c->state, state);
		os_word_wake_one(&c->state);
	}
}

bool sn_end_clients_dissolve(struct end_clients *e)
{
	uint32_t     word = sn_wait_queue_lock(&e->lock);
	struct link *all = e->clients;

	sn_wait_queue_unlock(&e->lock, word);
	notify_clients(all, NULL, CLIENT_LEAVES);
	return all;
}

bool sn_end_clients_is_heir(const struct end_clients *e, const struct client *c)
{
	/* Without the lock: no client joins or gives up any more. */
	return e->clients == &c->link;
}

bool sn_end_clients_leave(struct end_clients *e, struct link **all)
{
	*all = e->clients;
	TORTURE_POINT(); /* the others may have left */
	/* -> end_clients.leave: the last access to the scheduler <-
	 * end_clients.leave */
	return a_sub_acqrel(&e->awaited, 1) == 1;
}

void sn_end_clients_free(struct link *all, const struct client *c)
{
	notify_clients(all, c, CLIENT_FREE);
}

/* --- notices ------------------------------------------------------------ */

/* Take all notices. NULL: there were none, and no more are accepted. */
static struct link *take_notices(struct end_clients *e)
{
	uint32_t     word = sn_wait_queue_lock(&e->lock);
	struct link *all = e->notices;

	e->notices = NULL;
	e->told = !all;
	sn_wait_queue_unlock(&e->lock, word);
	return all;
}

/* A notice is gone when it is called, at the latest. */
static void call_notices(const sennit_allocator *memory, struct link *all)
{
	ARCH_BARRIER(); /* others would never be called */
	while (all) {
		struct notice *n = container_of(all, struct notice, link);
		struct notice  copy = *n;

		sn_link_leave(&all, &n->link);
		if (!copy.lent)
			sn_memory_give(memory, n, sizeof(*n));
		copy.run(copy.argument);
	}
}

void sn_end_clients_tell(struct end_clients *e)
{
	struct link *all;

	/* Notices that arrive meanwhile are called in the next round. */
	while ((all = take_notices(e))) {
		TORTURE_POINT(); /* being called, more may arrive */
		call_notices(e->memory, all);
	}
}

/* Add n, or only check if n is NULL. Returns false if all notices have been
 * called. */
static bool add_end_notice(struct end_clients *e, struct notice *n)
{
	uint32_t word = sn_wait_queue_lock(&e->lock);
	bool     late = e->told;

	if (n && !late)
		sn_link_join(&e->notices, &n->link);
	sn_wait_queue_unlock(&e->lock, word);
	return !late;
}

void sn_end_clients_lend(struct end_clients *e, struct notice *n)
{
	(void)!add_end_notice(e,
			      n); /* the caller's reference: it is not late */
}

void sn_end_clients_take_back(struct end_clients *e, struct notice *n)
{
	uint32_t word = sn_wait_queue_lock(&e->lock);

	sn_link_leave(&e->notices, &n->link);
	sn_wait_queue_unlock(&e->lock, word);
}

int sn_end_clients_on(struct end_clients *e, sennit_end_fn *run, void *argument)
{
	struct notice *n = NULL;

	if (!run)
		return -EINVAL;
	if (add_end_notice(e, NULL)) {
		n = sn_memory_take(e->memory, sizeof(*n),
				   _Alignof(struct notice));
		if (!n)
			return -ENOMEM;
		*n = (struct notice){ .run = run, .argument = argument };
		if (add_end_notice(e, n))
			return 0;
		sn_memory_give(e->memory, n, sizeof(*n));
	}
	run(argument);
	return 0;
}

/* --- weak handles ------------------------------------------------------- */

bool sn_end_clients_are_none(const struct end_clients *e)
{
	/* Not stale: only who has a handle can make another.
	 * <- end_clients.keep */
	return a_load_acq(&e->weak.references) == 1 && !e->notices;
}

void sn_end_clients_keep(struct end_clients *e)
{
	a_add_rlx(&e->weak.references, 1); /* not the last one: the caller has
					 * one */
}

bool sn_end_clients_drop(struct end_clients *e)
{
	/* -> end_clients.keep: the last access to the block <-
	 * end_clients.keep */
	return a_sub_acqrel(&e->weak.references, 1) == 1;
}

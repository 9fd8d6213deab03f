/* SPDX-License-Identifier: Apache-2.0 */
#include "life/end.h"

#include "base/memory.h"
#include "base/torture.h"
#include "os/os.h"
#include "wait/wait.h"

#include <errno.h>

struct notice {
	struct notice *next;
	sennit_end_fn *run;
	void          *argument;
};

void sn_end_clients_init(struct end_clients *e, const sennit_allocator *memory)
{
	e->memory = memory;
	a_init(&e->lock, 0);
	a_init(&e->awaited, 0);
	a_init(&e->weak.keepers, 1);
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
static void tell(struct link *all, const struct client *except, uint32_t state)
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
	tell(all, NULL, CLIENT_LEAVES);
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
	tell(all, c, CLIENT_FREE);
}

/* --- notices ------------------------------------------------------------ */

/* Take all notices, newest first. NULL: there were none, and no more are
 * accepted. */
static struct notice *take_notices(struct end_clients *e)
{
	uint32_t       word = sn_wait_queue_lock(&e->lock);
	struct notice *newest = e->notices;

	e->notices = NULL;
	e->told = !newest;
	sn_wait_queue_unlock(&e->lock, word);
	return newest;
}

static struct notice *reversed(struct notice *n)
{
	struct notice *before = NULL;

	while (n) {
		struct notice *next = n->next;

		n->next = before;
		before = n;
		n = next;
	}
	return before;
}

static void call_all(const sennit_allocator *memory, struct notice *n)
{
	while (n) {
		struct notice copy = *n;

		sn_memory_give(memory, n, sizeof(*n));
		copy.run(copy.argument);
		n = copy.next;
	}
}

void sn_end_clients_tell(struct end_clients *e)
{
	struct notice *newest;

	/* Notices that arrive meanwhile are called in the next round. */
	while ((newest = take_notices(e))) {
		TORTURE_POINT(); /* being called, more may arrive */
		call_all(e->memory, reversed(newest));
	}
}

/* Add n, or only check if n is NULL. Returns false if all notices have been
 * called. */
static bool add(struct end_clients *e, struct notice *n)
{
	uint32_t word = sn_wait_queue_lock(&e->lock);
	bool     late = e->told;

	if (n && !late) {
		n->next = e->notices;
		e->notices = n;
	}
	sn_wait_queue_unlock(&e->lock, word);
	return !late;
}

int sn_end_clients_on(struct end_clients *e, sennit_end_fn *run, void *argument)
{
	struct notice *n = NULL;

	if (!run)
		return -EINVAL;
	if (add(e, NULL)) {
		n = sn_memory_take(e->memory, sizeof(*n),
				   _Alignof(struct notice));
		if (!n)
			return -ENOMEM;
		n->run = run;
		n->argument = argument;
		if (add(e, n))
			return 0;
		sn_memory_give(e->memory, n, sizeof(*n));
	}
	run(argument);
	return 0;
}

static void set_event(void *event)
{
	sennit_event_set(event);
}

int sn_end_clients_on_event(struct end_clients *e, sennit_event *event)
{
	return sn_end_clients_on(e, set_event, event);
}

static void set_future(void *future)
{
	sennit_future_set(future, NULL);
}

int sn_end_clients_on_future(struct end_clients *e, sennit_future *f)
{
	return sn_end_clients_on(e, set_future, f);
}

/* --- weak handles ------------------------------------------------------- */

bool sn_end_clients_are_none(const struct end_clients *e)
{
	/* Not stale: only who has a handle can make another.
	 * <- end_clients.keep */
	return a_load_acq(&e->weak.keepers) == 1 && !e->notices;
}

void sn_end_clients_keep(struct end_clients *e)
{
	a_add_rlx(&e->weak.keepers, 1); /* not the last one: the caller has
					 * one */
}

bool sn_end_clients_drop(struct end_clients *e)
{
	/* -> end_clients.keep: the last access to the block <-
	 * end_clients.keep */
	return a_sub_acqrel(&e->weak.keepers, 1) == 1;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "life/end_clients.h"

#include "base/memory.h"
#include "base/torture.h"
#include "os/os.h"
#include "wait/waiter.h"

#include <errno.h>

struct notice {
	struct notice *next;
	sennit_end_fn *run;
	void          *argument;
};

void sn_end_clients_init(struct end_clients *e)
{
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

	a_init(&c->state, CLIENT_WAITING);
	sn_link_join(&e->clients, &c->link);
	count_clients(e, 1);
	sn_wait_queue_unlock(&e->lock, word);
}

void sn_end_clients_leave(struct end_clients *e, struct client *c)
{
	uint32_t word = sn_wait_queue_lock(&e->lock);

	sn_link_leave(&e->clients, &c->link);
	count_clients(e, UINT32_MAX);
	sn_wait_queue_unlock(&e->lock, word);
}

bool sn_end_clients_appoint(struct end_clients *e)
{
	uint32_t       word = sn_wait_queue_lock(&e->lock);
	struct link   *first = e->clients;
	struct client *c;

	sn_wait_queue_unlock(&e->lock, word);
	if (!first)
		return false;
	c = container_of(first, struct client, link);
	/* If the client is ASKING, its retain will fail, so there is no need to
	 * wait for it. -> end_clients.heir: what all did */
	a_store_rel(&c->state, CLIENT_HEIR);
	os_word_wake_one(&c->state);
	return true;
}

bool sn_end_clients_ask(struct client *c, struct gate *g)
{
	uint32_t state = CLIENT_WAITING;

	/* <- end_clients.heir <- end_clients.over: whichever came first */
	if (!a_cas_acq(&c->state, &state, CLIENT_ASKING))
		return false;
	TORTURE_POINT(); /* asking, no answer yet */
	if (sn_gate_retain(g)) {
		/* Relaxed: the end is not reached, so no one reads it. */
		a_store_rlx(&c->state, CLIENT_WAITING);
		return true;
	}
	state = CLIENT_ASKING;
	/* -> end_clients.claim: this client no longer accesses the scheduler;
	 * or it has become the heir */
	(void)a_cas_rel(&c->state, &state, CLIENT_WAITING);
	return false;
}

/* Spins, because ASKING lasts only a few instructions. */
static void claim(struct client *c)
{
	uint32_t state;
	uint32_t spins = 0;

	for (;;) {
		state = CLIENT_WAITING;
		/* <- end_clients.claim */
		if (a_cas_acq(&c->state, &state, CLIENT_CLAIMED))
			return;
		a_pause();
		if (++spins % WAIT_QUEUE_SPINS == 0)
			os_thread_yield();
	}
}

struct link *sn_end_clients_claim(struct end_clients *e, struct client *c)
{
	struct link *l;

	/* Without the lock: no client joins or leaves any more. */
	sn_link_leave(&e->clients, &c->link);
	l = e->clients;
	while (l) {
		claim(container_of(l, struct client, link));
		l = sn_link_after(l, e->clients);
	}
	return e->clients;
}

void sn_end_clients_dismiss(struct link *clients)
{
	struct link *l = clients;

	while (l) {
		struct client *c = container_of(l, struct client, link);

		l = sn_link_after(l, clients);
		TORTURE_POINT(); /* one client may be gone, others still wait */
		/* -> end_clients.over: the scheduler is gone */
		a_store_rel(&c->state, CLIENT_OVER);
		os_word_wake_one(&c->state);
	}
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

void sn_end_clients_tell(struct end_clients *e, const sennit_allocator *memory)
{
	struct notice *newest;

	/* Notices that arrive meanwhile are called in the next round. */
	while ((newest = take_notices(e))) {
		TORTURE_POINT(); /* being called, more may arrive */
		call_all(memory, reversed(newest));
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

int sn_end_clients_on(struct end_clients *e, const sennit_allocator *memory,
		      sennit_end_fn *run, void *argument)
{
	struct notice *n = NULL;

	if (add(e, NULL)) {
		n = sn_memory_take(memory, sizeof(*n), _Alignof(struct notice));
		if (!n)
			return -ENOMEM;
		n->run = run;
		n->argument = argument;
		if (add(e, n))
			return 0;
		sn_memory_give(memory, n, sizeof(*n));
	}
	run(argument);
	return 0;
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

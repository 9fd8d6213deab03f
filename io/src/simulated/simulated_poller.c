/* SPDX-License-Identifier: Apache-2.0 */
/* simulated_poller.c - the poller that waits for the simulated network. */
#include "simulated/network.h"

#ifdef SENNIT_DETERMINISTIC

#include "sennit/deterministic.h"

#include <string.h>

/* Average number of completions that are taken at once, if there are enough. */
#define TAKEN 4u

struct simulated_poller {
	struct io_backend b;    /* first */
	a_u32             word; /* 1: the worker was woken; it sleeps on this */
};

static struct simulated_poller *simulated_of(sennit_poller *p)
{
	return (struct simulated_poller *)p;
}

/* --- when waits are due ------------------------------------------------- */

/* When w must be checked again; 0: it is complete. */
static sennit_time due(const struct simulated_wait *w)
{
	sennit_time first = SENNIT_NEVER;

	for (size_t i = 0; i < w->count && !w->closed; i++) {
		struct simulated_end *e = sn_simulated_known(w->fds[i].fd);
		sennit_time           next;

		if (w->fds[i].fd < 0 || (!e && w->several))
			continue;
		if (!e || sn_simulated_events(e) &
				  (w->fds[i].events | POLLERR | POLLHUP))
			return 0;
		next = sn_simulated_next(e);
		first = next < first ? next : first;
	}
	return w->closed ? 0 : first;
}

static sennit_time due_first(const sennit_poller *p)
{
	sennit_time first = SENNIT_NEVER;

	for (struct simulated_wait *w = sn_simulated_waits(); w && first;
	     w = w->next)
		if (w->poller == p) {
			const sennit_time at = due(w);

			first = at < first ? at : first;
		}
	return first;
}

/* --- the poller --------------------------------------------------------- */

/* Unlink any wait that is complete, and return it. NULL: there is none. */
static struct simulated_wait *take_complete_wait(const sennit_poller *p)
{
	struct simulated_wait *chosen = NULL;
	uint32_t               count = 0;

	sn_simulated_lock();
	for (struct simulated_wait *w = sn_simulated_waits(); w; w = w->next)
		if (w->poller == p && !due(w) &&
		    !sennit_explore_choose(++count))
			chosen = w;
	if (chosen)
		sn_simulated_wait_unlink(chosen);
	sn_simulated_unlock();
	return chosen;
}

/* In any order, and perhaps not all: the others are taken later. */
void sn_simulated_turn(sennit_poller *p)
{
	struct simulated_wait *w;

	do {
		w = take_complete_wait(p);
		if (w)
			sennit_poller_complete(&w->op,
					       w->closed ? -ECANCELED : 0);
	} while (w && sennit_explore_choose(TAKEN));
}

/* Find plain close()s when no event is left. */
static sennit_time find_next_due(const sennit_poller *p)
{
	sennit_time first;

	sn_simulated_lock();
	first = due_first(p);
	if (first == SENNIT_NEVER) {
		sn_simulated_sweep();
		first = due_first(p);
	}
	sn_simulated_unlock();
	return first;
}

static enum sennit_poller_end sleep_simulated_until(sennit_poller *p,
						    sennit_time    deadline)
{
	struct simulated_poller *s = simulated_of(p);
	const sennit_time        first = find_next_due(p);
	bool                     woken;

	if (!first)
		return SENNIT_POLLER_READY;
	woken = sennit_explore_sleep((const uint32_t *)&s->word.value_, 0,
				     first < deadline ? first : deadline);
	a_store_rlx(&s->word, 0); /* before the next check */
	if (woken)
		return SENNIT_POLLER_WOKEN;
	return first < deadline ? SENNIT_POLLER_READY : SENNIT_POLLER_TIMEOUT;
}

static void wake_simulated(sennit_poller *p)
{
	/* relaxed: one thread runs at a time */
	a_store_rlx(&simulated_of(p)->word, 1);
	sennit_explore_wake((const uint32_t *)&simulated_of(p)->word.value_);
}

static void destroy_simulated(sennit_poller *p)
{
	const sennit_allocator *a = simulated_of(p)->b.memory;

	sn_io_closing_remove(&simulated_of(p)->b.closing);
	a->release(a->context, p, sizeof(struct simulated_poller));
}

/* --- waiting ------------------------------------------------------------ */

static int first_descriptor(const struct simulated_wait *w)
{
	for (size_t i = 0; i < w->count; i++)
		if (w->fds[i].fd >= 0)
			return w->fds[i].fd;
	return -1;
}

static void link_wait(struct simulated_wait *w)
{
	sn_simulated_lock();
	sn_simulated_sweep();
	sn_simulated_wait_link(w);
	sn_simulated_unlock();
}

static void unlink_wait(struct simulated_wait *w)
{
	sn_simulated_lock();
	sn_simulated_wait_unlink(w);
	sn_simulated_unlock();
}

/* When w is due, or the deadline if that is earlier. */
static sennit_time due_until(const struct simulated_wait *w,
			     sennit_time                  deadline)
{
	sennit_time first;

	sn_simulated_lock();
	first = due(w);
	sn_simulated_unlock();
	return first < deadline ? first : deadline;
}

/* The poller in which a thread's select sleeps. */
struct simulated_sleep {
	sennit_poller                p; /* first */
	const struct simulated_wait *w;
	a_u32                        word; /* 1: woken, or check again */
	bool                         woken;
};

static enum sennit_poller_end sleep_thread(sennit_poller *p,
					   sennit_time    deadline)
{
	struct simulated_sleep *s = (struct simulated_sleep *)p;
	sennit_time             until;

	a_store_rlx(&s->word, s->woken); /* before the check */
	until = due_until(s->w, deadline);
	if (!until)
		return SENNIT_POLLER_READY;
	if (sennit_explore_sleep((const uint32_t *)&s->word.value_, 0, until))
		return SENNIT_POLLER_WOKEN;
	return until < deadline ? SENNIT_POLLER_READY : SENNIT_POLLER_TIMEOUT;
}

static void wake_thread(sennit_poller *p)
{
	struct simulated_sleep *s = (struct simulated_sleep *)p;

	s->woken = true; /* one thread runs at a time */
	a_store_rlx(&s->word, 1);
	sennit_explore_wake((const uint32_t *)&s->word.value_);
}

static const sennit_poller_ops sleep_ops = { .size = sizeof(sleep_ops),
					     .sleep = sleep_thread,
					     .wake = wake_thread };

static int select_as_thread(struct simulated_wait *w, sennit_selection *select,
			    sennit_time deadline)
{
	struct simulated_sleep s = { .p.ops = &sleep_ops, .w = w };
	int                    err;

	a_init(&s.word, 0);
	w->word = &s.word;
	link_wait(w);
	err = sennit_poller_sleep(&s.p, select, deadline);
	unlink_wait(w);
	return w->closed ? -ECANCELED : err;
}

static int wait_simulated_as_thread(struct simulated_wait *w,
				    sennit_time            deadline)
{
	a_u32       word;
	sennit_time until;

	if (sennit_now() >= deadline)
		return -ETIMEDOUT;
	a_init(&word, 0);
	w->word = &word;
	link_wait(w);
	until = due_until(w, deadline);
	if (until)
		(void)sennit_explore_sleep((const uint32_t *)&word.value_, 0,
					   until);
	unlink_wait(w);
	return w->closed ? -ECANCELED : 0;
}

int sn_simulated_wait(struct io_backend *b, const struct pollfd *fds,
		      size_t count, bool several, sennit_selection *select,
		      sennit_time deadline)
{
	struct simulated_wait w = { .op = { .selection = select },
				    .fds = fds,
				    .count = count,
				    .several = several };
	int                   err;

	if (!b)
		return select ? select_as_thread(&w, select, deadline)
			      : wait_simulated_as_thread(&w, deadline);
	w.poller = &b->p;
	w.word = &simulated_of(&b->p)->word;
	link_wait(&w);
	err = sennit_poller_wait(&w.op, first_descriptor(&w), deadline);
	unlink_wait(&w);
	return w.op.done ? w.op.result : err;
}

/* --- the backend -------------------------------------------------------- */

/* w->tried and w->begun are not needed: events that are already there always
 * end the wait, and no call runs while a close is in progress. */
static int wait_simulated_ready(struct io_backend *b, const struct io_ready *w)
{
	const struct pollfd p = { .fd = w->fd, .events = w->events };

	return sn_simulated_wait(b, &p, 1, false, w->select, w->deadline);
}

static const struct io_backend_ops simulated_ops = {
	.poller = { .size = sizeof(sennit_poller_ops),
		    .turn = sn_simulated_turn,
		    .peek = sn_simulated_turn,
		    .flush = sn_simulated_turn,
		    .sleep = sleep_simulated_until,
		    .wake = wake_simulated,
		    .destroy = destroy_simulated },
	.name = "simulated",
	.wait_ready = wait_simulated_ready,
};

int sn_simulated_poller_make(struct io_backend     **out,
			     const sennit_allocator *memory)
{
	struct simulated_poller *s;

	s = memory->allocate(memory->context, sizeof(*s), _Alignof(void *));
	if (!s)
		return -ENOMEM;
	memset(s, 0, sizeof(*s));
	s->b.p.ops = &simulated_ops.poller;
	s->b.ops = &simulated_ops;
	s->b.memory = memory;
	a_init(&s->word, 0);
	*out = &s->b;
	return 0;
}

#endif

/* --- simulated waits ------------------------------------------------------ */

#ifdef SENNIT_DETERMINISTIC

#include "base/list.h"
#include "sennit/deterministic.h"

static struct simulated_wait *waits;

struct simulated_wait *sn_simulated_waits(void)
{
	return waits;
}

void sn_simulated_wait_link(struct simulated_wait *w)
{
	SN_LIST_PUSH(&waits, w);
	w->linked = true;
}

void sn_simulated_wait_unlink(struct simulated_wait *w)
{
	if (!w->linked)
		return;
	SN_LIST_REMOVE(w);
	w->linked = false;
}

bool sn_simulated_wait_has(const struct simulated_wait *w, int fd)
{
	for (size_t i = 0; i < w->count; i++)
		if (w->fds[i].fd == fd)
			return true;
	return false;
}

/* Relaxed, because one thread runs at a time. */
static void wake_waiter(struct simulated_wait *w)
{
	a_store_rlx(w->word, 1);
	sennit_explore_wake((const uint32_t *)&w->word->value_);
}

void sn_simulated_touch(int fd)
{
	for (struct simulated_wait *w = waits; fd >= 0 && w; w = w->next)
		if (sn_simulated_wait_has(w, fd))
			wake_waiter(w);
}

void sn_simulated_end_waits(int fd)
{
	for (struct simulated_wait *w = waits; fd >= 0 && w; w = w->next) {
		if (!sn_simulated_wait_has(w, fd))
			continue;
		w->closed = true;
		wake_waiter(w);
	}
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "lane.h"

#include "engine.h"

#include <stdlib.h>
#include <time.h>

#define ROOM_FIRST 64

struct mpi_lane *sn_mpi_lane_create(struct mpi_engine *e, uint32_t spin,
				    uint32_t nap)
{
	struct mpi_lane *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->engine = e;
	pthread_mutex_init(&l->lock, NULL);
	sn_mpi_lane_set_pace(l, spin, nap);
	return l;
}

void sn_mpi_lane_set_pace(struct mpi_lane *l, uint32_t spin, uint32_t nap)
{
	sn_mpi_pace_init(&l->pace, spin, nap);
	sn_mpi_direct_init(&l->direct, spin);
}

void sn_mpi_lane_free(struct mpi_lane *l)
{
	pthread_mutex_destroy(&l->lock);
	free(l->request);
	free(l->single);
	free(l->status);
	free(l->index);
	free(l);
}

/* --- posting ------------------------------------------------------------ */

static bool resize(void *array, size_t size, uint32_t room)
{
	void **at = array;
	void  *more = realloc(*at, size * room);

	if (more)
		*at = more;
	return more;
}

/* If one array cannot grow, those that have grown stay larger. */
static bool make_room(struct mpi_lane *l)
{
	uint32_t room = l->room ? 2 * l->room : ROOM_FIRST;

	if (l->count < l->room)
		return true;
	if (!resize(&l->request, sizeof(*l->request), room) ||
	    !resize(&l->single, sizeof(*l->single), room) ||
	    !resize(&l->status, sizeof(*l->status), room) ||
	    !resize(&l->index, sizeof(*l->index), room))
		return false;
	l->room = room;
	return true;
}

/* A request is about to be added. Its fiber has just polled, so a lane that is
 * not eager is polled after the shortest nap, and a lane in debt at the end of
 * its nap. Lock held. */
static void prepare_poll(struct mpi_lane *l)
{
	sennit_time now = sennit_now();
	sennit_time again = now + PACE_NAP_LEAST;

	sn_mpi_pace_added(&l->pace, now);
	if (sn_mpi_pace_is_eager(&l->pace, now))
		l->again = 0;
	else if (sn_mpi_lane_is_empty(l) ||
		 (l->again > again && l->pace.credit >= 0))
		l->again = again;
}

bool sn_mpi_lane_post(struct mpi_lane *l, struct mpi_single *s)
{
	bool ok;

	pthread_mutex_lock(&l->lock);
	ok = make_room(l);
	if (ok) {
		prepare_poll(l);
		s->at = l->count;
		l->request[l->count] = s->request;
		l->single[l->count++] = s;
	}
	pthread_mutex_unlock(&l->lock);
	return ok;
}

void sn_mpi_lane_post_polled(struct mpi_lane *l, struct mpi_polled *p)
{
	pthread_mutex_lock(&l->lock);
	prepare_poll(l);
	p->next = l->polled;
	l->polled = p;
	pthread_mutex_unlock(&l->lock);
}

/* Move the last request to the free place. */
static void remove_single(struct mpi_lane *l, uint32_t at)
{
	uint32_t last = --l->count;

	l->request[at] = l->request[last];
	l->single[at] = l->single[last];
	l->single[at]->at = at;
}

bool sn_mpi_lane_withdraw(struct mpi_lane *l, struct mpi_single *s)
{
	bool there;

	pthread_mutex_lock(&l->lock);
	there = !s->done;
	if (there) {
		s->request = l->request[s->at];
		remove_single(l, s->at);
	}
	pthread_mutex_unlock(&l->lock);
	return there;
}

bool sn_mpi_lane_withdraw_polled(struct mpi_lane *l, struct mpi_polled *p)
{
	struct mpi_polled **at = &l->polled;
	bool                there;

	pthread_mutex_lock(&l->lock);
	there = !p->done;
	while (there && *at != p)
		at = &(*at)->next;
	if (there)
		*at = p->next;
	pthread_mutex_unlock(&l->lock);
	return there;
}

/* --- polling ------------------------------------------------------------ */

/* Complete the single at this place. See M3. */
static void finish(struct mpi_lane *l, uint32_t at, const MPI_Status *status,
		   int error)
{
	struct mpi_single *s = l->single[at];

	s->request = l->request[at];
	s->status = *status;
	s->error = error;
	s->done = true;
	l->single[at] = NULL;
	sennit_event_set(&s->ready);
}

/* Fill the gaps that finish() has left with entries from the end. Moving all
 * entries would take longer than testing them. */
static void fill_gaps(struct mpi_lane *l)
{
	uint32_t at = 0;

	while (at < l->count) {
		const uint32_t last = l->count - 1;

		if (l->single[at])
			at++;
		else if (at < last && l->single[last])
			remove_single(l, at);
		else
			l->count = last;
	}
}

/* MPI rejects the array if one of its requests is invalid. Test the requests
 * one by one, so that only the owner of that one gets the error. */
static uint32_t poll_one_by_one(struct mpi_lane *l)
{
	uint32_t done = 0;

	for (uint32_t i = 0; i < l->count; i++) {
		int flag = 0;
		int err;

		sn_mpi_enter();
		err = PMPI_Test(&l->request[i], &flag, &l->status[0]);
		sn_mpi_leave();
		if (!err && !flag)
			continue;
		finish(l, i, &l->status[0], err);
		done++;
	}
	return done;
}

static uint32_t poll_singles(struct mpi_lane *l)
{
	int out = 0;
	int err;

	sn_mpi_enter();
	err = PMPI_Testsome((int)l->count, l->request, &out, l->index,
			    l->status);
	sn_mpi_leave();
	if (err && err != MPI_ERR_IN_STATUS) {
		out = (int)poll_one_by_one(l);
	} else {
		if (out == MPI_UNDEFINED)
			out = 0;
		for (int i = 0; i < out; i++)
			finish(l, (uint32_t)l->index[i], &l->status[i],
			       err ? l->status[i].MPI_ERROR : MPI_SUCCESS);
	}
	if (out)
		fill_gaps(l);
	return (uint32_t)out;
}

static void finish_polled(struct mpi_polled *p, struct mpi_found *found)
{
	sennit_scheduler *s = p->scheduler;
	sennit_event     *event = p->event;

	found->done++;
	p->done = true;
	if (s) {
		found->references++;
		found->from = s;
		free(p);
	}
	sennit_event_set(event);
}

static void poll_polled(struct mpi_lane *l, struct mpi_found *found)
{
	struct mpi_polled **at = &l->polled;

	while (*at) {
		struct mpi_polled *p = *at;

		if (!p->test(p)) {
			at = &p->next;
			continue;
		}
		*at = p->next;
		finish_polled(p, found);
	}
}

/* The longest time for which a poll moves messages, in ns. */
#define MOVE_MOST 100000

/* A probe has moved something if it takes this much longer than the quickest
 * one, in ns, and half as long again. */
#define MOVE_SLOW 300

/* With Open MPI one test after a nap does not find everything that has arrived
 * during the nap: see mpi/docs/design.md. And over TCP a call moves only some
 * KB of a large message, so that it would take hundreds of polls. So probe a
 * communicator that has no messages until that is quick. Returns whether it
 * took more than one probe. */
static bool move_messages(struct mpi_lane *l, sennit_time begin)
{
	sennit_time now = begin;
	sennit_time took;
	int         flag;
	int         probes = 0;

	do {
		sennit_time last = now;

		sn_mpi_enter();
		(void)PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF,
				  &flag, MPI_STATUS_IGNORE);
		sn_mpi_leave();
		now = sennit_now();
		took = now - last;
		if (!l->quick || took < l->quick)
			l->quick = took;
		probes++;
	} while (took > l->quick * 3 / 2 + MOVE_SLOW &&
		 now < begin + MOVE_MOST);
	return probes > 1;
}

/* A poll took this long. Update whether the lane is slow. */
static void update_slow(struct mpi_lane *l, sennit_time now, sennit_time took)
{
	if (took > LOOK_SLOW && now + took * LOOK_SLOW_FOR > l->slow_until)
		l->slow_until = now + took * LOOK_SLOW_FOR;
	a_store_rlx(&l->slow, now < l->slow_until);
}

sennit_time sn_mpi_lane_cpu(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (sennit_time)t.tv_sec * SENNIT_SECOND + (sennit_time)t.tv_nsec;
}

/* Read the clocks again only before a nap, or if polls were slow. A poll that
 * has found something after the eager time has no cost. */
struct mpi_found sn_mpi_lane_poll(struct mpi_lane *l, sennit_time begin,
				  sennit_time cpu, uint32_t wake)
{
	struct mpi_found found = { .done = 0 };
	bool             moves = false;
	bool             eager;
	sennit_time      now, cost;

	if (!sn_mpi_pace_is_eager(&l->pace, begin))
		moves = move_messages(l, begin);
	if (l->count)
		found.done = poll_singles(l);
	if (l->polled)
		poll_polled(l, &found);
	if (found.done)
		sn_mpi_pace_found(&l->pace, begin);
	l->again = begin;
	eager = sn_mpi_pace_is_eager(&l->pace, begin);
	if (eager && !sn_mpi_lane_is_slow(l))
		return found;
	now = sennit_now();
	update_slow(l, now, now - begin);
	if (eager)
		return found;
	if (moves)
		l->pace.since = now;
	cost = found.done || moves ? 0 : sn_mpi_lane_cpu() - cpu;
	l->again = sn_mpi_pace_next(&l->pace, now, cost, wake);
	return found;
}

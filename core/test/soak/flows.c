/* SPDX-License-Identifier: Apache-2.0 */
/* flows.c - scenes that pass values: channels, selects, and a chain of
 * tasks. */
#include "soak.h"

enum { VALUES = 40 };

/* --- one channel -------------------------------------------------------- */

struct stream {
	sennit_channel channel;
	atomic_uint    roles, senders; /* roles handed out; senders not done
				        * yet */
	unsigned       half;
	atomic_ullong  sum;
};

static int send_one(sennit_channel *c, const uint64_t *value, uint64_t *random)
{
	return sennit_channel_send_until(c, value,
					 sennit_check_cancelled()
						 ? SENNIT_UNCANCELLED
						 : some_deadline(random));
}

static int receive_one(sennit_channel *c, uint64_t *value, uint64_t *random)
{
	return sennit_channel_receive_until(c, value,
					    sennit_check_cancelled()
						    ? SENNIT_UNCANCELLED
						    : some_deadline(random));
}

static void send_some(struct stream *s, uint64_t *random)
{
	for (uint64_t i = 1; i <= VALUES;) {
		if (!went_well(send_one(&s->channel, &i, random)))
			continue;
		atomic_fetch_add(&s->sum, i);
		book_in(values, 1);
		i++;
	}
	if (atomic_fetch_sub(&s->senders, 1) == 1)
		sennit_channel_close(&s->channel);
}

static void receive_all(struct stream *s, uint64_t *random)
{
	uint64_t value;

	for (;;) {
		int err = receive_one(&s->channel, &value, random);

		if (err == -EPIPE)
			return;
		if (!went_well(err))
			continue;
		atomic_fetch_sub(&s->sum, value);
		book_out(values, 1);
	}
}

static void flow(void *shared, uint64_t *random)
{
	struct stream *s = shared;

	if (atomic_fetch_add(&s->roles, 1) < s->half)
		send_some(s, random);
	else
		receive_all(s, random);
}

void scene_channel(uint64_t *random)
{
	static const size_t capacities[] = { 0, 1, 5,
					     SENNIT_CHANNEL_UNBOUNDED };
	struct stream       s = { .half = 1 + random_below(random, 4) };

	atomic_init(&s.senders, s.half);
	if (sennit_channel_init(&s.channel, capacities[random_below(random, 4)],
				sizeof(uint64_t), NULL))
		abort();
	play_parts(flow, &s, s.half + 1 + random_below(random, 3), random);
	/* Modulo 2^64, because a value may be received before it is added. */
	CLAIM(!atomic_load(&s.sum));
	sennit_channel_destroy(&s.channel);
}

/* --- select ------------------------------------------------------------- */

struct crossing {
	sennit_channel east, west;
	sennit_event   over;
	atomic_uint    left; /* crossings that have not begun */
};

/* Each task sends on one channel what it receives on another. In the end all
 * learn that it is over. No value is then left in a channel, because the
 * channels are rendezvous. */
static void cross(void *shared, uint64_t *random)
{
	struct crossing *c = shared;
	uint64_t         in = 0, out = 1;
	sennit_case      cases[] = {
		     sennit_case_send(&c->east, &out),
		     sennit_case_receive(&c->west, &in),
		     sennit_case_send(&c->west, &out),
		     sennit_case_receive(&c->east, &in),
		     sennit_case_event(&c->over),
	};
	size_t which;

	for (;;) {
		if (!went_well(sennit_select_until(
			    cases, 5, &which,
			    sennit_check_cancelled() ? SENNIT_UNCANCELLED
						     : some_deadline(random))))
			continue;
		CLAIM(!cases[which].result);
		if (which == 4)
			return;
		if (which % 2)
			book_out(values, 1);
		else
			book_in(values, 1);
		if (atomic_fetch_sub(&c->left, 1) == 1)
			sennit_event_set(&c->over);
	}
}

void scene_select(uint64_t *random)
{
	struct crossing c;

	atomic_init(&c.left, VALUES);
	sennit_event_init(&c.over, SENNIT_EVENT_MANUAL);
	if (sennit_channel_init(&c.east, 0, sizeof(uint64_t), NULL) ||
	    sennit_channel_init(&c.west, 0, sizeof(uint64_t), NULL))
		abort();
	play_parts(cross, &c, 2 + random_below(random, 4), random);
	sennit_channel_destroy(&c.east);
	sennit_channel_destroy(&c.west);
}

/* --- a chain of tasks, each of which waits for the next ----------------- */

struct link {
	sennit_event *next;
	uint32_t      left;
};

static void hand_on(void *argument)
{
	const struct link *l = argument;
	sennit_event       done = SENNIT_EVENT_INIT(SENNIT_EVENT_MANUAL);
	const struct link  next = { &done, l->left - 1 };

	book_out(forks, 1);
	if (l->left) {
		book_in(forks, 1);
		if (sennit_schedule_copy(hand_on, &next, sizeof(next)))
			abort();
		if (sennit_event_wait_until(&done, SENNIT_UNCANCELLED))
			abort();
	}
	sennit_event_set(l->next);
}

void scene_chain(uint64_t *random)
{
	sennit_event done = SENNIT_EVENT_INIT(SENNIT_EVENT_MANUAL);
	struct link  l = { &done, random_below(random, 50) };

	book_in(forks, 1);
	hand_on(&l);
	CLAIM(sennit_event_is_set(&done));
}

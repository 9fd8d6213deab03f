/* SPDX-License-Identifier: Apache-2.0 */
/* bytes.c - deadlines and cancelling race with transfers: no byte is lost or
 * received twice, and no buffer is written to after its call has returned.
 */
#include "operations.h"

#include "testing/random.h"

enum { STREAMS = 4, NUMBERS = LOAD(6000), BATCH = 16 };

/* Numbers that go through a socket or a pipe, in order. */
struct stream {
	struct world *w;
	int           from, to;
	bool          is_pipe;
	uint64_t      random_out, random_in;
	uint32_t      given_up_out, given_up_in;
	atomic_uint   over;
};

/* Usually some microseconds: about the time that the other end needs. */
static sennit_time soon(uint64_t *random)
{
	uint64_t r = random_from(random);

	return r % 16 == 0 ? 0 : sennit_after(r % 64 * SENNIT_MICROSECOND);
}

static ptrdiff_t put(struct stream *s, const char *bytes, size_t size)
{
	sennit_time deadline = soon(&s->random_out);

	return s->is_pipe || random_from(&s->random_out) % 2
		       ? sennit_write(s->to, bytes, size, deadline)
		       : sennit_send(s->to, bytes, size, 0, deadline);
}

static ptrdiff_t get(struct stream *s, char *bytes, size_t size)
{
	sennit_time  deadline = soon(&s->random_in);
	struct iovec v = { bytes, size };

	if (random_from(&s->random_in) % 2)
		return sennit_readv(s->from, &v, 1, deadline);
	return s->is_pipe ? sennit_read(s->from, bytes, size, deadline)
			  : sennit_recv(s->from, bytes, size, 0, deadline);
}

static void number(char *bytes, uint32_t first, size_t count)
{
	for (size_t i = 0; i < count; i++, first++)
		memcpy(bytes + i * sizeof(first), &first, sizeof(first));
}

static void write_numbers(void *argument)
{
	struct stream *s = argument;
	char           bytes[BATCH * sizeof(uint32_t)];

	for (uint32_t i = 0; i < NUMBERS; i += BATCH) {
		size_t sent = 0;

		number(bytes, i, BATCH);
		while (sent < sizeof(bytes)) {
			ptrdiff_t n = put(s, bytes + sent,
					  sizeof(bytes) - sent);

			EXPECT(n > 0 || n == -ETIMEDOUT);
			sent += n > 0 ? (size_t)n : 0;
			s->given_up_out += n < 0;
		}
	}
	atomic_fetch_add(&s->over, 1);
}

/* Check that the buffer still has its pattern, except for the bytes that the
 * call has transferred. Other fibers have run meanwhile, and a late write would
 * have happened by now. */
static ptrdiff_t get_watched(struct stream *s, char *bytes, size_t size)
{
	char      buffer[64];
	ptrdiff_t n;

	memset(buffer, 0x5c, sizeof(buffer));
	n = get(s, buffer, size);
	if (n > 0)
		memcpy(bytes, buffer, (size_t)n);
	if (n < 0)
		sennit_yield();
	for (size_t i = n > 0 ? (size_t)n : 0; i < sizeof(buffer); i++)
		EXPECT(buffer[i] == 0x5c);
	return n;
}

static void read_numbers(void *argument)
{
	struct stream *s = argument;
	char           bytes[sizeof(uint32_t)];
	size_t         have = 0;

	for (uint32_t next = 0; next < NUMBERS;) {
		size_t    want = sizeof(bytes) - have;
		ptrdiff_t n = get_watched(s, bytes + have, want);

		EXPECT(n > 0 || n == -ETIMEDOUT);
		s->given_up_in += n < 0;
		have += n > 0 ? (size_t)n : 0;
		if (have < sizeof(bytes))
			continue;
		EXPECT(!memcmp(bytes, &next, sizeof(next)));
		next++;
		have = 0;
	}
	atomic_fetch_add(&s->over, 1);
}

static void open_stream(struct stream *s, struct world *w, unsigned i)
{
	int fds[2];

	s->is_pipe = i % 2;
	if (s->is_pipe)
		begin_pipe(fds);
	else
		open_sockets(fds);
	s->w = w;
	s->from = fds[0];
	s->to = fds[1];
	s->random_out = random_stream(2 * i);
	s->random_in = random_stream(2 * i + 1);
	atomic_init(&s->over, 0);
}

TEST_WITH_WORKERS(deadlines_lose_no_byte)
{
	struct stream s[STREAMS] = { { .w = NULL } };

	for (unsigned i = 0; i < STREAMS; i++) {
		open_stream(&s[i], w, i);
		must_schedule(write_numbers, &s[i]);
		must_schedule(read_numbers, &s[i]);
	}
	for (unsigned i = 0; i < STREAMS; i++) {
		assert_soon(atomic_load(&s[i].over) == 2);
		close(s[i].from);
		close(s[i].to);
	}
}

/* --- cancelling --------------------------------------------------------- */

struct taker {
	struct stream *s;
	uint32_t       value;
	ptrdiff_t      n;
};

static int take_one(void *argument)
{
	struct taker *t = argument;

	t->n = sennit_recv(t->s->from, &t->value, sizeof(t->value), 0,
			   SENNIT_NEVER);
	return 0;
}

static void *send_from_outside(void *argument)
{
	struct stream *s = argument;

	for (uint32_t i = 0; i < NUMBERS / 32; i++) {
		must(send(s->to, &i, sizeof(i), 0) == sizeof(i), "send");
		for (uint64_t k = random_from(&s->random_out) % 4; k--;)
			sched_yield();
	}
	return NULL;
}

/* A group with one member, which is cancelled at about the time when the number
 * arrives. Returns whether the member received it. */
static bool take_cancelled(struct stream *s, uint32_t *value)
{
	struct taker t = { .s = s };
	sennit_group g;

	sennit_group_init(&g, SENNIT_NEVER, 0);
	EXPECT(!sennit_group_spawn(&g, take_one, &t));
	for (uint64_t k = random_from(&s->random_in) % 8; k--;)
		sennit_yield();
	sennit_group_cancel(&g);
	EXPECT(sennit_group_wait(&g) == -ECANCELED);
	EXPECT(t.n == sizeof(t.value) || t.n == -ECANCELED);
	*value = t.value;
	return t.n > 0;
}

TEST_WITH_WORKERS(cancelling_loses_no_byte)
{
	struct stream s;
	uint32_t      next = 0;
	uint32_t      value = 0;
	pthread_t     t;

	open_stream(&s, w, 0);
	t = must_start_thread(send_from_outside, &s);
	while (next < NUMBERS / 32) {
		if (!take_cancelled(&s, &value))
			continue;
		EXPECT(value == next);
		next++;
	}
	pthread_join(t, NULL);
	close(s.from);
	close(s.to);
}

USES_BACKEND;

/* SPDX-License-Identifier: Apache-2.0 */
/* select_mixed.c - fibers and threads select among all kinds of cases while
 * others send, write, set, close and cancel, in any order. Each value is
 * received once, each event is consumed once, and all of them end. */
#include "testing/random.h"
#include "operations.h"

#include <signal.h>

#ifdef SN_TSAN
/* A read of a number that is being replaced returns -EBADF or reads from the
 * new file. This is intended, but ThreadSanitizer reports it as a race. */
SKIP_ALL("descriptors are replaced while others are about to use them");
#endif

enum { FIBERS = 6, THREADS = 2, PARTIES = FIBERS + THREADS, ROUNDS = 30 };

/* A party is a fiber or thread that reads from its descriptor, which others
 * close and replace. */
struct party {
	struct fair *of;
	atomic_int   fd;
	int          other_end;
	uint64_t     random;
};

struct fair {
	struct party      parties[PARTIES];
	sennit_channel    values;
	sennit_event      event, stop;
	sennit_future     future; /* of the round */
	atomic_uint       received, passed, read, futures;
	unsigned          sent, set, written;
	sennit_wait_group ended;
};

/* --- parties ------------------------------------------------------------ */

static void take_bytes(struct party *p, int fd)
{
	char      bytes[8];
	ptrdiff_t n = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);

	if (n > 0)
		atomic_fetch_add(&p->of->read, (unsigned)n);
}

static sennit_time any_time(struct party *p, uint32_t limit)
{
	return sennit_after(random_below(&p->random, limit));
}

/* Returns whether the party continues. */
static bool select_once(struct party *p, sennit_time deadline)
{
	struct fair   *f = p->of;
	const int      fd = atomic_load(&p->fd);
	const bool     again = random_below(&p->random, 2);
	sennit_future *future = random_below(&p->random, 50) ? NULL
							     : &f->future;
	int            value = 0, err;
	size_t         which = 77;
	sennit_case    cases[7];

	cases[0] = sennit_case_receive(&f->values, &value);
	cases[1] = sennit_case_readable(fd);
	cases[2] = sennit_case_event(&f->event);
	cases[3] = sennit_case_event(&f->stop);
	cases[4] = sennit_case_deadline(any_time(p, 300000));
	cases[5] = sennit_case_readable(again ? fd : -1);
	cases[6] = sennit_case_future(future, NULL);
	err = sennit_select_until(cases, 7, &which, deadline);
	if (err)
		return err == -ETIMEDOUT;
	switch (which) {
	case 0:
		EXPECT(cases[0].result == 0 && value == 7);
		atomic_fetch_add(&f->received, 1);
		return true;
	case 1:
	case 5:
		EXPECT(cases[which].result > 0 ||
		       is_closed(cases[which].result));
		if (cases[which].result > 0)
			take_bytes(p, fd);
		return true;
	case 2:
		atomic_fetch_add(&f->passed, 1);
		return true;
	case 6:
		EXPECT(cases[6].result == -EDOM);
		atomic_fetch_add(&f->futures, 1);
		return true;
	default:
		EXPECT(cases[which].result == 0 && (which == 3 || which == 4));
		return which == 4;
	}
}

static sennit_time any_deadline(struct party *p)
{
	return random_below(&p->random, 4) ? SENNIT_NEVER : any_time(p, 100000);
}

static int take_part(void *party)
{
	while (select_once(party, any_deadline(party)))
		;
	return 0;
}

static void *take_part_as_thread(void *party)
{
	(void)take_part(party);
	return NULL;
}

/* --- actions ------------------------------------------------------------ */

static void replace(struct party *p)
{
	int next[2];

	EXPECT(sennit_close(atomic_load(&p->fd)) == 0);
	close(p->other_end);
	open_sockets(next); /* usually with these numbers */
	p->other_end = next[1];
	atomic_store(&p->fd, next[0]);
}

static void act(struct fair *f, uint64_t *random)
{
	struct party *p = &f->parties[random_below(random, PARTIES)];
	const int     value = 7;

	switch (random_below(random, 8)) {
	case 0:
		replace(p);
		break;
	case 1:
	case 2:
		if (!sennit_channel_send_until(
			    &f->values, &value,
			    sennit_after(random_below(random, 500000))))
			f->sent++;
		break;
	case 3:
		if (!sennit_event_is_set(&f->event)) {
			f->set++;
			sennit_event_set(&f->event);
		}
		break;
	case 4:
		sennit_yield();
		break;
	default:
		if (send(p->other_end, "x", 1, MSG_DONTWAIT | MSG_NOSIGNAL) ==
		    1)
			f->written++;
	}
}

/* --- rounds ------------------------------------------------------------- */

static void open_fair(struct fair *f, uint64_t *random)
{
	memset(f, 0, sizeof(*f));
	f->values = (sennit_channel)SENNIT_CHANNEL_INIT(sizeof(int));
	sennit_event_init(&f->event, SENNIT_EVENT_AUTO);
	sennit_event_init(&f->stop, SENNIT_EVENT_MANUAL);
	sennit_future_init(&f->future);
	for (unsigned i = 0; i < PARTIES; i++) {
		int fds[2];

		open_sockets(fds);
		f->parties[i] = (struct party){ .of = f,
						.other_end = fds[1],
						.random = random_from(random) };
		atomic_init(&f->parties[i].fd, fds[0]);
	}
}

static void close_fair(struct fair *f)
{
	for (unsigned i = 0; i < PARTIES; i++) {
		close(atomic_load(&f->parties[i].fd));
		close(f->parties[i].other_end);
	}
	sennit_channel_destroy(&f->values); /* no fiber uses it any more */
	sennit_event_destroy(&f->event);
	sennit_event_destroy(&f->stop);
	sennit_future_destroy(&f->future);
	assert_int_equal(f->sent, atomic_load(&f->received));
	assert_int_equal(f->set, atomic_load(&f->passed) +
					 sennit_event_is_set(&f->event));
	assert_true(atomic_load(&f->read) <= f->written);
}

/* Stop the fibers, by cancelling or otherwise, and the threads. */
static void one_round(uint64_t random, unsigned actions)
{
	static struct fair f;
	pthread_t          threads[THREADS];
	sennit_group       g;

	open_fair(&f, &random);
	sennit_group_init(&g, SENNIT_NEVER, 0);
	for (unsigned i = 0; i < FIBERS; i++)
		assert_int_equal(
			sennit_group_spawn(&g, take_part, &f.parties[i]), 0);
	for (unsigned i = 0; i < THREADS; i++)
		threads[i] = must_start_thread(take_part_as_thread,
					       &f.parties[FIBERS + i]);
	for (unsigned i = 0; i < actions; i++)
		act(&f, &random);
	sennit_future_set_error(&f.future, -EDOM);
	if (random_below(&random, 2))
		sennit_group_cancel(&g);
	sennit_event_set(&f.stop);
	(void)sennit_group_wait(&g);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	close_fair(&f);
}

TEST_WITH_WORKERS(nothing_is_lost_whatever_happens)
{
	signal(SIGPIPE, SIG_IGN);
	for (unsigned i = 0; i < ROUNDS; i++)
		one_round(random_stream(i), LOAD(600));
	(void)w;
}

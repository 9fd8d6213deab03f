/* SPDX-License-Identifier: Apache-2.0 */
/* domains_vs_work.c - many domains of one scheduler at once. Their tasks
 * branch, wait, open groups and pass references to unbound threads, which
 * schedule more tasks and release them, while there is other work and workers
 * start and retire. Each domain must end once, when all its tasks have run, and
 * all memory must be freed.
 */
#include "testing/with_workers.h"
#include "testing/random.h"
#include "testing/counting_allocator.h"
#include "sennit/domain.h"

enum { DOMAINS = 6, VISITORS = 2, DEPTH = 5 };

struct life {
	sennit_domain       *d;
	sennit_scheduler    *s;
	atomic_uint          due, ran, ends;
	atomic_uint_fast64_t random;
	sennit_event         ended;
};

static struct counting_allocator tally;
static const sennit_allocator    counting = COUNTING_ALLOCATOR(&tally);

static uint32_t dice(struct life *l, uint32_t limit)
{
	uint64_t state = atomic_fetch_add(&l->random, 0x9e3779b97f4a7c15u);

	return random_below(&state, limit);
}

static void note_end(void *argument)
{
	struct life *l = argument;

	EXPECT(atomic_load(&l->ran) == atomic_load(&l->due));
	EXPECT(atomic_fetch_add(&l->ends, 1) == 0);
	sennit_event_set(&l->ended);
}

/* --- visitors: unbound threads ------------------------------------------ */

static sennit_channel *mail; /* of struct life *, each with a reference */

struct step {
	struct life *life;
	unsigned     depth;
	char         more[80]; /* some copies are large */
};

static void walk(void *argument);

static void send(struct life *l, unsigned depth, bool outside)
{
	const struct step st = { .life = l, .depth = depth };
	const sennit_task t = { .run = walk,
				.argument = (void *)(uintptr_t)&st,
				.copy_size = dice(l, 8) ? 16 : sizeof(st) };

	atomic_fetch_add(&l->due, 1);
	if (outside)
		EXPECT(sennit_domain_schedule_task(l->d, &t) == 0);
	else
		EXPECT(sennit_schedule_task(&t) == 0);
}

static void *visit_all(void *argument)
{
	struct life *l;

	while (!sennit_channel_receive(mail, &l)) {
		if (dice(l, 2))
			send(l, 1, true);
		sennit_domain_release(l->d);
	}
	return NULL;
}

/* --- tasks -------------------------------------------------------------- */

static int walk_as_member(void *argument)
{
	struct life *l = argument;

	if (dice(l, 2))
		sennit_yield();
	if (dice(l, 2))
		send(l, 1, false);
	return 0;
}

static void open_group(struct life *l)
{
	sennit_group g;

	sennit_group_init(&g, SENNIT_NEVER, 0);
	for (unsigned i = dice(l, 3); i; i--)
		EXPECT(sennit_group_spawn(&g, walk_as_member, l) == 0);
	EXPECT(sennit_group_wait(&g) == 0);
}

static void idle_about(void *argument)
{
	sennit_yield();
}

static void walk(void *argument)
{
	const struct step *st = argument;
	struct life       *l = st->life;
	const sennit_task  other = { .run = idle_about };

	EXPECT(sennit_domain_current() == l->d);
	for (unsigned i = st->depth ? dice(l, 4) : 0; i; i--)
		send(l, st->depth - 1, !dice(l, 4));
	switch (dice(l, 16)) {
	case 0:
		sennit_sleep(dice(l, 30) * SENNIT_MICROSECOND);
		break;
	case 1:
		sennit_yield();
		break;
	case 2:
		open_group(l);
		break;
	case 3:
		sennit_domain_retain(l->d);
		EXPECT(sennit_channel_send(mail, &l) == 0);
		break;
	case 4:
		EXPECT(sennit_schedule_task_on(l->s, &other) == 0);
		break;
	default:
		break;
	}
	atomic_fetch_add(&l->ran, 1);
}

/* --- rounds ------------------------------------------------------------- */

static void begin(struct life *l, sennit_scheduler *s, uint64_t *random)
{
	memset(l, 0, sizeof(*l));
	l->s = s;
	atomic_store(&l->random, random_from(random));
	sennit_event_init(&l->ended, SENNIT_EVENT_MANUAL);
	EXPECT(sennit_domain_create(&l->d, s, note_end, l) == 0);
	for (unsigned i = random_below(random, 4); i; i--)
		send(l, random_below(random, DEPTH), true);
	sennit_domain_release(l->d);
}

static void play(sennit_scheduler *s, uint64_t *random)
{
	struct life lives[DOMAINS];

	for (unsigned i = 0; i < DOMAINS; i++)
		begin(&lives[i], s, random);
	if (random_below(random, 8) == 0)
		EXPECT(sennit_scheduler_set_workers(
			       s, 1 + random_below(random, 4)) == 0);
	for (unsigned i = 0; i < DOMAINS; i++)
		EXPECT(sennit_event_wait_until(&lives[i].ended,
					       sennit_after(GIVE_UP)) == 0);
}

#if defined(SN_TSAN) || defined(SN_ASAN)
enum { ROUNDS = 300 };
#else
enum { ROUNDS = 2000 };
#endif

TEST_ALONE(each_domain_ends_once_with_all_done)
{
	uint64_t          rounds = scaled(ROUNDS);
	uint64_t          random = random_stream(1);
	sennit_scheduler *s;
	pthread_t         visitors[VISITORS];

	s = start_with(SENNIT_CONFIG(.workers = 3, .max_workers = 4,
				     .allocator = &counting));
	mail = malloc(sizeof(*mail));
	assert_int_equal(
		sennit_channel_init(mail, 1024, sizeof(struct life *), NULL),
		0);
	for (unsigned i = 0; i < VISITORS; i++)
		visitors[i] = must_start_thread(visit_all, NULL);
	while (rounds-- > 0 && !atomic_load(&broken_claims))
		play(s, &random);
	sennit_channel_close(mail);
	for (unsigned i = 0; i < VISITORS; i++)
		pthread_join(visitors[i], NULL);
	sennit_channel_destroy(mail);
	free(mail);
	end_scheduler(s);
	assert_int_equal(atomic_load(&tally.bytes), 0);
}

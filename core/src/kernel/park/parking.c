/* SPDX-License-Identifier: Apache-2.0 */
#include "park/parking.h"

#include "base/compiler.h"
#include "base/race.h"
#include "base/torture.h"
#include "os/os.h"

#define SLEEPER  UINT64_C(1)
#define SEARCHER (UINT64_C(1) << 32)

void sn_parking_init(struct parking *p, struct sleeper **sleepers,
		     uint32_t workers)
{
	a_init(&p->counts, 0);
	for (uint32_t i = 0; i * PARKING_EACH < workers; i++)
		a_init(&p->idle[i], 0);
	p->sleepers = sleepers;
	p->workers = workers;
	a_init(&p->present, workers);
	a_init(&p->threadless, 0);
	p->start = NULL;
}

/* --- the sum ------------------------------------------------------------ */

#ifdef NDEBUG
static inline void check_sum(const struct parking *p)
{
	(void)p;
}

void sn_parking_check_end(const struct parking *p)
{
	(void)p;
}
#else
/* So many looks in a row do not all meet a worker that is woken in between. */
#define SUM_LOOKS 10000

static uint32_t count_asleep(const struct parking *p)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i * PARKING_EACH < p->workers; i++)
		n += (uint32_t)__builtin_popcount(
			(uint32_t)a_load_acq(&p->idle[i])); /* <- park.bit */
	return n;
}

/* Positive: sleepers that are counted, but neither threadless nor with a bit.
 * The bits are read first: a worker that sets one has counted itself before. */
static int64_t excess_sleepers(const struct parking *p)
{
	const uint32_t seen = count_asleep(p) + a_load_rlx(&p->threadless);

	return (int64_t)(uint32_t)a_load_rlx(&p->counts) - (int64_t)seen;
}

/* Under the lock of the worker threads. `sleepers` may be too many for a
 * moment: who falls asleep is counted before its bit is set, and who is woken
 * until after its bit is cleared. It may never be too few: nobody would then be
 * woken. But a worker may be woken between the reading of its bit and that of
 * the counts, so one look proves nothing. */
static void check_sum(const struct parking *p)
{
	int looks = 0;

	while (excess_sleepers(p) < 0 && ++looks < SUM_LOOKS)
		a_pause();
	CHECK(looks < SUM_LOOKS, "workers sleep that are not counted");
}

void sn_parking_check_end(const struct parking *p)
{
	CHECK(excess_sleepers(p) == 0, "workers are counted that do not sleep");
}
#endif

/* --- counting ----------------------------------------------------------- */

void sn_parking_resize(struct parking *p, uint32_t present, uint32_t threadless,
		       int searching)
{
	uint64_t more = (uint64_t)threadless - a_load_rlx(&p->threadless);

	a_store_rlx(&p->present, present);
	a_store_rlx(&p->threadless,
		    threadless); /* a hint: start looks under its lock */
	/* -> park.counts <- park.counts */
	a_add_acqrel(&p->counts,
		     more * SLEEPER + (uint64_t)searching * SEARCHER);
	check_sum(p);
}

void sn_parking_begin(struct parking *p, uint32_t asleep)
{
	a_store_rlx(&p->counts, a_load_rlx(&p->counts) + asleep * SLEEPER);
	for (uint32_t i = 0; i < asleep; i++)
		a_store_rlx(&p->idle[i / PARKING_EACH],
			    a_load_rlx(&p->idle[i / PARKING_EACH]) |
				    UINT64_C(1) << i % PARKING_EACH);
}

void sn_sleeper_init(struct sleeper *s, struct parking *p, uint32_t index)
{
	s->parking = p;
	s->index = index;
	a_init(&s->token, 0);
	s->poller = NULL;
}

static uint64_t bit_of_sleeper(const struct sleeper *s)
{
	return UINT64_C(1) << s->index % PARKING_EACH;
}

/* That s is empty: set with its bit, and cleared with it or before it. */
static uint64_t empty_bit_of_sleeper(const struct sleeper *s)
{
	return bit_of_sleeper(s) << PARKING_EACH;
}

static a_u64 *word_of_sleeper(const struct sleeper *s)
{
	return &s->parking->idle[s->index / PARKING_EACH];
}

/* Clear both, and return what the word was. Each caller names the edge. */
static uint64_t clear_sleeper_bits(const struct sleeper *s)
{
	/* -> park.bit <- park.bit */
	return a_and_acqrel(word_of_sleeper(s),
			    ~(bit_of_sleeper(s) | empty_bit_of_sleeper(s)));
}

bool sn_parking_search(struct parking *p)
{
	uint64_t counts = a_load_rlx(&p->counts);
	uint64_t searchers = counts / SEARCHER;
	uint64_t sleepers = counts % SEARCHER;
	uint64_t present = a_load_rlx(&p->present);
	uint64_t awake = present > sleepers ? present - sleepers : 0;

	/* A stale count allows at most one searcher too many or too few. */
	if (2 * searchers > awake)
		return false;
	a_add_acqrel(&p->counts, SEARCHER); /* -> park.counts <- park.counts */
	return true;
}

bool sn_parking_found(struct parking *p)
{
	/* -> park.counts: a thread that sees no searcher sees what this thread
	 * took <- park.counts */
	uint64_t old = a_sub_acqrel(&p->counts, SEARCHER);

	a_fence(); /* <-> park.sleep: producers no longer rely on this worker,
		    * before it looks */
	TORTURE_POINT();
	return old / SEARCHER == 1;
}

bool sn_parking_announce(struct sleeper *s, bool searching)
{
	uint64_t change = searching ? SLEEPER - SEARCHER : SLEEPER;
	uint64_t counts;

	a_store_rlx(&s->token, 0); /* before the bit is set: no one else writes
				    * the token */
	/* -> park.counts <- park.counts: what those that sleep have pushed */
	counts = a_add_acqrel(&s->parking->counts, change) + change;
	TORTURE_POINT(); /* counted, but no bit yet */
	/* -> park.bit: the token is clear <- park.bit */
	a_or_acqrel(word_of_sleeper(s),
		    bit_of_sleeper(s) | empty_bit_of_sleeper(s));
	a_fence(); /* <-> park.sleep: announced before the last look */
	TORTURE_POINT();
	return counts == s->parking->workers * SLEEPER;
}

/* Until woken or something is complete; false: the deadline passed. */
static bool sleep_in_parking_poller(struct sleeper *s, sennit_time deadline)
{
	while (!a_load_acq(&s->token)) /* <- park.token */
		switch (s->poller->ops->sleep(s->poller, deadline)) {
		case SENNIT_POLLER_READY:
			return true;
		case SENNIT_POLLER_TIMEOUT:
			return a_load_acq(&s->token); /* <- park.token */
		default:
			break;
		}
	return true;
}

/* Whoever claimed s is about to set its token, and may wake its poller. */
static void await_token(struct sleeper *s)
{
	if (!s->poller)
		sn_parking_sleep(s, SENNIT_NEVER);
	else
		for (uint32_t i = 0; !a_load_acq(&s->token); i++)
			os_thread_give_way(i); /* <- park.token */
}

bool sn_parking_sleep(struct sleeper *s, sennit_time deadline)
{
	TORTURE_POINT(); /* looked, not asleep yet */
	if (s->poller)
		return sleep_in_parking_poller(s, deadline);
	while (!a_load_acq(&s->token)) /* <- park.token */
		if (!os_word_wait(&s->token, 0, deadline))
			return a_load_acq(&s->token); /* <- park.token */
	return true;
}

void sn_parking_fill(struct sleeper *s)
{
	TORTURE_POINT(); /* the task is there, but s still seems empty */
	/* A clear bit stays clear until s announces, and looks after that. */
	if (a_load_rlx(word_of_sleeper(s)) & empty_bit_of_sleeper(s))
		/* -> park.bit <- park.bit */
		a_and_acqrel(word_of_sleeper(s), ~empty_bit_of_sleeper(s));
	TORTURE_POINT();
}

void sn_parking_withdraw(struct sleeper *s)
{
	/* -> park.bit <- park.bit */
	uint64_t old = clear_sleeper_bits(s);

	/* A waker took the bit. Its token says that it has counted this
	 * worker. */
	if (!(old & bit_of_sleeper(s)))
		await_token(s);
	else
		/* -> park.counts <- park.counts */
		a_add_acqrel(&s->parking->counts, SEARCHER - SLEEPER);
	TORTURE_POINT();
}

bool sn_parking_retire(struct sleeper *s)
{
	struct parking *p = s->parking;

	/* Stored before the bit is cleared: a waker that finds the bit clear
	 * sees this value. */
	a_store_rlx(&p->threadless, a_load_rlx(&p->threadless) + 1);
	TORTURE_POINT(); /* threadless, but still claimable by its bit */
	/* -> park.bit: threadless, and no tasks are left to it <- park.bit */
	if (clear_sleeper_bits(s) & bit_of_sleeper(s))
		return true;
	a_store_rlx(&p->threadless,
		    a_load_rlx(&p->threadless) - 1); /* not raced, as above */
	return false;
}

/* Take s's bit. The one thread that succeeds counts s as a searcher, and must
 * wake it. */
static bool claim(struct sleeper *s)
{
	/* -> park.bit <- park.bit: its token is clear */
	if (!(clear_sleeper_bits(s) & bit_of_sleeper(s)))
		return false;
	TORTURE_POINT(); /* claimed, not counted yet */
	/* -> park.counts <- park.counts */
	a_add_acqrel(&s->parking->counts, SEARCHER - SLEEPER);
	return true;
}

static void set_token(struct sleeper *s, uint32_t about)
{
	sennit_poller *poller = s->poller; /* s may be gone after the store */

	TORTURE_POINT(); /* counted, not woken yet */
	/* -> park.token: what it was woken for */
	a_store_rel(&s->token, about + 1);
	TORTURE_POINT();
	if (poller) {
		sn_race_hide(); /* no access of the task that wakes */
		poller->ops->wake(poller);
		sn_race_show();
	} else {
		os_word_wake_one(&s->token);
	}
}

/* Claim and wake s if it sleeps. `about` is the worker that has the work. */
static bool rouse(struct sleeper *s, uint32_t about)
{
	uint64_t asleep = a_load_acq(word_of_sleeper(s)); /* <- park.bit */

	/* A clear bit means that s is awake, has retired, or will announce and
	 * look after the caller's fence. */
	if (!(asleep & bit_of_sleeper(s)) || !claim(s))
		return false;
	set_token(s, about);
	return true;
}

void sn_parking_wake_one(struct parking *p, uint32_t preferred)
{
	if (!sn_parking_is_hungry(p) ||
	    rouse(p->sleepers[preferred], preferred))
		return;
	for (uint32_t i = 0; i * PARKING_EACH < p->workers; i++) {
		/* the lower half: who is asleep */
		uint32_t word =
			(uint32_t)a_load_acq(&p->idle[i]); /* <- park.bit */

		TORTURE_POINT();
		/* A bit that is set later belongs to a worker that is about to
		 * look for work itself. */
		for (; word; word &= word - 1)
			if (rouse(p->sleepers[i * PARKING_EACH +
					      (uint32_t)__builtin_ctz(word)],
				  preferred))
				return;
	}
	/* A stale number is harmless: start looks again under its lock, or
	 * there is a searcher. */
	if (a_load_rlx(&p->threadless))
		p->start(p);
}

bool sn_parking_wake(struct sleeper *s)
{
	TORTURE_POINT();
	a_fence(); /* <-> park.sleep: work published before the look at s */
	return rouse(s, s->index);
}

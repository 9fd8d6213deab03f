/* SPDX-License-Identifier: Apache-2.0 */
/* contest.h - rivals wait in line for an object while others come again and
 * again and try to get it first. Each rival in line counts the grants to others
 * since the line was formed, and expects no more than the limit of its place.
 * The test counts grants, not time. Grants are held across waits.
 *	struct contest c = { .have = f, .word = &p.state_, .list = &p.waiters_,
 *			     .object = &p, .limit = g };
 *	compete(&c);
 * The line consists of fibers and unbound threads, and so do the rivals that
 * come. A grant to one in line must exclude all others, or, if those in line
 * share the object, all that come. So a rival that has the object sees all
 * earlier grants.
 */
#ifndef SN_TEST_CONTEST_H
#define SN_TEST_CONTEST_H

#include "testing/with_workers.h"

#include "waiters.h"

enum {
	IN_LINE = 12, /* one of three is a thread */
	FIBERS_WHO_COME = 4,
	THREADS_WHO_COME = 2,
	REFUSALS = 50 /* before the first rival gets the object */
};

struct contest;
struct rival;

typedef void use_fn(struct rival *r);

/* Get the object, wait for it until the deadline, and call use(r) while holding
 * it. Returns false if the deadline passed. */
typedef bool have_fn(struct contest *c, struct rival *r, sennit_time deadline,
		     use_fn *use);

/* One that waits in line, or comes. */
struct rival {
	struct contest *c;
	unsigned        place;  /* its index in the line */
	bool            queues; /* one that comes: it waits, too, behind the
				 * line */
};

struct contest {
	have_fn *have;                     /* for those in line */
	have_fn *begin;                    /* for the first; NULL: have */
	have_fn *come;                     /* for those that come; NULL: have */
	unsigned (*limit)(unsigned place); /* maximum number of grants to
					    * others */
	void        *object;
	sennit_word *word;
	void       **list;
	bool         together;      /* all in line have it at the same time: not
				  * counted */
	bool         one_worker;    /* all in line are fibers of one worker */
	bool         nobody_queues; /* none of those that come waits */

	sennit_wait_group done;
	struct rival      line[IN_LINE];
	struct rival      coming[FIBERS_WHO_COME + THREADS_WHO_COME];
	pthread_t         threads[IN_LINE + THREADS_WHO_COME];
	unsigned          started; /* number of threads */
	atomic_uint       grants;
	atomic_uint       refusals;
	atomic_uint       served; /* number of those in line that had it */
};

/* Also true if the test has failed: those in line would be passed for ever. */
static inline bool is_over(struct contest *c)
{
	return atomic_load(&c->served) == IN_LINE ||
	       atomic_load(&c->grants) > c->limit(IN_LINE) + 1000;
}

/* --- in line ------------------------------------------------------------ */

static inline void use_in_turn(struct rival *r)
{
	struct contest *c = r->c;
	const unsigned  others = atomic_fetch_add(&c->grants, !c->together);

	if (others > c->limit(r->place))
		fprintf(stderr, "place %u: %u grants to others\n", r->place,
			others);
	EXPECT(others <= c->limit(r->place));
	sennit_yield();
	atomic_fetch_add(&c->served, 1);
}

static inline void stand_in_line(void *argument)
{
	struct rival *r = argument;

	EXPECT(r->c->have(r->c, r, SENNIT_UNCANCELLED, use_in_turn));
	sennit_wait_group_done(&r->c->done);
}

/* --- rivals that come --------------------------------------------------- */

static inline void use_by_the_way(struct rival *r)
{
	if (atomic_fetch_add(&r->c->grants, 1) % 4 == 0)
		sennit_yield();
}

static inline void come_again(void *argument)
{
	struct rival     *r = argument;
	struct contest   *c = r->c;
	have_fn          *have = c->come ? c->come : c->have;
	const sennit_time deadline = r->queues ? SENNIT_UNCANCELLED : 0;

	while (!is_over(c)) {
		if (!have(c, r, deadline, use_by_the_way)) {
			atomic_fetch_add(&c->refusals, 1);
			sennit_yield();
		}
	}
	sennit_wait_group_done(&c->done);
}

/* --- the contest -------------------------------------------------------- */

static inline void start_thread(struct contest *c, sennit_task_fn *run,
				struct rival *r)
{
	c->threads[c->started++] = start_on_thread(run, r);
}

/* One at a time, so that each place is known. */
static inline void form_line(struct contest *c)
{
	for (unsigned i = 0; i < IN_LINE; i++) {
		c->line[i] = (struct rival){ .c = c, .place = i };
		if (i % 3 == 1 && !c->one_worker)
			start_thread(c, stand_in_line, &c->line[i]);
		else if (c->one_worker)
			must_schedule_here(stand_in_line, &c->line[i]);
		else
			must_schedule(stand_in_line, &c->line[i]);
		EXPECT_SOON(waiters_of(c->word, c->list) == i + 1);
	}
}

static inline void let_come(struct contest *c)
{
	const unsigned all = FIBERS_WHO_COME + THREADS_WHO_COME;

	for (unsigned i = 0; i < all; i++) {
		struct rival *r = &c->coming[i];

		*r = (struct rival){ .c = c };
		r->queues = i % 3 == 2 && !c->nobody_queues;
		if (i < FIBERS_WHO_COME)
			must_schedule(come_again, r);
		else
			start_thread(c, come_again, r);
	}
}

static inline void begin_contest(struct rival *r)
{
	struct contest *c = r->c;

	form_line(c);
	let_come(c);
	EXPECT_SOON(atomic_load(&c->refusals) >= REFUSALS);
	EXPECT(!atomic_load(&c->grants)); /* none has passed the line */
}

static inline void run_contest(void *argument)
{
	struct contest *c = argument;
	have_fn        *have = c->begin ? c->begin : c->have;
	struct rival    first = { .c = c };

	EXPECT(have(c, &first, SENNIT_UNCANCELLED, begin_contest));
	sennit_wait_group_done(&c->done);
}

static inline void compete(struct contest *c)
{
	sennit_wait_group_init(&c->done, 1 + IN_LINE + FIBERS_WHO_COME +
						 THREADS_WHO_COME);
	must_schedule(run_contest, c);
	sennit_wait_group_wait(&c->done);
	for (unsigned i = 0; i < c->started; i++)
		pthread_join(c->threads[i], NULL);
	assert_int_equal(atomic_load(&c->served), IN_LINE);
}

#endif

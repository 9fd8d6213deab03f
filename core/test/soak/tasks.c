/* SPDX-License-Identifier: Apache-2.0 */
/* tasks.c - scenes with tasks of all kinds: many, nested, with copied
 * arguments, background, same-thread, sleeping, with local values, in blocking
 * calls. */
#include "soak.h"

#include <pthread.h>

/* --- many tiny tasks ---------------------------------------------------- */

static void be_tiny(void *done)
{
	book_out(tiny_tasks, 1);
	sennit_wait_group_done(done);
}

void scene_tiny(uint64_t *random)
{
	const uint32_t    n = 1 + random_below(random, 4000);
	sennit_wait_group done;

	sennit_wait_group_init(&done, n);
	for (uint32_t i = 0; i < n; i++)
		must_schedule(be_tiny, &done);
	book_in(tiny_tasks, n);
	sennit_wait_group_wait(&done);
}

/* --- a tree whose inner nodes wait -------------------------------------- */

struct tree {
	sennit_wait_group *done;
	uint32_t           depth;
};

static void grow(void *argument)
{
	const struct tree t = *(const struct tree *)argument;
	sennit_wait_group done;
	const struct tree below = { &done, t.depth - 1 };

	book_out(forks, 1);
	if (t.depth) {
		sennit_wait_group_init(&done, 2);
		book_in(forks, 2);
		for (unsigned i = 0; i < 2; i++)
			if (sennit_schedule_copy(grow, &below, sizeof(below)))
				abort();
		sennit_wait_group_wait(&done);
	}
	sennit_wait_group_done(t.done);
}

void scene_tree(uint64_t *random)
{
	sennit_wait_group done;
	struct tree       t = { &done, 1 + random_below(random, 6) };

	sennit_wait_group_init(&done, 1);
	book_in(forks, 1);
	grow(&t);
}

/* --- copied arguments --------------------------------------------------- */

struct letter {
	sennit_wait_group *done;
	uint32_t           length; /* of the text in use */
	unsigned char      mark;
	unsigned char      text[4000];
};

static void read_letter(void *argument)
{
	const struct letter *l = argument;

	for (uint32_t i = 0; i < l->length; i++)
		CLAIM(l->text[i] == l->mark);
	sennit_yield();
	CLAIM(!l->length || l->text[l->length - 1] == l->mark);
	book_out(copies, 1);
	sennit_wait_group_done(l->done);
}

void scene_copies(uint64_t *random)
{
	const uint32_t    n = 1 + random_below(random, 32);
	sennit_wait_group done;
	struct letter     l;

	sennit_wait_group_init(&done, n);
	for (uint32_t i = 0; i < n; i++) {
		l.done = &done;
		l.mark = (unsigned char)i;
		l.length = random_below(random, i % 4 ? 60 : sizeof(l.text));
		memset(l.text, l.mark, l.length);
		if (sennit_schedule_copy(read_letter, &l,
					 offsetof(struct letter, text) +
						 l.length))
			abort();
	}
	book_in(copies, n);
	sennit_wait_group_wait(&done);
}

/* --- background and same-thread tasks ----------------------------------- */

static void run_behind(void *done)
{
	book_out(background_tasks, 1);
	sennit_wait_group_done(done);
}

static void schedule_flagged(sennit_task_fn *run, void *done, uint32_t flags)
{
	const sennit_task t = { .run = run, .argument = done, .flags = flags };

	if (sennit_schedule_task(&t))
		abort();
}

void scene_background(uint64_t *random)
{
	const uint32_t    n = 1 + random_below(random, 64);
	sennit_wait_group done;

	sennit_wait_group_init(&done, n);
	book_in(background_tasks, n);
	for (uint32_t i = 0; i < n; i++)
		schedule_flagged(run_behind, &done, SENNIT_TASK_BACKGROUND);
	sennit_wait_group_wait(&done);
}

struct homebody {
	sennit_wait_group done;
	pthread_t         home;
};

static void stay(void *argument)
{
	struct homebody *h = argument;

	CLAIM(pthread_equal(pthread_self(), h->home));
	sennit_yield();
	CLAIM(pthread_equal(pthread_self(), h->home));
	book_out(own_thread_tasks, 1);
	sennit_wait_group_done(&h->done);
}

void scene_own_thread(uint64_t *random)
{
	const uint32_t  n = 1 + random_below(random, 32);
	struct homebody h;

	h.home = pthread_self();
	sennit_wait_group_init(&h.done, n);
	book_in(own_thread_tasks, n);
	for (uint32_t i = 0; i < n; i++)
		schedule_flagged(stay, &h, SENNIT_TASK_SAME_THREAD);
	sennit_wait_group_wait(&h.done);
}

/* --- sleeping tasks ----------------------------------------------------- */

static void nap(void *unused, uint64_t *random)
{
	const sennit_time wake = sennit_after(random_below(random, 3000000));

	(void)unused;
	if (went_well(sennit_sleep_until(wake)))
		CLAIM(sennit_now() >= wake);
	book_out(sleeps, 1);
}

void scene_sleeps(uint64_t *random)
{
	const uint32_t n = 1 + random_below(random, 32);

	book_in(sleeps, n);
	play_parts(nap, NULL, n, random);
}

/* --- local values ------------------------------------------------------- */

static sennit_local_key notebook;
static sennit_once      notebook_made;

static void close_notebook(void *value)
{
	CLAIM(*(uint32_t *)value == 7);
	free(value);
	book_out(local_values, 1);
}

static void make_notebook(void *unused)
{
	(void)unused;
	if (sennit_local_key_create(&notebook, close_notebook))
		abort();
}

static void keep_notes(void *unused, uint64_t *random)
{
	uint32_t *value = malloc(sizeof(*value));

	(void)unused;
	CLAIM(!sennit_local_get(notebook));
	if (!value || sennit_local_set(notebook, value))
		abort();
	*value = 7;
	if (random_below(random, 2))
		sennit_yield();
	CLAIM(sennit_local_get(notebook) == value);
}

void scene_locals(uint64_t *random)
{
	const uint32_t n = 1 + random_below(random, 16);

	sennit_once_call(&notebook_made, make_notebook, NULL);
	book_in(local_values, n);
	play_parts(keep_notes, NULL, n, random);
}

/* --- blocking calls ----------------------------------------------------- */

static void *take_call(void *argument)
{
	book_out(blocking_calls, 1);
	return (char *)argument + 1;
}

static void call_out(void *unused, uint64_t *random)
{
	char  desk[2];
	void *result = NULL;

	(void)unused;
	if (random_below(random, 2)) {
		book_in(blocking_calls, 1);
		CLAIM(sennit_blocking_call(take_call, desk) == desk + 1);
	} else if (went_well(sennit_blocking_call_until(
			   take_call, desk, &result, some_deadline(random)))) {
		book_in(blocking_calls, 1);
		CLAIM(result == desk + 1);
	}
}

void scene_calls(uint64_t *random)
{
	play_parts(call_out, NULL, 1 + random_below(random, 6), random);
}

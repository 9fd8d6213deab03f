/* SPDX-License-Identifier: Apache-2.0 */
/* shrink.c - programs run in children, whose failures are kept and cut down. */
#include "shrink.h"

#include "testing/proc_self.h"
#include "testing/words.h"

#include "sennit/deterministic.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A child that writes no progress for PATIENCE_S hangs. Cutting ends after
 * CUTTING_S. */
enum { PATIENCE_S = 120, CUTTING_S = 120, MORE_SCHEDULES = 60 };

/* Where a child is, for its parent. */
struct progress {
	uint64_t seed, schedule;
	uint64_t runs;
};

static struct progress *progress;

static double seconds_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* --- in the child ------------------------------------------------- */

static void fault(int number)
{
	static const char text[] =
		"an access to memory that was given back, or the like\n";

	(void)number;
	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		_exit(3);
	abort();
}

static void become_child(int words)
{
	const struct rlimit none = { 0, 0 };

	setrlimit(RLIMIT_CORE, &none);
	dup2(words, STDERR_FILENO);
	signal(SIGSEGV, fault);
	signal(SIGBUS, fault);
}

/* Schedules of different programs are different. */
static uint64_t schedule_of(uint64_t seed, unsigned i)
{
	return (seed * 7919 + i) % 1000000007 + 1;
}

/* Each run leaves as many descriptors and threads as there were. */
static void check_level(const struct program *p)
{
	static unsigned files, threads;

	if (under_emulator())
		return;
	if (!files) { /* a first run may open some for the process */
		files = files_now();
		threads = threads_now();
	}
	for (unsigned i = 0; threads_now() > threads && i < 1000; i++)
		usleep(10000);
	if (files_now() == files && threads_now() <= threads)
		return;
	fprintf(stderr,
		"program %" PRIu64 " failed: %u descriptors, before "
		"%u; %u threads, before %u\n",
		p->seed, files_now(), files, threads_now(), threads);
	abort();
}

static void run_once(struct program *p, uint64_t schedule)
{
	progress->seed = p->seed;
	progress->schedule = schedule;
	if (sennit_explore(schedule, 1, program_run, p))
		program_run(p);
	check_level(p);
	progress->runs++;
}

static void note_pairs(const struct program *p)
{
	for (unsigned i = 0; i < p->actors * STEPS; i++)
		for (unsigned j = 0; j < p->actors * STEPS; j++) {
			const struct step *a =
				&p->actor[i / STEPS].steps[i % STEPS];
			const struct step *b =
				&p->actor[j / STEPS].steps[j % STEPS];

			if (i / STEPS != j / STEPS && a->call < STEP_KINDS &&
			    b->call < STEP_KINDS && a->name[0] == b->name[0] &&
			    p->object[a->name[0]].kind < OBJECT_KINDS)
				coverage->pair[a->call][b->call]++;
		}
}

static void run_programs(uint64_t seed, uint64_t schedule, unsigned schedules,
			 unsigned count, double until)
{
	struct program p;

	for (unsigned n = 0; count ? n < count : seconds_now() < until; n++) {
		program_make(&p, seed + n);
		coverage->programs++;
		note_pairs(&p);
		if (schedule)
			run_once(&p, schedule);
		for (unsigned i = 0; !schedule && i < schedules; i++)
			run_once(&p, schedule_of(seed + n, i));
	}
}

/* --- in the parent ------------------------------------------------ */

static double patience(void)
{
	const char *text = getenv("PROGRAMS_PATIENCE");

	return text ? strtod(text, NULL) : PATIENCE_S;
}

/* Read what the child writes until it ends. A child that hangs is killed. */
static bool await_end(pid_t child, int words, char *text, size_t size)
{
	uint64_t runs = UINT64_MAX;
	double   last = seconds_now();
	size_t   length = 0;
	int      status;

	for (;;) {
		struct pollfd p = { .fd = words, .events = POLLIN };
		ssize_t       n = 0;
		char          rest[512];
		const bool    full = length + 1 >= size;

		if (poll(&p, 1, 1000) > 0) {
			n = full ? read(words, rest, sizeof(rest))
				 : read(words, text + length,
					size - 1 - length);
			if (n <= 0)
				break;
			length += full ? 0 : (size_t)n;
		}
		if (progress->runs != runs) {
			runs = progress->runs;
			last = seconds_now();
		} else if (seconds_now() - last > patience()) {
			kill(child, SIGABRT);
			length += (size_t)snprintf(text + length, size - length,
						   "it hangs\n");
			if (length >= size)
				length = size - 1;
			last = seconds_now() + 5;
		}
	}
	text[length] = '\0';
	if (waitpid(child, &status, 0) != child)
		abort();
	return status != 0;
}

static void prepare(void)
{
	if (progress)
		return;
	progress = mmap(NULL, sizeof(*progress), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (progress == MAP_FAILED)
		abort();
}

bool find_failure(struct failure *f, uint64_t seed, uint64_t schedule,
		  unsigned schedules, unsigned count, unsigned seconds)
{
	int   words;
	int   in;
	pid_t child;
	bool  failed;

	prepare();
	in = open_pipe(&words);
	fflush(NULL);
	child = fork();
	if (child < 0)
		abort();
	if (!child) {
		become_child(in);
		run_programs(seed, schedule, schedules, count,
			     seconds_now() + seconds);
		_exit(0);
	}
	close(in);
	failed = await_end(child, words, f->text, sizeof(f->text));
	close(words);
	f->seed = progress->seed;
	f->schedule = f->first_schedule = progress->schedule;
	return failed;
}

/* --- cutting ------------------------------------------------------ */

/* Whether the first lines are the same, but for numbers. */
static bool is_same(const char *a, const char *b)
{
	static const char digits[] = "0123456789";

	for (;; a++, b++) {
		a += strspn(a, digits);
		b += strspn(b, digits);
		if (*a != *b)
			return false;
		if (!*a || *a == '\n')
			return true;
	}
}

/* Whether *p fails in the same way under one of some schedules. */
static bool does_fail(struct program *p, struct failure *f)
{
	char  text[sizeof(f->text)];
	int   words;
	int   in = open_pipe(&words);
	pid_t child;
	bool  failed;

	fflush(NULL);
	child = fork();
	if (child < 0)
		abort();
	if (!child) {
		become_child(in);
		run_once(p, f->schedule);
		for (unsigned i = 0; i < MORE_SCHEDULES; i++)
			run_once(p, schedule_of(p->seed, i));
		_exit(0);
	}
	close(in);
	failed = await_end(child, words, text, sizeof(text));
	close(words);
	failed = failed && is_same(text, f->text);
	if (failed) {
		f->schedule = progress->schedule;
		memcpy(f->text, text, sizeof(text));
	}
	return failed;
}

static double cutting_ends;

static bool accept(struct program *p, const struct program *smaller,
		   struct failure *f)
{
	struct program next = *smaller;

	if (seconds_now() > cutting_ends || !memcmp(p, smaller, sizeof(*p)) ||
	    !does_fail(&next, f))
		return false;
	*p = *smaller;
	return true;
}

/* Actor i does not exist; the main part starts those that it would start. */
static void remove_actor(struct program *p, unsigned i)
{
	if (!i)
		return;
	p->actors--;
	memmove(&p->actor[i], &p->actor[i + 1],
		(p->actors - i) * sizeof(p->actor[0]));
	memset(&p->actor[p->actors], 0, sizeof(p->actor[0]));
	for (unsigned j = 1; j < p->actors; j++) {
		struct actor_plan *a = &p->actor[j];

		if (a->parent == i)
			a->parent = 0;
		else if (a->parent > i)
			a->parent--;
	}
}

static bool cut_actors(struct program *p, struct failure *f)
{
	bool any = false;

	for (unsigned i = p->actors; i-- > 1;) {
		struct program q = *p;

		remove_actor(&q, i);
		any |= accept(p, &q, f);
	}
	return any;
}

static bool cut_steps(struct program *p, struct failure *f)
{
	bool any = false;

	for (unsigned length = STEPS / 2; length; length /= 2)
		for (unsigned i = 0; i < p->actors; i++)
			for (unsigned j = 0; j < STEPS; j += length) {
				struct program q = *p;

				for (unsigned k = j;
				     k < j + length && k < STEPS; k++)
					q.actor[i].steps[k].call = STEP_KINDS;
				any |= accept(p, &q, f);
			}
	return any;
}

static bool cut_byte(struct program *p, struct failure *f, uint8_t *byte,
		     uint8_t simple)
{
	struct program q = *p;
	const size_t   at = (size_t)(byte - (uint8_t *)p);

	if (*byte == simple)
		return false;
	((uint8_t *)&q)[at] = simple;
	return accept(p, &q, f);
}

static bool simplify_world(struct program *p, struct failure *f)
{
	struct world_plan *w = &p->world;
	bool               any = false;

	any |= cut_byte(p, f, &w->hold, 0);
	any |= cut_byte(p, f, &w->second, 0);
	any |= cut_byte(p, f, &w->clients, 0);
	any |= cut_byte(p, f, &w->cpus, 0);
	any |= cut_byte(p, f, &w->refusals, 0);
	any |= cut_byte(p, f, &w->calls, 0);
	any |= cut_byte(p, f, &w->max_fibers, 0);
	any |= cut_byte(p, f, &w->retire, 0);
	any |= cut_byte(p, f, &w->min_workers, 0);
	any |= cut_byte(p, f, &w->lazy, 0);
	any |= cut_byte(p, f, &w->spread, 0);
	any |= cut_byte(p, f, &w->fifo, 0);
	any |= cut_byte(p, f, &w->main, MAIN_BOUND);
	if (w->max_workers > w->workers)
		any |= cut_byte(p, f, &w->max_workers, w->workers);
	if (w->workers > 1 && w->max_workers == w->workers) {
		struct program q = *p;

		q.world.workers--;
		q.world.max_workers--;
		any |= accept(p, &q, f);
	}
	return any;
}

static bool simplify_actors(struct program *p, struct failure *f)
{
	bool any = false;

	for (unsigned i = 0; i < p->actors; i++) {
		struct actor_plan *a = &p->actor[i];

		any |= cut_byte(p, f, &a->kind, TASK);
		any |= cut_byte(p, f, &a->error, 0);
		any |= cut_byte(p, f, &a->count, 0);
		any |= cut_byte(p, f, &a->parent, 0);
		for (unsigned j = 0; j < STEPS; j++) {
			struct step *s = &a->steps[j];

			if (s->call == STEP_KINDS)
				continue;
			any |= cut_byte(p, f, &s->limit, EVER);
			any |= cut_byte(p, f, &s->flag, 0);
			if (s->count > 1)
				any |= cut_byte(p, f, &s->count,
						(uint8_t)(s->count - 1));
		}
	}
	for (unsigned i = 0; i < p->objects; i++) {
		any |= cut_byte(p, f, &p->object[i].shared, 0);
		any |= cut_byte(p, f, &p->object[i].set, 0);
	}
	return any;
}

/* Steps that are left come first. */
static void pack(struct program *p)
{
	for (unsigned i = 0; i < p->actors; i++) {
		unsigned n = 0;

		for (unsigned j = 0; j < STEPS; j++)
			if (p->actor[i].steps[j].call != STEP_KINDS)
				p->actor[i].steps[n++] = p->actor[i].steps[j];
		for (; n < STEPS; n++)
			p->actor[i].steps[n] =
				(struct step){ .call = STEP_KINDS };
	}
}

void shrink(struct program *p, struct failure *f)
{
	bool any = true;

	prepare();
	cutting_ends = seconds_now() + CUTTING_S;
	for (unsigned i = 0; any && i < 4; i++) {
		any = cut_actors(p, f);
		any |= cut_steps(p, f);
		any |= simplify_world(p, f);
		any |= simplify_actors(p, f);
	}
	pack(p);
}

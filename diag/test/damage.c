/* SPDX-License-Identifier: Apache-2.0 */
/* damage.c - whatever a program has overwritten, a dump of its stacks returns,
 * and the program's fault handler is called. Each pattern of damage runs in a
 * child, which overwrites its records, dumps its stacks, and faults.
 */
#include "testing/with_workers.h"
#include "testing/child.h"
#include "testing/dig.h"
#include "testing/random.h"
#include "sched/worker.h"

#include "sennit/dump.h"
#include "sennit/stacks.h"
#include "sched/state.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>

/* Under ASan an access that its shadow memory forbids ends the child before the
 * kernel sees a fault. So the fault handler is not tested there. */
#if defined(SN_ASAN)
#define PATTERNS 40u
#define FAULTS   false
#else
#define PATTERNS LOAD(200u)
#define FAULTS   true
#endif

enum { AT_ONCE = 20, WORKERS = 2, WAITERS = 12, HANG = 30, GOOD = 7 };

enum { BAD_DUMP = 20, BAD_FAULT, NO_FAULT, NO_WORLD };

static sennit_event go;
static sennit_mutex held;
static atomic_uint  busy;
static atomic_bool  holds;
static atomic_bool  dumped;
static bool         overflows;
static int          ends[2];

/* --- the process that is damaged ---------------------------------------- */

static void hold(void *unused)
{
	(void)unused;
	sennit_mutex_lock(&held);
	atomic_store(&holds, true);
	EXPECT(!sennit_event_wait(&go));
}

static void await(void *unused)
{
	(void)unused;
	EXPECT(!sennit_event_wait(&go));
}

static void lock(void *unused)
{
	(void)unused;
	sennit_mutex_lock(&held);
}

static void enqueue(sennit_scheduler *s, sennit_task_fn *run)
{
	const sennit_task t = { .run = run };

	if (sennit_schedule_task_on(s, &t))
		_exit(NO_WORLD);
}

static NO_SANITIZE void read_nowhere(void)
{
	volatile char *nowhere = mmap(NULL, 4096, PROT_NONE,
				      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)nowhere[8];
}

/* Its worker does nothing else, so only dumps and fault handlers meet the
 * damage. */
static void fault_when_told(void *unused)
{
	char byte;

	(void)unused;
	atomic_fetch_add(&busy, 1);
	if (read(ends[0], &byte, 1) != 1)
		_exit(NO_WORLD);
	if (overflows)
		(void)!dig(1);
	read_nowhere();
	_exit(NO_FAULT);
}

static sennit_scheduler *begin_world(void)
{
	sennit_scheduler *s = NULL;

	sennit_event_init(&go, SENNIT_EVENT_MANUAL);
	if (sennit_scheduler_create(&s, SENNIT_CONFIG(.workers = WORKERS)))
		_exit(NO_WORLD);
	enqueue(s, hold);
	while (!atomic_load(&holds))
		sched_yield();
	for (unsigned i = 0; i < WAITERS; i++)
		enqueue(s, i % 3 ? await : lock);
	while (fibers_of(s) < WAITERS + 1)
		sched_yield();
	for (unsigned i = 0; i < WORKERS; i++)
		enqueue(s, fault_when_told);
	while (atomic_load(&busy) < WORKERS)
		sched_yield();
	if (sennit_thread_bind(s))
		_exit(NO_WORLD);
	return s;
}

/* --- the damage --------------------------------------------------------- */

/* Memory that may be overwritten. */
struct target {
	volatile unsigned char *at;
	size_t                  size;
};

struct targets {
	struct target of[64];
	unsigned      count;
};

static void add(struct targets *t, void *at, size_t size)
{
	if (t->count < sizeof(t->of) / sizeof(t->of[0]))
		t->of[t->count++] = (struct target){ at, size };
}

/* Add the records of the fibers, and the parts of the worker that lead to
 * them. */
static void add_worker(struct targets *t, struct worker *w)
{
	struct sennit_fiber *f = NULL;

	add(t, &w->roster, sizeof(w->roster));
	add(t, &w->home.current, sizeof(w->home.current));
	add(t, &w->main, sizeof(w->main));
	add(t, &w->thread, sizeof(w->thread));
	add(t, &w->index, sizeof(w->index));
	add(t, &w->scheduler, sizeof(w->scheduler));
	while ((f = sn_roster_next(&w->roster, f)))
		add(t, f, sizeof(*f));
}

static void find_targets(struct targets *t, sennit_scheduler *s)
{
	t->count = 0;
	add(t, &s->workers, sizeof(s->workers));
	add(t, &s->bound, sizeof(s->bound));
	add(t, &s->in_list, sizeof(s->in_list));
	add(t, s->name, sizeof(s->name));
	for (uint32_t i = 0; i < WORKERS; i++)
		add_worker(t, s->workers[i]);
	add_worker(t, sn_self);
	add(t, &held, sizeof(held));
}

static NO_SANITIZE void fill(volatile unsigned char *at, size_t size,
			     unsigned kind, uint64_t *random)
{
	for (size_t i = 0; i < size; i++)
		at[i] = kind == 0   ? 0
			: kind == 1 ? 0xff
				    : (unsigned char)random_below(random, 256);
}

static NO_SANITIZE void copy(volatile unsigned char       *to,
			     const volatile unsigned char *from, size_t size)
{
	for (size_t i = 0; i < size; i++)
		to[i] = from[i];
}

/* Overwrite a part of a target, all of it, or one word: with the address of
 * another target, or with its contents. */
static void damage_one(const struct targets *t, uint64_t *random)
{
	const struct target *to = &t->of[random_below(random, t->count)];
	const struct target *from = &t->of[random_below(random, t->count)];
	const uint32_t       words = (uint32_t)(to->size / 8 + 1);
	size_t               at = 8 * (size_t)random_below(random, words);
	const unsigned       kind = random_below(random, 6);
	uintptr_t            address = (uintptr_t)from->at;

	if (at + 8 > to->size)
		at = 0;
	if (kind < 3)
		fill(to->at + at, to->size - at, kind, random);
	else if (kind == 3)
		fill(to->at + at, to->size < 8 ? to->size : 8, 2, random);
	else if (kind == 4)
		copy(to->at + at, (void *)&address,
		     to->size < 8 ? to->size : 8);
	else
		copy(to->at, from->at,
		     to->size < from->size ? to->size : from->size);
}

/* --- what must survive -------------------------------------------------- */

static void end_well(int number)
{
	(void)number;
	_exit(atomic_load(&dumped) ? GOOD : BAD_FAULT);
}

static void look(void *context, const sennit_stack *s)
{
	*(unsigned *)context += s->count + s->fiber->fiber;
}

static void dump(sennit_scheduler *s)
{
	static const int known[] = { 0, -EFAULT };
	unsigned         seen = 0;
	const int        nowhere = open("/dev/null", O_WRONLY);
	const int        all[] = {
		       sennit_stacks_print(NULL, nowhere, SENNIT_STACKS_TEXT),
		       sennit_stacks_print(s, nowhere, SENNIT_STACKS_JSON),
		       sennit_stacks_print(NULL, nowhere, SENNIT_STACKS_MERGED),
		       sennit_stacks_print(s, nowhere, SENNIT_STACKS_PPROF),
		       sennit_stacks_visit(s, look, &seen),
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (all[i] != known[0] && all[i] != known[1])
			_exit(BAD_DUMP);
}

/* Dump from a separate thread, like the thread of sennit_dump_start. */
static void *dump_from_outside(void *s)
{
	dump(s);
	return NULL;
}

/* The fault ends the process after its stacks are written. */
static void write_when_fatal(void)
{
	signal(SIGSEGV, SIG_DFL); /* cmocka has installed a handler */
	if (sennit_dump_fatal(open("/dev/null", O_WRONLY), 1000 * HANG))
		_exit(NO_WORLD);
}

_Noreturn static void live(uint64_t random, bool fatal)
{
	struct sigaction  act = { .sa_handler = end_well,
				  .sa_flags = SA_ONSTACK };
	struct targets    t;
	sennit_scheduler *s;
	pthread_t         thread;

	alarm(HANG);
	if (fatal)
		write_when_fatal();
	else
		sigaction(SIGSEGV, &act, NULL);
	overflows = random_below(&random, 2);
	if (pipe(ends))
		_exit(NO_WORLD);
	s = begin_world();
	find_targets(&t, s);
	for (unsigned n = 1 + random_below(&random, 6); n; n--)
		damage_one(&t, &random);
	if (!fatal && (pthread_create(&thread, NULL, dump_from_outside, s) ||
		       pthread_join(thread, NULL)))
		_exit(NO_WORLD);
	atomic_store(&dumped, true);
	if (!FAULTS)
		_exit(GOOD);
	if (write(ends[1], "", 1) != 1)
		_exit(NO_WORLD);
	for (;;)
		pause();
}

static pid_t begin_pattern(unsigned which, int *words, bool fatal)
{
	const pid_t child = begin_heard_child(words);

	if (!child)
		live(random_stream(which), fatal);
	return child;
}

static void end_pattern(unsigned which, pid_t child, int words, bool fatal)
{
	char      text[8192];
	const int status = await_words(child, words, text, sizeof(text));

	if (fatal ? !WIFSIGNALED(status) || WTERMSIG(status) != SIGSEGV
		  : !WIFEXITED(status) || WEXITSTATUS(status) != GOOD)
		fail_msg("pattern %u: ended with %#x: %s", which,
			 (unsigned)status, text);
}

/* A dump mostly waits for lists to become complete, so several run at a
 * time. */
static void try_patterns(bool fatal)
{
	pid_t children[AT_ONCE];
	int   words[AT_ONCE];

	(void)random_stream(0); /* all children have the same seed */
	for (unsigned i = 0; i < PATTERNS; i += AT_ONCE) {
		for (unsigned k = 0; k < AT_ONCE; k++)
			children[k] = begin_pattern(i + k, &words[k], fatal);
		for (unsigned k = 0; k < AT_ONCE; k++)
			end_pattern(i + k, children[k], words[k], fatal);
	}
}

TEST_ALONE(no_pattern_of_damage_stops_a_dump_or_a_fault)
{
	try_patterns(false);
}

TEST_ALONE(no_pattern_of_damage_keeps_a_fault_from_ending_the_process)
{
	if (!FAULTS)
		skip();
	try_patterns(true);
}

/* --- the text of a dump ------------------------------------------------- */

_Noreturn static void dump_damaged(enum sennit_stacks_format format)
{
	struct sennit_fiber *f;
	sennit_scheduler    *s;

	alarm(HANG);
	if (pipe(ends))
		_exit(NO_WORLD);
	s = begin_world();
	fill((void *)&sn_self->roster.fibers, sizeof(sn_self->roster.fibers), 1,
	     NULL);
	f = sn_roster_next(&s->workers[0]->roster, NULL);
	fill((void *)&f->home, sizeof(f->home), 1, NULL);
	if (sennit_stacks_print(s, STDERR_FILENO, format) != -EFAULT)
		_exit(BAD_DUMP);
	_exit(GOOD);
}

TEST_ALONE(a_dump_says_what_is_damaged)
{
	static char text[1 << 16];

	for (int json = 0; json < 2; json++) {
		int   words;
		pid_t child = begin_heard_child(&words);

		if (!child)
			dump_damaged(json ? SENNIT_STACKS_JSON
					  : SENNIT_STACKS_TEXT);
		assert_int_equal(await_words(child, words, text, sizeof(text)),
				 GOOD << 8);
		assert_non_null(strstr(
			text, "fibers are missing: the list breaks at 0x"));
		assert_non_null(
			strstr(text, "the record of a fiber is overwritten"));
		assert_non_null(strstr(text, json ? "\"waits_for\": \"mutex\""
						  : "waits for mutex"));
	}
}

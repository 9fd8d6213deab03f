/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/stall.h"

#include "life/end.h"
#include "life/life.h"
#include "observe/report.h"
#include "os/os.h"
#include "sched/poller.h"
#include "sched/run_queue.h"
#include "sched/worker.h"
#include "wait/wait.h"

#if !defined(SENNIT_NO_DEBUG_SWITCH) && !defined(SENNIT_DETERMINISTIC)
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#define LOOK_PAUSE     (100 * SENNIT_MILLISECOND) /* between two looks */
#define LOOK_PAUSE_MAX SENNIT_SECOND /* while only threads outside are left */

/* A look that finds more has missed some, and says nothing. */
#define SCHEDULERS 64

a_u32 sn_stall_on;

static a_u32 told;              /* any: 1: somebody went to sleep; slept
					* on */
static int (*stacks)(int fd);   /* fixed once it is on */
static a_u64           changes; /* any: threads that went to sleep, and
					* that woke */
static struct link    *asleep;  /* under lock: struct stalled_thread */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* --- who goes to sleep -------------------------------------------------- */

static void tell_looker(void)
{
	if (a_load_rlx(&told)) /* stale: the looker has not begun to look */
		return;
	a_store_rlx(&told, 1);
	os_word_wake_one(&told);
}

/* Whoever sees the worker asleep sees this, too, a tenth of a second later. */
void sn_stall_worker_sleeps(struct worker *w)
{
	a_store_rlx(&w->polls, sn_poller_state_is_busy(&w->polled));
	tell_looker();
}

void sn_stall_thread_sleeps(struct stalled_thread *t, a_u32 *word,
			    const sennit_scheduler *end, sennit_time deadline)
{
	if (deadline < SN_UNCANCELLED)
		return;
	t->thread = os_thread_id();
	t->word = word;
	t->end = end;
	t->listed = true;
	os_lock(&lock);
	sn_link_join(&asleep, &t->link);
	a_add_rlx(&changes, 1);
	pthread_mutex_unlock(&lock);
	tell_looker();
}

void sn_stall_thread_woke(struct stalled_thread *t)
{
	os_lock(&lock);
	sn_link_leave(&asleep, &t->link);
	a_add_rlx(&changes, 1);
	pthread_mutex_unlock(&lock);
}

static struct stalled_thread *thread_at(struct link *l)
{
	return container_of(l, struct stalled_thread, link);
}

/* Not one that was woken and has not got a CPU yet. Lock held. */
static bool is_asleep(const struct stalled_thread *t)
{
	return !a_load_rlx(t->word);
}

static bool sleeps_here(uint32_t thread)
{
	struct link *l;

	os_lock(&lock);
	for (l = asleep; l; l = sn_link_after(l, asleep))
		if (thread_at(l)->thread == thread && is_asleep(thread_at(l)))
			break;
	pthread_mutex_unlock(&lock);
	return l;
}

/* --- a look ------------------------------------------------------------- */

enum verdict {
	GOES_ON, /* something is left that wakes a fiber by itself */
	OUTSIDE, /* only threads outside the library are left */
	STALLED
};

struct look {
	sennit_time now;
	uint64_t    version;  /* the sum of all counts */
	uint32_t    threads;  /* that wait in the library */
	uint32_t    fibers;   /* that wait */
	uint32_t    sleepers; /* threads that wait without being fibers */
	bool        goes_on;
	bool        outside; /* a bound thread is outside the library */
	bool        stuck;   /* no worker of the scheduler at hand could start a
			    * task: all wait for stacks, or for own fibers */
};

/* The wait of a group that has a deadline ends when its members have, which the
 * deadline cancels: so some time after it, or never. */
static void see_deadline(struct look *l, const sennit_report_entry *e)
{
	if (e->deadline == SENNIT_NEVER)
		return;
	if (e->waits_for != SENNIT_WAITS_FOR_GROUP || e->deadline > l->now)
		l->goes_on = true;
	else if (e->deadline > l->now - SENNIT_SECOND)
		l->outside = true; /* look again */
}

static void see_blocked(struct look *l, const sennit_report_entry *e)
{
	l->fibers++;
	if (e->worker == SENNIT_REPORT_BOUND && !e->task)
		l->threads++;
	see_deadline(l, e);
	if (e->waits_for == SENNIT_WAITS_FOR_CALL ||
	    e->waits_for == SENNIT_WAITS_FOR_IO)
		l->goes_on = true;
}

static void see(void *look, const sennit_report_entry *e)
{
	struct look *l = look;

	if (e->state == SENNIT_REPORT_BLOCKED)
		see_blocked(l, e);
	else if (e->state == SENNIT_REPORT_RUNNING && !e->task &&
		 e->worker == SENNIT_REPORT_BOUND)
		l->outside |= !sleeps_here(e->thread);
	else if (e->state != SENNIT_REPORT_QUEUED || !l->stuck)
		l->goes_on = true;
}

/* A worker that waits only for its own fibers sleeps apart from the others. */
static void see_worker(struct look *l, struct worker *w)
{
	bool apart = sn_parking_is_asleep(&w->own_parking.sleeper);

	if (!sn_thread_is_present(&w->thread))
		return;
	l->threads++;
	if (!apart)
		l->stuck = false;
	if ((!apart && !sn_parking_is_asleep(&w->sleeper)) ||
	    a_load_rlx(&w->polls))
		l->goes_on = true;
}

static bool is_blocked(const struct sennit_fiber *f)
{
	return (a_load_rlx(&f->state.doing) & FIBER_STATE_STATE) ==
	       SENNIT_REPORT_BLOCKED;
}

/* Bound threads that wait as fibers. What the others do, their entries say. */
static void see_bound_workers(struct look *l, sennit_scheduler *s)
{
	struct binding *b = NULL;

	os_lock(&s->bound.lock);
	while ((b = sn_bound_next(&s->bound, b))) {
		struct worker *w = sn_worker_bound(b);
		bool apart = sn_parking_is_asleep(&w->own_parking.sleeper);

		if (!apart)
			l->stuck = false;
		if ((!apart && is_blocked(&w->main) &&
		     !sn_parking_is_asleep(&w->sleeper)) ||
		    a_load_rlx(&w->polls))
			l->goes_on = true;
	}
	pthread_mutex_unlock(&s->bound.lock);
}

static void see_blocking_threads(struct look *l, struct blocking_threads *p)
{
	uint32_t     word = sn_wait_queue_lock(&p->word);
	struct link *i;
	uint32_t     idle = 0;

	for (i = p->idle; i; i = sn_link_after(i, p->idle))
		idle++;
	if (idle < p->count)
		l->goes_on = true;
	l->threads += idle + p->watched;
	sn_wait_queue_unlock(&p->word, word);
}

static void see_scheduler(struct look *l, sennit_scheduler *s)
{
	l->stuck = true;
	for (uint32_t i = 0; i < s->capacity; i++)
		see_worker(l, s->workers[i]);
	see_bound_workers(l, s);
	sennit_scheduler_report(s, see, l);
	see_blocking_threads(l, &s->blocking);
}

static void see_sleepers(struct look *l)
{
	os_lock(&lock);
	for (struct link *i = asleep; i; i = sn_link_after(i, asleep))
		l->sleepers += is_asleep(thread_at(i));
	pthread_mutex_unlock(&lock);
	l->threads += l->sleepers;
}

/* Whether a thread of this name could wake a fiber. The others are those that
 * look into a process (libsennit-diag), and the kernel's own for io_uring,
 * whose work a fiber waits for. */
static bool could_wake(const char *name)
{
	static const char *const lookers[] = { "sn-stall",    "sn-live/",
					       "sn-watchdog", "sn-dump",
					       "iou-wrk-",    "iou-sqp-" };

	for (size_t i = 0; i < sizeof(lookers) / sizeof(lookers[0]); i++)
		if (!strncmp(name, lookers[i], strlen(lookers[i])))
			return false;
	return true;
}

static enum verdict judge(const struct look *l)
{
	uint32_t all = os_thread_count(could_wake);

	if (l->goes_on || (!l->fibers && !l->sleepers))
		return GOES_ON;
	return l->outside || all != l->threads ? OUTSIDE : STALLED;
}

struct schedulers {
	sennit_scheduler *all[SCHEDULERS];
	size_t            count;
};

static void release_all(const struct schedulers *s)
{
	for (size_t i = 0; i < s->count; i++)
		sennit_scheduler_release(s->all[i]);
}

static void see_versions(struct look *l, const struct schedulers *s)
{
	l->version += a_load_rlx(&changes);
	for (size_t i = 0; i < s->count; i++)
		l->version += sn_report_version(s->all[i]);
}

/* *version becomes the sum of the counts before and after the look, 0 if they
 * differ. */
static enum verdict look(const struct schedulers *s, struct look *l,
			 uint64_t *version)
{
	struct look  after = { .version = 0 };
	enum verdict v;

	*l = (struct look){ .now = os_now() };
	see_versions(l, s);
	for (size_t i = 0; i < s->count; i++)
		see_scheduler(l, s->all[i]);
	see_sleepers(l);
	v = s->count < SCHEDULERS ? judge(l) : GOES_ON;
	see_versions(&after, s);
	*version = l->version;
	return after.version == l->version || v == GOES_ON ? v : OUTSIDE;
}

/* --- what is printed ---------------------------------------------------- */

static void print_threads(void)
{
	os_lock(&lock);
	for (struct link *l = asleep; l; l = sn_link_after(l, asleep)) {
		const struct stalled_thread *t = thread_at(l);

		if (t->end)
			os_print(STDERR_FILENO,
				 "thread %" PRIu32 ": waits for the end of "
				 "scheduler %s\n",
				 t->thread, t->end->name);
		else
			os_print(STDERR_FILENO,
				 "thread %" PRIu32
				 ", not bound: waits, without a deadline\n",
				 t->thread);
	}
	pthread_mutex_unlock(&lock);
}

static bool is_awaited(const sennit_scheduler *s)
{
	struct link *l;

	os_lock(&lock);
	for (l = asleep; l; l = sn_link_after(l, asleep))
		if (thread_at(l)->end == s)
			break;
	pthread_mutex_unlock(&lock);
	return l;
}

/* The reference of the one who looks does not count. */
static void print_references(sennit_scheduler *s)
{
	uint32_t held = sn_gate_references(&s->gate) - 1;

	if (held && is_awaited(s))
		os_print(STDERR_FILENO,
			 "%s cannot end: %" PRIu32 " references to it are "
			 "held, by bound threads or by whoever created or "
			 "retained it\n",
			 s->name, held);
}

static void print(const struct schedulers *s, const struct look *l)
{
	os_print(STDERR_FILENO,
		 "sennit: stall: no thread of the process can go on: %" PRIu32
		 " fibers and %" PRIu32
		 " other threads wait, and no deadline, I/O, blocking call or "
		 "further thread is left that could wake one\n",
		 l->fibers, l->sleepers);
	print_threads();
	for (size_t i = 0; i < s->count; i++) {
		sn_report_print_fibers(s->all[i], STDERR_FILENO);
		print_references(s->all[i]);
	}
	sn_report_print_graph(NULL, STDERR_FILENO);
	if (stacks)
		(void)stacks(STDERR_FILENO);
	else
		os_print(STDERR_FILENO,
			 "for the stacks link libsennit-diag, too\n");
}

/* --- the thread that looks ---------------------------------------------- */

/* Returns STALLED if two looks agree. It has printed all then. */
static enum verdict look_twice(void)
{
	struct schedulers s;
	struct look       l;
	uint64_t          first, second;
	enum verdict      v;

	s.count = sn_scheduler_list_retain(s.all, SCHEDULERS);
	v = look(&s, &l, &first);
	if (v == STALLED) {
		(void)!sennit_sleep_until(os_after(LOOK_PAUSE));
		v = look(&s, &l, &second);
		if (v == STALLED && first != second)
			v = OUTSIDE;
	}
	if (v == STALLED)
		print(&s, &l);
	release_all(&s);
	return v;
}

static sennit_time pause_after(enum verdict v, sennit_time pause)
{
	if (v == GOES_ON)
		return LOOK_PAUSE;
	return 2 * pause < LOOK_PAUSE_MAX ? 2 * pause : LOOK_PAUSE_MAX;
}

/* Sleep until somebody goes to sleep, if `v` says that nothing else makes a
 * difference; in any case for the pause, so that a busy process has few
 * looks. */
static void rest(enum verdict v, sennit_time pause)
{
	while (v == GOES_ON && !a_load_rlx(&told))
		os_word_wait(&told, 0, SENNIT_NEVER);
	(void)!sennit_sleep_until(os_after(pause));
}

static void *watch(void *unused)
{
	enum verdict v = GOES_ON;
	sennit_time  pause = LOOK_PAUSE;

	(void)unused;
	os_thread_block_signals();
	os_thread_name("sn-stall", 0);
	do {
		rest(v, pause);
		a_store_rlx(&told, 0); /* before the look, which sees more */
		v = look_twice();
		pause = pause_after(v, pause);
	} while (v != STALLED);
	return NULL;
}

int sn_stall_start(int (*print_stacks)(int fd))
{
	pthread_t thread;
	int       err;

	if (!os_thread_count(could_wake))
		return -ENOTSUP;
	stacks = print_stacks;
	a_store_rlx(&sn_stall_on, 1); /* visible to threads that start later */
	err = os_thread_start(&thread, watch, NULL, 0);
	if (err)
		a_store_rlx(&sn_stall_on, 0);
	else
		os_thread_detach(thread);
	return err;
}

void sn_stall_fork(void)
{
	a_store_rlx(&sn_stall_on, 0);
	asleep = NULL;
	pthread_mutex_init(&lock, NULL);
}
#endif

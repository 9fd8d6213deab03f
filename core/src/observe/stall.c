/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/stall.h"

#include "life/end.h"
#include "life/bind.h"
#include "life/worker_threads.h"
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

/* The pause between two looks, and the longest one, which is used while only
 * threads outside the library could wake fibers. */
#define LOOK_PAUSE     (100 * SENNIT_MILLISECOND)
#define LOOK_PAUSE_MAX SENNIT_SECOND

/* With more schedulers some are missed, so a look gives no verdict. */
#define STALL_SCHEDULERS 64

a_u32 sn_stall_on;

static a_u32 woken; /* any: 1: a thread went to sleep. The stall
				 * thread sleeps on it */
static int (*print_all_stacks)(int fd); /* fixed once stalls are looked for */
static a_u64           changes; /* any: number of times that threads went to
				 * sleep or woke */
static struct link    *asleep;  /* under stall_lock: struct stalled_thread */
static pthread_mutex_t stall_lock = PTHREAD_MUTEX_INITIALIZER;
static a_u32           looks; /* any: threads of libsennit-diag that read
			       * schedulers now and may hold references */

/* --- threads that go to sleep -------------------------------------------- */

static void wake_stall_thread(void)
{
	if (a_load_rlx(&woken)) /* stale: the stall thread has not begun its
			        * look */
		return;
	a_store_rlx(&woken, 1);
	os_word_wake_one(&woken);
}

/* A thread that sees the worker asleep also sees this value, a tenth of a
 * second later. */
void sn_stall_worker_sleeps(struct worker *w)
{
	a_store_rlx(&w->polls, sn_poller_state_is_busy(&w->polled));
	wake_stall_thread();
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
	os_lock(&stall_lock);
	sn_link_join(&asleep, &t->link);
	a_add_rlx(&changes, 1);
	pthread_mutex_unlock(&stall_lock);
	wake_stall_thread();
}

void sn_stall_thread_woke(struct stalled_thread *t)
{
	os_lock(&stall_lock);
	sn_link_leave(&asleep, &t->link);
	a_add_rlx(&changes, 1);
	pthread_mutex_unlock(&stall_lock);
}

static struct stalled_thread *thread_at(struct link *l)
{
	return container_of(l, struct stalled_thread, link);
}

/* Report whether the thread sleeps. A thread that was woken but has not got a
 * CPU yet does not. Lock held. */
static bool is_asleep(const struct stalled_thread *t)
{
	return !a_load_rlx(t->word);
}

static bool sleeps_here(uint32_t thread)
{
	struct link *l;

	os_lock(&stall_lock);
	for (l = asleep; l; l = sn_link_after(l, asleep))
		if (thread_at(l)->thread == thread && is_asleep(thread_at(l)))
			break;
	pthread_mutex_unlock(&stall_lock);
	return l;
}

/* --- a look ------------------------------------------------------------- */

enum stall_verdict {
	GOES_ON, /* something is left that will wake a fiber */
	OUTSIDE, /* only threads outside the library could wake a fiber */
	STALLED
};

struct look {
	sennit_time now;
	uint64_t    version;  /* the sum of all counts */
	uint32_t    threads;  /* threads that wait in the library */
	uint32_t    fibers;   /* fibers that wait */
	uint32_t    sleepers; /* threads that wait and are not fibers */
	bool        goes_on;
	bool        outside; /* look again: a bound thread is outside the
			      * library, or another thread's reference delays
			      * the end of a scheduler */
	bool        stuck;   /* no worker of the current scheduler can start a
			      * task: all wait for stacks, or for their own
			      * fibers */
};

/* A wait for a group that has a deadline ends when its members have ended. The
 * deadline cancels them, so the wait ends some time after it, or never. */
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

static void see_entry(void *look, const sennit_report_entry *e)
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

/* A worker that waits only for its own fibers sleeps on own_parking. */
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

/* Look at bound threads that wait as fibers. For others the entries of the
 * report suffice. Bound threads sleep only on own_parking; w->sleeper is used
 * by workers with their own thread. */
static void see_bound_workers(struct look *l, sennit_scheduler *s)
{
	struct binding *b = NULL;

	os_lock(&s->bound.lock);
	while ((b = sn_bound_next(&s->bound, b))) {
		struct worker *w = sn_worker_bound(b);
		bool apart = sn_parking_is_asleep(&w->own_parking.sleeper);

		if (!apart)
			l->stuck = false;
		if ((!apart && is_blocked(&w->main)) || a_load_rlx(&w->polls))
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

/* A scheduler that has no fibers and only the reference of this look ends when
 * the look is over. */
static void see_end(struct look *l, sennit_scheduler *s, uint32_t fibers)
{
	if (!fibers && sn_gate_references(&s->gate) <= 1)
		l->outside = true;
}

static void see_scheduler(struct look *l, sennit_scheduler *s)
{
	const uint32_t fibers = l->fibers;

	l->stuck = true;
	for (uint32_t i = 0; i < s->capacity; i++)
		see_worker(l, s->workers[i]);
	see_bound_workers(l, s);
	sennit_report_visit(s, see_entry, l);
	see_blocking_threads(l, &s->blocking);
	see_end(l, s, l->fibers - fibers);
}

static void see_sleepers(struct look *l)
{
	os_lock(&stall_lock);
	for (struct link *i = asleep; i; i = sn_link_after(i, asleep))
		l->sleepers += is_asleep(thread_at(i));
	pthread_mutex_unlock(&stall_lock);
	l->threads += l->sleepers;
}

void sn_stall_look(bool begins)
{
	a_add_rlx(&looks, begins ? 1 : UINT32_MAX);
}

/* Report whether the reference of a thread of libsennit-diag may have been
 * seen. Such a thread is counted in `looks` before it takes a reference. A wait
 * for the end that the reference delays was listed after that, under the lock
 * that see_sleepers() takes. So the thread is counted here, unless it has
 * finished meanwhile. In that case the end has happened, and the second look
 * sees it. */
static bool is_reference_seen(void)
{
	return a_load_rlx(&looks); /* stale: see above */
}

/* Report whether a thread of this name could wake a fiber. The threads of
 * libsennit-diag that only read cannot, nor can the kernel's threads for
 * io_uring, for whose work a fiber waits. */
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

static enum stall_verdict verdict_of(const struct look *l)
{
	uint32_t all = os_thread_count(could_wake);

	if (l->goes_on || (!l->fibers && !l->sleepers))
		return GOES_ON;
	return l->outside || is_reference_seen() || all != l->threads ? OUTSIDE
								      : STALLED;
}

struct stall_schedulers {
	sennit_scheduler *all[STALL_SCHEDULERS];
	size_t            count;
};

static void release_stall_schedulers(const struct stall_schedulers *s)
{
	for (size_t i = 0; i < s->count; i++)
		sennit_scheduler_release(s->all[i]);
}

static void see_versions(struct look *l, const struct stall_schedulers *s)
{
	l->version += a_load_rlx(&changes);
	for (size_t i = 0; i < s->count; i++)
		l->version += sn_report_version(s->all[i]);
}

/* Look at all schedulers. *version becomes the sum of the counts. Returns
 * OUTSIDE instead of STALLED if the counts changed during the look. */
static enum stall_verdict look_for_stall(const struct stall_schedulers *s,
					 struct look *l, uint64_t *version)
{
	struct look        after = { .version = 0 };
	enum stall_verdict v;

	*l = (struct look){ .now = os_now() };
	see_versions(l, s);
	for (size_t i = 0; i < s->count; i++)
		see_scheduler(l, s->all[i]);
	see_sleepers(l);
	v = s->count < STALL_SCHEDULERS ? verdict_of(l) : GOES_ON;
	see_versions(&after, s);
	*version = l->version;
	return after.version == l->version || v == GOES_ON ? v : OUTSIDE;
}

/* --- the message -------------------------------------------------------- */

static void print_threads(void)
{
	os_lock(&stall_lock);
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
	pthread_mutex_unlock(&stall_lock);
}

static bool is_awaited(const sennit_scheduler *s)
{
	struct link *l;

	os_lock(&stall_lock);
	for (l = asleep; l; l = sn_link_after(l, asleep))
		if (thread_at(l)->end == s)
			break;
	pthread_mutex_unlock(&stall_lock);
	return l;
}

/* Print the references, without that of the stall thread. */
static void print_references(sennit_scheduler *s)
{
	uint32_t held = sn_gate_references(&s->gate) - 1;

	if (held && is_awaited(s))
		os_print(STDERR_FILENO,
			 "%s cannot end: %" PRIu32 " references to it are "
			 "held, by bound threads or by code that created "
			 "or retained it\n",
			 s->name, held);
}

static void print_stall(const struct stall_schedulers *s, const struct look *l)
{
	struct os_lines lines = { .fd = STDERR_FILENO };

	os_print(STDERR_FILENO,
		 "sennit: stall: no thread can make progress: %" PRIu32
		 " fibers and %" PRIu32
		 " other threads wait, and no deadline, I/O, blocking call or "
		 "further thread is left that could wake one\n",
		 l->fibers, l->sleepers);
	print_threads();
	for (size_t i = 0; i < s->count; i++) {
		sn_report_print_fibers(s->all[i], &lines);
		print_references(s->all[i]);
	}
	sn_report_print_graph(NULL, &lines);
	if (print_all_stacks)
		(void)print_all_stacks(STDERR_FILENO);
	else
		os_print(STDERR_FILENO,
			 "link libsennit-diag to print the stacks\n");
}

/* --- the stall thread --------------------------------------------------- */

/* Look twice. If both looks agree on STALLED, print the message and return
 * STALLED. */
static enum stall_verdict look_twice(void)
{
	struct stall_schedulers s;
	struct look             l;
	uint64_t                first, second;
	enum stall_verdict      v;

	s.count = sn_scheduler_list_retain(s.all, STALL_SCHEDULERS);
	v = look_for_stall(&s, &l, &first);
	if (v == STALLED) {
		(void)!sennit_sleep_until(os_after(LOOK_PAUSE));
		v = look_for_stall(&s, &l, &second);
		if (v == STALLED && first != second)
			v = OUTSIDE;
	}
	if (v == STALLED)
		print_stall(&s, &l);
	release_stall_schedulers(&s);
	return v;
}

static sennit_time pause_after(enum stall_verdict v, sennit_time pause)
{
	if (v == GOES_ON)
		return LOOK_PAUSE;
	return 2 * pause < LOOK_PAUSE_MAX ? 2 * pause : LOOK_PAUSE_MAX;
}

/* If v is GOES_ON, sleep until a thread goes to sleep, because nothing else can
 * cause a stall. Then sleep for the pause, so that looks at a busy process are
 * rare. */
static void pause_before_look(enum stall_verdict v, sennit_time pause)
{
	while (v == GOES_ON && !a_load_rlx(&woken))
		os_word_wait(&woken, 0, SENNIT_NEVER);
	(void)!sennit_sleep_until(os_after(pause));
}

static void *stall_thread_main(void *unused)
{
	enum stall_verdict v = GOES_ON;
	sennit_time        pause = LOOK_PAUSE;

	(void)unused;
	os_thread_block_signals();
	os_thread_name("sn-stall", 0);
	do {
		pause_before_look(v, pause);
		a_store_rlx(&woken, 0); /* before the look, which sees later
				        * sleeps, too */
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
	print_all_stacks = print_stacks;
	a_store_rlx(&sn_stall_on, 1); /* visible to threads that start later */
	err = os_thread_start(&thread, stall_thread_main, NULL, 0);
	if (err)
		a_store_rlx(&sn_stall_on, 0);
	else
		os_thread_detach(thread);
	return err;
}

void sn_stall_fork(void)
{
	a_store_rlx(&sn_stall_on, 0);
	a_store_rlx(&looks, 0); /* they are threads of the parent */
	asleep = NULL;
	pthread_mutex_init(&stall_lock, NULL);
}
#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "profile.h"

#include "base/compiler.h"
#include "base/own_fd.h"
#include "base/own_file.h"
#include "fibers.h"
#include "sennit/detail/debugger.h"
#include "sennit/report.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define PROFILE_SIGNAL SIGPROF

#ifndef sigev_notify_thread_id /* not in every libc */
#define sigev_notify_thread_id _sigev_un._tid
#endif

/* --- sites ---------------------------------------------------------------- */

static void empty(struct sites *s, uint32_t round)
{
	a_store_rlx(&s->used, 0);
	a_store_rlx(&s->lost, 0);
	a_store_rlx(&s->lost_ns, 0);
	s->words_used = 0;
	memset(s->index, 0, sizeof(s->index));
	/* -> sites.round: empty */
	a_store_rel(&s->round, round);
}

static uint64_t hash_words(const uintptr_t *words, size_t count)
{
	uint64_t hash = count;

	for (size_t i = 0; i < count; i++) {
		hash = (hash ^ words[i]) * UINT64_C(0x9e3779b97f4a7c15);
		hash ^= hash >> 32;
	}
	return hash;
}

static bool is_equal(const struct sites *s, const struct site *site,
		     const uintptr_t *words, size_t count, uint64_t hash)
{
	if (site->hash != hash || site->words != count)
		return false;
	for (size_t i = 0; i < count; i++)
		if (s->words[site->at + i] != words[i])
			return false;
	return true;
}

static void count(struct site *site, uint64_t ns)
{
	a_bump_owner(&site->count);
	a_store_rlx(&site->ns, a_load_rlx(&site->ns) + ns);
	if (ns > a_load_rlx(&site->longest))
		a_store_rlx(&site->longest, ns);
}

/* Add a site whose words have been stored after the used ones. */
static bool add_new(struct sites *s, uint32_t slot, size_t words, uint64_t hash,
		    uint64_t ns)
{
	const uint32_t used = a_load_rlx(&s->used);
	struct site   *site = &s->sites[used];

	if (used == SITES)
		return false;
	*site = (struct site){ .at = s->words_used,
			       .words = (uint32_t)words,
			       .hash = hash };
	count(site, ns);
	s->words_used += (uint32_t)words;
	s->index[slot] = used + 1;
	/* -> sites.used: the site */
	a_store_rel(&s->used, used + 1);
	return true;
}

/* Add a site or count a known one. Its words have been stored after the used
 * ones. */
static bool add_words(struct sites *s, size_t words, uint64_t ns)
{
	const uintptr_t *key = s->words + s->words_used;
	const uint64_t   hash = hash_words(key, words);
	uint32_t         slot = (uint32_t)(hash % SITE_INDEX);

	for (; s->index[slot]; slot = (slot + 1) % SITE_INDEX) {
		struct site *site = &s->sites[s->index[slot] - 1];

		if (!is_equal(s, site, key, words, hash))
			continue;
		count(site, ns);
		return true;
	}
	return add_new(s, slot, words, hash, ns);
}

static void count_lost(struct sites *s, uint64_t ns)
{
	a_bump_owner(&s->lost);
	a_store_rlx(&s->lost_ns, a_load_rlx(&s->lost_ns) + ns);
}

/* Add a site. If its task name does not fit, store the site without a name. */
static void insert_site(struct sites *s, size_t words, uint64_t ns)
{
	uintptr_t *key = s->words + s->words_used;

	if (add_words(s, words, ns))
		return;
	memset(key + SITE_NAME, 0, SENNIT_TASK_NAME_SIZE);
	if (!add_words(s, words, ns))
		count_lost(s, ns);
}

/* --- threads ------------------------------------------------------------ */

/* The number of bytes of a stack that are read if its bounds are not known. */
#define COPY ((size_t)32 * 1024)

/* A thread that is profiled. It is never freed, because a signal may still
 * arrive. */
struct subject {
	struct subject *next;   /* under lock */
	a_u32           thread; /* any: the TID; 0: none */
	bool            timed;  /* under lock: it has a timer */
	timer_t         timer;
	a_ptr           cpu, waits;    /* struct sites; NULL: none yet */
	char            copy[2][COPY]; /* owner: for the handler, and for
				        * waits */
};

static pthread_mutex_t profile_lock = PTHREAD_MUTEX_INITIALIZER;

static struct {
	a_u32           sampled; /* any: CPU is recorded */
	a_u32           kinds;   /* any: which waits are recorded; 0: none */
	a_u32           round;   /* any: number of this profile; 0: there was
				  * none */
	a_u64           period;  /* any: nanoseconds */
	bool            on;      /* under lock */
	bool            forks;   /* under lock: a fork() handler is installed */
	uint32_t        recorded;      /* under lock: kinds of the last start */
	uint32_t        phase;         /* under lock: see start_timer */
	struct timespec began, ended;  /* under lock: monotonic */
	struct profile_times times;    /* under lock */
	struct subject      *subjects; /* under lock */
} profile;

static _Thread_local struct subject *mine
	__attribute__((tls_model("initial-exec")));

static uint32_t this_thread(void)
{
	return (uint32_t)syscall(SYS_gettid);
}

static void *map_profile_memory(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

static struct subject *find_subject(uint32_t thread)
{
	struct subject *t = profile.subjects;

	/* Exact: the lock is held. */
	while (t && a_load_rlx(&t->thread) != thread)
		t = t->next;
	return t;
}

static void stop_timer(struct subject *t)
{
	if (t->timed)
		timer_delete(t->timer);
	t->timed = false;
}

/* Mark the subject as free. A signal that is still pending arrives on another
 * thread, or is dropped. */
static void release_subject(struct subject *t)
{
	a_store_rlx(&t->thread, 0);
	stop_timer(t);
}

/* Find a subject whose thread has ended. The program's threads end without
 * notice. */
static struct subject *find_ended(void)
{
	for (struct subject *t = profile.subjects; t; t = t->next)
		if (!a_load_rlx(&t->thread) /* exact: the lock is held */ ||
		    (syscall(SYS_tgkill, getpid(), a_load_rlx(&t->thread), 0) &&
		     errno == ESRCH)) {
			release_subject(t);
			return t;
		}
	return NULL;
}

static struct subject *make_subject(void)
{
	struct subject *t = map_profile_memory(sizeof(*t));

	if (!t)
		return NULL;
	t->next = profile.subjects;
	profile.subjects = t;
	return t;
}

/* Lock held. */
static struct subject *add_subject(uint32_t thread)
{
	struct subject *t = find_ended();

	if (!t)
		t = make_subject();
	if (t)
		a_store_rlx(&t->thread, thread);
	return t;
}

static struct sites *sites_of(a_ptr *place)
{
	struct sites *s = a_load_acq(place); /* <- subject.sites */

	if (!s) {
		s = map_profile_memory(sizeof(*s));
		a_store_rel(place, s); /* -> subject.sites: zeros */
	}
	return s;
}

/* Return the sites of this profile, with room for one more site; NULL: there is
 * no room. Owner only. */
static struct sites *begin_site(struct sites *s, uint64_t ns)
{
	/* A stale number means that the thread has not yet seen the start. */
	const uint32_t round = a_load_rlx(&profile.round);

	if (!s)
		return NULL;
	if (a_load_rlx(&s->round) != round)
		empty(s, round);
	if (s->words_used + (size_t)SITE_MOST <= SITE_WORDS)
		return s;
	count_lost(s, ns);
	return NULL;
}

/* --- a sample ------------------------------------------------------------- */

/* Store what runs on the thread in `words`. Returns the memory of its stack
 * that may be read. */
static struct call_frame_memory describe_running(uintptr_t *words,
						 uintptr_t kind, uintptr_t sp,
						 char *copy)
{
	struct call_frame_memory m = { .low = sp, .copy = copy };
	sennit_running r = { .size = sizeof(r) }; /* a foreign thread has
						        * none */

	(void)sennit_fiber_running(&r);
	words[SITE_TASK] = (uintptr_t)r.task;
	words[SITE_KIND] = kind;
	memcpy(words + SITE_NAME, r.name, sizeof(r.name));
	if (!r.call && sp >= (uintptr_t)r.low && sp < (uintptr_t)r.high) {
		m.copy = (const char *)sp;
		m.size = (uintptr_t)r.high - sp;
	} else {
		m.size = sn_own_memory_copy(copy, sp, COPY);
	}
	return m;
}

/* Add a site for the frame and its callers. Owner only. */
static void record(struct sites *s, struct call_frame *f, uintptr_t kind,
		   uint64_t ns, char *copy)
{
	uintptr_t               *words = s->words + s->words_used;
	uintptr_t               *frames = words + SITE_FRAMES;
	struct call_frame_memory m;
	bool                     whole;
	uint32_t                 n;

	m = describe_running(words, kind, f->registers[f->sp], copy);
	n = sn_callers_walk(&s->callers, f, &m, frames, SENNIT_STACK_FRAMES,
			    &whole);
	for (uint32_t i = 1; i < n; i++)
		frames[i]--; /* within the call, not the return address */
	if (!whole)
		frames[n++] = FRAME_UNKNOWN;
	insert_site(s, SITE_FRAMES + n, ns);
}

/* --- CPU -------------------------------------------------------------- */

/* The handler of SIGPROF. Async-signal-safe. The timer's value names the
 * thread. A signal that was pending when the thread ended may arrive on another
 * one. */
static void take_sample(int number, siginfo_t *info, void *interrupted)
{
	const int         error = errno;
	struct subject   *t;
	struct sites     *s;
	struct call_frame f;
	uint64_t          ns;

	(void)number;
	if (info->si_code != SI_TIMER || !a_load_rlx(&profile.sampled))
		return;
	t = info->si_value.sival_ptr;
	if (!t || a_load_rlx(&t->thread) != this_thread())
		return;
	ns = a_load_rlx(&profile.period) * (1 + (uint64_t)info->si_overrun);
	s = begin_site(a_load_acq(&t->cpu), ns); /* <- subject.sites */
	if (s &&
	    sn_call_frame_begin(&f, &sennit_debug_interrupted, 0, interrupted))
		record(s, &f, 0, ns, t->copy[0]);
	errno = error;
}

/* Return the clock of the CPU time of a thread (clock_getcpuclockid(3) makes
 * those of processes in the same way). */
static clockid_t clock_of(uint32_t thread)
{
	return (clockid_t)(~thread << 3 | 6);
}

/* Start the thread's timer at a different phase of the period for each thread.
 * So threads that do the same are not sampled at the same moments, and a thread
 * that uses less than a period is sampled as often as it should be. */
static int start_timer(struct subject *t, uint32_t thread)
{
	const uint64_t  period = a_load_rlx(&profile.period);
	struct sigevent to = {
		.sigev_notify = SIGEV_THREAD_ID,
		.sigev_signo = PROFILE_SIGNAL,
		.sigev_value.sival_ptr = t,
	};
	struct itimerspec when = { .it_interval.tv_nsec = (long)period };
	int               err;

	to.sigev_notify_thread_id = (pid_t)thread;
	profile.phase +=
		0x9e3779b9u; /* the golden ratio: far from all phases so far */
	when.it_value.tv_nsec =
		(long)(1 + period * (profile.phase >> 8) / (1u << 24));
	if (!sites_of(&t->cpu))
		return -ENOMEM;
	if (timer_create(clock_of(thread), &to, &t->timer))
		return -errno;
	err = timer_settime(t->timer, 0, &when, NULL) ? -errno : 0;
	t->timed = true;
	if (err)
		stop_timer(t);
	return err;
}

/* Lock held. */
static int time_thread(uint32_t thread)
{
	struct subject *t = find_subject(thread);
	int             err = -ENOMEM;

	if (!t)
		t = add_subject(thread);
	if (t) {
		stop_timer(t);
		err = start_timer(t, thread);
	}
	profile.times.untimed += err && err != -EINVAL; /* unless the thread has
							 * ended */
	return err;
}

/* Start timers for all threads. Threads of the library that begin meanwhile
 * report themselves. Lock held. */
static int time_threads(void)
{
	DIR           *all = opendir("/proc/self/task");
	struct dirent *each;
	int            err;

	while (all && (each = readdir(all))) {
		const uint32_t thread = (uint32_t)strtoul(each->d_name, NULL,
							  10);

		if (thread && thread != this_thread())
			(void)!time_thread(thread);
	}
	if (all)
		closedir(all);
	err = time_thread(this_thread());
	return err == -ENOMEM ? err : err ? -EPERM : 0;
}

/* --- waits ------------------------------------------------------------ */

bool sn_profile_is_lock(uintptr_t kind)
{
	return kind == SENNIT_WAITS_FOR_MUTEX ||
	       kind == SENNIT_WAITS_FOR_RWLOCK;
}

/* Return the caller's subject. Creates it if there is none. */
static struct subject *this_subject(void)
{
	const uint32_t thread = this_thread();

	pthread_mutex_lock(&profile_lock);
	mine = find_subject(thread);
	if (!mine)
		mine = add_subject(thread);
	pthread_mutex_unlock(&profile_lock);
	return mine;
}

/* Record a wait. The walk begins at the caller, so this function must have a
 * frame pointer. __builtin_frame_address makes sure of that. */
NOINLINE static void note_wait(uint32_t kind, uint64_t ns)
{
	const uintptr_t  *frame = __builtin_frame_address(0);
	struct subject   *t = mine ? mine : this_subject();
	struct sites     *s = t ? begin_site(sites_of(&t->waits), ns) : NULL;
	struct call_frame f;

	if (!s)
		return;
	sn_callers_begin(&f, (uintptr_t)__builtin_return_address(0) - 1,
			 (uintptr_t)__builtin_dwarf_cfa(), frame[0]);
	record(s, &f, kind, ns, t->copy[1]);
}

/* Called on the fiber that has waited. */
static void waited(uint32_t kind, uint64_t ns)
{
	const int      error = errno;
	const uint32_t kinds = a_load_rlx(&profile.kinds); /* 0: stopped */

	if (kinds & SENNIT_PROFILE_WAITS ||
	    (kinds & SENNIT_PROFILE_LOCKS && sn_profile_is_lock(kind)))
		note_wait(kind, ns);
	errno = error;
}

/* --- threads of the library ----------------------------------------------- */

static void begin_thread(void)
{
	const uint32_t thread = this_thread();

	pthread_mutex_lock(&profile_lock);
	if (a_load_rlx(&profile.sampled)) /* exact: the lock is held */
		(void)!time_thread(thread);
	mine = find_subject(thread);
	pthread_mutex_unlock(&profile_lock);
}

static void end_profiled_thread(void)
{
	struct subject *t;

	pthread_mutex_lock(&profile_lock);
	t = find_subject(this_thread());
	if (t)
		release_subject(t);
	mine = NULL;
	pthread_mutex_unlock(&profile_lock);
}

static void thread(bool begins)
{
	if (begins)
		begin_thread();
	else
		end_profiled_thread();
}

static const struct sennit_debug_profiler hooks = {
	.size = sizeof(struct sennit_debug_profiler),
	.thread = thread,
	.waited = waited,
};

/* --- start and stop ----------------------------------------------------- */

/* In the child of a fork, reset the state. Another thread of the parent may
 * have held the lock, and the timers belong to the parent. */
static void reset_profile_in_child(void)
{
	pthread_mutex_init(&profile_lock, NULL);
	a_store_rlx(&profile.sampled, 0);
	a_store_rlx(&profile.kinds, 0);
	for (struct subject *t = profile.subjects; t; t = t->next) {
		t->timed = false;
		a_store_rlx(&t->thread, 0);
	}
	profile.on = false;
	profile.recorded = 0;
	mine = NULL;
}

static void stop_sampling(void)
{
	a_store_rlx(&profile.sampled, 0);
	for (struct subject *t = profile.subjects; t; t = t->next)
		stop_timer(t);
}

static int start_sampling(uint32_t hertz)
{
	int err;

	if (!sn_signal_take(PROFILE_SIGNAL, take_sample))
		return -EBUSY;
	a_store_rlx(&profile.period, 1000000000u / hertz);
	a_store_rlx(&profile.sampled, 1);
	err = time_threads();
	if (err)
		stop_sampling();
	return err;
}

static bool is_wrong(uint32_t kinds, uint32_t hertz)
{
	const uint32_t known = SENNIT_PROFILE_CPU | SENNIT_PROFILE_WAITS |
			       SENNIT_PROFILE_LOCKS;

	return !kinds || kinds & ~known || hertz > SENNIT_PROFILE_HERTZ_MOST;
}

/* Returns 0, or an error if this process or this system cannot be profiled. */
static int is_possible(void)
{
	if (!sennit_debug_interrupted.machine)
		return -ENOTSUP;
	if (!sn_own_memory_is_readable())
		return -EPERM;
	if (!profile.forks &&
	    pthread_atfork(NULL, NULL, reset_profile_in_child))
		return -ENOMEM;
	profile.forks = true;
	return 0;
}

static void stop_recording(void)
{
	a_store_rlx(&profile.kinds, 0);
	sennit_debug_calls.profile(NULL, false);
	stop_sampling();
}

/* Threads of the library that begin after the first call here report themselves
 * and wait for the lock. */
static int start_recording(uint32_t kinds, uint32_t hertz)
{
	const uint32_t waits = kinds & ~(uint32_t)SENNIT_PROFILE_CPU;
	int            err = 0;

	a_store_rlx(&profile.kinds, waits);
	sennit_debug_calls.profile(&hooks, waits);
	if (kinds & SENNIT_PROFILE_CPU)
		err = start_sampling(hertz);
	if (err)
		stop_recording();
	return err;
}

static uint64_t between(struct timespec from, struct timespec to)
{
	return (uint64_t)((to.tv_sec - from.tv_sec) * 1000000000 +
			  (to.tv_nsec - from.tv_nsec));
}

/* Lock held. */
static int start_profile(uint32_t kinds, uint32_t hertz)
{
	struct timespec now;
	int             err = profile.on ? -EALREADY : is_possible();

	if (err)
		return err;
	a_store_rlx(&profile.round, a_load_rlx(&profile.round) + 1);
	profile.recorded = 0; /* what was recorded is gone */
	profile.times.untimed = 0;
	profile.times.hertz = hertz;
	clock_gettime(CLOCK_REALTIME, &now);
	clock_gettime(CLOCK_MONOTONIC, &profile.began);
	profile.times.began_ns = between((struct timespec){ 0 }, now);
	err = start_recording(kinds, hertz);
	if (err)
		return err;
	profile.recorded = kinds;
	profile.on = true;
	return 0;
}

int sennit_profile_start(uint32_t kinds, uint32_t hertz)
{
	int err;

	if (is_wrong(kinds, hertz))
		return -EINVAL;
	pthread_mutex_lock(&profile_lock);
	err = start_profile(kinds, hertz ? hertz : SENNIT_PROFILE_HERTZ);
	pthread_mutex_unlock(&profile_lock);
	return err;
}

void sennit_profile_stop(void)
{
	pthread_mutex_lock(&profile_lock);
	if (profile.on) {
		stop_recording();
		clock_gettime(CLOCK_MONOTONIC, &profile.ended);
		profile.on = false;
	}
	pthread_mutex_unlock(&profile_lock);
}

/* --- reading ------------------------------------------------------------ */

static bool is_recorded(enum sennit_profile_kind kind)
{
	return profile.recorded & (uint32_t)kind ||
	       (kind == SENNIT_PROFILE_LOCKS &&
		profile.recorded & SENNIT_PROFILE_WAITS);
}

static void visit_sites(enum sennit_profile_kind kind,
			void (*visit)(void *context, const struct sites *s),
			void *context)
{
	const uint32_t round = a_load_rlx(&profile.round);

	for (struct subject *t = profile.subjects; t; t = t->next) {
		/* <- subject.sites */
		const struct sites *s = a_load_acq(
			kind == SENNIT_PROFILE_CPU ? &t->cpu : &t->waits);

		if (s && a_load_acq(&s->round) == round) /* <- sites.round */
			visit(context, s);
	}
}

int sn_profile_visit(enum sennit_profile_kind kind, struct profile_times *times,
		     void (*visit)(void *context, const struct sites *s),
		     void *context)
{
	struct timespec end;
	int             err = -ENODATA;

	pthread_mutex_lock(&profile_lock);
	if (is_recorded(kind)) {
		end = profile.ended;
		if (profile.on)
			clock_gettime(CLOCK_MONOTONIC, &end);
		*times = profile.times;
		times->duration_ns = between(profile.began, end);
		visit_sites(kind, visit, context);
		err = 0;
	}
	pthread_mutex_unlock(&profile_lock);
	return err;
}

/* --- the environment ------------------------------------------------------ */

static struct own_file lent[2]; /* fixed: files for CPU and waits */
static pid_t           lender;  /* fixed: the process whose profile it is */

static void write_to(const struct own_file *file, uint32_t kind)
{
	static const char closed[] = "sennit: the profile is not written: the "
				     "program has closed the file\n";

	if (sn_own_file_is_there(file))
		(void)!sennit_profile_write(file->fd, kind,
					    SENNIT_PROFILE_PPROF);
	else
		(void)!write(STDERR_FILENO, closed, sizeof(closed) - 1);
}

static void write_lent(void)
{
	if (lender != getpid())
		return;
	sennit_profile_stop();
	write_to(&lent[0], SENNIT_PROFILE_CPU);
	write_to(&lent[1], SENNIT_PROFILE_WAITS);
}

static int create(struct own_file *out, const char *file, const char *ending)
{
	char name[PATH_MAX];
	int  n = snprintf(name, sizeof(name), "%s%s", file, ending);
	int  fd;

	if (n < 0 || n >= (int)sizeof(name))
		return -ENAMETOOLONG;
	fd = sn_own_fd(
		open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
	*out = sn_own_file(fd);
	return fd < 0 ? -errno : 0;
}

int sn_profile_lend(const char *file)
{
	int err;

	err = create(&lent[0], file, "");
	if (!err)
		err = create(&lent[1], file, ".waits");
	if (!err)
		err = sennit_profile_start(
			SENNIT_PROFILE_CPU | SENNIT_PROFILE_WAITS, 0);
	lender = getpid();
	if (!err && atexit(write_lent))
		err = -ENOMEM;
	return err;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/closing.h"

#include "base/atomic.h"
#include "base/list.h"
#include "base/own_fd.h"
#include "engine/by_fd.h"
#include "engine/request.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

a_u64 sn_io_closings; /* written under the lock */

static pthread_mutex_t    closing_lock = PTHREAD_MUTEX_INITIALIZER;
static struct io_closing *backends; /* under the lock */

/* --- which descriptors were closed -------------------------------------- */

/* Records of closed descriptors, in pages. A page is allocated when one of its
 * descriptors is closed, and never freed. Descriptors beyond the pages, and
 * those whose page could not be allocated, share the records of `beyond`, which
 * are written only while there are waits. A wait on another descriptor may then
 * end, too. */
#define PAGE_FDS 512u
#define PAGES    2048u

struct closed {
	a_u64 before; /* written under the lock: calls that began earlier end
		       * with -ECANCELED */
	a_u64 until;  /* written under the lock: waits that began earlier are
		       * retried */
};

static a_ptr         pages[PAGES]; /* written under the lock */
static struct closed beyond[PAGE_FDS];

static struct closed *page_of(int fd)
{
	const uint32_t page = (uint32_t)fd / PAGE_FDS;

	return page < PAGES ? a_load_acq(&pages[page]) /* <- closing.page */
			    : NULL;
}

static struct closed *make_page_of(int fd)
{
	const uint32_t page = (uint32_t)fd / PAGE_FDS;
	void          *made = page_of(fd);

	if (made || page >= PAGES)
		return made;
	made = calloc(PAGE_FDS, sizeof(struct closed));
	a_store_rel(&pages[page], made); /* -> closing.page: zeroes */
	return made;
}

/* A stale answer is harmless: the worker is notified and checks again. */
static int end_by(const struct closed *c, uint64_t begun)
{
	if (begun < a_load_rlx(&c->before))
		return -ECANCELED;
	return begun < a_load_rlx(&c->until) ? -EINTR : 0;
}

int sn_io_closing_end_of(int fd, uint64_t begun)
{
	const uint32_t       at = (uint32_t)fd % PAGE_FDS;
	const struct closed *page;
	int                  end;

	if (likely(begun == sn_io_closing_now()))
		return 0;
	page = page_of(fd);
	end = page ? end_by(&page[at], begun) : 0;
	return end ? end : end_by(&beyond[at], begun);
}

int sn_io_closing_end_of_any(const struct pollfd *fds, size_t count,
			     uint64_t begun)
{
	int any = 0;

	for (size_t i = 0; i < count; i++) {
		int end = fds[i].fd < 0
				  ? 0
				  : sn_io_closing_end_of(fds[i].fd, begun);

		if (end == -ECANCELED)
			return end;
		any = end ? end : any;
	}
	return any;
}

static void record_closed_fd(int fd, uint64_t before)
{
	struct closed *page = make_page_of(fd);
	struct closed *c = &(page ? page : beyond)[(uint32_t)fd % PAGE_FDS];

	if (a_load_rlx(&c->before) < before)
		a_store_rlx(&c->before, before);
	/* -> closing.count: before, but not yet until */
	a_store_rlx(&c->until, a_add_acqrel(&sn_io_closings, 1) + 1);
}

/* --- close on fork -------------------------------------------------------- */

/* Pages are added and never freed. Their number follows the highest number of
 * descriptors that were in the list at once. */
#define KEPT_FDS 62

struct page {
	a_u32 fds[KEPT_FDS]; /* any: descriptor + 1; 0: free slot */
	a_ptr next;          /* any: set once */
};

static struct page first;

#ifdef SN_TSAN
/* ThreadSanitizer takes this fstat() for a use of the descriptor. It did not
 * see how the ring closed it, which is no call of libc, and would report the
 * next close of the number. */
void AnnotateIgnoreReadsBegin(const char *file, int line);
void AnnotateIgnoreReadsEnd(const char *file, int line);
#else
#define AnnotateIgnoreReadsBegin(file, line) ((void)0)
#define AnnotateIgnoreReadsEnd(file, line)   ((void)0)
#endif

/* Eventfds, epoll descriptors and rings have no file type. */
bool sn_close_on_fork_is_kept(int fd)
{
	struct stat st;
	bool        kept;

	AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
	kept = !fstat(fd, &st) && !(st.st_mode & S_IFMT);
	AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
	return kept;
}

static bool replace(uint32_t from, uint32_t to)
{
	for (struct page *p = &first; p;
	     p = a_load_acq(&p->next)) /* <- close_on_fork.page */
		for (int i = 0; i < KEPT_FDS; i++) {
			uint32_t old = from;

			/* Other threads change only the slots of their
			 * descriptors. */
			if (a_load_rlx(&p->fds[i]) == from &&
			    a_cas_rlx(&p->fds[i], &old, to))
				return true;
		}
	return false;
}

static bool add_page(void)
{
	struct page *last = &first;
	struct page *page = calloc(1, sizeof(*page));
	void        *none = NULL;

	if (!page)
		return false;
	/* -> close_on_fork.page: zeroes <- close_on_fork.page */
	while (!a_cas_acqrel(&last->next, &none, page)) {
		last = none;
		none = NULL;
	}
	return true;
}

static void close_kept(void)
{
	/* Relaxed: a child has one thread, and pages were added before the
	 * fork. */
	for (struct page *p = &first; p; p = a_load_rlx(&p->next))
		for (int i = 0; i < KEPT_FDS; i++) {
			uint32_t fd = a_load_rlx(&p->fds[i]);

			a_store_rlx(&p->fds[i], 0); /* relaxed as well */
			if (fd && sn_close_on_fork_is_kept((int)fd - 1))
				close((int)fd - 1);
		}
}

/* --- fork --------------------------------------------------------------- */

static struct io_thread_wait *waiting_threads;  /* under the lock */
static int                    notify_fd = -1;   /* under the lock: readable
						 * while threads must check */
static unsigned               notified_threads; /* under the lock: the number of
						 * threads that must check */

/* The child of a fork has no workers and no other threads. One of those may
 * have held the lock. */
static void reset_closing_in_child(void)
{
	close_kept(); /* closes notify_fd, too */
	pthread_mutex_init(&closing_lock, NULL);
	backends = NULL;
	waiting_threads = NULL;
	notify_fd = -1;
	notified_threads = 0;
}

static int fork_error;

static void watch_closing_forks(void)
{
	fork_error = -pthread_atfork(NULL, NULL, reset_closing_in_child);
}

/* Call this before the lock is taken, or a descriptor is added, for the first
 * time. Returns 0 or a negative errno. */
static int watch_forks_once(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, watch_closing_forks);
	return fork_error;
}

int sn_close_on_fork_add(int fd)
{
	int err = watch_forks_once();

	if (err)
		return err;
	while (!replace(0, (uint32_t)fd + 1))
		if (!add_page())
			return -ENOMEM;
	return 0;
}

void sn_close_on_fork_forget(int fd)
{
	(void)replace((uint32_t)fd + 1, 0);
}

void sn_close_on_fork_close(int fd)
{
	if (fd < 0)
		return;
	sn_close_on_fork_forget(fd);
	if (sn_close_on_fork_is_kept(fd))
		close(fd);
}

/* --- unbound threads ---------------------------------------------------- */

static void open_notify_fd(void)
{
	int fd = sn_own_fd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));

	if (fd >= 0 && sn_close_on_fork_add(fd))
		close(fd);
	else
		notify_fd = fd;
}

static bool is_on(const struct io_thread_wait *t, int fd)
{
	for (size_t i = 0; i < t->count; i++)
		if (t->fds[i].fd == fd)
			return true;
	return false;
}

static void notify_threads(int fd)
{
	const uint64_t one = 1;

	for (struct io_thread_wait *t = waiting_threads; t; t = t->next) {
		if (t->notified || !is_on(t, fd))
			continue;
		t->notified = true;
		if (!notified_threads++ && notify_fd >= 0)
			(void)!write(notify_fd, &one, sizeof(one));
	}
}

int sn_io_closing_begin_thread(struct io_thread_wait *t,
			       const struct pollfd *fds, size_t count,
			       uint64_t begun)
{
	int fd, err;

	t->fds = fds;
	t->count = count;
	t->notified = false;
	t->begun = begun;
	err = watch_forks_once();
	pthread_mutex_lock(&closing_lock);
	if (notify_fd < 0 && !err)
		open_notify_fd();
	fd = notify_fd;
	SN_LIST_PUSH(&waiting_threads, t);
	pthread_mutex_unlock(&closing_lock);
	return fd;
}

int sn_io_closing_end_thread(struct io_thread_wait *t)
{
	uint64_t count;
	int      end;

	pthread_mutex_lock(&closing_lock);
	SN_LIST_REMOVE(t);
	end = sn_io_closing_end_of_any(t->fds, t->count, t->begun);
	/* Other threads that poll it return early and wait again. */
	if (t->notified && !--notified_threads && notify_fd >= 0)
		(void)!read(notify_fd, &count, sizeof(count));
	pthread_mutex_unlock(&closing_lock);
	return end;
}

/* --- closing ------------------------------------------------------------ */

int sn_io_closing_add(struct io_closing *c, sennit_poller *p)
{
	int err = watch_forks_once();

	if (err)
		return err;
	c->poller = p;
	pthread_mutex_lock(&closing_lock);
	SN_LIST_PUSH(&backends, c);
	pthread_mutex_unlock(&closing_lock);
	return 0;
}

void sn_io_closing_remove(struct io_closing *c)
{
	if (!c->poller) /* not added; pprev changes under the lock */
		return;
	pthread_mutex_lock(&closing_lock);
	SN_LIST_REMOVE(c);
	pthread_mutex_unlock(&closing_lock);
	free(c->closed);
}

static bool may_wait(const struct io_closing *c, int fd)
{
	return a_load_rlx(&c->waits[(uint32_t)fd % IO_CLOSING_COUNTS]);
}

static bool anyone_may_wait(int fd)
{
	for (struct io_closing *c = backends; c; c = c->next)
		if (may_wait(c, fd))
			return true;
	for (struct io_thread_wait *t = waiting_threads; t; t = t->next)
		if (is_on(t, fd))
			return true;
	return false;
}

/* If more descriptors than this were closed since a worker last checked, it
 * checks all of its waits once instead. */
#define MOST_LISTED 1024u

/* The worker must check its waits on fd. */
static void append_closed(struct io_closing *c, int fd)
{
	if (c->closed_count == c->closed_room) {
		uint32_t room = c->closed_room ? 2 * c->closed_room : 4;
		int     *more = NULL;

		if (room <= MOST_LISTED)
			more = realloc(c->closed, room * sizeof(*more));
		c->closed_more = c->closed_more || !more;
		if (!more)
			return;
		c->closed = more;
		c->closed_room = room;
	}
	c->closed[c->closed_count++] = fd;
}

static void notify_backends(const struct io_closing *own, int fd)
{
	for (struct io_closing *c = backends; c; c = c->next) {
		if (c == own || !may_wait(c, fd))
			continue;
		append_closed(c, fd);
		a_store_rel(&c->pending, 1); /* -> closing.pending: the list of
					      * closed descriptors */
		c->poller->ops->wake(c->poller);
	}
	notify_threads(fd);
}

/* Remove fd from the epoll descriptors. Its open file may live on, in a child
 * or under another number, and would then wake workers forever. A wait that
 * begins at this moment is missed. */
static void remove_from_epoll(int fd)
{
	const uint32_t at = (uint32_t)fd / 32, bit = 1u << (uint32_t)fd % 32;

	for (struct io_closing *c = backends; c; c = c->next) {
		if (!c->registered)
			continue;
		if (at < IO_CLOSING_REGISTERED &&
		    !(a_load_rlx(&c->registered[at]) & bit))
			continue;
		(void)epoll_ctl(c->epoll, EPOLL_CTL_DEL, fd, NULL);
		if (at < IO_CLOSING_REGISTERED)
			a_and_rlx(&c->registered[at], ~bit);
	}
}

/* fd is about to be closed. Calls that began before must end once the number
 * can be reused, so record the closing first. Returns the number of the
 * closing. */
static uint64_t record_closing(int fd)
{
	struct closed *page;
	uint64_t       before;

	pthread_mutex_lock(&closing_lock);
	page = make_page_of(fd);
	before = a_load_rlx(&sn_io_closings) + 1; /* relaxed: written under the
						   * lock */
	if (page)
		a_store_rlx(&page[(uint32_t)fd % PAGE_FDS].before, before);
	a_add_acqrel(&sn_io_closings, 1); /* -> closing.count: before */
	remove_from_epoll(fd);
	pthread_mutex_unlock(&closing_lock);
	return before;
}

int sn_io_closing_close(struct io_closing *own, int fd)
{
	uint64_t before;
	int      err;

	if (fd < 0)
		return -EBADF;
	(void)watch_forks_once(); /* else a child may find it held */
	before = record_closing(fd);
	err = close(fd) ? -errno : 0;
	if (err == -EBADF)
		return err;
	a_fence(); /* <-> closing.look: closed, before reading the wait
		    * counts */
	pthread_mutex_lock(&closing_lock);
	if (page_of(fd) || anyone_may_wait(fd)) {
		record_closed_fd(fd, before);
		a_fence(); /* <-> closing.look: recorded, before notifying */
		notify_backends(own, fd);
	}
	pthread_mutex_unlock(&closing_lock);
	return err;
}

void sn_io_closing_reused(int fd)
{
	(void)watch_forks_once(); /* as above */
	pthread_mutex_lock(&closing_lock);
	if (anyone_may_wait(fd)) {
		record_closed_fd(fd, a_load_rlx(&sn_io_closings) + 1);
		a_fence(); /* <-> closing.look: recorded, before notifying */
		notify_backends(NULL, fd);
	}
	pthread_mutex_unlock(&closing_lock);
}

/* --- several -------------------------------------------------------------- */

void sn_io_several_begin(struct io_backend *b, struct io_several *s)
{
	s->set = -1;
	s->begun = sn_io_closing_now();
	for (size_t i = 0; i < s->count; i++) {
		s->members[i].of = s;
		sn_by_fds_add(&b->members, &s->members[i].by, s->fds[i].fd);
		sn_io_closing_begin(&b->closing, s->fds[i].fd);
	}
}

int sn_io_several_end(struct io_backend *b, struct io_several *s)
{
	for (size_t i = 0; i < s->count; i++) {
		sn_by_fds_remove(&b->members, &s->members[i].by);
		sn_io_closing_end(&b->closing, s->fds[i].fd);
	}
	return sn_io_closing_end_of_any(s->fds, s->count, s->begun);
}

static struct io_several *several_of(const struct by_fd *n)
{
	return ((const struct io_member *)n)->of;
}

void sn_io_several_forget(struct io_backend *b, int fd)
{
	const struct by_fd *n;

	for (n = *sn_by_fds_on(&b->members, fd); n; n = n->next)
		if (fd >= 0 && n->fd == fd)
			b->ops->forget(b, several_of(n)->set);
}

static void end_several_if_closed(struct io_backend *b, struct by_fd *n)
{
	const struct io_several *s = several_of(n);

	if (sn_io_closing_end_of(n->fd, s->begun))
		b->ops->forget(b, s->set);
}

/* --- descriptors that others closed ------------------------------------- */

static void check_waits_in_list(struct io_backend *b, struct by_fd *n,
				sn_io_closing_look *look)
{
	struct by_fd *next;

	for (; n; n = next) {
		next = n->next;
		look(b, n);
	}
}

static void check_all_waits(struct io_backend *b, const struct by_fds *waits,
			    sn_io_closing_look *look)
{
	for (uint32_t i = 0; i <= waits->mask; i++)
		check_waits_in_list(b, waits->lists[i], look);
}

void sn_io_closing_take_pending(struct io_backend *b, struct by_fds *waits,
				sn_io_closing_look *look)
{
	struct io_closing *c = &b->closing;
	int               *closed;
	uint32_t           count;
	bool               more;

	pthread_mutex_lock(&closing_lock);
	(void)a_swap_acq(&c->pending, 0); /* <- closing.pending */
	closed = c->closed;
	count = c->closed_count;
	more = c->closed_more;
	c->closed = NULL;
	c->closed_count = c->closed_room = 0;
	c->closed_more = false;
	pthread_mutex_unlock(&closing_lock);
	for (uint32_t i = 0; i < count; i++) {
		check_waits_in_list(b, *sn_by_fds_on(waits, closed[i]), look);
		check_waits_in_list(b, *sn_by_fds_on(&b->members, closed[i]),
				    end_several_if_closed);
	}
	free(closed);
	if (!more)
		return;
	check_all_waits(b, waits, look);
	check_all_waits(b, &b->members, end_several_if_closed);
}

/* --- refusal -------------------------------------------------------------- */

/* A lack of memory, or a full completion queue, is over sooner than this. The
 * process may have been stopped meanwhile: so both must be exceeded. */
#define FAILING_TIME  (2 * SENNIT_SECOND)
#define FAILING_CALLS 1000u

static _Noreturn void abort_after_failures(int err, const char *of)
{
	fprintf(stderr,
		"sennit: %s fails (%s) but worked before. Operations that wait "
		"for it cannot continue. Was a seccomp filter installed too "
		"late?%s\n",
		of, strerror(-err),
		strcmp(of, "io_uring") != 0
			? ""
			: " (SENNIT_IO=epoll does not use io_uring)");
	abort();
}

void sn_io_refusal_note(struct refusal *r, int err, const char *of)
{
	const sennit_time now = sennit_now();

	switch (err) {
	case -EINTR: /* the call works */
	case -ETIME:
		r->since = 0;
		return;
	case -EPERM: /* denied by a filter */
	case -ENOSYS:
	case -EACCES:
		abort_after_failures(err, of);
	default:
		break;
	}
	if (!r->since) {
		r->since = now;
		r->count = 0;
	}
	if (++r->count > FAILING_CALLS && now - r->since > FAILING_TIME)
		abort_after_failures(err, of);
}

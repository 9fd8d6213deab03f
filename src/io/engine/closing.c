/* SPDX-License-Identifier: Apache-2.0 */
#include "io/engine/closing.h"

#include "base/atomic.h"
#include "base/list.h"
#include "io/engine/request.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

a_u64 sn_io_closings; /* under the lock written */

static pthread_mutex_t    lock = PTHREAD_MUTEX_INITIALIZER;
static struct io_closing *backends; /* under the lock */

/* --- which descriptors were closed -------------------------------------- */

/* Pages of descriptors, made when one of them is closed, and never freed. Those
 * beyond them, and those without memory, share notes, which are made only while
 * somebody waits: a wait on another descriptor may then end, too. */
#define PAGE_FDS 512u
#define PAGES    2048u

struct closed {
	a_u64 before; /* under the lock written: calls that began earlier are
		       * over */
	a_u64 until;  /* ...: waits that began earlier try again */
};

static a_ptr         pages[PAGES]; /* under the lock written */
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

/* Stale answers do no harm: the worker is told to look again. */
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

static void note(int fd, uint64_t before)
{
	struct closed *page = make_page_of(fd);
	struct closed *c = &(page ? page : beyond)[(uint32_t)fd % PAGE_FDS];

	if (a_load_rlx(&c->before) < before)
		a_store_rlx(&c->before, before);
	/* -> closing.count: until is stored by who adds */
	a_store_rlx(&c->until, a_add_acqrel(&sn_io_closings, 1) + 1);
}

/* --- close on fork -------------------------------------------------------- */

/* Pages are added and never freed: there are as many as the most descriptors
 * that there were at once. */
#define KEPT_FDS 62

struct page {
	a_u32 fds[KEPT_FDS]; /* any: descriptor + 1; 0: free */
	a_ptr next;          /* any: set once */
};

static struct page first;

static bool replace(uint32_t from, uint32_t to)
{
	for (struct page *p = &first; p;
	     p = a_load_acq(&p->next)) /* <- close_on_fork.page */
		for (int i = 0; i < KEPT_FDS; i++) {
			uint32_t old = from;

			/* Others care for their own descriptors alone. */
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
	/* Alone: whoever added a page did so before the fork. */
	for (struct page *p = &first; p; p = a_load_rlx(&p->next))
		for (int i = 0; i < KEPT_FDS; i++) {
			uint32_t fd = a_load_rlx(&p->fds[i]);

			a_store_rlx(&p->fds[i], 0); /* the same */
			if (fd)
				close((int)fd - 1);
		}
}

/* --- fork --------------------------------------------------------------- */

static struct io_thread_wait *threads;      /* under the lock */
static int                    tell_fd = -1; /* under the lock: readable while
					     * one of them is told */
static unsigned               told;         /* under the lock */

/* The child of a fork has neither workers nor other threads, of which one may
 * have had the lock. */
static void in_child(void)
{
	close_kept(); /* tell_fd, too */
	pthread_mutex_init(&lock, NULL);
	backends = NULL;
	threads = NULL;
	tell_fd = -1;
	told = 0;
}

static int fork_error;

static void watch_forks(void)
{
	fork_error = -pthread_atfork(NULL, NULL, in_child);
}

/* Before the lock is taken, or a descriptor is kept, for the first time. 0 or a
 * negative errno. */
static int watch_forks_once(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, watch_forks);
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
	close(fd);
}

/* --- unbound threads ---------------------------------------------------- */

static void open_tell_fd(void)
{
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

	if (fd >= 0 && sn_close_on_fork_add(fd))
		close(fd);
	else
		tell_fd = fd;
}

static bool is_on(const struct io_thread_wait *t, int fd)
{
	for (size_t i = 0; i < t->count; i++)
		if (t->fds[i].fd == fd)
			return true;
	return false;
}

static void tell_threads(int fd)
{
	const uint64_t one = 1;

	for (struct io_thread_wait *t = threads; t; t = t->next) {
		if (t->told || !is_on(t, fd))
			continue;
		t->told = true;
		if (!told++ && tell_fd >= 0)
			(void)!write(tell_fd, &one, sizeof(one));
	}
}

int sn_io_closing_begin_thread(struct io_thread_wait *t,
			       const struct pollfd *fds, size_t count,
			       uint64_t begun)
{
	int tell, err;

	t->fds = fds;
	t->count = count;
	t->told = false;
	t->begun = begun;
	err = watch_forks_once();
	pthread_mutex_lock(&lock);
	if (tell_fd < 0 && !err)
		open_tell_fd();
	tell = tell_fd;
	SN_LIST_PUSH(&threads, t);
	pthread_mutex_unlock(&lock);
	return tell;
}

int sn_io_closing_end_thread(struct io_thread_wait *t)
{
	uint64_t count;
	int      end;

	pthread_mutex_lock(&lock);
	SN_LIST_REMOVE(t);
	end = sn_io_closing_end_of_any(t->fds, t->count, t->begun);
	/* Others who poll it meanwhile come again. */
	if (t->told && !--told && tell_fd >= 0)
		(void)!read(tell_fd, &count, sizeof(count));
	pthread_mutex_unlock(&lock);
	return end;
}

/* --- closing ------------------------------------------------------------ */

int sn_io_closing_add(struct io_closing *c, sennit_poller *p)
{
	int err = watch_forks_once();

	if (err)
		return err;
	c->poller = p;
	pthread_mutex_lock(&lock);
	SN_LIST_PUSH(&backends, c);
	pthread_mutex_unlock(&lock);
	return 0;
}

void sn_io_closing_remove(struct io_closing *c)
{
	if (!c->pprev)
		return;
	pthread_mutex_lock(&lock);
	SN_LIST_REMOVE(c);
	pthread_mutex_unlock(&lock);
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
	for (struct io_thread_wait *t = threads; t; t = t->next)
		if (is_on(t, fd))
			return true;
	return false;
}

static void tell(const struct io_closing *own, int fd)
{
	for (struct io_closing *c = backends; c; c = c->next) {
		if (c == own || !may_wait(c, fd))
			continue;
		a_store_rel(&c->pending, 1); /* -> closing.pending: what was
					      * closed */
		c->poller->ops->wake(c->poller);
	}
	tell_threads(fd);
}

/* fd is about to be closed: a call that began before is over as soon as the
 * number may mean something else, so it is noted before that. Returns the
 * closing's number. */
static uint64_t begin(int fd)
{
	struct closed *page;
	uint64_t       before;

	pthread_mutex_lock(&lock);
	page = make_page_of(fd);
	before = a_load_rlx(&sn_io_closings) + 1; /* changed under the lock */
	if (page)
		a_store_rlx(&page[(uint32_t)fd % PAGE_FDS].before, before);
	a_add_acqrel(&sn_io_closings, 1); /* -> closing.count: before */
	pthread_mutex_unlock(&lock);
	return before;
}

int sn_io_closing_close(struct io_closing *own, int fd)
{
	uint64_t before;
	int      err;

	if (fd < 0)
		return -EBADF;
	(void)watch_forks_once(); /* in vain: as with any mutex of libc's */
	before = begin(fd);
	err = close(fd) ? -errno : 0;
	if (err == -EBADF)
		return err;
	a_fence(); /* <-> closing.look: closed, before looking who waits */
	pthread_mutex_lock(&lock);
	if (page_of(fd) || anyone_may_wait(fd)) {
		note(fd, before);
		a_fence(); /* <-> closing.look: noted, before whom to tell */
		tell(own, fd);
	}
	pthread_mutex_unlock(&lock);
	return err;
}

void sn_io_closing_reused(int fd)
{
	(void)watch_forks_once(); /* as above */
	pthread_mutex_lock(&lock);
	if (anyone_may_wait(fd)) {
		note(fd, a_load_rlx(&sn_io_closings) + 1);
		a_fence(); /* <-> closing.look: noted, before whom to tell */
		tell(NULL, fd);
	}
	pthread_mutex_unlock(&lock);
}

/* --- several -------------------------------------------------------------- */

void sn_io_several_begin(struct io_backend *b, struct io_several *s)
{
	s->set = -1;
	s->begun = sn_io_closing_now();
	for (size_t i = 0; i < s->count; i++)
		sn_io_closing_begin(&b->closing, s->fds[i].fd);
	SN_LIST_PUSH(&b->several, s);
}

int sn_io_several_end(struct io_backend *b, struct io_several *s)
{
	SN_LIST_REMOVE(s);
	for (size_t i = 0; i < s->count; i++)
		sn_io_closing_end(&b->closing, s->fds[i].fd);
	return sn_io_closing_end_of_any(s->fds, s->count, s->begun);
}

static bool has(const struct io_several *s, int fd)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->fds[i].fd == fd)
			return true;
	return false;
}

void sn_io_several_forget(struct io_backend *b, int fd)
{
	for (struct io_several *s = b->several; fd >= 0 && s; s = s->next)
		if (has(s, fd))
			b->ops->forget(b, s->set);
}

void sn_io_several_end_closed(struct io_backend *b)
{
	for (struct io_several *s = b->several; s; s = s->next)
		if (sn_io_closing_end_of_any(s->fds, s->count, s->begun))
			b->ops->forget(b, s->set);
}

/* --- refusal -------------------------------------------------------------- */

/* A lack of memory, or completions that must be taken first, are over before
 * that. The process may have been stopped meanwhile: hence both. */
#define PATIENCE (2 * SENNIT_SECOND)
#define TRIES    1000u

static _Noreturn void give_up(int err, const char *of)
{
	fprintf(stderr,
		"sennit: %s was refused (%s) after it had worked, and what "
		"waits by it cannot go on: was a filter set too late?%s\n",
		of, strerror(-err),
		strcmp(of, "io_uring") != 0
			? ""
			: " (SENNIT_IO=epoll does without)");
	abort();
}

void sn_io_refusal_note(struct refusal *r, int err, const char *of)
{
	const sennit_time now = sennit_now();

	switch (err) {
	case -EINTR: /* it works */
	case -ETIME:
		r->since = 0;
		return;
	case -EPERM: /* of a filter */
	case -ENOSYS:
	case -EACCES:
		give_up(err, of);
	default:
		break;
	}
	if (!r->since) {
		r->since = now;
		r->count = 0;
	}
	if (++r->count > TRIES && now - r->since > PATIENCE)
		give_up(err, of);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "io/close_on_fork.h"

#include "base/atomic.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

/* Pages are added and never freed: there are as many as the most descriptors
 * that there were at once. */
#define PAGE_FDS 62

struct page {
	a_u32 fds[PAGE_FDS]; /* any: descriptor + 1; 0: free */
	a_ptr next;          /* any: set once */
};

static struct page first;

static bool replace(uint32_t from, uint32_t to)
{
	for (struct page *p = &first; p;
	     p = a_load_acq(&p->next)) /* <- close_on_fork.page */
		for (int i = 0; i < PAGE_FDS; i++) {
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

static void in_child(void)
{
	/* Alone: whoever added a page did so before the fork. */
	for (struct page *p = &first; p; p = a_load_rlx(&p->next))
		for (int i = 0; i < PAGE_FDS; i++) {
			uint32_t fd = a_load_rlx(&p->fds[i]);

			a_store_rlx(&p->fds[i], 0); /* the same */
			if (fd)
				close((int)fd - 1);
		}
}

static int fork_error;

static void watch_forks(void)
{
	fork_error = -pthread_atfork(NULL, NULL, in_child);
}

int sn_close_on_fork_add(int fd)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, watch_forks);
	if (fork_error)
		return fork_error;
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

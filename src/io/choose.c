/* SPDX-License-Identifier: Apache-2.0 */
#include "io/choose.h"

#include "base/compiler.h"
#include "io/epoll.h"
#include "io/simulated_poller.h"
#include "io/uring.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static bool wants_uring; /* fixed once chosen */

static void choose(void)
{
	const char *wanted = getenv("SENNIT_IO");

	wants_uring = (!wanted || strcmp(wanted, "epoll") != 0) &&
		      sn_io_uring_works();
}

/* Whether the poller is of this library. */
static bool is_ours(const sennit_poller *p)
{
	return p->ops->turn == sn_io_epoll_turn ||
	       p->ops->turn == sn_io_uring_turn ||
	       p->ops->turn == sn_simulated_turn;
}

static int make(struct io_backend **out, const sennit_allocator *memory)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	int                   err = -ENOSYS;

	if (IO_SIMULATED)
		return sn_simulated_poller_make(out, memory);
	pthread_once(&once, choose);
	if (wants_uring)
		err = sn_io_uring_make(out, memory);
	/* also where this worker alone gets no ring */
	return err ? sn_io_epoll_make(out, memory) : 0;
}

static COLD int attach(struct io_backend **out, const sennit_allocator *memory)
{
	struct io_backend *b;
	int                err = make(&b, memory);

	if (err)
		return err;
	b->at_once = IO_AT_ONCE;
	err = sn_io_closing_add(&b->closing, &b->p);
	if (!err)
		err = sennit_poller_attach(&b->p);
	if (err)
		b->p.ops->destroy(&b->p);
	else
		*out = b;
	return err;
}

struct io_backend *sn_io_backend_made(void)
{
	sennit_poller *p = sennit_poller_current();

	return p && is_ours(p) ? (struct io_backend *)p : NULL;
}

int sn_io_backend_here(struct io_backend **out)
{
	sennit_poller          *p = sennit_poller_current();
	const sennit_allocator *memory;

	if (likely(p)) {
		*out = (struct io_backend *)p;
		return likely(is_ours(p)) ? 0 : -EBUSY;
	}
	memory = sennit_poller_allocator();
	*out = NULL;
	return memory ? attach(out, memory) : 0;
}

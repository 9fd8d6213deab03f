/* SPDX-License-Identifier: Apache-2.0 */
/* poller.h - the seam between the scheduler and an I/O library: what a worker
 * polls between fibers, and where it sleeps when it has nothing to run.
 *
 * A poller belongs to one worker. Only that worker's thread submits operations
 * to it and takes completions from it, so it needs no lock. Programs that do
 * I/O use sennit/io.h and sennit/net.h. This header is for authors of another
 * such library.
 *
 *	fiber    begins an operation, calls sennit_poller_wait
 *	worker   runs other fibers; calls flush now and then, turn when nothing
 *	         is ready, peek while it searches; sleeps in `sleep`
 *	poller   has a completion: sennit_poller_complete, from one of these
 *	fiber    continues
 *
 * A worker has one poller at most. It calls the poller's functions on its own
 * thread, except `wake` and, for a worker whose thread has ended, `destroy`.
 *
 * Experimental: what this header declares may change in each minor version.
 */
#ifndef SENNIT_POLLER_H
#define SENNIT_POLLER_H

#include "sennit/base.h"

#include <stdbool.h>

SENNIT_BEGIN

/* Why a sleep in a poller ended. */
enum sennit_poller_end {
	SENNIT_POLLER_WOKEN = 0,  /* a wake, a signal, or no reason */
	SENNIT_POLLER_READY = 1,  /* there are completions to take */
	SENNIT_POLLER_TIMEOUT = 2 /* the deadline has passed */
};

typedef struct sennit_poller sennit_poller;

typedef struct sennit_poller_ops {
	size_t size; /* sizeof(sennit_poller_ops) */

	/* The worker has nothing to run: submit operations that may complete at
	 * once, and take completions. Must not wait. */
	void (*turn)(sennit_poller *p);

	/* The worker searches for tasks, and calls this every 100 ns or so: the
	 * same as turn, but a system call only now and then. The first call
	 * after a sleep takes what that sleep has found. */
	void (*peek)(sennit_poller *p);

	/* The worker is busy: submit all operations, and take completions.
	 * Called at least every 16 times that the worker starts a task or
	 * resumes a fiber, while fibers wait on the poller. */
	void (*flush)(sennit_poller *p);

	/* Sleep until `wake` is called, a completion is there, or the deadline
	 * passes. A wake that came after the poller's functions last returned
	 * ends this sleep at once. Must submit all operations before it sleeps.
	 * It may change only the poller: it must not complete operations, nor
	 * call any function of sennit except sennit_now. */
	enum sennit_poller_end (*sleep)(sennit_poller *p, sennit_time deadline);

	/* End the sleep. From any thread, several at once. */
	void (*wake)(sennit_poller *p);

	/* The worker is gone: free *p. No fiber waits, and wake is not called
	 * any more. Called on the worker's thread, or on another thread after
	 * that one has ended. */
	void (*destroy)(sennit_poller *p);
} sennit_poller_ops;

/* The first field of what the I/O library allocates for a worker. */
struct sennit_poller {
	const sennit_poller_ops *ops;
};

typedef struct sennit_selection sennit_selection;

/* An operation that a fiber waits for, in the fiber's own frame. Zeroed before
 * the operation begins. */
typedef struct sennit_poller_op {
	void             *waiter_;
	sennit_selection *selection; /* the first wait is that of a select, see
				      * below; NULL: of the operation alone */
	int32_t           result;    /* valid once done */
	bool              done;      /* sennit_poller_complete was called */
} sennit_poller_op;

/* Return the poller of the calling fiber's worker. NULL: it has none, or the
 * caller is an unbound thread.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API sennit_poller *sennit_poller_current(void);

/* Make *p the poller of the calling fiber's worker, until that is freed: then
 * destroy is called. Returns 0, -EPERM on an unbound thread, -EBUSY if the
 * worker has a poller, -EINVAL if the operations are not those of this
 * version.
 *
 * From: fiber.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_poller_attach(sennit_poller *p);

/* Return the allocator of the calling fiber's scheduler, valid until destroy
 * has returned. NULL on an unbound thread.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API const sennit_allocator *sennit_poller_allocator(void);

/* Wait until *op is complete, the deadline passes, or the group of the calling
 * task is cancelled. Reports show fd. Returns 0 when op->done is set, otherwise
 * -ETIMEDOUT or -ECANCELED: the operation may complete later, so the caller
 * must first take it back from the poller, or wait again with
 * SENNIT_UNCANCELLED. A deadline of 0 does not wait. The calling fiber's worker
 * must have a poller.
 *
 * From: fiber.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_poller_wait(sennit_poller_op *op, int fd,
						  sennit_time deadline);

/* Complete *op with this result. Its fiber runs again, and may free *op as
 * soon as the calling function of the poller has returned. Call this once for
 * each operation.
 *
 * From: turn, peek or flush of the poller of the worker on which op's fiber
 * waits, or a fiber of that worker.  Blocks: no.  */
SENNIT_API void sennit_poller_complete(sennit_poller_op *op, int32_t result);

/* --- cases of a select -------------------------------------------------- */

struct sennit_case;

/* A kind of case that a library adds to selects (select.h). Such a case has the
 * kind SENNIT_CASE_POLLED, and as object_ these operations; value_ and number_
 * are the library's. All kinds of a library share one sennit_case_ops, and a
 * select may have the cases of one library only.
 *
 *	select    calls look. If no case can be done, this library's and the
 *	          others, it calls wait
 *	library   begins an operation that completes when one of its cases may
 *	          be possible, and waits for it by sennit_poller_wait, which
 *	          waits for the other cases, too. Takes the operation back,
 *	          and returns
 *	select    returns if another case has happened; otherwise looks again
 *
 * So what the library has begun lies in the frame of wait, and is over before
 * the select returns, whichever case has happened. */
typedef struct sennit_case_ops {
	size_t size; /* sizeof(sennit_case_ops) */

	/* Set the result of each of the library's cases: what it is if the case
	 * can be done now, -EAGAIN if it cannot. Nothing may happen yet, as
	 * another case may be chosen. Must not wait. */
	void (*look)(sennit_selection *s, struct sennit_case *cases,
		     size_t count);

	/* Wait until one of the cases may be possible, or until the deadline:
	 * call once sennit_poller_wait with an operation whose `selection` is
	 * s, or on an unbound thread sennit_poller_sleep. Do not give way to
	 * other fibers between look and this. Returns 0 or what that call
	 * returned. With another error the first of the library's cases
	 * happens, and has that result. */
	int (*wait)(sennit_selection *s, struct sennit_case *cases,
		    size_t count, sennit_time deadline);

	/* The case is done: it has the result that look has set, and may get
	 * another one. May let other fibers run. */
	void (*done)(struct sennit_case *k);
} sennit_case_ops;

/* A select, during one call of which a library's operations are called. */
struct sennit_selection {
	uint64_t own; /* the library's; 0 at first */
	int (*wait_)(sennit_selection *s, sennit_poller_op *op,
		     sennit_poller *p, int fd, sennit_time deadline);
};

/* Wait until p->ops->sleep returns SENNIT_POLLER_READY, until another case of
 * the select is done, or the deadline. *p is a poller of this wait alone, whose
 * `sleep` and `wake` are called: sleep by this thread, wake by the thread that
 * ends the wait. A wake that came before the sleep must end it at once, and so
 * must each sleep after a wake. Both have ended when this returns. On a worker,
 * sennit_poller_wait does that.
 * Returns 0 if the library's cases should be looked at, -ETIMEDOUT, or
 * -ECANCELED.
 *
 * From: thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_poller_sleep(sennit_poller    *p,
						   sennit_selection *s,
						   sennit_time       deadline);

/* --- what has no descriptor --------------------------------------------- */

/* A hook: a function that a worker calls to ask a library for completions that
 * no descriptor announces: message passing, queues of devices. A worker has any
 * number of hooks, with or without a poller. All of *h but `ask` and `destroy`
 * is the library's.
 *
 *	fiber    submits something, calls sennit_poller_hook_ask, and waits by
 *	         any call: sennit_event_wait_until, sennit_future_wait_until
 *	worker   calls ask, which finds it complete and sets the event
 *
 * While a hook has something to wait for, its worker calls `ask`
 *   - when it has nothing to run, and while it searches every 100 ns or so;
 *   - at least every 16 times that it starts a task or resumes a fiber;
 *   - at the time that `ask` returned, if it sleeps until then. */
typedef struct sennit_poller_hook sennit_poller_hook;

struct sennit_poller_hook {
	/* Look for completions, and wake the fibers that wait for them, by any
	 * call that does not block. Returns the time at which it must be called
	 * again at the latest. A time in the past keeps the worker from
	 * sleeping; SENNIT_NEVER: there is nothing to wait for, until the next
	 * sennit_poller_hook_ask. On the worker's thread. Must not wait, nor
	 * call the functions of hooks. */
	sennit_time (*ask)(sennit_poller_hook *h);

	/* The worker is gone: *h may be freed. It was removed, and is not asked
	 * any more. As a poller's destroy; before that. NULL: nothing to do. */
	void (*destroy)(sennit_poller_hook *h);

	sennit_poller_hook *next_;
	sennit_time         again_;
	void               *worker_;
};

/* Make *h a hook of the calling fiber's worker, until it is removed or the
 * worker is freed. It has nothing to wait for yet. *h must exist until then.
 * Returns 0, -EPERM on an unbound thread, or -EINVAL if `ask` is NULL.
 *
 * From: fiber.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_poller_hook_add(sennit_poller_hook *h);

/* Return the hook of the calling fiber's worker that has this `ask`, the last
 * one added if it has several. A library uses it to find what it has attached
 * to a worker. A thread-local variable would not do: the thread of a worker may
 * end, and another take its place.
 * Returns NULL if there is none, or on an unbound thread.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API sennit_poller_hook *sennit_poller_hook_find(
	sennit_time (*ask)(sennit_poller_hook *h));

/* Tell the library that *h has something to wait for: its worker asks it from
 * now on. Call this after each submission. Its worker should have a fiber that
 * waits: a worker without one may retire, and a scheduler without one may end.
 *
 * From: fiber of the worker that h was added on.  Blocks: no.  */
SENNIT_API void sennit_poller_hook_ask(sennit_poller_hook *h);

/* Remove *h, which may then be freed. `destroy` is not called.
 *
 * From: fiber of the worker that h was added on.  Blocks: no.  */
SENNIT_API void sennit_poller_hook_remove(sennit_poller_hook *h);

SENNIT_END

#endif

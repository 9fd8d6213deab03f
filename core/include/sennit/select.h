/* SPDX-License-Identifier: Apache-2.0 */
/* select.h - wait for the first of several things: sends, receives, events,
 * futures, times. With libsennit-io also for descriptors (io.h) and for the end
 * of a process (process.h).
 *
 * A select does exactly one of its cases, or none. If several cases can be done
 * at once, the choice is random, so that none of them starves. If none can, the
 * caller waits in the queue of each case, as it would for that case alone, and
 * the first case that becomes possible ends the wait.
 *
 * Example:
 *	sennit_channel work = SENNIT_CHANNEL_INIT(sizeof(int));
 *	sennit_event   quit = SENNIT_EVENT_INIT(SENNIT_EVENT_MANUAL);
 *	int            job;
 *	sennit_case    cases[] = { sennit_case_receive(&work, &job),
 *				   sennit_case_event(&quit) };
 *	size_t         which;
 *
 *	while (!sennit_select(cases, 2, &which) && which == 0 &&
 *	       !cases[0].result)
 *		job++;
 *
 * Source: the algorithm is that of Go's runtime. It takes all locks in the
 * order of their addresses, looks at the cases once in a random order, and
 * otherwise enters every queue.
 */
#ifndef SENNIT_SELECT_H
#define SENNIT_SELECT_H

#include "sennit/channel.h"
#include "sennit/event.h"
#include "sennit/future.h"

SENNIT_BEGIN

/* The largest number of cases of one select. */
#define SENNIT_SELECT_MAX 64

enum sennit_case_kind {
	SENNIT_CASE_NONE = 0,
	SENNIT_CASE_SEND = 1,
	SENNIT_CASE_RECEIVE = 2,
	SENNIT_CASE_EVENT = 3,
	SENNIT_CASE_FUTURE = 4,
	SENNIT_CASE_DEADLINE = 5,
	SENNIT_CASE_POLLED = 6 /* of a library: sennit_case_ops in poller.h */
};

/* One case of a select. A case with all bytes zero never happens; it stands for
 * a case that is left out for now. Cases may be used again. The same object may
 * occur in several cases. Of equal cases (for example two receives from one
 * channel) the first is done if the select had to wait. */
typedef struct sennit_case {
	void    *object_;
	void    *value_;
	uint64_t number_; /* a time, or what a library needs */
	uint32_t kind_;   /* enum sennit_case_kind */
	int      result;  /* output, for the case that happened: what the call
			   * for it alone would have returned. Of the other
			   * cases it has no meaning */
} sennit_case;

/* Return a case that sends *value to *c. If c is NULL, the case never happens.
 * The value is read when the case happens. The result of the case is 0, -EPIPE
 * if *c is closed, or -ENOMEM.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API sennit_case sennit_case_send(sennit_channel *c, const void *value);

/* Return a case that receives from *c into *value. If c is NULL, the case never
 * happens. The result of the case is 0, or -EPIPE if *c is closed and empty.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API sennit_case sennit_case_receive(sennit_channel *c, void *value);

/* Return a case that waits until *e is set and clears it if it is an auto
 * event. If e is NULL, the case never happens. The result of the case is 0.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API sennit_case sennit_case_event(sennit_event *e);

/* Return a case that waits until *f is set, and stores its value in *value
 * unless value is NULL. If f is NULL, the case never happens. The result of the
 * case is 0, or the error that *f was set to, and then *value is unchanged.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API sennit_case sennit_case_future(sennit_future *f, void **value);

/* Return a case that happens at a time; at once if it has passed. With
 * SENNIT_NEVER the case never happens. For a case that happens every second,
 * begin with sennit_after(SENNIT_SECOND), and add SENNIT_SECOND whenever it has
 * happened. Unlike the deadline of the select, this is one of the cases: if
 * others can be done as well, the choice is random. The result of the case is
 * 0.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API sennit_case sennit_case_deadline(sennit_time time);

/* Do one of cases[0..count-1]. Wait until the deadline for a case that can be
 * done. With a deadline of 0 the call tries once. The call stores the index of
 * the case in *which, unless which is NULL, and sets its result. The other
 * cases have no effect. A case on a closed channel can be done: its result is
 * -EPIPE.
 *
 * The object of the case that happened may be freed at once. All other objects
 * must exist until the call has returned. With more than 8 cases the call needs
 * 8 KiB of stack. It is misuse to pass more than SENNIT_SELECT_MAX cases.
 * Returns 0, -ETIMEDOUT at the deadline, or -ECANCELED if the caller's group is
 * cancelled.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_select_until(sennit_case cases[],
						   size_t count, size_t *which,
						   sennit_time deadline);

/* Like sennit_select_until, with the deadline of the caller's group alone. It
 * is misuse if no case can ever happen.
 * Returns 0, -ECANCELED, or the group's -ETIMEDOUT.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_select(sennit_case cases[], size_t count,
					     size_t *which);

SENNIT_END

#endif

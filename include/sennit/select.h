/* SPDX-License-Identifier: Apache-2.0 */
/* select.h - the first of several things: a send, a receive, an event.
 *
 * A select does exactly one of its cases, or none. If several can be done at
 * once, chance decides, so that none of them is starved; otherwise the caller
 * waits in line for all of them, as for each alone, and the first one that
 * comes ends the wait.
 *
 * Example:
 *	sennit_channel work = SENNIT_CHANNEL_INIT(sizeof(int));
 *	sennit_event   quit = SENNIT_EVENT_INIT(SENNIT_EVENT_MANUAL);
 *	int            job;
 *	sennit_case    cases[] = { sennit_case_receive(&work, &job),
 *				   sennit_case_event(&quit) };
 *
 *	while (sennit_select(cases, 2) == 0 && !cases[0].result)
 *		job++;
 *
 * (The algorithm is that of Go's runtime: all locks in the order of their
 * addresses, one look in a random order, else a place in every queue.)
 */
#ifndef SENNIT_SELECT_H
#define SENNIT_SELECT_H

#include "sennit/channel.h"
#include "sennit/event.h"

SENNIT_BEGIN

/* The most cases of one select. */
#define SENNIT_SELECT_MAX 64

enum sennit_case_kind {
	SENNIT_CASE_NONE = 0,
	SENNIT_CASE_SEND = 1,
	SENNIT_CASE_RECEIVE = 2,
	SENNIT_CASE_EVENT = 3
};

/* All zero never happens: a case that is left out for now. Cases may be used
 * again; the same channel or event may stand in several. Of cases that are
 * alike (to receive from one channel, for example) the first is done when the
 * select had to wait. */
typedef struct sennit_case {
	void    *object_;
	void    *value_;
	uint32_t kind_;  /* enum sennit_case_kind */
	int      result; /* out, of the case that happened: what the call for it
			  * alone would have returned */
} sennit_case;

/* Send *value to *c; NULL for c: never. The value is read when the case
 * happens. Its result is 0, -EPIPE, or -ENOMEM.
 *
 * From: fiber, thread.  Blocks: no.  */
static inline sennit_case sennit_case_send(sennit_channel *c, const void *value)
{
	sennit_case k = { c, (void *)(uintptr_t)value, SENNIT_CASE_NONE, 0 };

	if (c)
		k.kind_ = SENNIT_CASE_SEND;
	return k;
}

/* Receive from *c into *value; NULL for c: never. Its result is 0 or -EPIPE.
 *
 * From: fiber, thread.  Blocks: no.  */
static inline sennit_case sennit_case_receive(sennit_channel *c, void *value)
{
	sennit_case k = { c, value, SENNIT_CASE_NONE, 0 };

	if (c)
		k.kind_ = SENNIT_CASE_RECEIVE;
	return k;
}

/* Wait until *e is set, and consume it if it is an auto event; NULL: never. Its
 * result is 0.
 *
 * From: fiber, thread.  Blocks: no.  */
static inline sennit_case sennit_case_event(sennit_event *e)
{
	sennit_case k = { e, NULL, SENNIT_CASE_NONE, 0 };

	if (e)
		k.kind_ = SENNIT_CASE_EVENT;
	return k;
}

/* Do one of cases[0..count-1], waiting until the deadline for one that can be
 * done; a deadline of 0 tries. *which becomes its index and its result is set;
 * nothing of the others has happened. A case on a closed channel can be done:
 * it ends with -EPIPE. More than 8 cases need 8 KiB of stack. Misuse for more
 * than SENNIT_SELECT_MAX. What the case that happened names may be freed at
 * once; all else must stay until the call has returned.
 * Returns 0, -ETIMEDOUT, or -ECANCELED.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_select_until(sennit_case cases[],
						   size_t count, size_t *which,
						   sennit_time deadline);

/* The same without a deadline. Misuse when no case can ever happen.
 * Returns the index.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API size_t sennit_select(sennit_case cases[], size_t count);

SENNIT_END

#endif

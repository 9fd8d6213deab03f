/* SPDX-License-Identifier: Apache-2.0 */
/* recorder.h - a worker's part in a trace of events (worker/trace.h).
 *
 * The owner records into its ring while home.observed has OBSERVE_TRACE. Any
 * thread may tell the owner to look whether recording is on: it leaves a note
 * among the fibers in the worker's mailbox, which the owner looks into at every
 * dispatch.
 *
 *	other thread   on = 1; told = 1; if it was 0: put the note
 *	owner          takes the note; told = 0; looks at on
 *
 * While nothing is recorded, this costs nothing at a dispatch: the flags that
 * lead to the recording code are those that lead to other rare paths, too.
 */
#ifndef SN_RECORDER_H
#define SN_RECORDER_H

#include "core/trace_ring.h"
#include "fiber/fiber.h"
#include "worker/mailbox.h"
#include "worker/observe_state.h"

struct recorder {
	struct trace_ring *ring;  /* owner: NULL: none yet */
	a_ptr              given; /* under tracing.lock: its ring, NULL: none */
	a_u32              number; /* the number of that ring */
	a_u32              told;   /* any: 1: the note is in the mailbox, or
				    * about to be */
	struct node        note;   /* handed */
	const a_u32       *on;     /* fixed: the scheduler's: see trace.h */
	const struct home *home;   /* fixed */
};

static inline void sn_recorder_init(struct recorder *r, const a_u32 *on,
				    const struct home *home)
{
	r->on = on;
	r->home = home;
}

/* The worker looks at *on soon. Any thread; the worker must stay. */
void sn_recorder_tell(struct recorder *r, struct mailbox *mail);

/* Remove the note from the chain of fibers first..*last; afterwards the caller
 * looks. Returns the new first. NULL: none is left. Owner only. */
COLD struct node *sn_recorder_take_note(struct recorder *r, struct node *first,
					struct node **last);

/* Record the start or the stop if *on has changed. Returns whether the worker
 * records from now on. Owner only. See sn_worker_look. */
bool sn_recorder_look(struct recorder *r);

/* Whether a note may be in the chain. A stale value is harmless: the note of a
 * thread that has just said so is still to come. */
static inline bool sn_recorder_is_told(const struct recorder *r)
{
	return a_load_rlx(&r->told);
}

/* The note, which is no work: a worker that sleeps leaves it in its mailbox. */
static inline const struct node *sn_recorder_note(const struct recorder *r)
{
	return &r->note;
}

/* Record an event of the running fiber. home.observed must have OBSERVE_TRACE.
 * Owner only. */
COLD void sn_recorder_add(struct recorder *r, uint32_t kind, uint32_t detail,
			  uint64_t a, uint64_t b);

/* What events call f, a fiber of the worker: its ring and its number. */
static inline uint64_t sn_recorder_name(const struct recorder     *r,
					const struct sennit_fiber *f)
{
	return (uint64_t)a_load_rlx(&r->number) << 32 | f->id;
}

/* The flow of the wait that f, a fiber of the worker, is in: the ring's number
 * plus 1, then the low 24 bits of the worker's count of waits, which `doing`
 * has. Valid until the fiber can be resumed. */
static inline uint64_t sn_recorder_flow(const struct recorder     *r,
					const struct sennit_fiber *f)
{
	return ((uint64_t)a_load_rlx(&r->number) + 1) << 24 |
	       a_load_rlx(&f->state.doing) / FIBER_STATE_SERIAL;
}

#endif

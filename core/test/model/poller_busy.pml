/* SPDX-License-Identifier: Apache-2.0 */
/* poller_busy.pml - a worker that always has something to run: no operation is
 * forgotten.
 *
 * Stands for sched/loop.c, sn_poller_flush() of sched/poller.h and
 * sennit_poller_wait() of api/polling.c.  One worker, whose other fibers yield
 * for ever, so that it never looks for work and never sleeps; OPS fibers that
 * begin an operation again and again.  An operation is `asked` for until a
 * flush submits it; the kernel completes what is `submitted` when it likes; a
 * flush makes the fibers of what is `complete` ready.
 *
 * `due` counts the dispatches to the next upkeep: EVERY of them, but SOON while
 * fibers wait on the poller (POLLER_UPKEEP).  An old task's turn makes the next
 * upkeep due at once, which any dispatch may be.
 *
 * The first flush after a sleep need not enter the kernel, since the sleep has:
 * it does nothing here.
 *
 * Checked always: no operation is asked for, or complete, for more than
 * 2 * SOON + 2 dispatches.
 *
 * Mutants, each of which must fail:
 *   M_NOFLUSH   upkeep never flushes
 *   M_NOTAKE    a flush submits, and takes no completions
 *   M_NOSUBMIT  a flush takes completions, and submits nothing
 *   M_LATE      to ask for an operation does not bring the upkeep nearer
 *   M_ONCE      upkeep does not come soon again while fibers wait
 */
#ifndef OPS
#define OPS 2
#endif
#define EVERY 10
#define SOON  2

#define NONE      0
#define ASKED     1
#define SUBMITTED 2
#define COMPLETE  3
#define READY     4

byte state[OPS], age[OPS];
byte due = EVERY;
bool slept;
byte waiting;			/* until the fibers run again, as polled.waiting */

inline due_soon()
{
	if
	:: due > SOON -> due = SOON
	:: else
	fi
}

inline enter_kernel(i)
{
	i = 0;
	do
	:: i < OPS ->
		if
#ifndef M_NOSUBMIT
		:: state[i] == ASKED -> state[i] = SUBMITTED; age[i] = 0
#endif
#ifndef M_NOTAKE
		:: state[i] == COMPLETE -> state[i] = READY; age[i] = 0
#endif
		:: else
		fi;
		i++
	:: else -> break
	od
}

inline flush(i)
{
	if
	:: slept -> slept = 0
	:: else -> enter_kernel(i)
	fi;
	if
#ifndef M_ONCE
	:: waiting > 0 -> due_soon()
#endif
	:: else
	fi
}

inline upkeep(i)
{
	due = EVERY;
#ifndef M_NOFLUSH
	if
	:: waiting > 0 -> flush(i)
	:: else
	fi
#endif
}

inline grow_older(i)
{
	i = 0;
	do
	:: i < OPS ->
		if
		:: state[i] == ASKED || state[i] == COMPLETE ->
			age[i]++;
			assert(age[i] <= 2 * SOON + 2)
		:: else
		fi;
		i++
	:: else -> break
	od
}

/* The fiber runs: it goes on from the last operation, and asks for the next. */
inline resume(i)
{
	if
	:: state[i] == READY -> waiting--
	:: else
	fi;
	state[i] = ASKED;
	age[i] = 0;
	waiting++;
#ifndef M_LATE
	due_soon()
#endif
}

active proctype worker()
{
	byte i;

	if
	:: slept = 1
	:: slept = 0
	fi;
	do
	:: atomic {
		/* a dispatch: a fiber that yields, or one of these */
		if
		:: skip
		:: due = 1		/* an old task's */
		:: state[0] == NONE || state[0] == READY -> resume(0)
		:: state[OPS - 1] == NONE || state[OPS - 1] == READY ->
			resume(OPS - 1)
		fi;
		grow_older(i);
		due--;
		if
		:: due > 0
		:: due == 0 -> upkeep(i)
		fi;
		i = 0
	}
	od
}

active proctype kernel()
{
	do
	:: atomic { state[0] == SUBMITTED -> state[0] = COMPLETE; age[0] = 0 }
	:: atomic { state[OPS - 1] == SUBMITTED ->
		state[OPS - 1] = COMPLETE;
		age[OPS - 1] = 0
	}
	od
}

/* SPDX-License-Identifier: Apache-2.0 */
/* solo.pml - a worker that waits for its own fibers alone: no wake is lost.
 *
 * Stands for sn_idle_for_fiber in src/worker/idle.c, sn_worker_wake in worker.c
 * and the parking `alone` of one, core/parking.c.  A worker (a bound thread, or
 * one that gets no stack) waits until its inbox has a fiber, and again, until
 * WAKERS other threads have each put one in and woken it.  A threaded worker
 * (THREADED) is looked for among the sleepers of its scheduler, where it never
 * is here, and in `alone` only if that counts it.
 *
 * A store that nothing drains yet lies in the thread's store buffer: that of
 * the worker's bit (M_NOWFENCE), of a waker's push (M_NOPFENCE).  All else is
 * an atomic read-modify-write, which drains.
 *
 * Checked: no end in which the worker sleeps and its inbox is full; the counts
 * are back to nothing; a token is set only by whoever took the bit, and is not
 * left over from the round before.
 *
 * Mutants, each of which must fail:
 *   M_NOPFENCE   a waker does not fence between its push and its look
 *   M_NOWFENCE   the worker does not fence between its bit and its look
 *   M_NOLOOK     it does not look again after it has announced
 *   M_CLEARLATE  it clears the token after it has set the bit
 *   M_NOAWAIT    its bit is taken, and it goes on without the token
 *   M_COUNTLATE  it counts itself after it has set the bit
 *   M_NOFOUND    it does not count itself out as a searcher
 */
#ifndef WAKERS
#define WAKERS 2
#endif

byte inbox;				/* fibers put in, not yet taken */
byte held_inbox;			/* the same, in store buffers */
bool flag, held_flag;
bool token;
byte sleepers, searchers;
byte ended;				/* processes */
byte gone;				/* fibers that went on */

active proctype memory()
{
end:	do
#ifdef M_NOPFENCE
	:: atomic { held_inbox > 0 -> held_inbox--; inbox++ }
#endif
#ifdef M_NOWFENCE
	:: atomic { held_flag -> held_flag = false; flag = true }
#endif
	:: false
	od
}

inline announce()
{
#ifndef M_CLEARLATE
	token = false;
#endif
#ifndef M_COUNTLATE
	sleepers++;
#endif
#ifdef M_NOWFENCE
	held_flag = true;
#else
	flag = true;
#endif
#ifdef M_COUNTLATE
	sleepers++;
#endif
#ifdef M_CLEARLATE
	token = false;
#endif
}

/* By token or, with TIMED, by a deadline, which may come at any time. */
inline sleep()
{
	if
	:: token
#ifdef TIMED
	:: true				/* the deadline, or that of a timer */
#endif
	fi
}

inline withdraw()
{
	atomic {
#ifdef M_NOWFENCE
		flag = flag || held_flag;
		held_flag = false;
#endif
		had = flag;
		flag = false
	};
	if
	:: had -> atomic { assert(sleepers > 0); sleepers--; searchers++ }
#ifdef M_NOAWAIT
	:: else
#else
	:: !had -> token		/* its taker's, who has counted us */
#endif
	fi;
	/* found */
#ifndef M_NOFOUND
	atomic { assert(searchers > 0); searchers-- }
#endif
}

active proctype worker()
{
	bool had;

	do
	:: atomic { inbox > 0 -> gone = gone + inbox; inbox = 0 }
	:: atomic { inbox == 0 && gone == WAKERS -> break }
	:: atomic { inbox == 0 && gone < WAKERS };
		announce();
		if
#ifndef M_NOLOOK
		:: inbox > 0
		:: inbox == 0 -> sleep()
#else
		:: sleep()
#endif
		fi;
		withdraw()
	od;
	assert(!flag);
	ended++
}

proctype waker()
{
	bool won;

#ifdef M_NOPFENCE
	held_inbox++;
#else
	inbox++;
#endif
	/* -- the fence: all pushes before it can be seen */
#ifdef THREADED
	if
	:: sleepers == 0 && searchers == 0 -> goto out
	:: else
	fi;
#endif
	if
	:: !flag -> goto out
	:: flag -> atomic { won = flag; flag = false }
	fi;
	if
	:: !won -> goto out
	:: won
	fi;
	atomic { assert(sleepers > 0); sleepers--; searchers++ };
	assert(!token);
	token = true;
out:	ended++
}

init
{
	byte i;

	atomic {
		for (i : 1 .. WAKERS) {
			run waker()
		}
	};
	ended == WAKERS + 1;
	assert(gone == WAKERS && inbox == 0 && sleepers == 0 &&
	       searchers == 0 && !flag)
}

/* SPDX-License-Identifier: Apache-2.0 */
/* solo.pml - a worker that waits only for its own fibers: no wake is lost.
 *
 * Models sn_idle_for_fiber in core/src/kernel/sched/idle.c, sn_worker_wake in worker.c and
 * the parking `alone` of one worker, park/parking.c. A worker (of a bound
 * thread, or one that gets no stack) waits until its inbox has a fiber,
 * repeatedly, until WAKERS other threads have each put one in and woken it.
 * Wakers look for a threaded worker (THREADED) among the sleepers of its
 * scheduler, where it never is here, and in `alone` only if that counts it.
 *
 * A store that has not been drained yet is in the thread's store buffer: that
 * of the worker's bit (M_NOWFENCE), of a waker's push (M_NOPFENCE). All other
 * accesses are atomic read-modify-writes, which drain.
 *
 * Checked: there is no end in which the worker sleeps and its inbox is full;
 * the counts return to zero; only the thread that took the bit sets a token,
 * and no token is left from the round before.
 *
 * Mutants, each of which must fail:
 *   M_NOPFENCE   a waker does not fence between its push and its look
 *   M_NOWFENCE   the worker does not fence between its bit and its look
 *   M_NOLOOK     it does not look again after it has announced
 *   M_CLEARLATE  it clears the token after it has set the bit
 *   M_NOAWAIT    its bit is taken, and it continues without the token
 *   M_COUNTLATE  it counts itself after it has set the bit
 *   M_NOFOUND    it does not uncount itself as a searcher
 */
#ifndef WAKERS
#define WAKERS 2
#endif

byte inbox;				/* fibers put in, not taken yet */
byte held_inbox;			/* the same, in store buffers */
bool flag, held_flag;
bool token;
byte sleepers, searchers;
byte ended;				/* processes */
byte gone;				/* fibers that continued */

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

/* Ends by the token or, with TIMED, by a deadline, which may come at any
 * time. */
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
	:: !had -> token		/* the claimer has counted us */
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
	/* the fence: all earlier pushes are visible */
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

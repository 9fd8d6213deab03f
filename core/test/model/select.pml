/* SPDX-License-Identifier: Apache-2.0 */
/* select.pml - selects against selects: one case each, nothing lost or doubled.
 *
 * Models core/src/library/flow/select.c and core/src/library/flow/channel.c on rendezvous channels. Fiber f
 * selects over two cases; each is a send or a receive on channel 0 or 1.
 *
 *	default  0: send 0, receive 1		1: receive 0, send 1
 *	CROSSED  the same, 1 names channel 1 first
 *	SAME     0 and 1: send 0, receive 0
 *	LONE     0: send 0			1: receive 0, then free channel 0
 *	BOTH     0: send 0, receive 0		1: as LONE
 *	TWICE    0: send 0, send 0		1: as LONE
 *	THIRD    one more fiber: receive 0, receive 1
 *	TIMED    fiber 0 has a deadline
 *	CLOSE    another thread closes channel 0, and it is not freed
 *
 * A select locks its channels in order, tries its cases in any order, and
 * claims the first partner that still waits. Without a partner it links a part
 * for each case and sleeps; of two equal cases only the first is linked. A part
 * of the partner on the channel's other side is unlinked under the same lock.
 * After the unlock the value is copied and the partner woken. A woken select
 * unlinks its parts from other channels, each under its channel's lock.
 *
 * Checked: a value is delivered exactly when its send reports success, once,
 * and to a receiver that reports success; no record is accessed after its frame
 * is gone, no channel after it is freed; at the end no fiber waits that could be
 * served, nor on a closed channel.
 *
 * Mutants, each of which must fail:
 *   M_NOCLAIM     a partner is claimed by a store
 *   M_ONEBYONE    the tries and the links are not under all locks at once
 *   M_ORDER       locks are taken in the order of the cases
 *   M_NOUNLINK    a woken select leaves its other parts linked
 *   M_NOLOCKRET   it checks without the lock whether they are linked
 *   M_COPYLATE    the value is copied after the partner was woken
 *   M_WAKEEARLY   the partner is woken before the locks are released
 *   M_CLOSEHALF   a close releases only the receivers
 *   M_BYINDEX     a woken select unlinks all parts except the signalled one
 *   M_TWIN        a signaller leaves the part on the other side linked
 *   M_EQUAL       both of two equal cases are linked
 */
#ifdef THIRD
#define FIBERS 3
#else
#define FIBERS 2
#endif
#define NONE 9

mtype = { IDLE, WAITING, LATE, FIRST, SECOND };	/* the signalled part */
mtype = { OPEN, DONE, PIPE, OVERDUE };		/* the result */

bool lock[2], closed[2];
chan senders0 = [4] of { byte, byte };
chan senders1 = [4] of { byte, byte };
chan receivers0 = [4] of { byte, byte };
chan receivers1 = [4] of { byte, byte };
mtype claim[FIBERS] = IDLE;
bool linked[6];			/* part k of fiber f: [2 * f + k] */
bool handed[FIBERS], queued[FIBERS];

bool live[FIBERS];		/* ghost: its frame exists */
bool freed;			/* ghost: channel 0 is gone */
mtype result[FIBERS] = OPEN;	/* ghost */
byte part[FIBERS] = NONE;	/* ghost: the case */
byte given[FIBERS], got[FIBERS]; /* ghosts: how often */

/* The channel of case k of fiber f, and whether it is a send. */
#if defined(LONE)
#define CASES(f) 1
#define CH(f, k) 0
#define SENDS(f, k) ((f) == 0)
#elif defined(BOTH)
#define CASES(f) (2 - (f))
#define CH(f, k) 0
#define SENDS(f, k) ((f) == 0 && (k) == 0)
#elif defined(TWICE)
#define CASES(f) (2 - (f))
#define CH(f, k) 0
#define SENDS(f, k) ((f) == 0)
#elif defined(SAME)
#define CASES(f) 2
#define CH(f, k) ((f) < 2 -> 0 : (k))
#define SENDS(f, k) ((f) < 2 && (k) == 0)
#elif defined(CROSSED)
#define CASES(f) 2
#define CH(f, k) ((f) == 1 -> 1 - (k) : (k))
#define SENDS(f, k) ((f) < 2 && (k) == 0)
#else
#define CASES(f) 2
#define CH(f, k) (k)
#define SENDS(f, k) ((f) < 2 && (f) == (k))
#endif

#define ON_ONE(f) (CASES(f) == 2 && CH(f, 0) == CH(f, 1))
#ifdef M_EQUAL
#define IS_EQUAL(f) 0
#else
#define IS_EQUAL(f) (ON_ONE(f) && SENDS(f, 0) == SENDS(f, 1))
#endif

#define USE(c) assert(!(freed && (c) == 0))
#define LOCK(c) atomic { !lock[c] -> USE(c); lock[c] = 1 }
#define UNLOCK(c) atomic { USE(c); lock[c] = 0 }

inline join(f, k)
{
	if
	:: SENDS(f, k) && CH(f, k) == 0 -> senders0!f, k
	:: SENDS(f, k) && CH(f, k) == 1 -> senders1!f, k
	:: !SENDS(f, k) && CH(f, k) == 0 -> receivers0!f, k
	:: !SENDS(f, k) && CH(f, k) == 1 -> receivers1!f, k
	fi;
	linked[2 * f + k] = 1
}

inline unlink(f, k)
{
	if
	:: SENDS(f, k) && CH(f, k) == 0 -> senders0??eval(f), eval(k)
	:: SENDS(f, k) && CH(f, k) == 1 -> senders1??eval(f), eval(k)
	:: !SENDS(f, k) && CH(f, k) == 0 -> receivers0??eval(f), eval(k)
	:: !SENDS(f, k) && CH(f, k) == 1 -> receivers1??eval(f), eval(k)
	fi;
	linked[2 * f + k] = 0
}

inline claim_part(f, k, won)
{
	assert(live[f]);
#ifdef M_NOCLAIM
	claim[f] = (k -> SECOND : FIRST);
	won = 1
#else
	atomic {
		won = (claim[f] == WAITING);
		if
		:: won -> claim[f] = (k -> SECOND : FIRST)
		:: else
		fi
	}
#endif
}

/* The first of a list that still waits; p is NONE if there is none. */
inline take(list, p, q, won)
{
	do
	:: atomic {
		nempty(list) -> list?p, q; assert(live[p]);
		linked[2 * p + q] = 0
	}
		claim_part(p, q, won);
		if
		:: won ->
			won = 0;
#ifndef M_TWIN
			if
			:: ON_ONE(p) && SENDS(p, 0) != SENDS(p, 1) &&
			   linked[2 * p + 1 - q] ->
				atomic { unlink(p, (1 - q)) }
			:: else
			fi;
#endif
			break
		:: else -> p = NONE; q = 0
		fi
	:: atomic { empty(list) -> p = NONE } break
	od
}

inline wake(p)
{
	atomic { assert(!queued[p] && live[p]); queued[p] = 1 }
}

/* Case k of me has partner p: copy from the sender to the receiver. */
inline copy(me, k, p)
{
	atomic {
		assert(live[p]);
		if
		:: SENDS(me, k) -> given[me]++; got[p]++
		:: else -> given[p]++; got[me]++
		fi
	}
}

/* Try case k of me, lock held. */
inline look(me, k, p, q, won)
{
	if
	:: SENDS(me, k) && closed[CH(me, k)] -> result[me] = PIPE
	:: else ->
		if
		:: SENDS(me, k) && CH(me, k) == 0 -> take(receivers0, p, q, won)
		:: SENDS(me, k) && CH(me, k) == 1 -> take(receivers1, p, q, won)
		:: !SENDS(me, k) && CH(me, k) == 0 -> take(senders0, p, q, won)
		:: !SENDS(me, k) && CH(me, k) == 1 -> take(senders1, p, q, won)
		fi;
		if
		:: p != NONE -> result[me] = DONE; part[me] = k
		:: p == NONE && closed[CH(me, k)] -> result[me] = PIPE
		:: else
		fi
	fi
}

#ifdef M_ORDER
#define FIRST_LOCK(f) CH(f, 0)
#else
#define FIRST_LOCK(f) (CASES(f) == 2 && CH(f, 1) < CH(f, 0) -> CH(f, 1) : CH(f, 0))
#endif
#define TWO_LOCKS(f) (CASES(f) == 2 && CH(f, 0) != CH(f, 1))
#define SECOND_LOCK(f) (1 - FIRST_LOCK(f))

inline lock_all(me)
{
	LOCK(FIRST_LOCK(me));
	if
	:: TWO_LOCKS(me) -> LOCK(SECOND_LOCK(me))
	:: else
	fi
}

inline unlock_all(me)
{
	UNLOCK(FIRST_LOCK(me));
	if
	:: TWO_LOCKS(me) -> UNLOCK(SECOND_LOCK(me))
	:: else
	fi
}

proctype fiber(byte me)
{
	byte p = NONE, q, k, n;
	bool won;

#ifndef M_ONEBYONE
	lock_all(me);
#endif
	if
	:: k = 0
	:: CASES(me) == 2 -> k = 1
	fi;
	do
	:: n < CASES(me) && result[me] == OPEN ->
#ifdef M_ONEBYONE
		LOCK(CH(me, k));
#endif
		look(me, k, p, q, won);
#ifdef M_ONEBYONE
		UNLOCK(CH(me, k));
#endif
		n++;
		if
		:: result[me] == OPEN -> k = 1 - k
		:: else
		fi
	:: else -> break
	od;
	n = 0;
	if
	:: result[me] != OPEN ->
#ifdef M_WAKEEARLY
		if
		:: p != NONE -> copy(me, k, p); handed[p] = 1; wake(p)
		:: else
		fi;
		unlock_all(me);
#else
#ifndef M_ONEBYONE
		unlock_all(me);
#endif
		if
		:: p != NONE ->
#ifdef M_COPYLATE
			handed[p] = 1;
			wake(p);
			copy(me, k, p)
#else
			copy(me, k, p);
			handed[p] = 1;
			wake(p)
#endif
		:: else
		fi;
#endif
		goto over
	:: else
	fi;
	atomic { live[me] = 1; claim[me] = WAITING; k = 0 };
#ifdef M_ONEBYONE
	do
	:: k < CASES(me) ->
		LOCK(CH(me, k));
		atomic { join(me, k) };
		UNLOCK(CH(me, k));
		k++
	:: else -> break
	od;
#else
	atomic {
		join(me, 0);
		if
		:: CASES(me) == 2 && !IS_EQUAL(me) -> join(me, 1)
		:: else
		fi
	};
	unlock_all(me);
#endif
end_waits:
	atomic { queued[me] -> queued[me] = 0; k = 0 };
	assert(claim[me] != WAITING);
	do
	:: k < CASES(me) ->
		if
		:: claim[me] == (k -> SECOND : FIRST)
#ifndef M_BYINDEX
		:: claim[me] == (k -> FIRST : SECOND) && ON_ONE(me)
		:: claim[me] == LATE || !ON_ONE(me) &&
		   claim[me] == (k -> FIRST : SECOND) ->
#else
		:: else ->
#endif
#ifdef M_NOUNLINK
			skip
#else
#ifdef M_NOLOCKRET
			if
			:: !linked[2 * me + k] -> goto left
			:: else
			fi;
#endif
			LOCK(CH(me, k));
			if
			:: linked[2 * me + k] -> atomic { unlink(me, k) }
			:: else
			fi;
			UNLOCK(CH(me, k))
#endif
		fi;
left:		k++
	:: else -> break
	od;
	atomic {
		if
		:: claim[me] == LATE -> result[me] = OVERDUE
		:: claim[me] != LATE && handed[me] ->
			result[me] = DONE;
			part[me] = (claim[me] == SECOND -> 1 : 0)
		:: else -> result[me] = PIPE
		fi;
#ifndef M_NOUNLINK
		assert(!linked[2 * me] && !linked[2 * me + 1]);
#endif
		live[me] = 0
	};
over:
	atomic {
		k = 0;
		n = 0;
		p = NONE;
		q = 0;
#if (defined(LONE) || defined(BOTH) || defined(TWICE)) && !defined(CLOSE)
		if
		:: me == 1 && result[me] == DONE -> freed = 1
		:: else
		fi
#endif
	}
}

#ifdef TIMED
proctype timer()
{
	if
	:: atomic { claim[0] == WAITING -> claim[0] = LATE } wake(0)
	:: atomic { result[0] != OPEN || (claim[0] != IDLE && claim[0] != WAITING) }
	fi
}
#endif

#ifdef CLOSE
chan mine = [6] of { byte };

proctype closer()
{
	byte p = NONE, q;
	bool won;

	LOCK(0);
	closed[0] = 1;
#ifndef M_CLOSEHALF
	do
	:: take(senders0, p, q, won);
		if
		:: p == NONE -> break
		:: else -> mine!p
		fi
	od;
#endif
	do
	:: take(receivers0, p, q, won);
		if
		:: p == NONE -> break
		:: else -> mine!p
		fi
	od;
	UNLOCK(0);
	do
	:: nempty(mine) -> mine?p; wake(p)
	:: empty(mine) -> p = NONE; break
	od
}
#endif

/* A fiber other than f waits to send to, or to receive from, channel c. */
#define LINKED(f, k, s, c) \
	(claim[f] == WAITING && linked[2 * (f) + (k)] && SENDS(f, k) == (s) && \
	 CH(f, k) == (c))
#define WAITS(f, s, c) (LINKED(f, 0, s, c) || LINKED(f, 1, s, c))

active proctype monitor()
{
	byte f, g, c;

end:	timeout ->
	assert(!lock[0] && !lock[1]);
	for (f : 0 .. FIBERS - 1) {
		assert(!queued[f]);
		assert(result[f] != OPEN || claim[f] == WAITING);
		assert(given[f] == (result[f] == DONE && SENDS(f, part[f])));
		assert(got[f] == (result[f] == DONE && !SENDS(f, part[f])));
		for (c : 0 .. 1) {
			assert(!(closed[c] && (WAITS(f, 0, c) || WAITS(f, 1, c))));
			for (g : 0 .. FIBERS - 1) {
				assert(f == g ||
				       !(WAITS(f, 1, c) && WAITS(g, 0, c)))
			}
		}
	}
}

init {
	byte i;

	atomic {
		for (i : 0 .. FIBERS - 1) {
			run fiber(i)
		}
		i = 0;
#ifdef TIMED
		run timer();
#endif
#ifdef CLOSE
		run closer();
#endif
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
/* wait.pml - suspend, signal, deadline: one wake per wait, none lost.
 *
 * Models core/src/kernel/wait/wait.c. FIBERS fibers, each pinned to a worker (fiber f to
 * worker f % WORKERS), wait ROUNDS times. The first wait is timed, later ones
 * as TIMED says. A wait is a node on the fiber's stack, linked in FIFO order
 * under the object's lock bit. SIGNALS foreign threads signal once; with RELAY
 * each fiber also signals once when its waits are over. The claim is
 *
 *      WAITING --signaller, under the lock, node unlinked--> SIGNALLED
 *         +------home worker's timer, without the lock-----> TIMEDOUT
 *
 * by CAS if the wait is timed, by a plain store if it is not. A fiber that
 * timed out takes the lock to unlink its node if it is still linked. A claimed fiber
 * may be queued before it has switched out: only its home worker resumes it.
 *
 * The object is by default a semaphore (a signal without a waiter leaves a
 * token). With EVENT it is a one-shot event: set detaches all waiters, claims
 * the timed ones under the lock, sets the state in the store that unlocks, then
 * wakes them. The event is freed as soon as no fiber is in a call to it and one
 * of them returned success, while the setter may still be on its way out.
 *
 * Checked: no fiber is queued twice or resumed before it left; no node is
 * accessed after its frame is gone; the event is not accessed after it is
 * freed; a wait without deadline never times out; at quiescence there is no
 * token beside a waiter, none is lost or invented, and every fiber has finished
 * or waits for a signal.
 *
 * Mutants, each of which must fail:
 *   M_NOCLAIM     a signaller stores instead of compare-and-swap
 *   M_EAT         a signal is spent on a waiter that has timed out
 *   M_TOUCH       the node is accessed after its fiber was queued
 *   M_NOLOCKRET   a timed-out fiber returns without the lock
 *   M_NOUNLINK    a timed-out fiber does not unlink its node
 *   M_SPLIT       check and link are not under one lock
 *   M_SETEARLY    EVENT: SET is visible before the lock is released
 *   M_WAKEEARLY   EVENT: fibers are woken before the lock is released
 *   M_KEEPLOSER   EVENT: an unclaimed node stays in the detached list
 *   M_UNPINNED    any worker resumes a queued fiber
 *   M_BYCLOCK     the clock decides the result, not the claim
 */
#ifndef FIBERS
#define FIBERS 2
#endif
#ifndef WORKERS
#define WORKERS 2
#endif
#ifndef SIGNALS
#define SIGNALS 2
#endif
#ifndef ROUNDS
#define ROUNDS 2
#endif
#ifndef TIMED
#define TIMED 0
#endif
#define NOBODY 9

mtype = { IDLE, WAITING, SIGNALLED, TIMEDOUT };

bool lock;
byte tokens;				/* EVENT: SET */
chan list = [FIBERS] of { byte };
mtype claim[FIBERS] = IDLE;
bool timed[FIBERS], linked[FIBERS];	/* the node */
bool armed[FIBERS];			/* in the home worker's wheel */
bool queued[FIBERS];			/* ready list or inbox */
byte current[WORKERS] = NOBODY;

bool live[FIBERS], left[FIBERS], over[FIBERS];	/* ghosts */
byte successes, given, inside = FIBERS;		/* ghosts */
bool freed;					/* ghost */

#define HOME(f) ((f) % WORKERS)
#define USE assert(!freed)
#define LOCK atomic { !lock -> USE; lock = 1 }
#define UNLOCK atomic { USE; lock = 0 }

inline enqueue(f)
{
	atomic {
		assert(!queued[f] && claim[f] != WAITING && live[f]);
		queued[f] = 1
	};
#ifdef M_TOUCH
	assert(live[f])
#else
	skip
#endif
}

/* Under the lock, f unlinked. */
inline claim_signalled(f, won)
{
	assert(live[f]);
#ifdef M_NOCLAIM
	claim[f] = SIGNALLED;
	won = 1
#else
	if
	:: !timed[f] -> assert(claim[f] == WAITING); claim[f] = SIGNALLED; won = 1
	:: else -> atomic {
		won = (claim[f] == WAITING);
		if
		:: won -> claim[f] = SIGNALLED
		:: else
		fi }
	fi
#endif
}

#ifdef EVENT
inline signal(f, won)
{
	LOCK;
	do
	:: atomic { nempty(list) -> list?f; assert(live[f]); linked[f] = 0 };
		claim_signalled(f, won);
#ifdef M_KEEPLOSER
		mine!f;
#else
		if
		:: won -> mine!f
		:: else
		fi;
#endif
#ifdef M_WAKEEARLY
		if
		:: won -> mine?f; enqueue(f)
		:: else
		fi;
#endif
		won = 0
	:: empty(list) -> break
	od;
#ifdef M_SETEARLY
	atomic { USE; tokens = 1; given++ };
	UNLOCK;
#else
	atomic { USE; tokens = 1; given++; lock = 0 };
#endif
	do
	:: nempty(mine) ->
		mine?f;
		assert(live[f]);		/* reads the next one in the
						 * list */
#ifdef M_KEEPLOSER
		if
		:: claim[f] == SIGNALLED -> enqueue(f)
		:: else
		fi
#else
		enqueue(f)
#endif
	:: empty(mine) -> f = 0; break
	od
}
#else
inline signal(f, won)
{
	LOCK;
	do
	:: atomic { nempty(list) -> list?f; assert(live[f]); linked[f] = 0 };
		claim_signalled(f, won);
#ifdef M_EAT
		if
		:: !won -> given++; UNLOCK; break
		:: else
		fi;
#endif
		if
		:: won ->
			won = 0;
			given++;
			UNLOCK;
			enqueue(f);
			break
		:: else
		fi
	:: atomic { empty(list) -> tokens++; given++ }
		UNLOCK;
		break
	od;
	f = 0
}
#endif

/* A wait has succeeded. */
inline success()
{
	atomic { successes++ }
}

/* A fiber has left its last call; its event may be freed. */
inline depart()
{
	atomic {
		inside--;
#ifdef EVENT
		if
		:: inside == 0 && successes > 0 -> freed = 1
		:: else
		fi
#endif
	}
}

proctype fiber(byte me)
{
	byte round, f;
	bool won;
	mtype verdict;
#ifdef EVENT
	chan mine = [FIBERS] of { byte };
#endif

	current[HOME(me)] == me;
	do
	:: round < ROUNDS ->
#ifdef EVENT
		if
		:: atomic { tokens -> USE; success() }; goto next
		:: else
		fi;
#endif
		LOCK;
		if
		:: tokens > 0 ->
#ifndef EVENT
			tokens--;
#endif
			success();
			UNLOCK;
			goto next
		:: else
		fi;
#ifdef M_SPLIT
		UNLOCK;
		LOCK;
#endif
		atomic {
			live[me] = 1;
			claim[me] = WAITING;
			timed[me] = (round == 0 || TIMED);
			linked[me] = 1;
			list!me
		};
		UNLOCK;
		armed[me] = timed[me];
		/* switch out; the claimer may have queued us already */
		atomic { left[me] = 1; current[HOME(me)] = NOBODY };
end_waits:	atomic { current[HOME(me)] == me -> assert(left[me]); left[me] = 0 };
		armed[me] = 0;
		assert(claim[me] == SIGNALLED || claim[me] == TIMEDOUT);
		verdict = claim[me];
#ifdef M_BYCLOCK
		if
		:: timed[me] -> verdict = TIMEDOUT
		:: true
		fi;
#endif
		if
		:: verdict == TIMEDOUT ->
			assert(timed[me]);
#ifndef M_NOLOCKRET
			LOCK;
#endif
			if
			:: linked[me] ->
#ifndef M_NOUNLINK
				atomic { list??eval(me); linked[me] = 0 }
#else
				skip
#endif
			:: else
			fi;
#ifndef M_NOLOCKRET
			UNLOCK;
#endif
			live[me] = 0
		:: else ->
			assert(!linked[me]);
			live[me] = 0;
			success()
		fi;
		atomic { claim[me] = IDLE; timed[me] = 0; verdict = IDLE };
next:
		round++
	:: else -> break
	od;
	depart();
#ifdef RELAY
	signal(f, won);
#endif
	atomic { over[me] = 1; current[HOME(me)] = NOBODY }
}

#ifdef M_UNPINNED
#define CAN(what, f) (current[w] == NOBODY && what[f])
#else
#define CAN(what, f) (current[w] == NOBODY && what[f] && HOME(f) == w)
#endif
#define RESUME(f) queued[f] = 0; assert(left[f]); current[HOME(f)] = f

proctype worker(byte w)
{
	byte f, started;

	/* Starts its fibers, resumes the queued ones, fires their timers. */
end:	do
	:: atomic {
		current[w] == NOBODY && started < FIBERS ->
		if
		:: HOME(started) == w -> current[w] = started
		:: else
		fi;
		started++
	}
	:: atomic { CAN(queued, 0) -> RESUME(0) }
	:: atomic { CAN(queued, 1) -> RESUME(1) }
#if FIBERS > 2
	:: atomic { CAN(queued, 2) -> RESUME(2) }
#endif
	:: atomic { CAN(armed, 0) && HOME(0) == w -> armed[0] = 0; f = 0 }; goto expire
	:: atomic { CAN(armed, 1) && HOME(1) == w -> armed[1] = 0; f = 1 }; goto expire
#if FIBERS > 2
	:: atomic { CAN(armed, 2) && HOME(2) == w -> armed[2] = 0; f = 2 }; goto expire
#endif
	od;
expire:
	assert(live[f]);
	if
	:: atomic { claim[f] == WAITING -> claim[f] = TIMEDOUT }
		enqueue(f)
	:: atomic { else }
	fi;
	f = 0;
	goto end
}

proctype signaller()
{
	byte f;
	bool won;
#ifdef EVENT
	chan mine = [FIBERS] of { byte };
#endif

	signal(f, won)
}

active proctype monitor()
{
	byte f;

end:	timeout ->
	assert(!lock);
#ifndef EVENT
	assert(given == successes + tokens);
#endif
	assert(tokens == 0 || empty(list));
	for (f : 0 .. FIBERS - 1) {
		assert(!queued[f]);
		assert(over[f] || linked[f])
	}
}

init {
	byte i;

	atomic {
		for (i : 0 .. WORKERS - 1) {
			run worker(i)
		}
		for (i : 0 .. FIBERS - 1) {
			run fiber(i)
		}
		for (i : 1 .. SIGNALS) {
			run signaller()
		}
		i = 0
	}
}

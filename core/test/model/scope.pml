/* SPDX-License-Identifier: Apache-2.0 */
/* scope.pml - a group: members wait, are signalled, timed out or cancelled; the
 * opener waits for their end and then frees the group.
 *
 * Models core/src/library/group/cancel.c, core/src/library/group/group.c and what
 * core/src/kernel/wait/wait.c does for waits in a scope. Fiber 0, on worker 0, has opened
 * the group and spawned its members: fiber 1, on worker 0; fiber 2, on worker
 * 1, with NEST inside an inner scope; and a canceller, on a thread of its own,
 * which cancels the group or, with INNER, the inner scope. Fibers 1 and 2 wait
 * once for a semaphore; those below TIMED + 1 have a deadline. SIGNALS threads
 * signal it once each. A wait enlists with its own scope; the inner scope is
 * linked to the outer one by its first wait, and ends when fiber 2 has ended.
 *
 *      WAITING --signaller, under the object's lock---> SIGNALLED
 *         +------home worker's timer------------------> TIMEDOUT
 *         +------canceller, or the waiter itself when
 *                it enlists, under the root's lock----> CANCELLED
 *
 * The count of members is `here`, plain, on worker 0, and `others`, atomic,
 * anywhere else. An opener that must sleep moves `here` to `others` and sets
 * WAITED in one step.
 *
 * With UNTIL the opener first waits until a deadline, and may give up: it takes
 * WAITED back. If no member is left by then, the last one is about to see that
 * it has lost the claim, and clears WAITED.
 *
 * With THREAD an unbound thread replaces fiber 2. It belongs to no scope, waits
 * ROUNDS times for the same semaphore, with a deadline that it claims itself,
 * and sleeps on a word of its own, which a wake sets.
 *
 * Checked: no fiber is queued twice or resumed before it left; no record is
 * accessed after its frame is gone, nor the group after the opener has freed
 * it; at quiescence no fiber waits in a cancelled scope or with a deadline that
 * could fire, no signal is lost or invented, and the opener has continued if
 * all members have ended.
 *
 * Mutants, each of which must fail:
 *   M_NOLOOK      enlisting does not check whether the scope is cancelled
 *   M_LOOKEARLY   it checks before it takes the lock
 *   M_OWNONLY     it checks its own scope, but not those around it
 *   M_SLEEP       a waiter that finds itself cancelled sleeps nevertheless
 *   M_STORE       the canceller stores instead of compare-and-swap
 *   M_WAKEALL     the canceller also wakes waiters it has not claimed
 *   M_STAY        a fiber returns without leaving the scope's list
 *   M_NOLINK      a wait that enlists does not link its scope
 *   M_DANGLE      the inner scope ends and stays linked
 *   M_UNLOCKED    it unlinks itself without the root's lock
 *   M_NOUNLINK    a cancelled fiber does not unlink its node from the object
 *   M_SPLIT       the opener checks the count, then sets WAITED
 *   M_PLAIN       a member on worker 0 counts in `here` while the opener sleeps
 *   M_TOUCH       a member accesses the group after it has counted itself out
 *   M_NOCLAIM     the last member wakes an opener that it has not claimed
 *   M_GIVEUP      an opener that gives up does not await the last member
 *   M_LATE        a thread whose deadline comes too late does not await its wake
 *   M_LEFT        a thread that timed out leaves its record linked
 */
#ifndef SIGNALS
#define SIGNALS 1
#endif
#ifndef TIMED
#define TIMED 1
#endif
#ifndef ROUNDS
#define ROUNDS 2
#endif
#define FIBERS 3
#define WORKERS 2
#define NOBODY 9

mtype = { IDLE, WAITING, SIGNALLED, TIMEDOUT, CANCELLED };

/* the object */
bool lock;
byte tokens;
chan list = [FIBERS] of { byte };

/* the group: its scope, 0, and the one inside, 1 */
bool slock;
bool cancelled[2];
chan waits[2] = [FIBERS] of { byte };
bool inside;			/* the inner scope is linked */
bool closed;			/* ghost: it has ended */
#ifdef THREAD
short here = 2, others;
#else
short here = 3, others;
#endif
bool waited, home = 1;
bool raced;			/* the opener's wait has a deadline */

/* records, workers */
mtype claim[FIBERS] = IDLE;
bool linked[FIBERS], enlisted[FIBERS], armed[FIBERS], queued[FIBERS];
byte current[WORKERS] = NOBODY;
bool word;			/* of the thread, which replaces fiber 2 */

bool live[FIBERS], left[FIBERS], over[FIBERS];	/* ghosts */
bool freed, canceller_over;			/* ghosts */
byte successes, given;				/* ghosts */

#define HOME(f) ((f) == 2)
#ifdef NEST
#define SCOPE(f) ((f) == 2)
#else
#define SCOPE(f) 0
#endif
#ifdef INNER
#define TARGET 1
#else
#define TARGET 0
#endif
#define IS_TIMED(f) ((f) <= TIMED)
#define IS_CANCELLED(f) (cancelled[SCOPE(f)] || cancelled[0])

#define LOCK atomic { !lock -> lock = 1 }
#define UNLOCK lock = 0
#define USE assert(!freed)
#define SLOCK atomic { !slock -> USE; slock = 1 }
#define SUNLOCK atomic { USE; slock = 0 }

inline enqueue(f)
{
	atomic {
		assert(!queued[f] && live[f] && claim[f] != WAITING);
		if
#ifdef THREAD
		:: f == 2 -> word = 1
#endif
		:: else -> queued[f] = 1
		fi
	}
}

inline try_claim(f, how, won)
{
	atomic {
		assert(live[f]);
		won = (claim[f] == WAITING);
		if
		:: won -> claim[f] = how
		:: else
		fi
	}
}

inline signal(f, won)
{
	LOCK;
	do
	:: atomic { nempty(list) -> list?f; assert(live[f]); linked[f] = 0 };
		try_claim(f, SIGNALLED, won);
		if
		:: won -> given++; UNLOCK; enqueue(f); break
		:: else
		fi
	:: atomic { empty(list) -> tokens++; given++ };
		UNLOCK;
		break
	od;
	f = 0;
	won = 0
}

/* Take the waits of scope s, and claim them. */
inline take(s, f, won)
{
	do
	:: atomic { nempty(waits[s]) ->
			assert(s == 0 || !closed);
			waits[s]?f;
			assert(live[f])
		};
		enlisted[f] = 0;
#ifdef M_STORE
		atomic { assert(live[f]); claim[f] = CANCELLED; won = 1 };
#else
		try_claim(f, CANCELLED, won);
#endif
#ifdef M_WAKEALL
		won = 1;
#endif
		if
		:: won -> mine!f
		:: else
		fi
	:: atomic { empty(waits[s]) -> assert(s == 0 || !closed) };
		break
	od
}

inline cancel(s, f, won)
{
	SLOCK;
	cancelled[s] = 1;
	take(s, f, won);
	if
	:: s == 0 && inside -> take(1, f, won)
	:: else
	fi;
	SUNLOCK;
	do
	:: nempty(mine) -> mine?f; enqueue(f)
	:: empty(mine) -> break
	od;
	f = 0;
	won = 0
}

/* The opener of the inner scope has waited for its member. A cancel of that
 * scope has ended. */
inline close_inner()
{
#ifdef INNER
	canceller_over;
#endif
#ifndef M_DANGLE
	if
	:: inside ->
#ifndef M_UNLOCKED
		SLOCK;
#endif
		inside = 0;
#ifndef M_UNLOCKED
		SUNLOCK
#endif
	:: else
	fi;
#endif
	closed = 1
}

/* A member has ended on a worker. */
inline end_member(at_home)
{
	if
#ifdef M_PLAIN
	:: at_home -> USE; here--
#else
	:: at_home && home -> USE; here--
#endif
	:: else ->
		atomic {
			USE;
			others--;
			last = (others == 0 && waited)
		};
#ifdef M_TOUCH
		USE;
#endif
		if
		:: last && !raced -> enqueue(0)
		:: last && raced ->
			try_claim(0, SIGNALLED, won);
#ifdef M_NOCLAIM
			won = 1;
#endif
			if
			:: won -> enqueue(0)
			:: else -> atomic { USE; waited = 0 }
			fi
		:: else
		fi
	fi
}

#define SWITCH_OUT(f) atomic { left[f] = 1; current[HOME(f)] = NOBODY }
#define SWITCH_IN(f) \
	atomic { current[HOME(f)] == f -> assert(left[f]); left[f] = 0 }

proctype member(byte me)
{
	bool early, sleeps, won, last;

	current[HOME(me)] == me;
	LOCK;
	if
	:: tokens > 0 ->
		atomic { tokens--; successes++ };
		UNLOCK;
		goto ended
	:: else
	fi;
	atomic {
		live[me] = 1;
		claim[me] = WAITING;
		linked[me] = 1;
		list!me
	};
	UNLOCK;
	/* enlist */
#ifdef M_LOOKEARLY
	early = IS_CANCELLED(me);
#endif
	SLOCK;
#ifdef M_NOLOOK
	sleeps = 1;
#else
#ifdef M_LOOKEARLY
	sleeps = !early;
#else
#ifdef M_OWNONLY
	sleeps = !cancelled[SCOPE(me)];
#else
	sleeps = !IS_CANCELLED(me);
#endif
#endif
#endif
	if
	:: !sleeps -> try_claim(me, CANCELLED, won); sleeps = !won
	:: else
	fi;
	if
	:: sleeps -> atomic {
			enlisted[me] = 1;
			waits[SCOPE(me)]!me;
#ifndef M_NOLINK
			inside = inside || SCOPE(me)
#endif
		}
	:: else
	fi;
	SUNLOCK;
#ifdef M_SLEEP
	sleeps = 1;
#endif
	if
	:: sleeps ->
		armed[me] = IS_TIMED(me);
		SWITCH_OUT(me);
end_waits:	SWITCH_IN(me);
		armed[me] = 0;
#ifndef M_STAY
		SLOCK;
		if
		:: enlisted[me] ->
			atomic {
				waits[SCOPE(me)]??eval(me);
				enlisted[me] = 0
			}
		:: else
		fi;
		SUNLOCK
#endif
	:: else
	fi;
	assert(claim[me] != WAITING && claim[me] != IDLE);
	if
	:: claim[me] == SIGNALLED -> assert(!linked[me]); successes++
	:: else ->
		assert(claim[me] == CANCELLED || IS_TIMED(me));
		assert(claim[me] == TIMEDOUT || IS_CANCELLED(me));
#ifndef M_NOUNLINK
		LOCK;
		if
		:: linked[me] -> atomic { list??eval(me); linked[me] = 0 }
		:: else
		fi;
		UNLOCK
#endif
	fi;
	live[me] = 0;
ended:
	if
	:: SCOPE(me) -> close_inner()
	:: else
	fi;
	end_member(me == 1);
	atomic { over[me] = 1; current[HOME(me)] = NOBODY }
}

proctype thread()
{
	byte round;
	bool won;

	for (round : 1 .. ROUNDS) {
		word = 0;
		LOCK;
		if
		:: tokens > 0 ->
			atomic { tokens--; successes++ };
			UNLOCK
		:: else ->
			atomic {
				live[2] = 1;
				claim[2] = WAITING;
				linked[2] = 1;
				list!2
			};
			UNLOCK;
			won = 0;
			if
			:: word
			:: try_claim(2, TIMEDOUT, won);
#ifndef M_LATE
				if
				:: won
				:: else -> word
				fi
#endif
			fi;
			won = (claim[2] == TIMEDOUT);
			assert(won || claim[2] == SIGNALLED);
			if
			:: !won -> assert(!linked[2]); successes++
			:: else ->
#ifndef M_LEFT
				LOCK;
				if
				:: linked[2] -> atomic { list??2; linked[2] = 0 }
				:: else
				fi;
				UNLOCK
#endif
			fi;
			live[2] = 0
		fi
	};
	atomic { over[2] = 1; round = 0; won = 0 }
}

/* Until a deadline. */
inline wait_until()
{
	atomic { live[0] = 1; claim[0] = WAITING; raced = 1; home = 0 };
	atomic {
		others = others + here;
		here = 0;
		waited = 1;
		sleeps = (others != 0)
	};
	if
	:: sleeps ->
		armed[0] = 1;
		SWITCH_OUT(0);
		SWITCH_IN(0);
		armed[0] = 0
	:: else
	fi;
	if
	:: !sleeps || claim[0] == SIGNALLED ->
		assert(others == 0);
		waited = 0
	:: else ->
#ifdef M_GIVEUP
		waited = 0
#else
		if
		:: atomic { others != 0 -> waited = 0 }
		:: others == 0 && !waited
		fi
#endif
	fi;
	atomic { live[0] = 0; raced = 0; claim[0] = IDLE }
}

proctype opener()
{
	bool sleeps;

	current[0] == 0;
#ifdef UNTIL
	wait_until();
#endif
	if
	:: here + others == 0 -> goto ended
	:: else
	fi;
	live[0] = 1;
	home = 0;
#ifdef M_SPLIT
	sleeps = (here + others != 0);
	atomic { others = others + here; here = 0; waited = 1 };
#else
	atomic {
		others = others + here;
		here = 0;
		waited = 1;
		sleeps = (others != 0)
	};
#endif
	if
	:: sleeps ->
		SWITCH_OUT(0);
end_waits:	SWITCH_IN(0)
	:: else
	fi;
	live[0] = 0;
ended:
	assert(here + others == 0);
	assert(!slock && empty(waits[0]) && empty(waits[1]) && !inside);
	freed = 1;
	atomic { over[0] = 1; current[0] = NOBODY }
}

proctype canceller()
{
	chan mine = [FIBERS] of { byte };
	byte f;
	bool won, last;

	cancel(TARGET, f, won);
	end_member(false);
	canceller_over = 1
}

proctype signaller()
{
	byte f;
	bool won;

	signal(f, won)
}

#define RESUME(f) queued[f] = 0; assert(left[f]); current[HOME(f)] = f
#define CAN(what, f) (current[w] == NOBODY && HOME(f) == w && what[f])

proctype worker(byte w)
{
	bool started[FIBERS];
	byte f;
	bool won;

end:	do
	:: atomic { current[w] == NOBODY && HOME(0) == w && !started[0] ->
		started[0] = 1; current[w] = 0 }
	:: atomic { current[w] == NOBODY && HOME(1) == w && !started[1] ->
		started[1] = 1; current[w] = 1 }
#ifndef THREAD
	:: atomic { current[w] == NOBODY && HOME(2) == w && !started[2] ->
		started[2] = 1; current[w] = 2 }
#endif
	:: atomic { CAN(queued, 0) -> RESUME(0) }
	:: atomic { CAN(queued, 1) -> RESUME(1) }
	:: atomic { CAN(queued, 2) -> RESUME(2) }
	:: atomic { CAN(armed, 0) -> armed[0] = 0; f = 0 }; goto expire
	:: atomic { CAN(armed, 1) -> armed[1] = 0; f = 1 }; goto expire
	:: atomic { CAN(armed, 2) -> armed[2] = 0; f = 2 }; goto expire
	od;
expire:
	try_claim(f, TIMEDOUT, won);
	if
	:: won -> enqueue(f)
	:: else
	fi;
	atomic { f = 0; won = 0 };
	goto end
}

active proctype monitor()
{
	byte f;

end:	timeout ->
	assert(!lock && !slock && canceller_over);
	assert(given == successes + tokens);
	for (f : 0 .. FIBERS - 1) {
		assert(!queued[f])
	};
	for (f : 1 .. FIBERS - 1) {
		assert(over[f] || (linked[f] && !IS_CANCELLED(f) && !IS_TIMED(f)));
		assert(over[f] || tokens == 0)
	};
	assert(over[0] || !over[1] || !over[2]);
#ifdef THREAD
	assert(over[2])
#endif
}

init {
	byte i;

	atomic {
		run opener();
		run member(1);
#ifdef THREAD
		run thread();
#else
		run member(2);
#endif
		run canceller();
		run worker(0);
		run worker(1);
		for (i : 1 .. SIGNALS) {
			run signaller()
		}
		i = 0
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
/* mutex.pml - src/api/mutex.c: barging, one awake, a guard, hand-overs.
 *
 * FIBERS fibers, pinned to WORKERS workers, lock and unlock ROUNDS times each.
 * With TIMED fiber 0 may give up a wait at any moment.  Time is left out: a
 * guard looks and gives up whenever it likes, one that is awake is overdue
 * whenever an unlock says so, and whether a worker is busy is anybody's guess.
 * The memory of the mutex goes as soon as the last lock has been given back and
 * whoever did that has returned, which may be while another is on its way out.
 *
 * Checked: one holder at a time; nobody takes a lock that is to be handed on; a
 * fiber is woken once, and only when it sleeps or is about to; nothing is
 * touched after it is freed; every fiber finishes, so no wake is lost; and at
 * the end the word is what it was at the beginning.
 *
 * Mutants, each of which must fail:
 *   M_STAYAWAKE   who was woken and queues up again leaves AWAKE set
 *   M_HIDE        a guard that has got the lock does not show who waits
 *   M_NOLOOK      a guard goes to sleep without a last look at the lock
 *   M_BEFORE      who has waited already queues up before a guard
 *   M_OPEN        an unlock frees the lock first and looks at the queue then
 *   M_NOBODY      AWAKE is set for a waiter that had given up
 */
#ifndef FIBERS
#define FIBERS 3
#endif
#ifndef WORKERS
#define WORKERS 3
#endif
#ifndef ROUNDS
#define ROUNDS 1
#endif
#define NOBODY 9

bool locked, held, waiters, handover, awake;	/* the word */
chan list = [FIBERS] of { byte };
bool linked[FIBERS], guards[FIBERS], called[FIBERS], handed[FIBERS];
bool timedout[FIBERS], claimed[FIBERS];
bool asleep[FIBERS], queued[FIBERS];
byte current[WORKERS] = NOBODY;

byte owner = NOBODY, last;			/* ghosts */
byte togo = FIBERS * ROUNDS;			/* ghost: turns to be had */
bool freed;					/* ghost */

#define HOME(f) ((f) % WORKERS)
#define USE assert(!freed)
#define LOCK atomic { !locked -> USE; locked = 1 }
#define OWN assert(owner == NOBODY && !handover); owner = me; last = me; togo--

/* Is there a guard at the front? */
inline look_at_first()
{
	if
	:: empty(list) -> guarded = 0
	:: nempty(list) -> list?<x>; guarded = guards[x]; x = 0
	fi
}

/* One store of the whole word; what it shows is what the list deserves. */
inline unlock_queue()
{
	atomic {
		USE;
		look_at_first();
		waiters = nempty(list) && !guarded;
		guarded = 0;
		locked = 0
	}
}

/* At the back, at the front, or behind a guard.  Lock held. */
inline join(front)
{
	atomic {
		linked[me] = 1;
		n = (front -> len(list) : 0);
		if
#ifndef M_BEFORE
		:: front && guarded -> list?x; list!x; n--
#endif
		:: else
		fi;
		list!me;
		do
		:: n > 0 -> list?x; list!x; n--
		:: else -> break
		od;
		x = 0
	}
}

/* Take somebody off the list who has not given up: the first if it is to be
 * handed the lock, else anybody.  Lock held. */
inline take()
{
	do
	:: empty(list) -> who = NOBODY; break
	:: nempty(list) ->
		atomic {
			if
			:: list?who
			:: !handover && list??[0] -> list??eval(0); who = 0
			:: !handover && list??[1] -> list??eval(1); who = 1
			:: !handover && list??[2] -> list??eval(2); who = 2
			fi;
			linked[who] = 0;
			if
			:: !timedout[who] -> claimed[who] = 1; break
			:: else
			fi
		}
	od
}

inline unlock()
{
	atomic { assert(owner == me); owner = NOBODY };
	if
	/* Nobody to wake; or somebody is awake, and not overdue. */
	:: atomic { !locked && !waiters -> USE; held = 0; handover = 0 }
	:: atomic { !locked && waiters && awake && !handover -> USE; held = 0 }
	:: atomic { !locked && waiters -> USE; locked = 1 };
#ifdef M_OPEN
		atomic { held = 0; locked = 0 };
		LOCK;
#endif
		take();
		if
		:: who != NOBODY && handover -> handed[who] = 1; owner = who
		:: else ->
			held = 0;
			if
			:: who != NOBODY ->
				called[who] = HOME(who) != HOME(me);
				awake = awake || called[who]
			:: else
#ifdef M_NOBODY
				-> awake = 1
#endif
			fi
		fi;
		handover = 0;
		unlock_queue();
		atomic {
			if
			:: who != NOBODY ->
				assert(claimed[who] && !queued[who]);
				assert(!linked[who] && !guards[who]);
				queued[who] = 1
			:: else
			fi;
			who = 0
		}
	fi
}

proctype fiber(byte me)
{
	byte round, who, x, n;
	bool guarded, lost, mine;

	current[HOME(me)] == me;
	do
	:: round < ROUNDS ->
		atomic { lost = 0; called[me] = 0 };
again:		if
		:: atomic { !held && !locked ->
			USE;
			OWN;
			held = 1;
			awake = awake && !lost
		   };
			goto inside
		:: true
		fi;
		LOCK;
#ifndef M_STAYAWAKE
		awake = awake && !lost;
#endif
		look_at_first();
		if
		:: called[me] && !handover && !guarded -> guards[me] = 1
		:: true
		fi;
		if
		:: !guards[me] && !held ->
			atomic { OWN; held = 1 };
			unlock_queue();
			goto inside
		:: else
		fi;
		atomic {
			called[me] = 0;
			handed[me] = 0;
			timedout[me] = 0;
			claimed[me] = 0
		};
		join(lost);
		if
		:: lost && !guards[me] && !guarded -> handover = 1
		:: true
		fi;
		unlock_queue();
		if
		:: !guards[me] -> goto rest
		:: else
		fi;
		/* The guard finds it free, or stops looking. */
		if
		:: atomic { !held && !locked -> USE; OWN; held = 1; mine = 1 }
		:: true
		fi;
		LOCK;
		guards[me] = 0;
		if
#ifndef M_NOLOOK
		:: !mine && !held -> atomic { OWN; held = 1; mine = 1 }
#endif
		:: else
		fi;
		if
		:: !mine -> handover = 1; unlock_queue()
		:: mine ->
			atomic { mine = 0; list??eval(me); linked[me] = 0 };
#ifdef M_HIDE
			atomic { USE; waiters = 0; locked = 0 };
#else
			unlock_queue();
#endif
			goto inside
		fi;
rest:		atomic { asleep[me] = 1; current[HOME(me)] = NOBODY };
		atomic { current[HOME(me)] == me -> asleep[me] = 0 };
		if
		:: timedout[me] ->
			LOCK;
			atomic {
				if
				:: linked[me] -> list??eval(me); linked[me] = 0
				:: else
				fi;
				USE;
				waiters = waiters && nempty(list);
				togo--;
				locked = 0
			};
			goto next
		:: !timedout[me] && handed[me] ->
			atomic {
				assert(owner == me && held);
				last = me;
				togo--
			};
			goto inside
		:: else ->
			assert(claimed[me]);
			lost = 1;
			goto again
		fi;
inside:		assert(owner == me && held);
		unlock();
		/* Who had the last turn frees the mutex. */
		atomic {
			if
			:: togo == 0 && last == me && !freed ->
				assert(!held && !locked && !waiters);
				assert(!awake && !handover);
				freed = 1
			:: else
			fi
		};
next:		round++
	:: else -> break
	od;
	current[HOME(me)] = NOBODY
}

#define CAN(f) (f < FIBERS && HOME(f) == w && asleep[f])
#define RESUME(f) queued[f] = 0; current[w] = f

proctype worker(byte w)
{
	byte started;

	/* Starts its fibers, resumes those queued, fires the timer of fiber 0. */
end:	do
	:: atomic {
		current[w] == NOBODY && started < FIBERS ->
		if
		:: HOME(started) == w -> current[w] = started
		:: else
		fi;
		started++
	}
	:: atomic { current[w] == NOBODY && CAN(0) && queued[0] -> RESUME(0) }
	:: atomic { current[w] == NOBODY && CAN(1) && queued[1] -> RESUME(1) }
	:: atomic { current[w] == NOBODY && CAN(2) && queued[2] -> RESUME(2) }
#ifdef TIMED
	:: atomic {
		current[w] == NOBODY && CAN(0) && !claimed[0] && !timedout[0] ->
		timedout[0] = 1;
		queued[0] = 1
	}
#endif
	od
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
		i = 0
	}
}

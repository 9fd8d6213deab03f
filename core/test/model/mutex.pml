/* SPDX-License-Identifier: Apache-2.0 */
/* mutex.pml - core/src/library/sync/mutex.c: barging, a queue that keeps its
 * order, a guard, hand-overs, waiters that poll while they sleep.
 *
 * FIBERS fibers, pinned to WORKERS workers, lock and unlock ROUNDS times each;
 * fiber 0 does so HOG times more. The last THREADS of them are threads: each
 * has a worker of its own, but all count as being of one home. With TIMED fiber
 * 0 may give up a wait at any moment when its worker is idle, with CANCEL also
 * at any other. With TRY fiber 1 never waits. With BUSY worker 0 resumes none
 * of its fibers from when the first of them sleeps until fiber 1 (fiber 3 of
 * four) has had the lock.
 *
 * The model has no time. A guard may look and give up at any time. An awake
 * waiter may count as overdue at any time, or as so late that the lock is taken
 * back. Alarms ring only when they matter, because a look at a held lock
 * changes nothing. But with STOPS a waiter that would sleep with an alarm may
 * have stopped polling, unless the lock is handed to another waiter or guarded.
 * Everything under the queue's lock is one step. The memory of the mutex is
 * freed as soon as the last lock has been released and that unlock has
 * returned, while another caller may still be on its way out.
 *
 * Checked: one holder at a time; no caller takes a lock that must be handed over;
 * a fiber is woken once, and only when it sleeps or is about to; nothing is
 * accessed after it is freed; every fiber finishes, so no wake is lost and no
 * lock is free while a fiber that could run waits for it; a hand-over skips
 * only waiters whose worker missed an earlier one; while there are waiters and
 * no guard, there are at most GRANTS grants without a hand-over; and at the end
 * the word is as at the beginning.
 *
 * Mutants, each of which must fail:
 *   M_FRONT       a waiter that was woken and lost goes to the front
 *   M_NOCOUNT     grants are not counted
 *   M_STAYAWAKE   a waiter that was woken and sleeps again leaves AWAKE set
 *   M_HIDE        a guard that has got the lock does not show the waiters
 *   M_NOLOOK      a guard goes to sleep without a last look at the lock
 *   M_OPEN        an unlock frees the lock before it looks at the queue
 *   M_NOPOLL      no waiter polls while asleep
 *   M_KEEP        a lock is never taken back from an heir that does not come
 *   M_NOCHAIN     a leaving waiter does not wake the one that relied on it
 *   M_NOBACK      a waiter that gives up does not wake the next
 *   M_NORESUME    an unlock does not wake those that have stopped polling
 */
#ifndef FIBERS
#define FIBERS 3
#endif
#ifndef WORKERS
#define WORKERS 2
#endif
#ifndef THREADS
#define THREADS 0
#endif
#ifndef ROUNDS
#define ROUNDS 1
#endif
#ifndef HOG
#define HOG 0
#endif
#define GRANTS 2
#define NOBODY 9

#define PLACE(f) ((f) == 3 -> 1 % WORKERS : (f) % WORKERS)
#define IS_THREAD(f) ((f) >= FIBERS - THREADS)
#define WORKER(f) (IS_THREAD(f) -> WORKERS + (f) : PLACE(f))
#define HOME(f) (IS_THREAD(f) -> 8 : PLACE(f))
#define ALL (WORKERS + FIBERS)

bool held, waiters, handover, awake, handed, stopped;	/* the word */
byte grants;
chan list = [FIBERS] of { byte };
bool linked[FIBERS], up[FIBERS], called[FIBERS], heir[FIBERS], late[FIBERS];
bool polls[FIBERS], stops[FIBERS], rang[FIBERS], ended[FIBERS], claimed[FIBERS];
bool asleep[FIBERS], queued[FIBERS];
byte current[ALL] = NOBODY;
bool served, stuck;				/* for BUSY */

byte owner = NOBODY, last;			/* ghosts */
byte togo = FIBERS * ROUNDS + HOG;		/* ghost: turns left */
chan order = [FIBERS] of { byte };		/* ghost: the order of
						 * arrival */
byte unserved;					/* ghost: grants, unguarded */
bool freed;					/* ghost */

#define GUARDED (len(list) > 0 && !waiters)
#define ELSEWHERE(f) (IS_THREAD(f) || HOME(f) != HOME(me))
#ifdef BUSY
#define SERVED served = served || me == (FIBERS > 3 -> 3 : 1)
#define STUCK stuck = stuck || WORKER(me) == 0
#else
#define SERVED skip
#define STUCK skip
#endif
#define OWN assert(owner == NOBODY && !handover); owner = me; togo--; \
	last = (togo -> 0 : me); SERVED

/* Store the word. */
inline leave_word(guarded)
{
	waiters = len(list) > 0 && !(guarded);
	if
	:: !waiters ->
		assert(!handed);
		handover = 0; awake = 0; grants = 0; unserved = 0; stopped = 0
	:: else
	fi
}

/* Wake f, unless it has been woken otherwise. */
inline wake(f)
{
	up[f] = 1;
	if
	:: !rang[f] && !ended[f] -> claimed[f] = 1; woken = woken | (1 << f)
	:: else
	fi
}

/* Go through the list: find the fibers before me, after me, and first. */
inline look_round()
{
	before = NOBODY; after = NOBODY; first = NOBODY;
	i = len(list);
	do
	:: i > 0 ->
		list?x; list!x; i--;
		if :: first == NOBODY -> first = x :: else fi;
		if
		:: x == me -> before = y
		:: x != me && y == me -> after = x
		:: else
		fi;
		y = x
	:: else -> break
	od;
	x = 0; y = NOBODY
}

inline leave()
{
	look_round();
	list??eval(me);
	order??eval(me);
	linked[me] = 0;
	up[me] = 0; called[me] = 0; polls[me] = 0; stops[me] = 0;
	rang[me] = 0; ended[me] = 0; claimed[me] = 0;
	polled = 0;
	awake = awake && first != me;
	if
	:: len(list) > 0 && after != NOBODY && !up[after] && !polls[after] &&
	   !stops[after] &&
	   (first == me -> handed : HOME(before) != HOME(after)) ->
#ifndef M_NOCHAIN
		wake(after)
#else
		skip
#endif
	:: else
	fi;
	before = NOBODY; after = NOBODY; first = NOBODY
}

/* The lock is released: wake all that have stopped polling. */
inline resume_polls()
{
	stopped = 0;
	i = len(list);
	do
	:: i > 0 ->
		list?x; list!x; i--;
		if
		:: stops[x] && !up[x] -> wake(x)
		:: else
		fi
	:: else -> break
	od;
	x = 0
}

/* The lock is left free. */
inline call()
{
	first = NOBODY; who = NOBODY;
	i = len(list);
	do
	:: i > 0 ->
		list?x; list!x; i--;
		if
		:: first == NOBODY ->
			first = x;
		:: else
		fi;
		if
		:: who == NOBODY && !up[x] && ELSEWHERE(x) -> who = x
		:: else
		fi
	:: else -> break
	od;
	if
	:: who != NOBODY && (up[first] || !ELSEWHERE(first)) ->
		called[who] = 1;
		wake(who)
	:: else -> who = NOBODY
	fi;
	if
	:: !up[first] ->
		called[first] = ELSEWHERE(first);
		wake(first)
	:: else
	fi;
	awake = 1;
	first = NOBODY; who = NOBODY; x = 0
}

/* Hand the lock to the first waiter that may come. */
inline hand_over()
{
	who = NOBODY; y = NOBODY;
	i = len(list);
	do
	:: i > 0 ->
		list?x; list!x; i--;
		if
		:: late[x] -> y = HOME(x)
		:: !late[x] && who == NOBODY && HOME(x) != y -> who = x
		:: else
		fi
	:: else -> break
	od;
	handover = 0; awake = 0; grants = 0; unserved = 0;
	if
	:: who != NOBODY ->
		/* There is a reason to skip those that came earlier. */
		first = NOBODY;
		i = len(order);
		do
		:: i > 0 ->
			order?x; order!x; i--;
			if
			:: first == NOBODY && !late[x] && HOME(x) != y ->
				first = x
			:: else
			fi
		:: else -> break
		od;
		assert(first == who);
		first = NOBODY;
		heir[who] = 1;
		held = 1;
		handed = 1;
		if
		:: !up[who] -> wake(who)
		:: else
		fi
	:: else
	fi;
	x = 0; y = NOBODY
}

inline wake_all()
{
	do
	:: woken != 0 ->
		atomic {
			i = 0;
			do
			:: !(woken & (1 << i)) -> i++
			:: else -> break
			od;
			assert(claimed[i] && !queued[i]);
			queued[i] = 1;
			woken = woken & ~(1 << i);
			i = 0
		}
	:: else -> break
	od
}

/* A grant without a hand-over. */
inline count()
{
	grants = grants + 1;
	unserved = unserved + 1
}

inline unlock()
{
	atomic { assert(owner == me); owner = NOBODY };
	if
	/* No waiter to wake; or all are awake, and not overdue. */
	:: atomic { !waiters -> assert(!freed); held = 0 }
	:: atomic { waiters && awake && !handover && !stopped &&
	   grants < GRANTS ->
		assert(!freed);
		count();
		held = 0
	   }
	:: waiters ->
#ifdef M_OPEN
		atomic { assert(!freed); held = 0 };
#endif
		atomic {
			assert(!freed);
			held = 0;
#ifndef M_NORESUME
			if
			:: waiters && stopped -> resume_polls()
			:: else
			fi;
#endif
			if
			:: !waiters
			:: waiters && (handover || grants >= GRANTS) ->
				hand_over()
			:: else -> count()
			fi;
			if
			:: waiters && !held -> call()
			:: else
			fi;
#ifdef M_NOCOUNT
			grants = 0;
#endif
			leave_word(GUARDED)
		};
		wake_all()
	fi
}

/* Store the word before me sleeps. */
inline sleep()
{
	look_round();
	up[me] = 0; called[me] = 0;
#ifndef M_NOPOLL
	polls[me] = (first == me -> handed : HOME(before) != HOME(me));
#endif
	stops[me] = 0;
#ifdef STOPS
	if
	:: polls[me] && !handed && !guarded ->
		polls[me] = 0; stops[me] = 1; stopped = 1
	:: true
	fi;
#endif
	before = NOBODY; after = NOBODY; first = NOBODY;
	rang[me] = 0; ended[me] = 0; claimed[me] = 0;
	leave_word(guarded);
	guarded = 0
}

/* Leave the queue with the lock. */
inline take()
{
	OWN;
	held = 1;
	leave();
	leave_word(guarded);
	guarded = 0
}

proctype fiber(byte me)
{
	byte round, i, x, y = NOBODY, who = NOBODY, first = NOBODY, saved;
	byte before = NOBODY, after = NOBODY, woken;
	bool guarded, polled, mine, stood;

	current[WORKER(me)] == me;
	round = ROUNDS + (me == 0 -> HOG : 0);
	do
	:: round > 0 ->
again:		if
		:: atomic { !held -> assert(!freed); OWN; held = 1 };
			goto inside
		:: true
		fi;
		atomic {
			assert(!freed);
			if
			:: !held -> OWN; held = 1; goto inside
#ifdef TRY
			:: held && me == 1 -> togo--; goto next
#endif
			:: else
			fi;
			guarded = GUARDED;
			if
			:: len(list) > 0 ->
				list?<x>;
				awake = awake && HOME(x) == HOME(me);
				x = 0
			:: else
			fi;
			list!me;
			linked[me] = 1;
			order!me;
			sleep()
		};
rest:		atomic {
			asleep[me] = 1;
			STUCK;
			current[WORKER(me)] = NOBODY
		};
		atomic { current[WORKER(me)] == me -> asleep[me] = 0 };
		atomic {
			assert(!freed);
			guarded = GUARDED;
#ifndef M_STAYAWAKE
			awake = 0;
#endif
			polled = rang[me] || stops[me];
			if
			:: heir[me] -> heir[me] = 0; handed = 0; take(); goto wakes
			:: !heir[me] && ended[me] ->
				leave();
				if
#ifndef M_NOBACK
				:: !held && len(list) > 0 && !guarded -> call()
#endif
				:: else
				fi;
				leave_word(guarded);
				guarded = 0;
				togo--;
				goto gone
			:: else
			fi;
			late[me] = 0;
			if
			:: !held -> count(); take(); goto wakes
			:: rang[me] && handed ->
				i = 0;
				do
				:: !heir[i] -> i++
				:: else -> break
				od;
				heir[i] = 0; late[i] = 1; handed = 0; i = 0;
				count();
				take();
				goto wakes
			:: called[me] && !handover && !handed && !guarded ->
				saved = grants; stood = stopped;
				leave_word(1);
				guarded = 0;
				goto guard
			:: held && !guarded && !handed && !polled ->
				handover = 1
			:: held
			fi;
#ifdef M_FRONT
			/* Rotate until me is last, then once more to the
			 * front. */
			list??eval(me);
			i = len(list);
			list!me;
			do
			:: i > 0 -> list?x; list!x; i--
			:: else -> break
			od;
			x = 0;
#endif
			sleep();
			goto rest
		};
guard:		if
		:: atomic { !held -> assert(!freed); OWN; held = 1; mine = 1 }
		:: true
		fi;
		atomic {
			assert(!freed);
			grants = saved; saved = 0;
			stopped = stood; stood = 0;
#ifdef M_HIDE
			waiters = !mine;
#else
			waiters = 1;
#endif
			if
			:: mine ->
				mine = 0;
				leave();
				count();
				leave_word(GUARDED);
				goto wakes
#ifndef M_NOLOOK
			:: !mine && !held -> count(); take(); goto wakes
#endif
			:: else -> handover = held; sleep(); goto rest
			fi
		};
wakes:		wake_all();
inside:		atomic {
			assert(owner == me && held);
			assert(unserved <= 2 * GRANTS)
		};
		unlock();
		/* The one with the last turn frees the mutex. */
next:		atomic {
			if
			:: togo == 0 && last == me && !freed && !held ->
				assert(!waiters && len(list) == 0);
				assert(!awake && !handover && !handed);
				freed = 1
			:: else
			fi
		};
		round--;
		goto over;
gone:		wake_all();
		round--;
over:		skip
	:: else -> break
	od;
	current[WORKER(me)] = NOBODY
}

#ifdef BUSY
#define RUNS (w != 0 || !stuck || served)
#else
#define RUNS true
#endif
#define CAN(f) (f < FIBERS && WORKER(f) == w && asleep[f])
#define RESUME(f) queued[f] = 0; current[w] = f
#ifdef M_KEEP
#define MATTERS (!held)
#else
#define MATTERS (!held || handed)
#endif
#define IDLE (current[w] == NOBODY && RUNS)
#define RINGS(f) (CAN(f) && polls[f] && MATTERS && WAITS(f))
#define WAITS(f) (linked[f] && !up[f] && !claimed[f] && !rang[f] && !ended[f])

proctype worker(byte w)
{
	byte started = (w < WORKERS -> w : w - WORKERS);

	/* Starts its fibers, resumes the queued ones, fires their alarms. */
end:	do
	:: atomic {
		IDLE && started < FIBERS ->
		current[w] = started;
		started++;
		do
		:: started < FIBERS && WORKER(started) != w -> started++
		:: else -> break
		od
	}
	:: atomic { IDLE && CAN(0) && queued[0] -> RESUME(0) }
	:: atomic { IDLE && CAN(1) && queued[1] -> RESUME(1) }
	:: atomic { IDLE && CAN(2) && queued[2] -> RESUME(2) }
	:: atomic { IDLE && RINGS(0) -> rang[0] = 1; queued[0] = 1 }
	:: atomic { IDLE && RINGS(1) -> rang[1] = 1; queued[1] = 1 }
	:: atomic { IDLE && RINGS(2) -> rang[2] = 1; queued[2] = 1 }
#if FIBERS > 3
	:: atomic { IDLE && CAN(3) && queued[3] -> RESUME(3) }
	:: atomic { IDLE && RINGS(3) -> rang[3] = 1; queued[3] = 1 }
#endif
#ifdef TIMED
	:: atomic {
		IDLE && CAN(0) && WAITS(0) -> ended[0] = 1; queued[0] = 1
	}
#endif
	od
}

#ifdef CANCEL
proctype canceller()
{
end:	atomic { WAITS(0) -> ended[0] = 1; queued[0] = 1 }
}
#endif

init {
	byte i;

	atomic {
		for (i : 0 .. WORKERS - 1) {
			run worker(i)
		}
#if THREADS > 0
		for (i : ALL - THREADS .. ALL - 1) {
			run worker(i)
		}
#endif
		for (i : 0 .. FIBERS - 1) {
			run fiber(i)
		}
#ifdef CANCEL
		run canceller();
#endif
		i = 0
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
/* resize.pml - workers retire, are started, removed and called back: no task is
 * left undone, no record has two threads, and the end is not missed.
 *
 * Models core/src/kernel/life/worker_threads.c and what it uses of core/src/kernel/park/parking.c.
 * park.pml models the rest of parking, and gate.pml the gate, whose sweep is one
 * step here. Memory is sequentially consistent: each pair of fences stands for
 * the order in which its steps are written.
 *
 * There are WORKERS records; `open` of them take work, `target` may be started.
 * TASKS foreign threads hold a reference each, send a task to some open worker,
 * and release the reference. A worker that has slept may retire at any time.
 * The number of workers is set RESIZES times, alternately to one and to all.
 *   SENDS    number of tasks that foreign threads send to one worker alone, the
 *            first or the last, as sennit_listen does
 *   FIBERS   number of tasks that wait once, for a foreign notifier
 *   ENDLESS  one task never ends; its worker checks only its own inbox
 *   CLOSED   the last worker is closed when all begins, has its thread yet, and
 *            may be called back: as after a lazy scheduler got fewer workers and
 *            then more
 *   REFUSE   from some moment on the system refuses threads, for ever
 *   LEAVE    searchers may leave the tasks of idle workers to these, as
 *            core/src/kernel/sched/steal.c does while a worker piles up (2 workers)
 *   SHARE    a searcher may take a share of the other's inbox, and puts the
 *            rest back in a second step (2 workers)
 *
 * Checked at quiescence: no task is queued, unless no worker may be woken for it;
 * without ENDLESS all have run, and the scheduler is done and freed. Exactly
 * the sleepers and the threadless count as sleepers, none as a searcher.
 * Always checked: a record has at most one thread, and none if a fiber waits
 * for it; when the lock is released, the threadless are those that may be
 * started and have no thread; a thread enters the gate once; nothing is accessed
 * after it is freed; some open worker has a thread.
 *
 * Mutants, each of which must fail:
 *   M_BITFIRST   retire: clears its bit before it counts itself threadless
 *   M_BLIND      retire: does not check whether its bit was taken
 *   M_UNLOCKED   retire: without the lock
 *   M_TWICE      retire: leaves the gate a second time
 *   M_FIBERS     retire: does not check for fibers of its own
 *   M_STAYIN     retire: does not step out
 *   M_LASTONE    retire: does not check whether it is the last one
 *   M_NOFLOOR    resize: starts none of the remaining workers
 *   M_NORELIEVE  refused: leaves tasks in the inboxes of retired workers
 *   M_NORETRUST  refused: wakes no worker for those that relied on the searcher
 *   M_NOFORWARD  close: does not look into the inbox
 *   M_PUTBACK    share: does not look again after it has put the rest back
 *   M_STAYIDLE   retire: still says that tasks may be left to it
 *   M_IDLELATE   retire: says so until after its bit is clear
 *   M_NOLOOK     leave: does not look again after the wake
 *   M_MISCOUNT   send_to: calls a worker back and forgets those that have retired
 *   M_SENDLATE   send_to: left after the lock is released
 *   M_CLOSEBLIND close: leaves without looking for pinned mail under the lock
 *   M_NOPINNED   close: does not run a pinned task that it has already taken
 */
#ifndef WORKERS
#define WORKERS 2
#endif
#ifndef TASKS
#define TASKS 2
#endif
#ifndef RESIZES
#define RESIZES 0
#endif
#ifndef FIBERS
#define FIBERS 0
#endif
#ifndef SENDS
#define SENDS 0
#endif

#ifdef LAZY
byte open = 1, threadless = WORKERS - 1;
byte sleepers = WORKERS - 1, awake = 1, inside = 2;
#define FIRST 1
byte extent = 1;		/* thieves look below this */
#else
#ifdef CLOSED
byte open = WORKERS - 1, threadless = 1, sleepers = 1;
#else
byte open = WORKERS, threadless, sleepers;
#endif
byte awake = WORKERS, inside = WORKERS + 1;
#define FIRST WORKERS
byte extent = WORKERS;
#endif
byte target = WORKERS, retired;
byte searchers = FIRST;		/* new threads search */
bool shown[WORKERS], token[WORKERS];
bool present[WORKERS], counted[WORKERS];	/* passed to the thread */
byte inbox[WORKERS], ready[WORKERS], blocked[WORKERS];
bool lock, refusing, refused;
byte refs = TASKS + SENDS + (RESIZES > 0);
bool done, freed;
byte fibers = FIBERS, waiting;	/* tasks that will wait; notifies that are
				 * due */
byte ran;
#ifdef LEAVE
bool idle[WORKERS];		/* tasks may be left to it */
#define SAY_IDLE(is) idle[w] = is
#else
#define SAY_IDLE(is) skip
#endif
#ifdef ENDLESS
bool endless = 1;
#else
bool endless = 0;
#endif
byte threads[WORKERS];			/* ghosts */
byte asleep;
#if SENDS > 0
byte mail[WORKERS], pinned[WORKERS];	/* left for it, taken by it */
byte sent;			/* ghost: those that were not refused */
#define MAIL(w) (mail[w] > 0)
#define LAST (WORKERS - 1)	/* mail goes to the first or to this one */
#define LEFT (mail[0] + mail[LAST] + pinned[0] + pinned[LAST])
#else
#define MAIL(w) 0
#define LEFT 0
#define sent 0
#endif
#define MINE(w) (ready[w] > 0 || MAIL(w))

#define HUNGRY (searchers == 0 && sleepers > 0)
#define USE assert(!freed)
#define LOCK atomic { !lock -> USE; lock = 1 }
#define BARE(i) (i < open && !present[i] -> 1 : 0)
#if WORKERS > 2
#define MISSING (target - open + BARE(0) + BARE(1) + BARE(2))
#else
#define MISSING (target - open + BARE(0) + BARE(1))
#endif
#define UNLOCK atomic {					\
	USE;						\
	assert(done || threadless == MISSING);		\
	lock = 0					\
}
#if WORKERS > 2
#define QUEUED (inbox[0] + inbox[1] + inbox[2])
#define SEEN (inbox[0] + (extent > 1 -> inbox[1] : 0) + \
	      (extent > 2 -> inbox[2] : 0))
#define ALLBLOCKED (blocked[0] + blocked[1] + blocked[2])
#else
#define QUEUED (inbox[0] + inbox[1])
#define SEEN (inbox[0] + (extent > 1 -> inbox[1] : 0))
#define ALLBLOCKED (blocked[0] + blocked[1])
#endif

/* The lock is held. */
#define TRIM							\
	do							\
	:: extent > open && !present[extent - 1] -> extent--	\
	:: else -> break					\
	od

inline step_out()
{
	atomic {
		USE;
		assert(inside > 0);
		inside--;
		if
		:: inside == 0 -> assert(done); freed = 1
		:: else
		fi
	}
}

/* Wake v if its bit is set: claim, count and token in one step. */
inline knock(v)
{
	atomic {
		USE;
		if
		:: shown[v] ->
			shown[v] = 0;
			assert(sleepers > 0);
			sleepers--;
			searchers++;
			token[v] = 1
		:: else
		fi
	}
}

/* The last one out checks everything, in one step: see gate.pml. */
inline last_out()
{
	if
	:: refs + awake == 0 && !done && QUEUED + ALLBLOCKED + LEFT == 0 ->
		done = 1;
		mine = 1;
		inside++	/* the sweeper's, for the steps below */
	:: else
	fi
}

inline complete()
{
	if
	:: mine ->
		mine = 0;
		k = 0;
		do
		:: k < WORKERS -> knock(k); k++
		:: else -> k = 0; break
		od;
		step_out();		/* its place is kept until done */
		step_out()
	:: else
	fi
}

inline leave()
{
	atomic {
		USE;
		assert(awake > 0);
		awake--;
		last_out()
	};
	complete()
}

inline release()
{
	atomic {
		USE;
		assert(refs > 0);
		refs--;
		last_out()
	};
	complete()
}

/* sn_worker_threads_start_locked; the lock is held. */
inline fill(v, searches)
{
	atomic {
		USE;
		assert(!done);
		if
		:: refusing -> err = 1
		:: else ->
			awake++;
			inside++;
			assert(!present[v] && threads[v] == 0);
			threads[v]++;
			counted[v] = searches;
			present[v] = 1
		fi
	}
}

inline restart()
{
	atomic { USE; threadless--; sleepers--; searchers++; retired-- };
	atomic {
		v = 0;
		do
		:: present[v] -> v++
		:: else -> break
		od;
		fill(v, 1);
		if
		:: err -> retired++; threadless++; searchers--; sleepers++
		:: else
		fi
	}
}

/* The lock is held. */
inline start_one()
{
	if
	:: retired > 0 -> restart()
	:: else ->
		assert(open < target);
		v = open;
		if
		:: present[v] ->
			atomic { USE; threadless--; sleepers-- };
			open++
		:: else ->
			atomic { USE; threadless--; sleepers--; searchers++ };
			extent = (extent > open + 1 -> extent : open + 1);
			open++;
			fill(v, 1);
			if
			:: err ->
				open--;
				atomic { USE; threadless++; searchers--; sleepers++ }
			:: else
			fi
		fi
	fi;
	v = 0
}

/* Tasks of retired workers go to a worker that has a thread. */
inline relieve()
{
	v = 0;
	do
	:: atomic { v < open && !present[v] -> v++ }
	:: else -> break
	od;
	assert(v < open);	/* some worker has a thread */
	k = 0;
	do
	:: k < open && !present[k] && inbox[k] > 0 ->
		atomic { USE; moved = inbox[k]; inbox[k] = 0 };
		atomic { USE; inbox[v] = inbox[v] + moved; moved = 0 };
		knock(v);
		k++
	:: k < open && (present[k] || inbox[k] == 0) -> k++
	:: else -> k = 0; v = 0; break
	od
}

inline wake_sleeper()
{
	atomic {
		USE;
		k = 0;
		do
		:: k < WORKERS && !shown[k] -> k++
		:: k < WORKERS && shown[k] -> got = 1; break
		:: k == WORKERS -> got = 0; break
		od;
		if
		:: got ->
			shown[k] = 0;
			assert(sleepers > 0);
			sleepers--;
			searchers++;
			token[k] = 1
		:: else
		fi;
		k = 0
	}
}

/* sn_parking_wake_one, sn_worker_threads_start_one */
inline wake_one()
{
	if
	:: atomic { HUNGRY -> USE };
		wake_sleeper();
		if
		:: atomic { !got && threadless > 0 -> USE };
			LOCK;
			if
			:: refused -> skip
			:: else ->
				do
				:: threadless > 0 && HUNGRY && !err -> start_one()
				:: else -> break
				od
			fi;
			if
			:: err || refused ->
				refused = 1;
#ifndef M_NORELIEVE
				relieve();
#endif
				skip
			:: else
			fi;
			UNLOCK;
#ifndef M_NORETRUST
			if
			:: err && HUNGRY -> wake_sleeper()
			:: else
			fi;
			/* no worker sleeps: start again, which is refused at
			 * once */
			if
			:: err && !got ->
				LOCK;
#ifndef M_NORELIEVE
				relieve();
#endif
				UNLOCK
			:: else
			fi;
#endif
			err = 0
		:: else
		fi;
		got = 0
	:: atomic { !HUNGRY -> USE }
	fi
}

/* Send n tasks, which are in no queue, to some open worker. */
inline deliver(n)
{
	do
	:: n > 0 ->
		atomic {
			USE;
			if
#ifdef SHARE	/* two tasks must meet: fewer ways */
			:: v = open - 1
#else
			:: v = 0
#endif
			:: open > 1 -> v = 1
#if WORKERS > 2
			:: open > 2 -> v = 2
#endif
			fi;
			inbox[v] = inbox[v] + n;
			n = 0
		};
		/* fence */
		if
		:: v < open
		:: else -> atomic { USE; n = inbox[v]; inbox[v] = 0 }
		fi
	:: else -> v = 0; break
	od
}

#define LOCALS byte k, v, taken, moved; bool won, mine, err, got

proctype sender()
{
	LOCALS;

	taken = 1;
	deliver(taken);
	wake_one();
	release()
}

#if SENDS > 0
inline recount()
{
	atomic {
		USE;
		sleepers = sleepers + (target - open + retired) - threadless;
		threadless = target - open + retired
	}
}

/* open_next_locked; the lock is held. */
inline open_next()
{
	v = open;
	extent = (extent > open + 1 -> extent : open + 1);
	if
	:: present[v] ->
		open++;
#ifdef M_MISCOUNT
		atomic {
			USE;
			sleepers = sleepers + (target - open) - threadless;
			threadless = target - open
		}
#else
		recount()
#endif
	:: else ->
		open++;
		atomic { USE; threadless--; sleepers--; searchers++ };
		fill(v, 1);
		if
		:: err ->
			open--;
			atomic { USE; threadless++; searchers--; sleepers++ }
		:: else
		fi
	fi;
	v = 0
}

/* sn_worker_threads_send_to: the worker is open and has a thread. */
proctype messenger()
{
	LOCALS;
	byte x;

	if
	:: x = 0
	:: x = LAST
	fi;
	LOCK;
	do
	:: x < target && open <= x && !err -> open_next()
	:: else -> break
	od;
	if
	:: x < target && !err && !present[x] ->
		atomic { USE; threadless--; sleepers--; searchers++; retired-- };
		fill(x, 1);
		if
		:: err ->
			atomic {
				USE;
				retired++;
				threadless++;
				searchers--;
				sleepers++
			}
		:: else
		fi
	:: else
	fi;
	if
	:: x < target && !err ->
#ifdef M_SENDLATE
		UNLOCK;
#endif
		atomic { USE; mail[x]++; sent++ };
		knock(x);
#ifndef M_SENDLATE
		UNLOCK
#endif
	:: else ->
		if
		:: err -> refused = 1; relieve()
		:: else
		fi;
		UNLOCK;
		if
		:: err -> err = 0; wake_one()
		:: else
		fi
	fi;
	release()
}
#endif

proctype worker(byte w)
{
	LOCALS;
	bool last, due;

inactive:
end_inactive:
	atomic { present[w] -> USE; assert(threads[w] == 1) };
	if
	:: counted[w] -> SAY_IDLE(1); goto search
	:: else
	fi;

start:	/* awake, in the gate, not a searcher */
#if SENDS > 0
	if
	:: atomic {
		mail[w] > 0 ->
		USE;
		pinned[w] = pinned[w] + mail[w];
		mail[w] = 0
	}
	:: else
	fi;
#endif
	if
	:: w >= open -> goto closed
	:: else
	fi;
#if SENDS > 0
	if
	:: atomic { pinned[w] > 0 -> USE; pinned[w]--; ran++ }; goto start
	:: else
	fi;
#endif
	if
	:: atomic { ready[w] > 0 -> USE; ready[w]--; blocked[w]--; ran++ };
		goto start
	:: atomic { inbox[w] > 0 -> USE; inbox[w]-- }; goto work
	:: else
	fi;
	SAY_IDLE(1);
	atomic { USE; searchers++ };

search:	/* counts as a searcher */
	if
	:: w >= open ->
		SAY_IDLE(0);
		atomic { USE; last = (searchers == 1); searchers-- };
		if
		:: last && SEEN > 0 -> wake_one()
		:: else
		fi;
		last = 0;
		goto closed
	:: else
	fi;
	if
	:: atomic { ready[w] > 0 -> USE; ready[w]--; blocked[w]--; ran++ };
		goto found
#if SENDS > 0
	:: atomic { mail[w] > 0 -> USE }; goto found
#endif
	:: atomic { inbox[0] > 0 -> USE; inbox[0]--; taken = 1 }; goto found
	:: atomic { extent > 1 && inbox[1] > 0 -> USE; inbox[1]--; taken = 1 };
		goto found
#if WORKERS > 2
	:: atomic { extent > 2 && inbox[2] > 0 -> USE; inbox[2]--; taken = 1 };
		goto found
#endif
#ifdef LEAVE
	:: atomic { inbox[1 - w] > 0 && idle[1 - w] -> USE }
#endif
#ifdef SHARE
	:: atomic {
		1 - w < extent && inbox[1 - w] > 1 ->
		USE;
		taken = 1;
		moved = inbox[1 - w] - 1;
		inbox[1 - w] = 0
	};
		atomic {
			USE;
			inbox[1 - w] = inbox[1 - w] + moved;
			moved = 0
		};
		/* fence */
#ifndef M_PUTBACK
		if
		:: 1 - w >= open ->
			atomic {
				USE;
				moved = inbox[1 - w];
				inbox[1 - w] = 0
			};
			deliver(moved)
		:: else
		fi;
#endif
		goto found
#endif
	:: else
	fi;

announce:
	token[w] = 0;
	atomic { USE; assert(searchers > 0); searchers--; sleepers++ };
	atomic { USE; shown[w] = 1 };
	/* fence; the last look */
#ifdef LEAVE
	if
	:: MINE(w) || w >= open || done || inbox[w] > 0 -> goto withdraw
	:: else
	fi;
	if
	:: 1 - w < extent && inbox[1 - w] > 0 ->
		if
		:: !idle[1 - w] -> goto withdraw
		:: else
		fi;
		knock(1 - w);
#ifndef M_NOLOOK
		if
		:: !idle[1 - w] -> goto withdraw
		:: else
		fi
#endif
	:: else
	fi;
#else
	if
	:: MINE(w) || w >= open || done || SEEN > 0 -> goto withdraw
	:: else
	fi;
#endif
	leave();
	/* sn_retire_time: one of the last sleeps without a deadline */
	atomic { USE; due = (open - retired > 1); asleep++ };
end_asleep:
	if
	:: atomic { token[w] -> asleep--; due = 0 }; goto woken
#ifdef M_FIBERS
	:: atomic { due && !token[w] -> asleep--; due = 0 }; goto retire
#else
	:: atomic {
		due && !token[w] && blocked[w] == 0 -> asleep--; due = 0
	};
		goto retire
#endif
	fi;

withdraw:	/* still in the gate */
	atomic {
		USE;
		won = shown[w];
		shown[w] = 0
	};
	if
	:: won -> atomic { USE; sleepers--; searchers++; won = 0 }
	:: else -> token[w]
	fi;
	goto search;

woken:
	atomic {
		USE;
		if
		:: done -> goto ended
		:: else -> awake++
		fi
	};
	goto search;

retire:	/* out of the gate, announced */
#if !defined(M_STAYIDLE) && !defined(M_IDLELATE)
	SAY_IDLE(0);
#endif
#ifndef M_UNLOCKED
	LOCK;
#endif
#ifndef M_LASTONE
	if
	:: open - retired <= 1 ->
		UNLOCK;
		/* one of the last: it withdraws */
		atomic {
			USE;
			won = shown[w];
			shown[w] = 0
		};
		if
		:: won -> atomic { USE; sleepers--; searchers++; won = 0 }
		:: else -> token[w]
		fi;
		SAY_IDLE(1);
		goto woken
	:: else
	fi;
#endif
#ifdef M_BITFIRST
	atomic { USE; won = shown[w]; shown[w] = 0 };
	if
	:: won -> threadless++
	:: else
	fi;
#else
	threadless++;
	atomic { USE; won = shown[w]; shown[w] = 0 };
#ifdef M_IDLELATE
	SAY_IDLE(0);
#endif
#ifdef M_BLIND
	won = 1;
#endif
	if
	:: !won -> threadless--
	:: else
	fi;
#endif
	if
	:: won ->
		atomic {
			USE;
			assert(blocked[w] == 0 && threads[w] == 1);
			won = 0;
			retired++;
			threads[w]--;
			present[w] = 0
		};
#ifndef M_UNLOCKED
		UNLOCK;
#endif
#ifdef M_TWICE
		leave();
#endif
#ifndef M_STAYIN
		step_out();
#endif
		goto inactive
	:: else ->
#ifndef M_UNLOCKED
		UNLOCK;
#endif
		token[w]
	fi;
	SAY_IDLE(1);
	goto woken;

found:
	SAY_IDLE(0);
	atomic {
		USE;
		assert(searchers > 0);
		last = (searchers == 1);
		searchers--
	};
	/* fence */
	if
	:: last && SEEN > 0 -> wake_one()
	:: else
	fi;
	last = 0;
	if
	:: taken > 0 -> taken = 0
	:: else -> goto start
	fi;

work:
	if
	:: atomic { endless -> endless = 0; ran++ }; goto end_busy
	:: atomic { fibers > 0 -> USE; fibers--; blocked[w]++; waiting++ };
		goto start
	:: atomic { !endless && fibers == 0 -> ran++ }; goto start
	fi;

end_busy:	/* upkeep */
	if
	:: w >= open && inbox[w] > 0 ->
		atomic { USE; taken = inbox[w]; inbox[w] = 0 };
		deliver(taken);
		wake_one();
		goto end_busy
	:: atomic { w < open && inbox[w] > 0 -> USE; inbox[w]--; ran++ };
		goto end_busy
	:: atomic { ready[w] > 0 -> USE; ready[w]--; blocked[w]--; ran++ };
		goto end_busy
	fi;

closed:	/* in the gate */
	if
	:: inbox[w] > 0 ->
		atomic { USE; taken = inbox[w]; inbox[w] = 0 };
		deliver(taken);
		wake_one()
	:: else
	fi;
	if
	:: atomic { ready[w] > 0 -> USE; ready[w]--; blocked[w]--; ran++ };
		goto start
#if SENDS > 0 && !defined(M_NOPINNED)
	:: atomic { pinned[w] > 0 -> USE; pinned[w]--; ran++ }; goto start
#endif
	:: else
	fi;
	if
	:: blocked[w] > 0 ->
end_solo:	atomic { MINE(w) || w < open -> USE };
		goto start
	:: else
	fi;
	LOCK;
	if
#ifdef M_CLOSEBLIND
	:: w >= open ->
#else
	:: w >= open && !MINE(w) ->
#endif
		atomic {
			USE;
			assert(blocked[w] == 0 && threads[w] == 1);
			threads[w]--;
			present[w] = 0;
			TRIM
		};
		UNLOCK;
		leave();
		step_out();
		goto inactive
	:: else -> UNLOCK; goto start
	fi;

ended:
	atomic { USE; threads[w]--; present[w] = 0 };
	step_out();
	goto inactive
}

proctype notifier()
{
	LOCALS;

end:	do
	:: atomic {
		waiting > 0 && !done ->
		USE;
		waiting--;
		refs++;		/* R7 */
		v = 0;
		do
		:: blocked[v] > ready[v] -> break
		:: else -> v++
		od
	};
		atomic { USE; ready[v]++ };
		knock(v);
		v = 0;
		release()
	od
}

#if RESIZES > 0
proctype resizer()
{
	LOCALS;
	byte n, count, was;

	do
	:: n < RESIZES ->
		n++;
		/* fewer, then more */
		count = (n % 2 == 1 -> 1 : WORKERS);
		LOCK;
		refused = 0;
#ifndef M_NOFLOOR
		/* one of the remaining workers has a thread */
		atomic {
			v = 0;
			k = 0;
			do
			:: v < open && v < count -> k = k + present[v]; v++
			:: else -> break
			od;
			v = 0
		};
		if
		:: k == 0 -> k = 0; restart(); v = 0
		:: else -> k = 0
		fi;
#endif
		if
		:: !err && count < open ->
			was = open;
			open = count;
			/* fence */
			k = count;
			do
			:: k < was ->
#ifndef M_NOFORWARD
				atomic { USE; taken = inbox[k]; inbox[k] = 0 };
				deliver(taken);
#endif
				knock(k);
				k++
			:: else -> k = 0; break
			od
		:: !err && count > open ->
			do
			:: open < count && !err ->
				v = open;
				extent = (extent > open + 1 -> extent : open + 1);
				open++;
				if
				:: present[v]
				:: else ->
					fill(v, 0);
					if
					:: err -> open--
					:: else
					fi
				fi;
				v = 0
			:: else -> break
			od
		:: else
		fi;
		atomic {
			USE;
			target = open;
			v = 0;
			retired = 0;
			do
			:: v < open -> retired = retired + (1 - present[v]); v++
			:: else -> break
			od;
			sleepers = sleepers + (target - open + retired) - threadless;
			threadless = target - open + retired;
			assert(retired < open);
			TRIM;
			v = 0;
			was = 0;
			count = 0
		};
		UNLOCK;
		err = 0;
		if
		:: QUEUED > 0 -> wake_one()
		:: else
		fi
	:: else -> break
	od;
	release()
}
#endif

#ifdef REFUSE
active proctype limits()
{
	refusing = 1
}
#endif

active proctype monitor()
{
end:	timeout ->
#ifdef ENDLESS
	assert(QUEUED == 0 || (sleepers == 0 && searchers == 0));
	assert(ready[0] + ready[1] == 0);
	assert(searchers == 0);
#else
	assert(QUEUED + LEFT == 0 && ran == TASKS + sent);
	assert(done && freed && inside == 0);
	assert(searchers == 0 || freed);
#endif
	assert(freed || sleepers == asleep + threadless)
}

init {
	byte i;

	atomic {
		i = 0;
		do
		:: i < FIRST ->
			present[i] = 1;
			threads[i] = 1;
			counted[i] = 1;
			i++
		:: else -> break
		od;
		i = 0;
		do
		:: i < WORKERS -> run worker(i); i++
		:: else -> break
		od;
		i = 0;
		do
		:: i < TASKS -> run sender(); i++
		:: else -> break
		od;
#if SENDS > 0
		i = 0;
		do
		:: i < SENDS -> run messenger(); i++
		:: else -> break
		od;
#endif
#if FIBERS > 0
		run notifier();
#endif
#if RESIZES > 0
		run resizer();
#endif
		i = 0
	}
}

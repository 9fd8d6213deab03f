/* SPDX-License-Identifier: Apache-2.0 */
/* park.pml - which workers sleep, search and are woken: no work is left undone.
 *
 * Models core/src/kernel/park/parking.c and how sched/idle.c calls it. There are WORKERS
 * workers; TASKS foreign threads that each queue one task for any worker;
 * PINNED foreign threads that each make one fiber of worker 0 ready; BACK
 * foreign threads that each queue one background task. A searcher takes a
 * background task, whether or not it has seen all other work, or a busy worker
 * moves it to its own deque. Each task ends, runs for ever, or pushes another
 * task onto its worker's own deque (CHILDREN in all). The inbox is that of
 * worker 0; any searcher may empty it. A task may be endless, so the property
 * is work conservation.
 *
 * Stores: a foreign push executes a full fence at once and so is one visible
 * step. A worker's push onto its own deque has no fence: it waits in `held`
 * until the memory system, an atomic operation of that worker, or another
 * thread's process barrier makes it visible. If the worker sees a sleeper after
 * the push, it does execute a fence, and only then checks for a searcher.
 * Parcels that a worker collects from the inbox are in no queue (`load`) until
 * it pushes them. The counts {searchers, sleepers} are one word, and so are the
 * bits of the sleepers and of the empty ones among them. With MISS a search may miss
 * what it could have found. The look after the announcement goes from queue to
 * queue in single steps, and leaves out the workers that are empty; so do the
 * look of the last searcher that finds work, and every search. A worker looks at
 * its own inbox in any case. With BACKPUT a searcher that empties the inbox may
 * put all but one queued task back.
 *
 * Checked when nothing can move any more: nothing is queued that a sleeping
 * worker could run; a sleeper's bit is set and its token is not; no worker counts
 * as a searcher, and exactly the sleepers count as sleepers. Always checked:
 * the counts do not fall below zero.
 *
 * Mutants, each of which must fail:
 *   M_NOPFENCE    a foreign producer does not fence
 *   M_NOWFENCE    a worker does not fence after it has set its bit
 *   M_NORECHECK   a worker does not look again after it has set its bit
 *   M_PLAINCLEAR  withdraw: clears the bit with a plain store, which misses a
 *                 claim
 *   M_CLEARLATE   announce: clears the token after the bit is set
 *   M_PINANY      a ready fiber's producer wakes any worker
 *   M_PINTRUST    a ready fiber's producer relies on a searcher
 *   M_TRUST       a worker that pushed relies on a searcher before its fence
 *   M_NOCOLWAKE   a worker that collects queued tasks between tasks wakes no worker
 *   M_OWNINBOX    the last searcher that finds work ignores its own inbox
 *   M_NOCHAIN     the last searcher that finds work wakes no worker
 *   M_NOPASS      a searcher that finds a fiber of its own wakes no worker
 *   M_STALEBIT    a worker that leaves its timed sleep keeps its bit
 *   M_NORESPIN    withdraw: an unclaimed worker does not search again
 *   M_NOBARRIER   no process barrier between the timed and the untimed sleep
 *   M_UNTIMED     the first sleep is never timed
 *   M_SUREEARLY   a worker finds that all others sleep before it counts itself
 *                 as a sleeper
 *   M_NOBACK      a worker that has set its bit does not look at the backlog
 *   M_BACKCHAIN   the last searcher that finds work ignores the backlog
 *   M_BACKFENCE   a producer of a background task does not fence
 *   M_BACKWAKE    a busy worker that takes a background task wakes no worker
 *   M_NOAWAIT     withdraw: a claimed worker does not wait for its token, so it
 *                 acts as a searcher before the waker has counted it
 *   M_NOFILL      a producer leaves the worker empty
 *   M_FILLLATE    a producer looks for sleepers before it says that the worker
 *                 is not empty
 *   M_NOREFILL    a searcher that puts queued tasks back leaves the worker empty
 *   M_STAYEMPTY   withdraw: the worker still counts as empty
 *   M_EMPTYNOLOOK a worker that is empty does not look at its own inbox again
 */
#ifndef WORKERS
#define WORKERS 2
#endif
#ifndef TASKS
#define TASKS 2
#endif
#ifndef PINNED
#define PINNED 1
#endif
#ifndef CHILDREN
#define CHILDREN 0
#endif
#ifndef BACK
#define BACK 0
#endif

byte searchers, sleepers;		/* one word */
byte bits;				/* sleeping workers */
byte bare; 				/* of them, those without tasks */
bool token[WORKERS];
byte inbox;				/* tasks for any worker */
byte pinned;				/* ready fibers of worker 0 */
byte backlog;				/* background tasks */
byte deque[WORKERS], held[WORKERS];
byte spawned;
#ifdef M_NOPFENCE
byte held_inbox, held_pinned;
#endif
#ifdef M_BACKFENCE
byte held_backlog;
#endif
#ifdef M_NOWFENCE
byte held_bits;
#define ANNOUNCED(w) (!(held_bits & (1 << w)))
#else
#define ANNOUNCED(w) true
#endif
bool parked[WORKERS];			/* ghost */

#define BIT(w) (1 << (w))
/* Whether worker w looks at worker v. */
#define SEEN(v) ((v) == w || !(bare & BIT(v)))
#define SEEN_INBOX (SEEN(0) -> inbox : 0)
#if WORKERS > 2
#define SEEN_DEQUES ((SEEN(0) -> deque[0] : 0) + (SEEN(1) -> deque[1] : 0) + \
		     (SEEN(2) -> deque[2] : 0))
#else
#define SEEN_DEQUES ((SEEN(0) -> deque[0] : 0) + (SEEN(1) -> deque[1] : 0))
#endif
#if WORKERS > 2
#define DEQUES (deque[0] + deque[1] + deque[2])
#define PARKED (parked[0] + parked[1] + parked[2])
#else
#define DEQUES (deque[0] + deque[1])
#define PARKED (parked[0] + parked[1])
#endif
#ifdef M_NOAWAIT
#define COUNTED(claim) true		/* to see the effect */
#else
#define COUNTED(claim) assert(claim)
#endif
#define HUNGRY (searchers == 0 && sleepers > 0)

active proctype memory()
{
end:	do
	:: atomic { held[0] > 0 -> held[0]--; deque[0]++ }
	:: atomic { held[1] > 0 -> held[1]--; deque[1]++ }
#if WORKERS > 2
	:: atomic { held[2] > 0 -> held[2]--; deque[2]++ }
#endif
#ifdef M_NOPFENCE
	:: atomic { held_inbox > 0 -> held_inbox--; inbox++ }
	:: atomic { held_pinned > 0 -> held_pinned--; pinned++ }
#endif
#ifdef M_BACKFENCE
	:: atomic { held_backlog > 0 -> held_backlog--; backlog++ }
#endif
#ifdef M_NOWFENCE
	:: atomic { held_bits & 1 -> held_bits = held_bits & ~1; bits = bits | 1 }
	:: atomic { held_bits & 2 -> held_bits = held_bits & ~2; bits = bits | 2 }
#endif
	od
}

/* Take j's bit: count it as a searcher, then set its token. */
inline claim(j, won)
{
	atomic {
		won = (bits & BIT(j)) != 0;
		bits = bits & ~BIT(j);
		bare = bare & ~BIT(j)
	};
	if
	:: won ->
		atomic {
			COUNTED(sleepers > 0);
			sleepers--;
			searchers++
		};
		token[j] = 1
	:: else
	fi
}

inline wake_one(j, snap, won)
{
	if
	:: atomic {
		HUNGRY -> snap = bits
	};
		do
		:: atomic { snap & 1 -> snap = snap & ~1; j = 0 }
			claim(j, won);
			if
			:: atomic { won -> won = 0; snap = 0; j = 0; break }
			:: else
			fi
		:: atomic { snap & 2 -> snap = snap & ~2; j = 1 }
			claim(j, won);
			if
			:: atomic { won -> won = 0; snap = 0; j = 0; break }
			:: else
			fi
#if WORKERS > 2
		:: atomic { snap & 4 -> snap = snap & ~4; j = 2 }
			claim(j, won);
			if
			:: atomic { won -> won = 0; snap = 0; j = 0; break }
			:: else
			fi
#endif
		:: atomic { snap == 0 -> j = 0; break }
		od
	:: atomic { !HUNGRY }
	fi
}

proctype producer()
{
	byte j, snap;
	bool won;

#ifdef M_NOPFENCE
	held_inbox++;
#else
	inbox++;
#endif
#ifdef M_FILLLATE
	wake_one(j, snap, won);
#endif
	/* sn_parking_fill: the look and the step after it. A worker that becomes
	 * empty in between looks after that. */
#ifndef M_NOFILL
	if
	:: bare & 1 -> bare = bare & ~1
	:: else
	fi;
#endif
#ifndef M_FILLLATE
	wake_one(j, snap, won)
#endif
}

proctype idler()
{
	byte j, snap;
	bool won;

#ifdef M_BACKFENCE
	held_backlog++;
#else
	backlog++;
#endif
	wake_one(j, snap, won)
}

proctype waker()
{
	byte j, snap;
	bool won;

#ifdef M_NOPFENCE
	held_pinned++;
#else
	pinned++;
#endif
#ifdef M_PINANY
	wake_one(j, snap, won)
#else
	if
#ifdef M_PINTRUST
	:: searchers > 0
	:: searchers == 0 && (bits & BIT(0)) ->
#else
	:: bits & BIT(0) ->
#endif
		claim(0, won)
	:: else
	fi
#endif
}

proctype worker(byte w)
{
	byte j, snap, v, load;
	bool won, searching, last, own, timed;

start:
	assert(!searching);
	if
	:: atomic { w == 0 && pinned > 0 -> pinned-- }; goto work
	:: atomic { held[w] > 0 -> held[w]-- }; goto work
	:: atomic { held[w] == 0 && deque[w] > 0 -> deque[w]-- }; goto work
	:: atomic { w == 0 && held[w] == 0 && inbox > 0 -> load = inbox; inbox = 0 }
		/* sn_worker_collect: push, fence, look */
		do
		:: atomic { load > 0 -> load--; deque[w]++ }
		:: atomic { load == 0 -> break }
		od;
#ifndef M_NOCOLWAKE
		wake_one(j, snap, won);
#endif
		goto start
#if BACK > 0
	:: atomic { backlog > 0 -> backlog-- }
		/* sn_background_catch_up: push, fence, look */
		held[w]++;
		(held[w] == 0);
#ifndef M_BACKWAKE
		wake_one(j, snap, won);
#endif
		goto start
#endif
	:: held[w] == 0 && deque[w] == 0	/* nothing of its own to run */
	fi;
	/* sn_parking_search: check the counts, then count oneself */
	if
	:: 2 * searchers > WORKERS - sleepers -> goto announce
	:: else
	fi;
	atomic { searchers++; searching = 1 };
search:
	assert(searching);
	if
	:: atomic { w == 0 && pinned > 0 -> pinned--; own = 1 }; goto found
	:: atomic { SEEN_INBOX > 0 -> load = inbox - 1; inbox = 0 }
		/* takes all, runs one; later steps make the pushes visible */
		do
		:: atomic { load > 0 -> load--; deque[w]++ }
		:: atomic { load == 0 -> goto found }
		od
#ifdef BACKPUT
	:: atomic { w != 0 && SEEN_INBOX > 1 -> load = inbox - 1; inbox = 0 }
		/* steal_from_inbox() in steal.c: put back, fence, look */
		atomic { inbox = inbox + load; load = 0 };
#ifndef M_NOREFILL
		if
		:: bare & 1 -> bare = bare & ~1
		:: else
		fi;
#endif
		goto found
#endif
	:: atomic { SEEN(0) && deque[0] > 0 -> deque[0]-- }; goto found
	:: atomic { SEEN(1) && deque[1] > 0 -> deque[1]-- }; goto found
#if WORKERS > 2
	:: atomic { SEEN(2) && deque[2] > 0 -> deque[2]-- }; goto found
#endif
#if BACK > 0
	:: atomic { backlog > 0 -> backlog-- }; goto found
#endif
#ifdef MISS
	:: skip
#else
	:: else
#endif
	fi;

announce:
#ifdef M_SUREEARLY
	timed = sleepers < WORKERS - 1;
#endif
#ifndef M_CLEARLATE
	token[w] = 0;
#endif
	atomic {
		if
		:: searching -> COUNTED(searchers > 0); searchers--
		:: else
		fi;
		searching = 0;
		sleepers++;
#ifndef M_SUREEARLY
		timed = sleepers < WORKERS	/* else all have fenced */
#endif
	};
#ifdef M_NOWFENCE
	held_bits = held_bits | BIT(w);
#else
	atomic {
		assert(!(bits & BIT(w)));
		assert(deque[w] + held[w] == 0);
		bits = bits | BIT(w);
		bare = bare | BIT(w)
	};
#endif
#ifdef M_CLEARLATE
	token[w] = 0;
#endif
#ifdef M_UNTIMED
	timed = 0;
#endif

look:
#ifdef M_NORECHECK
	goto sleep;
#endif
	if
	:: w == 0 && pinned > 0 -> goto withdraw
	:: else
	fi;
	if
#ifdef M_EMPTYNOLOOK
	:: !(bare & 1) && inbox > 0 -> goto withdraw
#else
	:: SEEN_INBOX > 0 -> goto withdraw
#endif
	:: else
	fi;
#if BACK > 0 && !defined(M_NOBACK)
	if
	:: backlog > 0 -> goto withdraw
	:: else
	fi;
#endif
	v = 0;
	do
	:: v < WORKERS && SEEN(v) && deque[v] > 0 -> v = 0; goto withdraw
	:: v < WORKERS && !(SEEN(v) && deque[v] > 0) -> v++
	:: atomic { v == WORKERS -> v = 0; break }
	od;

sleep:
	parked[w] = !timed;
end_asleep:
	if
	:: atomic { token[w] -> parked[w] = 0; timed = 0 }
	:: atomic { timed && !token[w] -> timed = 0 };
		/* the time has passed: make others' stores visible */
#ifndef M_NOBARRIER
		(held[0] == 0);
		(held[1] == 0);
#if WORKERS > 2
		(held[2] == 0);
#endif
#endif
#ifdef M_STALEBIT
		if
		:: SEEN_INBOX + SEEN_DEQUES > 0 ->
			atomic { sleepers--; searchers++; searching = 1 };
			goto search
		:: else
		fi;
#endif
		goto look
	fi;

withdraw:
	timed = 0;
	(ANNOUNCED(w));
#ifdef M_PLAINCLEAR
	bits = bits & ~BIT(w);
	bare = bare & ~BIT(w);
	own = 1;
#else
	atomic {
		own = (bits & BIT(w)) != 0;
		bits = bits & ~BIT(w);
#ifndef M_STAYEMPTY
		bare = bare & ~BIT(w)
#endif
	};
#endif
	if
	:: own ->
		own = 0;
#ifdef M_NORESPIN
		atomic { COUNTED(sleepers > 0); sleepers-- };
		goto start
#else
		atomic { COUNTED(sleepers > 0); sleepers--; searchers++ }
#endif
	:: else ->
#ifndef M_NOAWAIT
		(token[w])
#else
		skip
#endif
	fi;
	searching = 1;
	goto search;

found:
	atomic {
		COUNTED(searchers > 0);
		last = (searchers == 1);
		searchers--;
		searching = 0
	};
	/* fence */
#ifdef M_NOPASS
	if
	:: own -> last = 0
	:: else
	fi;
#endif
	own = 0;
#ifndef M_NOCHAIN
	if
#ifdef M_OWNINBOX
	:: last && SEEN_DEQUES + (w == 0 -> 0 : SEEN_INBOX) > 0 ->
		wake_one(j, snap, won)
#else
#ifdef M_BACKCHAIN
	:: last && SEEN_INBOX + SEEN_DEQUES > 0 -> wake_one(j, snap, won)
#else
	:: last && SEEN_INBOX + SEEN_DEQUES + backlog > 0 ->
		wake_one(j, snap, won)
#endif
#endif
	:: else
	fi;
#endif
	last = 0;

work:
	if
	:: goto start
	:: goto endless
	:: atomic { spawned < CHILDREN -> spawned++; held[w]++ }
		/* no fence: the push may still be held during this look */
		if
#ifdef M_TRUST
		:: HUNGRY ->
#else
		:: sleepers > 0 ->
#endif
			(held[w] == 0);		/* fence */
			wake_one(j, snap, won)
		:: else
		fi;
		goto work
	fi;

endless:
	assert(!(bits & BIT(w)));
end_endless:
	false
}

active proctype monitor()
{
	byte w;

end:	timeout ->
	assert(searchers == 0 && sleepers == PARKED);
	for (w : 0 .. WORKERS - 1) {
		assert(!parked[w] || ((bits & BIT(w)) && !token[w]));
		assert(!parked[w] || inbox + DEQUES + backlog == 0)
	}
	assert(!(parked[0] && pinned > 0))
}

init {
	byte i;

	atomic {
		for (i : 0 .. WORKERS - 1) {
			run worker(i)
		}
		i = 0;
		do
		:: i < TASKS -> run producer(); i++
		:: else -> break
		od;
		i = 0;
		do
		:: i < BACK -> run idler(); i++
		:: else -> break
		od;
		i = 0;
		do
		:: i < PINNED -> run waker(); i++
		:: else -> break
		od;
		i = 0
	}
}

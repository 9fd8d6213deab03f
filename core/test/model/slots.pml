/* SPDX-License-Identifier: Apache-2.0 */
/* slots.pml - schedulers share slots: no worker runs without one, none is lost,
 * and no end waits for a scheduler that keeps one.
 *
 * Models core/src/library/cpus/slots.c, cpus/shares.c and how idle.c, loop.c, start.c and
 * end.c call them. Scheduler 0 has the workers 0 and 1, scheduler 1 the
 * worker 2. A client of each sends TASKS tasks and releases its reference. With
 * FIBER worker 1 has a fiber that waits; a third thread makes it ready.
 *
 *	POLL	the first task of scheduler 0 continues, from safe point to safe
 *		point, until the fiber has run; scheduler 1 has no work
 *	GRIP	the first task of scheduler 1 has no safe point, and continues
 *		until scheduler 0, which has no work, has ended
 *	LAST	the first task of scheduler 1, if scheduler 0 then has no work any
 *		more, continues without a safe point until that one has ended
 *	CLOSING	the first task of scheduler 1 waits for the end of scheduler 0
 *
 * The gate is one step here, including the sweep: gate.pml models its steps.
 * Everything under the lock of the resources is one step, too. Any waiting
 * claim may get a slot, whatever its share; at a safe point any other waiting
 * claim may.
 *
 * Checked: a worker that runs or searches has a slot, and at most SLOTS do; all
 * tasks and the fiber run, all threads end, all slots are returned, and no thread
 * accesses the resources when no scheduler is left.
 *
 * Mutants, each of which must fail:
 *   M_KEEP       a worker sleeps with its slot
 *   M_NOCLOSE    the end does not reach those that wait for a slot
 *   M_NOMARK     it reaches those that wait, not those that begin to wait
 *   M_LOSTGRANT  it also reaches those that were granted one, but not notified
 *   M_INGATE     a worker enters the gate before it has a slot
 *   M_EXITKEEP   a worker that finds the end at the gate keeps its slot
 *   M_CLEARLATE  a worker clears its notification after it has queued
 *   M_NOROTATE   safe points ignore claims of the same scheduler
 *   M_STAYIN     a worker that yields between two tasks stays in the gate
 *   M_NOAWAIT    a worker that has yielded continues
 *   M_TWICE      a slot that is given to another is also free
 *   M_NOLEND     a waiter for another scheduler's end keeps its slot
 *   M_TOUCH      the sweeper releases the resources instead of the last one out
 */
#ifndef SLOTS
#define SLOTS 1
#endif
#ifndef TASKS
#define TASKS 1
#endif
#define WORKERS 3
#define HOME(w) ((w) / 2)

#if defined(GRIP)
#define SENDS(s) (s == 1)
#elif defined(POLL)
#define SENDS(s) (s == 0)
#else
#define SENDS(s) true
#endif

#define NONE    0
#define WAITING 1
#define HELD    2

#define NOTHING 0
#define GRANTED 1
#define ENDED   2

byte free_slots = SLOTS, running;
byte claim[WORKERS], told[WORKERS];
byte waiting[2];			/* claims, per scheduler */
bool closed[2];
byte users = 2;				/* users of the resources */

byte refs[2], within[2];		/* the gate */
bool done[2];
byte inside[2];				/* threads, + 1 until DONE */

byte tasks[2], ran[2];
bool inbox[WORKERS], blocked[WORKERS], fiber_ran;
bool asleep[WORKERS], token[WORKERS];	/* parking */
byte searchers[2];
bool blocked_once;

#define FREED(s) (inside[s] == 0)
#define USE      assert(users > 0)

/* --- parking ------------------------------------------------------------- */

inline rouse(v)
{
	if
	:: asleep[v] -> asleep[v] = false; searchers[HOME(v)]++; token[v] = true
	:: else
	fi
}

/* For work that any worker of scheduler x may do. */
inline wake_one(x)
{
	atomic {
		if
		:: searchers[x] > 0
		:: else ->
			if
			:: asleep[x * 2] -> rouse(x * 2)
			:: !asleep[x * 2] && x == 0 -> rouse(1)
			:: else
			fi
		fi
	}
}

inline withdraw()
{
	if
	:: atomic { asleep[w] -> asleep[w] = false; searchers[s]++ }
	:: atomic { !asleep[w] && token[w] -> token[w] = false }
	fi
}

/* --- slots --------------------------------------------------------------- */

/* Some claim except w's gets the available slot: `to`; WORKERS: none does. */
inline pick(same)
{
	if
	:: claim[0] == WAITING && w != 0 && (same || s != 0) -> to = 0
	:: claim[1] == WAITING && w != 1 && (same || s != 0) -> to = 1
	:: claim[2] == WAITING && w != 2 -> to = 2
	:: else -> to = WORKERS
	fi;
	if
	:: to < WORKERS -> claim[to] = HELD; waiting[HOME(to)]--
	:: else
	fi
}

inline tell()
{
	if
	:: to < WORKERS ->
		assert(told[to] == NOTHING);
		told[to] = GRANTED;
		to = WORKERS
	:: else
	fi
}

inline await()
{
	atomic {
		told[w] != NOTHING;
		ok = told[w] == GRANTED;
		told[w] = NOTHING
	}
}

/* Afterwards `ok`: w has a slot. */
inline take()
{
	ok = true;
	if
	:: claim[w] == HELD
	:: else ->
#ifndef M_CLEARLATE
		told[w] = NOTHING;
#endif
		atomic {
			USE;
			if
			:: closed[s] -> ok = false; queued = false
			:: !closed[s] && free_slots > 0 ->
				free_slots--;
				claim[w] = HELD;
				queued = false
			:: else ->
				claim[w] = WAITING;
				waiting[s]++;
				queued = true
			fi
		};
#ifdef M_CLEARLATE
		told[w] = NOTHING;
#endif
		if
		:: queued -> queued = false; await()
		:: else
		fi
	fi
}

inline give()
{
	if
	:: claim[w] == HELD ->
		atomic {
			USE;
			claim[w] = NONE;
			pick(true);
			if
			:: to == WORKERS -> free_slots++
			:: else
#ifdef M_TWICE
				-> free_slots++
#endif
			fi
		};
		tell()
	:: else
	fi
}

#ifdef M_NOROTATE
#define OTHERS (waiting[1 - s] > 0)
#define SAME   false
#else
#define OTHERS (waiting[0] + waiting[1] > 0)
#define SAME   true
#endif

/* Let a waiting claim have the slot. In a task. */
inline yield()
{
	told[w] = NOTHING;
	atomic {
		USE;
		pick(SAME);
		if
		:: to < WORKERS -> claim[w] = WAITING; waiting[s]++
		:: else
		fi
	};
	if
	:: to < WORKERS ->
		tell();
#ifndef M_NOAWAIT
		await();
		assert(ok)
#endif
	:: else
	fi
}

/* --- the end ------------------------------------------------------------- */

/* x's gate may be empty: sweep. `ok`: it has ended, and the caller must handle
 * that. */
inline sweep(x)
{
	ok = refs[x] == 0 && within[x] == 0 && !done[x] && tasks[x] == 0;
	if
	:: x == 0 -> ok = ok && !inbox[0] && !inbox[1] && !blocked[1]
	:: else
	fi;
	done[x] = done[x] || ok
}

inline step_out(x)
{
	atomic {
		assert(inside[x] > 0);
		inside[x]--;
#ifndef M_TOUCH
		if
		:: inside[x] == 0 ->
			assert(waiting[x] == 0);
			USE;
			users--
		:: else
		fi
#endif
	}
}

inline drop(v)
{
	if
#ifdef M_LOSTGRANT
	:: claim[v] == HELD && told[v] == NOTHING && !asleep[v] && !token[v] ->
		told[v] = ENDED; claim[v] = NONE
#endif
	:: claim[v] == WAITING ->
		claim[v] = NONE; waiting[HOME(v)]--; told[v] = ENDED
	:: else
	fi
}

/* The steps after a sweep that has found the end. */
inline complete(x)
{
	if
	:: ok ->
		atomic {
			rouse(x * 2);
			if
			:: x == 0 -> rouse(1)
			:: else
			fi
		};
#ifndef M_NOCLOSE
		atomic {
			USE;
#ifndef M_NOMARK
			closed[x] = true;
#endif
			drop(x * 2);
			if
			:: x == 0 -> drop(1)
			:: else
			fi
		};
#endif
#ifdef M_TOUCH
		users--;
#endif
		step_out(x)
	:: else
	fi
}

/* --- processes ----------------------------------------------------------- */

#define HAS_SLOT assert(claim[w] == HELD && told[w] == NOTHING)

/* The fiber of w, which is ready. */
inline resume()
{
	HAS_SLOT;
	atomic {
		inbox[w] = false;
		fiber_ran = true;
		blocked[w] = false
	}
}

/* One task, which was taken. */
inline run_task()
{
	HAS_SLOT;
	atomic { running++; assert(running <= SLOTS) };
	running--;
#ifdef POLL
	if
	:: s == 0 && ran[0] == 0 ->
		do
		:: fiber_ran -> break
		:: !fiber_ran && inbox[w] -> resume()
		:: !fiber_ran && !inbox[w] && OTHERS ->
			yield();
			HAS_SLOT
		od
	:: else
	fi;
#endif
#ifdef GRIP
	if
	:: s == 1 && ran[1] == 0 -> FREED(0)
	:: else
	fi;
#endif
#ifdef LAST
	if
	:: s == 1 && ran[1] == 0 && ran[0] == TASKS && !inbox[0] && !inbox[1] ->
		FREED(0)
	:: else
	fi;
#endif
#ifdef CLOSING
	if
	:: s == 1 && ran[1] == 0 ->
#ifndef M_NOLEND
		give();
#endif
		FREED(0);
		take();
		assert(ok)
	:: else
	fi;
#endif
	ran[s]++
}

inline leave_gate()
{
	atomic { within[s]--; sweep(s) };
	complete(s)
}

/* `ok`: w is active, with a slot. Else it has none. */
inline enter()
{
#ifdef M_INGATE
	atomic {
		ok = !done[s];
		within[s] = within[s] + ok
	};
	if
	:: ok -> take()
	:: else
	fi
#else
	take();
	if
	:: ok ->
		atomic {
			ok = !done[s];
			within[s] = within[s] + ok
		};
		if
		:: ok
#ifdef M_EXITKEEP
		:: else
#else
		:: else -> give()
#endif
		fi
	:: else
	fi
#endif
}

/* The same between two tasks, and in a search. `ok`: w is active, with a slot.
 * Else the scheduler has ended. */
inline yield_between()
{
	told[w] = NOTHING;
	atomic {
		USE;
		pick(SAME);
		if
		:: to < WORKERS -> claim[w] = WAITING; waiting[s]++
		:: else
		fi
	};
	if
	:: to < WORKERS ->
		tell();
#if defined(M_STAYIN)
		await();
#elif !defined(M_NOAWAIT)
		leave_gate();
		await();
		if
		:: ok -> enter()
		:: else
		fi
#else
		ok = true
#endif
	:: else -> ok = true
	fi
}

inline safe_point()
{
	if
	:: OTHERS -> yield_between()
	:: ok = true
	fi
}

proctype worker(byte w)
{
	byte s = HOME(w);
	byte to = WORKERS;
	bool ok, last, queued;

	withdraw();
	enter();
	if
	:: !ok -> goto gone
	:: else -> ok = false
	fi;
search:
	HAS_SLOT;
	if
	:: atomic { inbox[w] -> searchers[s]-- };
		resume()
	:: atomic { !inbox[w] && tasks[s] > 0 ->
		tasks[s]--;
		searchers[s]--;
		last = searchers[s] == 0 && tasks[s] > 0 };
		if
		:: last -> last = false; wake_one(s)
		:: else
		fi;
		run_task();
		safe_point();
		if
		:: !ok -> goto gone
		:: else -> ok = false
		fi
	:: atomic { !inbox[w] && tasks[s] == 0 ->
		assert(!token[w]);
		asleep[w] = true;
		searchers[s]-- };
		goto park
	fi;
	searchers[s]++;
	goto search;
park:
	if
	:: tasks[s] > 0 || inbox[w] ->
		withdraw();
		safe_point();
		if
		:: !ok -> goto gone
		:: else -> ok = false; goto search
		fi
	:: else
	fi;
	leave_gate();
#ifndef M_KEEP
	give();
#endif
	token[w];
	withdraw();
	enter();
	if
	:: ok -> ok = false; goto search
	:: else
	fi;
gone:
	step_out(s)
}

proctype client(byte s)
{
	bool ok;
	byte i;

	do
	:: i < TASKS && SENDS(s) -> tasks[s]++; wake_one(s); i++
	:: else -> break
	od;
	atomic { refs[s]--; sweep(s) };
	complete(s)
}

/* Wakes the fiber; a reference of its own keeps the scheduler alive. */
proctype notifier()
{
	bool ok;

	inbox[1] = true;
	atomic { rouse(1) };
	atomic { refs[0]--; sweep(0) };
	complete(0)
}

active proctype monitor()
{
end:	timeout ->
	assert(done[0] && done[1] && FREED(0) && FREED(1));
	assert(ran[0] == SENDS(0) * TASKS && ran[1] == SENDS(1) * TASKS);
	assert(free_slots == SLOTS && waiting[0] + waiting[1] == 0);
	assert(users == 0 && fiber_ran == blocked_once)
}

init {
	atomic {
		refs[0] = 1;
		refs[1] = 1;
		inside[0] = 3;
		inside[1] = 2;
		asleep[0] = true;
		asleep[1] = true;
		asleep[2] = true;
#ifdef FIBER
		refs[0] = 2;
		blocked[1] = true;
		blocked_once = true;
		run notifier();
#endif
		run worker(0);
		run worker(1);
		run worker(2);
		run client(0);
		run client(1)
	}
}

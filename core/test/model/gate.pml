/* SPDX-License-Identifier: Apache-2.0 */
/* gate.pml - a scheduler ends once, when all is done, and not before.
 *
 * Models core/src/kernel/park/gate.c and core/src/kernel/life/end.c. The word {refs, awake,
 * SUSPENDED, DONE, DIRTY} changes by compare-and-swap, one atomic step here.
 * Two workers leave when they park and enter when they wake. Parking itself is
 * coarse here, see park.pml. A fiber counts in its worker's `blocked` from
 * before it waits until it runs again; only that worker changes the count. A
 * foreign schedule or notify takes a reference before it publishes and releases
 * it after it has woken a worker. `inside` counts the threads that may still
 * access the scheduler.
 *
 * The client holds a reference, queues PLAIN tasks, BLOCKING tasks (each waits
 * once, for a foreign notifier) and PASSING tasks (each takes a reference for a
 * foreign thread, which queues one more task and releases it), then releases
 * its own.
 *   TASKREL     a plain task releases the client's reference instead
 *   LATE        a thread that only keeps the memory alive tries to retain at
 *               any time, and then queues a task
 *   WAITED      the client waits for the end, with a deadline
 *   TIMED       worker 0 may end one sleep without a wake
 *   START_LATE  worker 1 is inactive until a push finds no worker asleep and
 *               starts it; it may retire whenever it has no fibers
 *               (core/src/kernel/life/worker_threads.c; the old thread's last steps come
 *               before the next thread here)
 *
 * Checked: DONE only with nothing queued, running or blocked and no reference;
 * no step accesses the scheduler after it is freed; it is freed and the client
 * is notified exactly once. At quiescence it is freed: no thread waits at the
 * gate, no task is left, and the end was not missed.
 *
 * Mutants, each of which must fail (with the configuration that run.sh names):
 *   M_NORELDIRTY  release: does not set DIRTY while SUSPENDED
 *   M_SPLIT       leave: counts down, then sets SUSPENDED in a second CAS
 *   M_NOPINPUSH   schedule: takes no reference
 *   M_NOPIN       notify: takes no reference
 *   M_NOREFS      settle: does not check the counts
 *   M_NOWAKE      settle: a rollback does not wake sleepers at the gate
 *   M_NOBLOCKED   sweep: does not check the blocked fibers
 *   M_NOINBOX     sweep: does not check the queued tasks
 *   M_ENTSUSP     enter: does not check SUSPENDED
 *   M_TOUCH       the sweeper that completed looks again after it stepped out
 *   M_NOINSIDE    the sweeper does not count itself inside
 *   M_REREAD      the sweeper reads DONE again instead of its CAS's result
 *   M_RETDONE     retain: does not check DONE
 *   M_STILLWAITED a client that has its reference back still says it waits
 *   M_STARTLATE   start: the new thread enters and counts itself, instead of
 *                 its starter
 *   M_STARTDONE   start: after the reference was released
 *   M_NOPASSON    retire: does not pass its wake on
 *   M_RETIREIN    retire: does not leave the gate
 * Without effect in this protocol, and so must pass:
 *   B_NOENTDIRTY  enter: does not set DIRTY.  An active worker publishes all
 *                 work, or it is published under a reference whose release
 *                 sets DIRTY.
 */
#ifndef PLAIN
#define PLAIN 0
#endif
#ifndef BLOCKING
#define BLOCKING 0
#endif
#ifndef PASSING
#define PASSING 0
#endif
#ifndef WORKERS
#define WORKERS 2
#endif

#ifdef START_LATE
#define FIRST 1		/* workers that begin with a thread */
#else
#define FIRST WORKERS
#endif

byte refs = 1, awake = FIRST;		/* the word */
bool SUSPENDED, DONE, DIRTY;		/* the word */
byte epoch;				/* ends of suspensions */
byte inside = FIRST + 1;
bool starting, present;			/* the lock; whether worker 1 has a
					 * thread */
byte over;				/* 0 alone, 1 waited for, 2 reached */

byte plain, blocking, passing;		/* queued tasks */
byte fibers[WORKERS], blocked[WORKERS], waiting[WORKERS];
bool asleep[WORKERS], token[WORKERS];
byte passed;				/* references passed to friend() */

byte running, sweepers, told;		/* ghosts */
bool cleared, freed, dropped;		/* ghosts */

#define USE assert(!freed)
#define NO_TASKS (plain + blocking + passing == 0)
#if WORKERS > 2
#define NO_FIBERS (fibers[0] + fibers[1] + fibers[2] == 0)
#define NO_BLOCKED (blocked[0] + blocked[1] + blocked[2] == 0)
#define NO_WAITING (waiting[0] + waiting[1] + waiting[2] == 0)
#define NO_SLEEPER (!asleep[0] && !asleep[1] && !asleep[2])
#else
#define NO_FIBERS (fibers[0] + fibers[1] == 0)
#define NO_BLOCKED (blocked[0] + blocked[1] == 0)
#define NO_WAITING (waiting[0] + waiting[1] == 0)
#define NO_SLEEPER (!asleep[0] && !asleep[1])
#endif

inline step_out()
{
	atomic {
		USE;
		assert(inside > 0);
		inside--;
		last = (inside == 0)
	};
	if
	:: last ->
		last = 0;
		atomic {
			USE;
			assert(DONE && !cleared);
			cleared = 1;
			told++;
			assert(told == 1)
		};
		atomic {
			USE;
			if
			:: over == 1 -> over = 2	/* the client frees */
			:: else -> freed = 1
			fi
		}
	:: else
	fi
}

inline sweep()
{
#ifndef M_NOINSIDE
	atomic { USE; inside++ };
#endif
	do
	:: found = 0;
#ifndef M_NOBLOCKED
		atomic {
			USE;
			if
			:: !NO_BLOCKED -> found = 1
			:: else
			fi
		};
#endif
		atomic {
			USE;
			if
			:: !NO_FIBERS -> found = 1
			:: else
			fi
		};
#ifndef M_NOINBOX
		atomic {
			USE;
			if
			:: !NO_TASKS -> found = 1
			:: else
			fi
		};
#endif
		atomic {
			USE;
			assert(SUSPENDED && !DONE && sweepers == 1);
			if
			:: DIRTY -> DIRTY = 0; found = 0
#ifdef M_NOREFS
			:: !DIRTY && found ->
#else
			:: !DIRTY && (found || refs + awake > 0) ->
#endif
				SUSPENDED = 0;
				sweepers--;
				found = 0;
				break
			:: else ->
				assert(NO_TASKS && NO_FIBERS && NO_BLOCKED);
				assert(running == 0 && refs == 0 && awake == 0);
				SUSPENDED = 0;
				DONE = 1;
				sweepers--;
				completed = 1;
				break
			fi
		}
	od;
#ifdef M_NOWAKE
	if
	:: completed -> atomic { USE; epoch++ }
	:: else
	fi;
#else
	atomic { USE; epoch++ };
#endif
#ifdef M_REREAD
	completed = DONE;
#endif
	if
	:: completed ->
		atomic { USE; wake(0) };
		atomic { USE; wake(1) };
#if WORKERS > 2
		atomic { USE; wake(2) };
#endif
		step_out()
	:: else
	fi;
#ifndef M_NOINSIDE
	step_out();
#endif
#ifdef M_TOUCH
	if
	:: completed -> USE
	:: else
	fi;
#endif
	completed = 0
}

inline wake(j)
{
	if
	:: asleep[j] -> asleep[j] = 0; token[j] = 1
	:: else
	fi
}

inline wake_one()
{
	atomic {
		USE;
		if
		:: asleep[0] -> asleep[0] = 0; token[0] = 1
		:: asleep[1] -> asleep[1] = 0; token[1] = 1
#if WORKERS > 2
		:: asleep[2] -> asleep[2] = 0; token[2] = 1
#endif
		:: NO_SLEEPER
		fi
	}
}

inline leave()
{
	atomic {
		USE;
		assert(awake > 0);
		awake--;
		mine = 0;
		if
		:: refs + awake == 0 && !DONE ->
#ifdef M_SPLIT
			mine = 1
#else
			assert(!SUSPENDED);
			SUSPENDED = 1;
			sweepers++;
			mine = 1
#endif
		:: else
		fi
	};
#ifdef M_SPLIT
	if
	:: mine -> atomic {
		USE;
		if
		:: refs + awake == 0 && !SUSPENDED -> SUSPENDED = 1; sweepers++
		:: else -> mine = 0
		fi }
	:: else
	fi;
#endif
	if
	:: mine -> mine = 0; sweep()
	:: else
	fi
}

inline retain(ok)
{
	atomic {
		USE;
#ifdef M_RETDONE
		refs++;
		ok = 1
#else
		ok = !DONE;
		if
		:: ok -> refs++
		:: else
		fi
#endif
	}
}

inline release()
{
	atomic {
		USE;
		assert(refs > 0);
		refs--;
		mine = 0;
		if
		:: refs + awake == 0 && !DONE && !SUSPENDED ->
			SUSPENDED = 1;
			sweepers++;
			mine = 1
		:: refs + awake == 0 && !DONE && SUSPENDED ->
#ifndef M_NORELDIRTY
			DIRTY = 1
#else
			skip
#endif
		:: else
		fi
	};
	if
	:: mine -> mine = 0; sweep()
	:: else
	fi
}

inline enter()
{
	do
	:: atomic { USE; e = epoch };
		atomic {
			USE;
			if
			:: DONE -> ok = 0; e = 0; break
#ifdef M_ENTSUSP
			:: else -> awake++; ok = 1; e = 0; break
#else
			:: !DONE && !SUSPENDED -> awake++; ok = 1; e = 0; break
#ifdef B_NOENTDIRTY
			:: !DONE && SUSPENDED
#else
			:: !DONE && SUSPENDED -> DIRTY = 1
#endif
#endif
			fi
		};
		(epoch != e)
	od
}

/* For a push that finds no worker to wake. The lock is held during the check of
 * the gate. */
inline start()
{
#ifdef START_LATE
	atomic {
		USE;
		mine = (!present && !starting && !asleep[0]);
		if
		:: mine -> starting = 1
		:: else
		fi
	};
	if
	:: mine ->
		mine = 0;
#ifdef M_STARTLATE
		ok = 1;
#else
		enter();
		assert(ok);
		atomic { USE; inside++ };
#endif
		atomic { USE; present = 1; starting = 0 }
	:: else
	fi
#else
	skip
#endif
}

/* A foreign schedule. */
inline push(q)
{
#ifndef M_NOPINPUSH
	retain(ok);
	assert(ok);
#endif
	atomic { USE; assert(!DONE); q++ };
	wake_one();
#ifndef M_STARTDONE
	start();
#endif
#ifndef M_NOPINPUSH
	release();
#endif
#ifdef M_STARTDONE
	start();
#endif
	skip
}

#define LOCALS bool mine, found, completed, last, ok; byte e

proctype worker(byte w)
{
	LOCALS;
	byte unwoken;

#ifdef TIMED
	unwoken = (w == 0);
#endif
#ifdef START_LATE
inactive:
	if
	:: w == 0
	:: else ->
end:		present;
#ifdef M_STARTLATE
		atomic { USE; inside++ };
		enter();
		if
		:: ok -> ok = 0
		:: else -> goto ended
		fi
#endif
	fi;
#endif
	do
#ifdef START_LATE
	:: atomic { w == 1 && fibers[1] + blocked[1] == 0 -> USE };
#ifndef M_NOPASSON
		wake_one();
#endif
		atomic { USE; present = 0 };
#ifndef M_RETIREIN
		leave();
#endif
		step_out();
		goto inactive
#endif
	:: atomic { fibers[w] > 0 -> USE; fibers[w]--; running++ };
		atomic { USE; assert(blocked[w] > 0); blocked[w]-- };
		running--
	:: atomic { plain > 0 -> USE; plain--; running++ };
#ifdef TASKREL
		if
		:: !dropped ->
			dropped = 1;
			release()
		:: else
		fi;
#endif
		running--
	:: atomic { blocking > 0 -> USE; blocking--; running++ };
		atomic { USE; blocked[w]++ };
		atomic { USE; waiting[w]++; running-- }
	:: atomic { passing > 0 -> USE; passing--; running++ };
		retain(ok);
		assert(ok);
		atomic { passed++; running-- }
	:: atomic { NO_TASKS && fibers[w] == 0 -> USE; asleep[w] = 1 };
		leave();
		if
		:: atomic { token[w] -> token[w] = 0 }
		:: atomic { unwoken > 0 && !token[w] -> unwoken-- }
		fi;
		enter();
		if
		:: ok -> atomic { USE; asleep[w] = 0; ok = 0 }
		:: else -> break
		fi
	od;
ended:	step_out()
}

active proctype client()
{
	LOCALS;
	byte n;
	bool kept;

	do
	:: n < PLAIN -> push(plain); n++
	:: else -> n = 0; break
	od;
	do
	:: n < BLOCKING -> push(blocking); n++
	:: else -> n = 0; break
	od;
	do
	:: n < PASSING -> push(passing); n++
	:: else -> n = 0; break
	od;
#ifdef WAITED
	over = 1;
	release();
	if
	:: over == 2
	:: retain(kept)	/* the deadline */
	fi;
	if
	:: kept ->
		atomic {
			USE;
			assert(over == 1);
#ifndef M_STILLWAITED
			over = 0
#endif
		};
		release()
	:: else ->
		atomic { over == 2 -> USE; assert(cleared); freed = 1 }
	fi
#elif !defined(TASKREL)
	release()
#endif
}

/* Gets a reference from a passing task. */
active proctype friend()
{
	LOCALS;

end:	do
	:: atomic { passed > 0 -> passed-- };
		push(plain);
		release()
	od
}

/* Notifies waiting fibers. */
active proctype notifier()
{
	LOCALS;
	byte w;

end:	do
	:: atomic {
		!NO_WAITING ->
		USE;
		if
		:: waiting[0] > 0 -> w = 0
		:: waiting[1] > 0 -> w = 1
#if WORKERS > 2
		:: waiting[2] > 0 -> w = 2
#endif
		fi;
		waiting[w]--
	};
#ifndef M_NOPIN
		retain(ok);
		assert(ok);
#endif
		atomic { USE; fibers[w]++ };
		atomic { USE; wake(w) };
#ifndef M_NOPIN
		release();
#endif
		w = 0
	od
}

#ifdef LATE
active proctype latecomer()
{
	LOCALS;

	retain(ok);
	if
	:: ok -> push(plain); release()
	:: else
	fi;
	step_out()
}
#endif

active proctype monitor()
{
end:	timeout -> assert(freed && told == 1 && inside == 0);
	assert(NO_TASKS && NO_FIBERS && NO_BLOCKED && passed == 0)
}

init {
	atomic {
#ifdef LATE
		inside++;
#endif
		run worker(0);
		run worker(1);
#if WORKERS > 2
		run worker(2)
#endif
	}
}

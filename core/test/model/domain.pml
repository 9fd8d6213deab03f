/* SPDX-License-Identifier: Apache-2.0 */
/* domain.pml - a domain ends once, when everything that belongs to it is done,
 * although its tasks share no count.
 *
 * Models core/src/library/group/domain.c with the gate of core/src/kernel/park/gate.c, and the part of
 * core/src/kernel/sched/run_task.c that runs a domain's tasks. The word of the gate {refs,
 * act, SUSPENDED, DONE, DIRTY} changes by compare-and-swap, one atomic step
 * here. Each worker counts for itself: `balance` is the number of tasks it has
 * sent minus the number that have ended there; `here` is the number it has
 * started that have not ended. It enters the gate when `here` becomes one and
 * leaves when it becomes zero. Queues hold tasks of any kind, and any worker
 * takes from them.
 *
 * The client sends from outside: PLAIN tasks, which do nothing; PARENT tasks,
 * which send a plain one; WAITING tasks, which leave their worker to others and
 * continue there later; PASSING tasks, which take a reference for an outside
 * thread, which sends a plain task and releases it; OPENING tasks, which wait
 * until a member of a group has run on any worker and has sent a plain task.
 * Then the client releases its reference; with TASKREL a plain task does so
 * instead.
 *
 * Checked: the domain completes only when nothing is queued, started or
 * waiting, there is no reference, and no worker is active; no step accesses it
 * after it is freed; its owner is notified once. At quiescence the owner has
 * been notified.
 *
 * Mutants, each of which must fail (with the configuration that run.sh names):
 *   M_COUNTLATE   sending: counts after the task can be found
 *   M_OFFLATE     ending: leaves the gate before it counts the end
 *   M_NOENTER     starting: does not enter the gate
 *   M_EACH        leaves with each task that ends, even if others have started
 *   M_NOSUM       sweep: does not check the counts of workers
 *   M_NOWAKE      settle: a rollback does not wake sleepers at the gate
 *   M_NOINSIDE    the sweeper does not count itself inside
 * Without effect here, and so must pass; gate.pml shows what they are for.  A
 * domain has no weak handles: no thread can retain it during a sweep, and a worker
 * that enters and leaves again sets DIRTY when it leaves.
 *   B_ENTSUSP     entering: does not check SUSPENDED
 *   B_NOREFS      settle: does not check references and active workers
 *   B_NORELDIRTY  leaving, releasing: does not set DIRTY while SUSPENDED
 */
#ifndef PLAIN
#define PLAIN 0
#endif
#ifndef PARENT
#define PARENT 0
#endif
#ifndef WAITING
#define WAITING 0
#endif
#ifndef PASSING
#define PASSING 0
#endif
#ifndef OPENING
#define OPENING 0
#endif

byte refs = 1, act;			/* the word */
bool SUSPENDED, DONE, DIRTY;		/* the word */
byte epoch;
byte inside = 1;
short balance[2], others;
byte here[2];

byte plain, parent, waiting, passing, opening, members;	/* queues */
byte away[2], open[2], ready[2];	/* waiting fibers, by their worker */
byte passed;				/* references passed to friend() */

byte sweepers, told, started;		/* ghosts */
bool freed, dropped;			/* ghosts */

#define USE assert(!freed)
#define NO_TASKS (plain + parent + waiting + passing + opening == 0)

inline step_out()
{
	atomic {
		USE;
		inside--;
		last = (inside == 0)
	};
	if
	:: last -> atomic {
		assert(DONE && !freed);
		freed = 1;
		told++;
		last = 0 }
	:: else
	fi
}

inline sweep()
{
#ifndef M_NOINSIDE
	atomic { USE; inside++ };
#endif
	do
	:: atomic { USE; sum = others };
#ifndef M_NOSUM
		atomic { USE; sum = sum + balance[0] };
		atomic { USE; sum = sum + balance[1] };
#endif
		atomic {
			USE;
			assert(SUSPENDED && !DONE && sweepers == 1);
			if
			:: DIRTY -> DIRTY = 0
#ifdef B_NOREFS
			:: !DIRTY && sum != 0 ->
#else
			:: !DIRTY && (sum != 0 || refs + act > 0) ->
#endif
				SUSPENDED = 0;
				sweepers--;
				break
			:: else ->
				assert(NO_TASKS && started == 0 && members == 0);
				assert(refs == 0 && act == 0 && passed == 0);
				SUSPENDED = 0;
				DONE = 1;
				sweepers--;
				completed = 1;
				break
			fi
		}
	od;
	sum = 0;
#ifdef M_NOWAKE
	if
	:: completed -> atomic { USE; epoch++ }
	:: else
	fi;
#else
	atomic { USE; epoch++ };
#endif
	if
	:: completed -> completed = 0; step_out()
	:: else
	fi;
#ifndef M_NOINSIDE
	step_out()
#endif
}

inline step_down(count)
{
	atomic {
		USE;
		assert(count > 0);
		count--;
		mine = 0;
		if
		:: refs + act == 0 && !DONE && !SUSPENDED ->
			SUSPENDED = 1;
			sweepers++;
			mine = 1
		:: refs + act == 0 && !DONE && SUSPENDED ->
#ifndef B_NORELDIRTY
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
			assert(!DONE);
			if
#ifdef B_ENTSUSP
			:: act++; e = 0; break
#else
			:: !SUSPENDED -> act++; e = 0; break
			:: SUSPENDED -> DIRTY = 1
#endif
			fi
		};
		(epoch != e)
	od
}

/* A task of the queue q starts on worker w. */
inline start()
{
	if
	:: here[w] == 0 ->
#ifndef M_NOENTER
		enter();
#endif
		skip
	:: else
	fi;
	atomic { USE; here[w]++ }
}

inline send(count)
{
#ifdef M_COUNTLATE
	atomic { USE; plain++ };
	atomic { USE; count++ }
#else
	atomic { USE; count++ };
	atomic { USE; plain++ }
#endif
}

/* A task that ran on w has returned. */
inline end_task()
{
	atomic { started-- };
#ifndef M_OFFLATE
	atomic { USE; balance[w]-- };
#endif
	atomic { USE; here[w]-- };
	if
#ifdef M_EACH
	:: act > 0 -> step_down(act)
#else
#ifdef M_NOENTER
	:: here[w] == 0 && act > 0 -> step_down(act)
#else
	:: here[w] == 0 -> step_down(act)
#endif
#endif
	:: else
	fi;
#ifdef M_OFFLATE
	atomic { USE; balance[w]-- }
#endif
	skip
}

#define LOCALS bool mine, completed, last; byte e; short sum

proctype worker(byte w)
{
	LOCALS;

end:	do
	:: atomic { plain > 0 -> plain--; started++ };
		start();
#ifdef TASKREL
		if
		:: !dropped -> dropped = 1; step_down(refs)
		:: else
		fi;
#endif
		end_task()
	:: atomic { parent > 0 -> parent--; started++ };
		start();
		send(balance[w]);
		end_task()
	:: atomic { waiting > 0 -> waiting--; started++ };
		start();
		away[w]++
	:: atomic { away[w] > 0 -> away[w]-- };
		end_task()
	:: atomic { passing > 0 -> passing--; started++ };
		start();
		atomic { USE; assert(!DONE); refs++ };
		passed++;
		end_task()
	:: atomic { opening > 0 -> opening--; started++ };
		start();
		atomic { open[w]++; members++ }
	:: atomic { members > 0 -> members-- };
		/* its opener waits */
		send(balance[w]);
		atomic {
			if
			:: open[0] > 0 -> open[0]--; ready[0]++
			:: else -> open[1]--; ready[1]++
			fi
		}
	:: atomic { ready[w] > 0 -> ready[w]-- };
		end_task()
	od
}

active proctype client()
{
	LOCALS;
	byte n;

	do
	:: n < PLAIN -> send(others); n++
	:: else -> break
	od;
	/* The others are counted and queued at once; this makes no
	 * difference. */
	atomic { others = others + PARENT; parent = PARENT };
	atomic { others = others + WAITING; waiting = WAITING };
	atomic { others = others + PASSING; passing = PASSING };
	atomic { others = others + OPENING; opening = OPENING };
#ifndef TASKREL
	step_down(refs)
#endif
}

active proctype friend()
{
	LOCALS;

end:	do
	:: atomic { passed > 0 -> passed-- };
		send(others);
		step_down(refs)
	od
}

active proctype monitor()
{
end:	timeout -> assert(freed && told == 1 && inside == 0);
	assert(NO_TASKS && started == 0 && members == 0 && passed == 0)
}

init {
	atomic {
		run worker(0);
		run worker(1)
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
/* end_count.pml - a scheduler that counts its tasks ends once, when all is done,
 * and not before.
 *
 * Models the builds with SENNIT_END=count: core/src/kernel/park/gate_count.c,
 * core/src/kernel/sched/place.h, and core/src/kernel/life/end.c. The word {refs,
 * tasks} changes by one atomic step. A task is counted from before it is queued
 * until it has ended, also while it waits. The thread that makes the word zero ends the
 * scheduler: it wakes all workers, and each leaves when it sees zero. Parking is
 * coarse here, see park.pml: a worker announces that it sleeps, looks once more,
 * and sleeps until it is woken. `inside` counts the threads that may still
 * access the scheduler: the workers, the one that ends it, and one more until
 * then.
 *
 * The client holds a reference, queues PLAIN tasks, PARENT tasks (each queues a
 * plain one), WAITING tasks (each waits once, for a foreign notifier) and
 * PASSING tasks (each takes a reference for a foreign thread, which queues one
 * more task and releases it), then releases its own.
 *   TASKREL     a plain task releases the client's reference instead
 *   LATE        a thread that only keeps the memory alive tries to retain at
 *               any time, and then queues a task
 *
 * Invariant: refs + tasks > 0 while anything is queued, runs or waits, and zero
 * is final. Memory edges: gate.zero (each step down to the one that makes zero,
 * to retain, and to a worker that sees the end), finalise.inside, park.sleep
 * (zero, then the look for sleepers; announced, then the look for zero).
 *
 * Checked: the word becomes zero once, with nothing queued, running or waiting;
 * no step accesses the scheduler after it is freed; it is freed once. At
 * quiescence it is freed.
 *
 * Mutants, each of which must fail:
 *   M_COUNTLATE  a task is counted after it is queued
 *   M_OFFEARLY   a task is counted off before its last step
 *   M_NOFIBER    a task that waits is not counted meanwhile
 *   M_TWOSTEPS   counts down, then looks whether all is zero
 *   M_RETZERO    retain: does not look for zero
 *   M_LOOKFIRST  a worker looks for the end, then announces its sleep
 *   M_NOWAKE     the thread that ends the scheduler wakes no worker
 *   M_NOKEPT     the thread that ends it is not counted as inside
 *   M_NOPIN      notify: takes no reference
 *   M_NOPINPUSH  schedule: takes no reference
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

#define WORKERS 2

byte refs = 1, tasks;		/* the word */
byte plain, parent, waiting, passing;	/* queued */
byte ready[WORKERS];
byte waits[WORKERS];		/* fibers that were not notified */
bool announced[WORKERS], token[WORKERS];
byte handed;			/* references for the foreign thread */
#ifdef M_NOKEPT
byte inside = WORKERS;
#else
byte inside = WORKERS + 1;
#endif

bool freed;			/* ghosts */
byte running, ended;

#define USE    assert(!freed)
#define ZERO   (refs + tasks == 0)
#define QUEUED (plain + parent + waiting + passing)
#define LEFT   (QUEUED + running + ready[0] + ready[1] + waits[0] + waits[1])

inline step_out()
{
	atomic {
		USE;
		inside--;
		if
		:: inside == 0 -> freed = 1
		:: else
		fi
	}
}

inline wake(k)
{
	atomic {
		USE;
		if
		:: announced[k] -> announced[k] = 0; token[k] = 1
		:: else
		fi
	}
}

inline wake_one()
{
	atomic {
		USE;
		if
		:: announced[0] -> announced[0] = 0; token[0] = 1
		:: !announced[0] && announced[1] ->
			announced[1] = 0; token[1] = 1
		:: else
		fi
	}
}

/* Count r references and t tasks down, and d running ones. */
inline down(r, t, d)
{
	atomic {
		USE;
		assert(refs >= r && tasks >= t);
		refs = refs - r;
		tasks = tasks - t;
		running = running - d;
#ifdef M_TWOSTEPS
	};
	atomic {
#endif
		last = ZERO;
		if
		:: last -> assert(LEFT == 0); ended++; assert(ended == 1)
		:: else
		fi
	};
	if
	:: last ->
#ifndef M_NOWAKE
		wake(0);
		wake(1);
#endif
#ifndef M_NOKEPT
		step_out();
#endif
		last = 0
	:: else
	fi
}

/* The caller holds a reference, or is a task. */
inline queue(kind)
{
#ifdef M_COUNTLATE
	atomic { USE; kind++ };
	atomic { USE; tasks++ };
#else
	atomic { USE; tasks++ };
	atomic { USE; kind++ };
#endif
	wake_one()
}

inline pin()
{
	atomic { USE; assert(!ZERO); refs++ }
}

proctype worker(byte i)
{
	bool last, seen, spawns, hands, drops;

	do
	:: atomic {
		USE;
		if
		:: ready[i] > 0 -> ready[i]--; running++
		:: plain > 0 -> plain--; running++;
#ifdef TASKREL
			drops = 1
#endif
		:: parent > 0 -> parent--; running++; spawns = 1
		:: passing > 0 -> passing--; running++; hands = 1
		:: waiting > 0 -> waiting--; waits[i]++;
#ifdef M_NOFIBER
			tasks--;
#endif
			goto next
		:: else -> goto idle
		fi };
#ifdef M_OFFEARLY
		down(0, 1, 0);
#endif
		if
		:: spawns -> spawns = 0; queue(plain)
		:: hands -> hands = 0; pin(); handed++
		:: drops -> drops = 0; down(1, 0, 0)
		:: else
		fi;
#ifdef M_OFFEARLY
		atomic { running-- };
#else
		down(0, 1, 1);
#endif
		goto next;
idle:
#ifdef M_LOOKFIRST
		atomic { USE; seen = QUEUED + ready[i] > 0 || ZERO };
		atomic { USE; announced[i] = 1 };
#else
		atomic { USE; announced[i] = 1 };
		atomic { USE; seen = QUEUED + ready[i] > 0 || ZERO };
#endif
		if
		:: seen ->
			atomic {
				if
				:: announced[i] -> announced[i] = 0
				:: else -> token[i] = 0
				fi
			}
		:: else -> atomic { token[i] -> token[i] = 0 }
		fi;
		atomic {
			USE;
			if
			:: ZERO -> break
			:: else
			fi
		};
next:		skip
	od;
	step_out()
}

proctype notifier()
{
	bool last;
	byte k;

	do
	:: atomic {
		waits[0] > 0 -> k = 0; USE
#ifndef M_NOPIN
		; assert(!ZERO); refs++
#endif
	};
		atomic { USE; waits[k]--; ready[k]++ };
		wake(k);
#ifndef M_NOPIN
		down(1, 0, 0)
#endif
	:: atomic {
		waits[1] > 0 -> k = 1; USE
#ifndef M_NOPIN
		; assert(!ZERO); refs++
#endif
	};
		atomic { USE; waits[k]--; ready[k]++ };
		wake(k);
#ifndef M_NOPIN
		down(1, 0, 0)
#endif
	:: atomic { freed -> break }
	od
}

proctype foreigner()
{
	bool last;

	do
	:: atomic { handed > 0 -> handed-- };
		queue(plain);
		down(1, 0, 0)
	:: atomic { freed -> break }
	od
}

/* Keeps the memory alive, but holds no reference. */
proctype late()
{
	bool last, ok;

	atomic {
		if
#ifdef M_RETZERO
		:: refs++; ok = 1
#else
		:: !ZERO -> refs++; ok = 1
		:: ZERO
#endif
		fi
	};
	if
	:: ok -> queue(plain); down(1, 0, 0)
	:: else
	fi
}

proctype client()
{
	bool last;
	byte n;

	n = 0;
	do
	:: n < PARENT -> queue(parent); n++
	:: n >= PARENT -> break
	od;
	n = 0;
	do
	:: n < WAITING -> queue(waiting); n++
	:: n >= WAITING -> break
	od;
	n = 0;
	do
	:: n < PASSING -> queue(passing); n++
	:: n >= PASSING -> break
	od;
	n = 0;
	do
	:: n < PLAIN ->
#ifndef M_NOPINPUSH
		pin();
#endif
		queue(plain);
#ifndef M_NOPINPUSH
		down(1, 0, 0);
#endif
		n++
	:: n >= PLAIN -> break
	od;
#ifndef TASKREL
	down(1, 0, 0)
#endif
}

active proctype monitor()
{
end:	timeout -> assert(freed && ended == 1 && LEFT == 0)
}

init {
	atomic {
		run worker(0);
		run worker(1);
		run client();
#if WAITING > 0
		run notifier();
#endif
#if PASSING > 0
		run foreigner();
#endif
#ifdef LATE
		run late()
#endif
	}
}

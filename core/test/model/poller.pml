/* SPDX-License-Identifier: Apache-2.0 */
/* poller.pml - a worker that sleeps in its poller: no wake and no completion is
 * lost.
 *
 * Stands for sleep_in_parking_poller(), await_token() and set_token() of
 * park/parking.c, as sched/idle.c calls them, and for what sennit/poller.h asks
 * of a poller. One worker; PINNED other threads that each make one of its
 * fibers ready and wake it if it has announced its sleep; OPS operations, which
 * the kernel completes when it likes.
 *
 * JOBS more are polled by a hook: hardware completes them without a notice,
 * and the sleep ends by the clock while some are left.
 *
 * `edge` is a wake that the poller has not seen (an event descriptor that is
 * edge-triggered); `kernel` completions lie in the kernel, `taken` in the
 * poller.  A look takes the edge as well, and the worker may pass over it.  The
 * first sleep may end by the clock.
 *
 * Checked when nothing can move any more: all fibers have run, and the worker
 * sleeps unclaimed.  Checked always: fibers are made ready inside the gate.
 *
 * Mutants, each of which must fail:
 *   M_NOWAKE     the thread that sets the token does not wake the poller
 *   M_FUTEX      ... wakes the token's futex instead
 *   M_WAKEFIRST  ... wakes the poller before the store
 *   M_DRAIN      the worker takes the edge between its look at the token and the
 *                sleep
 *   M_NOCOMPARE  a wake ends the sleep, and the worker sleeps again without a
 *                look at the token
 *   M_PLAIN      a claimed worker awaits its token in its futex
 *   M_DROP       a woken worker does not take what its sleep has found
 *   M_INSLEEP    the sleep makes fibers ready
 *   M_LOOKONLY   the sleep ends by a wake alone; completions wait for a look
 *   M_NOBOUND    the sleep is as long as without a hook
 *   M_BOUNDONCE  ... from the second sleep on
 *   M_ASKASLEEP  a sleeping worker polls the hook
 */
#ifndef PINNED
#define PINNED 2
#endif
#ifndef OPS
#define OPS 2
#endif
#ifndef JOBS
#define JOBS 0
#endif

bool announced, token, edge;
bool outside;			/* of the gate */
bool asleep;
bool plain;			/* the worker sleeps in its token's futex */
byte pinned, submitted = OPS, kernel, taken, done;
byte left = JOBS;		/* that the hook waits for */
byte begun = JOBS, device;	/* in the hardware: not complete, complete */

inline wake()
{
#ifdef M_FUTEX
	plain = 0
#elif defined(M_NOWAKE)
	skip
#else
	edge = 1
#endif
}

proctype waker()
{
	bool won;

	pinned++;			/* push, fence */
	atomic {
		won = announced;
		announced = 0
	};
	if
	:: won ->
#ifdef M_WAKEFIRST
		wake();
		token = 1
#else
		token = 1;
		wake()
#endif
	:: else
	fi
}

active proctype completions()
{
end:	do
	:: atomic { submitted > 0 -> submitted--; kernel++ }
	od
}

#if JOBS > 0
active proctype hardware()
{
end:	do
	:: atomic { begun > 0 -> begun--; device++ }
	od
}
#endif

inline ask()
{
	atomic {
		assert(!outside);
		done = done + device;
		left = left - device;
		device = 0
	}
}

inline look()
{
	atomic {
		taken = taken + kernel;
		kernel = 0;
		edge = 0
	}
}

inline complete()
{
	atomic {
		assert(!outside);
		done = done + taken;
		taken = 0
	}
}

active proctype worker()
{
	bool own, timed, slept;

loop:
	/* turn, peek or flush */
	if
	:: look()
	:: skip
	fi;
#ifdef M_DROP
	if
	:: taken = 0
	:: complete()
	fi;
#else
	complete();
#endif
	ask();
	if
	:: atomic { pinned > 0 -> pinned--; done++ }; goto loop
	:: else
	fi;
	token = 0;
	atomic { assert(!announced); announced = 1 };	/* announce, fence */
	if
	:: pinned > 0 -> goto withdraw
	:: else
	fi;
	outside = 1;
	timed = 1;
sleep:
	if
	:: token -> goto woken
	:: else
	fi;
#ifdef M_DRAIN
	edge = 0;
#endif
again:
	asleep = !timed;
end_asleep:
	if
#ifdef M_LOOKONLY
	:: atomic { edge -> asleep = 0; look() }
#else
	:: atomic { edge || kernel > 0 -> asleep = 0; look() }
#endif
	:: atomic { timed -> timed = 0 };
		if
		:: pinned > 0 -> goto woken
		:: else -> goto sleep
		fi
#ifdef M_BOUNDONCE
	:: atomic { left > 0 && !slept -> slept = 1; asleep = 0 }; goto woken
#elif !defined(M_NOBOUND)
	:: atomic { left > 0 -> asleep = 0 }; goto woken
#endif
	fi;
#ifdef M_ASKASLEEP
	ask();
#endif
#ifdef M_INSLEEP
	complete();
#endif
	if
	:: taken > 0 -> goto woken
#ifdef M_NOCOMPARE
	:: else -> goto again
#else
	:: else -> goto sleep
#endif
	fi;
woken:
	outside = 0;
withdraw:
	atomic {
		own = announced;
		announced = 0
	};
	if
	:: own -> own = 0
	:: else ->
#ifdef M_PLAIN
		atomic {
			if
			:: !token -> plain = 1
			:: else
			fi
		};
		(!plain)
#else
		(token)
#endif
	fi;
	timed = 0;
	goto loop
}

active proctype monitor()
{
end:	timeout ->
	assert(asleep && announced && !token);
	assert(pinned == 0 && kernel == 0 && taken == 0);
	assert(done == PINNED + OPS + JOBS)
}

init {
	byte i;

	atomic {
		do
		:: i < PINNED -> run waker(); i++
		:: else -> break
		od
	}
}

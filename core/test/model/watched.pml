/* SPDX-License-Identifier: Apache-2.0 */
/* watched.pml - a socket that a worker's epoll descriptor watches for good,
 * edge-triggered, while the program closes it and uses its number again.
 *
 * Stands for io/src/epoll/registration.h, io/src/epoll/registration.c, io/src/epoll/registration.c, and for what
 * io/src/engine/perform.c and io/src/epoll/epoll.c do with them. A worker with one fiber, which
 * receives two bytes from a connection of the library's, closes it by close()
 * or by sennit_close(), and receives one byte from what the number means next:
 * a connection of the library's, or a stranger that it knows nothing of.
 * Another process sends.
 *
 * The worker may look at the kernel at any time. It checks a watch only when
 * it has nothing else to do.
 *
 * Checked: all bytes are received; a wait on a connection of the library's, or
 * after a sennit_close(), needs no check.
 *
 * Mutants, each of which must fail:
 *   M_NOKEEP   an event that comes while no fiber waits is dropped
 *   M_NOUSE    a watch of an earlier use of the number is one of this use
 *   M_NOCHECK  a watch is never checked
 *   M_DRAINED  a receive that got all it had room for ends the event, too
 */
#define FIRST  0
#define SECOND 1

/* The kernel's. What is registered goes with what the number means. */
byte bytes, unsent;
bool registered, edge;
byte registered_use, edge_use;	/* use 0: armed for one event */

byte use = 1;			/* odd: the number is a known socket */
bool exact = 1;			/* ... as it is, or it is not known */

/* The worker's. */
byte watch_use;			/* 0: there is no watch */
bool may_hold;
bool got;			/* an event that is not yet taken */
byte got_use;
bool waiting, trusts, done;
byte phase;
byte missing;			/* bytes, in this phase */

active proctype sender()
{
end:	do
	:: atomic {
		unsent > 0 ->
		unsent--;
		bytes++;
		if
		:: registered -> edge = 1; edge_use = registered_use
		:: else
		fi
	   }
	od
}

#ifdef M_NOUSE
#define FOUND (use % 2 && watch_use)
#else
#define FOUND (use % 2 && watch_use == use)
#endif

/* EPOLL_CTL_ADD or EPOLL_CTL_MOD: what is there is reported. */
inline register(whose)
{
	registered = 1;
	registered_use = whose;
	edge = bytes > 0;
	edge_use = whose
}

inline begin_wait()
{
	waiting = 1;
	trusts = 0;
	if
	:: use % 2 == 0 -> register(0)
	:: else ->
		may_hold = 0;
		if
		:: FOUND -> trusts = 1
		:: else -> watch_use = use; register(use)
		fi
	fi
}

/* One byte at a time, which is short if there were no more. */
inline receive()
{
	if
	:: FOUND && !may_hold -> begin_wait()
	:: !(FOUND && !may_hold) && !bytes -> begin_wait()
	:: !(FOUND && !may_hold) && bytes ->
		bytes--;
		missing--;
#ifdef M_DRAINED
		may_hold = 0
#else
		if
		:: !bytes -> may_hold = 0
		:: else
		fi
#endif
	fi
}

inline close_and_open()
{
	registered = 0;
	edge = 0;
	if
	:: use++	/* sennit_close() */
	:: skip		/* close() */
	fi;
	if
	:: use = use + 1 + use % 2; exact = 1	/* accepted */
	:: exact = use % 2 == 0			/* a stranger */
	fi;
	phase = SECOND;
	missing = 1;
	unsent = 1
}

inline run_fiber()
{
	if
	:: missing -> receive()
	:: !missing && phase == FIRST -> close_and_open()
	:: !missing && phase == SECOND -> done = 1
	fi
}

/* The event, if it is of this use, may hold; a wait ends. */
inline take()
{
	got = 0;
	if
	:: !got_use -> waiting = 0
#ifdef M_NOUSE
	:: got_use && FOUND ->
#else
	:: got_use && FOUND && watch_use == got_use ->
#endif
#ifdef M_NOKEEP
		may_hold = waiting;
#else
		may_hold = 1;
#endif
		waiting = 0
	:: else
	fi
}

inline check()
{
	assert(!exact || !bytes);
	trusts = 0;
	watch_use = use;
	register(use)
}

active proctype worker()
{
	missing = 2;
	unsent = 2;
	do
	:: done -> break
	:: atomic { !done && !waiting -> run_fiber() }
	:: atomic { got -> take() }
	:: atomic { !got && edge -> edge = 0; got = 1; got_use = edge_use }
#ifndef M_NOCHECK
	:: atomic { waiting && trusts && !got && !edge -> check() }
#endif
	od
}

active proctype monitor()
{
end:	timeout ->
	assert(done)
}

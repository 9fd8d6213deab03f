/* SPDX-License-Identifier: Apache-2.0 */
/* end.pml - all clients that wait for a scheduler's end return, and all clients
 * that registered are notified once.
 *
 * Models core/src/kernel/life/end_clients.c and the end of core/src/kernel/life/end.c. The
 * steps that lead to the end, see gate.pml, are two steps here: when no
 * reference is left, the scheduler is DONE, unless a client retains it before.
 * Then the last thread inside appoints an heir among the waiting clients, or
 * frees the scheduler itself. The heir takes the scheduler apart; each client
 * leaves, and the last one drops the scheduler's weak reference, before any
 * returns. The lock of end_clients, which is held for a few instructions, makes
 * one atomic step.
 *
 * CLIENTS (2, 3) clients wait, each with a deadline that may pass once. A
 * friend with a weak handle retains and releases, and registers, at any time.
 *   LENDER   one more waits as in sennit_domain_shutdown: it registers with a
 *            record of its own frame, and takes that back when it gives up
 *
 * Checked: nothing accesses the scheduler's block after it is freed, or a
 * client's record after the client has returned; a client returns with its
 * reference or after the end, and then only the friend's handle may keep the
 * block; the block is freed once, and the friend is notified once, not too
 * early. At quiescence all have returned and the block is freed.
 *
 * Mutants, each of which must fail:
 *   M_FIRSTONLY   the last one inside notifies only the heir
 *   M_NOFREE      the last client to leave does not let the others return
 *   M_NOCOUNT     the heir drops that reference without waiting for the others
 *   M_STAY        a client that has its reference back stays in the list
 *   M_JOINLATE    a client releases first, then joins the list
 *   M_EARLY       the others may return before the block is freed
 *   M_LATELIST    a client leaves, and then reads the list
 *   M_TOUCH       the last one inside looks again after it appointed an heir
 *   M_LOOKEARLY   registering: looks before it takes the lock
 *   M_NOKEEP      a weak handle does not keep the block
 *   M_RETDONE     a weak handle's retain does not check DONE
 */
#ifndef CLIENTS
#define CLIENTS 2
#endif

#define WAITS  0
#define LEAVES 1
#define FREE   2

#ifdef LENDER
#define HANDLES 2		/* weak ones */
byte refs = CLIENTS + 1;
#else
#define HANDLES 1
byte refs = CLIENTS;
#endif
bool DONE;			/* the word of the gate consists of refs and
				 * this */
byte state[CLIENTS];
bool joined[CLIENTS];
byte awaited;
byte heir = CLIENTS;		/* the first in the list */
bool noticed, told;		/* the friend's notice; no more are accepted */
bool lent, over;		/* the lender's; it was notified */
byte references = 2;		/* the scheduler and the friend */

bool freed, apart, gone[CLIENTS], left;	/* ghosts */
byte tellings, returned;			/* ghosts */

#define USE assert(!freed)
#define REC(i) assert(!gone[i])

inline drop()
{
	atomic {
		USE;
		references--;
		if
		:: references == 0 -> freed = 1
		:: else
		fi
	}
}

inline take_apart()
{
	atomic { USE; assert(DONE && !apart); apart = 1 };
	do
	:: atomic {
		USE;
		if
		:: noticed || lent ->
			asked = noticed;
			asks = lent;
			noticed = 0;
			lent = 0
		:: else -> told = 1; break
		fi };
		atomic {
			tellings = tellings + asked;
			assert(tellings <= 1);
			asked = 0
		};
		atomic {
			if
			:: asks -> assert(!left); over = 1; asks = 0
			:: else
			fi
		}
	od
}

/* All in the list but one. */
inline tell(except_, what_)
{
	j = 0;
	do
	:: j < CLIENTS && j != except_ && joined[j] ->
		atomic { REC(j); state[j] = what_ };
		j++
	:: j < CLIENTS && (j == except_ || !joined[j]) -> j++
	:: j == CLIENTS -> break
	od
}

proctype client(byte i)
{
	bool kept, is_last, asked, asks, may_pass = 1;
	byte j;

#ifdef M_JOINLATE
	atomic { USE; refs-- };
	atomic { USE; joined[i] = 1; awaited++ };
#else
	atomic { USE; joined[i] = 1; awaited++ };
	atomic { USE; refs-- };
#endif
	do
	:: state[i] != WAITS -> break
	:: may_pass && state[i] == WAITS ->
		may_pass = 0;
		atomic {
			USE;
			if
			:: !DONE -> refs++; kept = 1
			:: else
			fi
		};
		if
		:: kept ->
#ifndef M_STAY
			atomic { USE; joined[i] = 0; awaited-- };
#endif
			goto back
		:: else
		fi
	od;
	if
	:: heir == i ->
		take_apart();
#ifdef M_NOCOUNT
		drop();
		tell(i, FREE);
		goto back
#endif
	:: else
	fi;
	atomic { USE; awaited--; is_last = (awaited == 0) };
#ifdef M_LATELIST
	USE;
#endif
	if
	:: is_last ->
#ifdef M_EARLY
		tell(i, FREE);
#endif
		drop();
#if !defined(M_EARLY) && !defined(M_NOFREE)
		tell(i, FREE);
#endif
		skip
	:: else -> state[i] == FREE
	fi;
back:	atomic {
		assert(kept || (apart && told));
		assert(kept || freed || references <= HANDLES);
		gone[i] = 1;
		returned++
	};
	if
	:: kept -> atomic { USE; refs-- }
	:: else
	fi
}

active proctype friend()
{
	bool ok, late;

	do
	:: !ok ->
		atomic {
			USE;
#ifdef M_RETDONE
			refs++; ok = 1
#else
			if
			:: !DONE -> refs++; ok = 1
			:: else -> break
			fi
#endif
		};
		atomic { USE; assert(!apart) };
		atomic { USE; refs-- };
		break
	:: break
	od;
#ifdef M_LOOKEARLY
	atomic { USE; late = told };
	atomic {
		USE;
		if
		:: !late -> noticed = 1
		:: else
		fi
	};
#else
	atomic {
		USE;
		late = told;
		if
		:: !late -> noticed = 1
		:: else
		fi
	};
#endif
	if
	:: late -> atomic { tellings++; assert(tellings == 1 && apart) }
	:: else
	fi;
#ifdef M_NOKEEP
	tellings == 1;
	USE
#else
	drop()
#endif
}

#ifdef LENDER
active proctype lender()
{
	bool kept, may_pass = 1;

	atomic { USE; assert(!told); lent = 1 };
	atomic { USE; references++ };
	atomic { USE; refs-- };
	do
	:: over -> break
	:: may_pass && !over ->
		may_pass = 0;
		atomic {
			USE;
			if
#ifndef M_BLIND
			:: !DONE -> refs++; kept = 1
#else
			:: lent = 0; goto given_up
#endif
			:: else
			fi
		};
		if
		:: kept ->
#ifndef M_LEFT
			atomic { USE; assert(lent); lent = 0 };
#endif
			goto given_up
		:: else
		fi
	od;
given_up:
	atomic { assert(kept || (apart && over)); left = 1 };
	drop();
	if
	:: kept -> atomic { USE; refs-- }
	:: else
	fi
}
#endif

/* The last thread inside. */
active proctype last()
{
	bool asked, asks;
	byte j;

	do
	:: atomic { refs == 0 -> USE; DONE = 1; break }
	od;
#ifdef M_NOKEEP
	references--;
#endif
	atomic {
		USE;
		if
		:: joined[0] -> heir = 0
		:: joined[1] -> heir = 1
#if CLIENTS > 2
		:: joined[2] -> heir = 2
#endif
		:: else
		fi
	};
	if
	:: heir < CLIENTS ->
#ifdef M_FIRSTONLY
		state[heir] = LEAVES;
#else
		tell(CLIENTS, LEAVES);
#endif
#ifdef M_TOUCH
		USE
#endif
	:: else ->
		take_apart();
		drop()
	fi
}

active proctype monitor()
{
end:	timeout -> assert(freed && apart && tellings == 1);
	assert(returned == CLIENTS)
}

init {
	atomic {
		run client(0);
		run client(1);
#if CLIENTS > 2
		run client(2)
#endif
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
/* end.pml - all clients that wait for a scheduler's end return, and all clients
 * that registered are notified once.
 *
 * Models src/life/end_clients.c and the end of src/life/end.c. The
 * steps that lead to the end, see gate.pml, are two steps here: when no
 * reference is left, the scheduler is DONE, unless a client retains it before.
 * Then the last thread inside appoints an heir among the waiting clients, or
 * frees the scheduler itself. The lock of end_clients, which is held for a few
 * instructions, makes one atomic step.
 *
 * CLIENTS (2, 3) clients wait, each with a deadline that may pass once. A
 * friend with a weak handle retains and releases, and registers, at any time.
 *
 * Checked: nothing accesses the scheduler's block after it is freed, or a
 * client's record after the client has returned; a client returns with its
 * reference or after the end, and then only the friend's handle may keep the
 * block; the block is freed once, and the friend is notified once, not too
 * early. At quiescence all have returned and the block is freed.
 *
 * Mutants, each of which must fail:
 *   M_FIRSTONLY   the heir releases no other client
 *   M_NOCLAIM     the heir does not claim the others
 *   M_NOASK       a client whose deadline passes asks without marking that
 *   M_STOREBACK   a refused client stores WAITING, whatever came meanwhile
 *   M_STAY        a client that has its reference back stays in the list
 *   M_JOINLATE    a client releases first, then joins the list
 *   M_EARLY       the others are released before the block is freed
 *   M_TOUCH       the last one inside looks again after it appointed an heir
 *   M_LOOKEARLY   registering: looks before it takes the lock
 *   M_NOKEEP      a weak handle does not keep the block
 *   M_RETDONE     a weak handle's retain does not check DONE
 */
#ifndef CLIENTS
#define CLIENTS 2
#endif

#define WAITING 0
#define ASKING  1
#define CLAIMED 2
#define HEIR    3
#define OVER    4

byte refs = CLIENTS;
bool DONE;			/* the word of the gate consists of refs and
				 * this */
byte state[CLIENTS];
bool joined[CLIENTS];
bool noticed, told;		/* the friend's notice; no more are accepted */
byte keepers = 2;		/* the scheduler and the friend */

bool freed, apart, gone[CLIENTS];	/* ghosts */
byte tellings, returned;			/* ghosts */

#define USE assert(!freed)
#define REC(i) assert(!gone[i])

inline drop()
{
	atomic {
		USE;
		keepers--;
		if
		:: keepers == 0 -> freed = 1
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
		:: noticed -> noticed = 0
		:: else -> told = 1; break
		fi };
		atomic { tellings++; assert(tellings == 1) }
	od
}

proctype client(byte i)
{
	bool kept, may_pass = 1;
	byte j;

#ifdef M_JOINLATE
	atomic { USE; refs-- };
	atomic { USE; joined[i] = 1 };
#else
	atomic { USE; joined[i] = 1 };
	atomic { USE; refs-- };
#endif
	do
	:: atomic { state[i] == HEIR -> break }
	:: atomic { state[i] == OVER -> break }
	:: may_pass ->
		may_pass = 0;
#ifdef M_NOASK
		if
		:: state[i] == WAITING
		:: else -> goto wait
		fi;
#else
		atomic {
			if
			:: state[i] == WAITING -> state[i] = ASKING
			:: else -> goto wait
			fi
		};
#endif
		atomic {
			USE;
			if
			:: !DONE -> refs++; kept = 1
			:: else
			fi
		};
		if
		:: kept ->
			state[i] = WAITING;
#ifndef M_STAY
			atomic { USE; joined[i] = 0 };
#endif
			goto back
		:: else ->
#ifndef M_NOASK
#ifdef M_STOREBACK
			state[i] = WAITING
#else
			atomic {
				if
				:: state[i] == ASKING -> state[i] = WAITING
				:: else
				fi
			}
#endif
#else
			skip
#endif
		fi;
wait:		skip
	od;
	if
	:: state[i] == HEIR ->
		take_apart();
		joined[i] = 0;
#ifndef M_NOCLAIM
		j = 0;
		do
		:: j < CLIENTS && joined[j] ->
			atomic { state[j] == WAITING -> REC(j);
				state[j] = CLAIMED };
			j++
		:: j < CLIENTS && !joined[j] -> j++
		:: j == CLIENTS -> break
		od;
#endif
#ifndef M_EARLY
		drop();
#endif
#ifndef M_FIRSTONLY
		j = 0;
		do
		:: j < CLIENTS && joined[j] ->
			atomic { REC(j); state[j] = OVER };
			j++
		:: j < CLIENTS && !joined[j] -> j++
		:: j == CLIENTS -> break
		od;
#endif
#ifdef M_EARLY
		drop();
#endif
		skip
	:: else
	fi;
back:	atomic {
		assert(kept || (apart && told));
		assert(kept || freed || keepers == 1);
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

/* The last thread inside. */
active proctype last()
{
	byte i;

	do
	:: atomic { refs == 0 -> USE; DONE = 1; break }
	od;
#ifdef M_NOKEEP
	keepers--;
#endif
	atomic {
		USE;
		if
		:: joined[0] -> i = 0
		:: joined[1] -> i = 1
#if CLIENTS > 2
		:: joined[2] -> i = 2
#endif
		:: else -> i = CLIENTS
		fi
	};
	if
	:: i < CLIENTS ->
		atomic { REC(i); state[i] = HEIR };
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

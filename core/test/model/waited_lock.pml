/* SPDX-License-Identifier: Apache-2.0 */
/* waited_lock.pml - the wait-for graph of observe/wait_graph.c, and the look at a
 * lock's owner of sched/fiber.h.
 *
 * Three fibers use two locks. Fiber 0 waits for B while it holds A; fibers 1
 * and 2 never wait for a lock while they hold one. So there is no deadlock. The
 * last fiber that unlocks B frees it. A reader makes the graph once, at any
 * time. AGAIN: fiber 2 takes B twice.
 *
 *	NOWAIT    a fiber leaves its wait while a reader looks
 *	ONEWALK   the states are read together with the owners
 *	NOCONFIRM the states are not read again
 *	NOTURN    a later wait is taken for the same one
 */
#define FIBERS 3
#define A 0
#define B 1
#define NOBODY 9

bool held[2];
byte owner[2] = NOBODY;
#ifdef AGAIN
byte users = FIBERS + 1;	/* of B, under B */
#else
byte users = FIBERS;
#endif

bool blocked[FIBERS];		/* the state word: the state ... */
byte turn[FIBERS];		/* ... and its serial number */
byte place[FIBERS] = NOBODY;	/* the lock whose owner may be read */
bool looked[FIBERS];

bool freed;			/* ghost: of B */

#define USE(l) assert((l) != B || !freed)

/* A free lock goes to the first comer, so a woken waiter may lose it. */
inline take(l)
{
	do
	:: atomic { !held[l] -> USE(l); held[l] = 1; break }
	:: atomic { held[l] -> USE(l); place[_pid] = l; turn[_pid]++;
		    blocked[_pid] = 1 };
	   !blocked[_pid]
	od;
	/* the fiber leaves the wait, if it has waited */
#ifdef M_NOWAIT
	place[_pid] = NOBODY;
#else
	atomic { !looked[_pid] -> place[_pid] = NOBODY };
#endif
	owner[l] = _pid
}

/* Wakes one waiter, any. */
inline release(l)
{
	owner[l] = NOBODY;
	atomic {
		USE(l);
		held[l] = 0;
		if
		:: blocked[0] && place[0] == l -> blocked[0] = 0
		:: blocked[1] && place[1] == l -> blocked[1] = 0
		:: blocked[2] && place[2] == l -> blocked[2] = 0
		:: else
		fi
	}
}

inline release_b()
{
	bool last;

	users--;
	last = users == 0;
	release(B);
	if
	:: last -> freed = 1
	:: else
	fi
}

active [FIBERS] proctype fiber()
{
	if
	:: _pid == 0 -> take(A); take(B); release_b(); release(A)
	:: _pid == 1 -> take(B); release_b(); take(A); release(A)
	:: else -> take(B); release_b();
#ifdef AGAIN
		take(B); release_b()
#endif
	fi
}

bool steady[FIBERS];
byte seen[FIBERS];		/* turns */
byte own[FIBERS] = NOBODY;

inline collect(f)
{
	atomic { steady[f] = blocked[f]; seen[f] = turn[f] }
}

inline confirm(f)
{
#ifdef M_NOTURN
	steady[f] = steady[f] && blocked[f]
#else
	steady[f] = steady[f] && blocked[f] && turn[f] == seen[f]
#endif
}

inline look(f)
{
	byte l;

#ifdef M_ONEWALK
	collect(f);
#endif
	atomic { l = place[f]; looked[f] = (l != NOBODY) };
	if
	:: l != NOBODY ->
		atomic { USE(l); own[f] = owner[l] };
		looked[f] = 0
	:: else
	fi
}

active proctype reader()
{
	byte f;

#ifndef M_ONEWALK
	for (f : 0 .. FIBERS - 1) { collect(f) }
#endif
	for (f : 0 .. FIBERS - 1) {
		look(f)
	}
#ifndef M_NOCONFIRM
	for (f : 0 .. FIBERS - 1) { confirm(f) }
#endif
	assert(!(steady[0] && steady[1] && own[0] == 1 && own[1] == 0));
	assert(!(steady[0] && steady[2] && own[0] == 2 && own[2] == 0))
}

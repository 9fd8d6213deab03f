/* SPDX-License-Identifier: Apache-2.0 */
/* deque.pml - the split deque: each task is taken exactly once.
 *
 * Models core/src/kernel/queue/deque.h and deque.c. One owner pushes TASKS tasks, pops and
 * publishes in any order, then drains the deque. THIEVES thieves steal and
 * force for ever.
 *
 *      top          split = guard              bot
 *       |   public    |        private          |
 *       +-------------+-------------------------+
 *    thieves: CAS     owner: plain stores, no fence
 *
 * pub = {top, split} is one word and changes only by CAS; a CAS is one atomic
 * step here. split changes only under the lock, and guard == split whenever the
 * lock is free. The owner takes public tasks back by lowering split and raising
 * top in one step, so that pub never has the same value twice. If split alone
 * were lowered, the owner could pop old tasks, push new ones into the same
 * slots and publish them: {top, split} would equal what a slow thief has read,
 * but the tasks would be others (M_SPLITALONE). The owner's stores to bot and
 * to the slots go through a store buffer (TSO, FIFO, STORES deep). Its own
 * atomic operations and the thief's process barrier drain it. Indices begin at
 * BASE, because bot may be one below top. A full ring refuses pushes;
 * growth.pml models its growth.
 *
 * Checked: no task is taken twice or invented; a pop that returns nothing saw
 * an empty deque, so all tasks have been taken when the owner has drained the
 * deque; guard == split when the lock is released.
 *
 * Sizes: TASKS, RING (slots), THIEVES, STORES.
 * Mutants, each of which must fail:
 *   M_NOBARRIER     force: no process barrier after guard is raised
 *   M_NOREREAD      force: bot is not read again after the barrier
 *   M_NOLOCK        force: does not take the lock
 *   M_NORETREAT     force: leaves guard raised when it gives up
 *   M_NORECHECK     pop_rest: does not check guard again under the lock
 *   M_UNLOCKED      pop_rest: checks guard again, but without the lock
 *   M_PLAINSTORE    take_back_tasks: stores pub instead of compare-and-swap
 *   M_SPLITALONE    take_back_tasks: lowers split without raising top
 *   M_PUBUNLOCKED   publish: does not take the lock
 *   M_CHECKFIRST    pop: reads guard before it stores bot
 * Without effect, and so must pass:
 *   B_TOPONLY       steal: the CAS compares only top.  split falls only when
 *                   top rises, and a split that has risen removes nothing.
 */
#ifndef TASKS
#define TASKS 3
#endif
#ifndef RING
#define RING 4
#endif
#ifndef THIEVES
#define THIEVES 1
#endif
#ifndef STORES
#define STORES 2
#endif
#define BASE 1
#define BOT  255			/* store buffer entry for bot, not for a
					 * slot */

byte top = BASE, split = BASE;		/* pub */
byte guard = BASE, bot = BASE;
bool lock;
byte slot[RING];			/* as the thieves see them */
chan stores = [STORES] of { byte, byte };

byte taken[TASKS];			/* ghost: for the checks only */
bool drained;				/* ghost */

#define LOCK   atomic { !lock -> lock = 1 }
#define DRAIN  (empty(stores))
#define UNLOCK unlock()

inline unlock()
{
#ifndef M_NOLOCK
	atomic {
		assert(guard == split);
		lock = 0
	}
#else
	lock = 0
#endif
}

inline take(t)
{
	assert(t < TASKS && taken[t] == 0 && !drained);
	taken[t] = 1
}

active proctype memory()
{
	byte where, what;

end:	do
	:: atomic {
		stores?where, what ->
		if
		:: where == BOT -> bot = what
		:: else -> slot[where] = what
		fi;
		where = 0;
		what = 0
	}
	od
}

/* The owner's own view of its slots and of bot: `mine` and `b`. */
active proctype owner()
{
	byte b = BASE, pushed, g, t, n;
	byte mine[RING];

	do
	:: pushed < TASKS && b - top < RING ->
		mine[b % RING] = pushed;
		stores!(b % RING), pushed;
		pushed++;
		b++;
		stores!BOT, b;
		if
		:: skip				/* push saw no request */
		:: goto publish
		fi
	:: pushed < TASKS -> goto pop
	:: pushed == TASKS -> goto pop
again:		skip
	od;

publish:
#ifndef M_PUBUNLOCKED
	if
	:: atomic { DRAIN && !lock -> lock = 1 }
	:: atomic { lock -> goto again }
	fi;
#endif
	atomic {
		DRAIN;
		n = (b - guard + 1) / 2;
		guard = guard + n
	};
	atomic {
		split = split + n;
		n = 0
	};
#ifndef M_PUBUNLOCKED
	UNLOCK;
#endif
	goto again;

pop:
#ifdef M_CHECKFIRST
	g = guard;
	b--;
	stores!BOT, b;
#else
	b--;
	stores!BOT, b;
	g = guard;
#endif
	if
	:: b >= g ->
		g = 0;
		take(mine[b % RING]);
		goto again
	:: else -> g = 0
	fi;

	/* pop_rest: undo the claim */
	b++;
	stores!BOT, b;
	if
	:: top == b && split == b -> goto nothing
	:: else
	fi;
#ifndef M_UNLOCKED
	atomic { DRAIN && !lock -> lock = 1 };
#endif
#ifndef M_NORECHECK
	if
	:: b - 1 >= guard ->
		b--;
		stores!BOT, b;
		take(mine[b % RING]);
#ifndef M_UNLOCKED
		DRAIN;
		UNLOCK;
#endif
		goto again
	:: else
	fi;
#endif
#ifdef M_UNLOCKED
	atomic { DRAIN && !lock -> lock = 1 };
#endif
	/* take_back_tasks: the newer half, n of them, and the oldest */
#ifdef M_PLAINSTORE
	t = top;
	if
	:: t == b -> goto unlock_nothing
	:: else
	fi;
	n = (split - t) / 2;
	atomic { top = t + 1; split = b - n };
#else
	atomic {
		if
		:: split == top -> goto unlock_nothing
		:: else
		fi;
		n = (split - top) / 2;
		t = top;
#ifdef M_SPLITALONE
		split = split - n - 1
#else
		top++;
		split = b - n
#endif
	};
#endif
#ifdef M_SPLITALONE
	guard = split;
	n = 0; t = 0;
	b--;
	stores!BOT, b;
	take(mine[b % RING]);
#else
	guard = b - n;
	if
	:: n == 0 -> take(mine[t % RING])
	:: else ->
		t = mine[t % RING];
		take(mine[(b - 1) % RING]);
		g = b - 1;
		do
		:: g != b - n ->
			mine[g % RING] = mine[(g - 1) % RING];
			stores!(g % RING), mine[g % RING];
			g--
		:: else -> break
		od;
		mine[g % RING] = t;
		stores!(g % RING), t
	fi;
	n = 0; t = 0; g = 0;
#endif
	DRAIN;
	UNLOCK;
	goto again;

unlock_nothing:
	DRAIN;
	UNLOCK;
	t = 0;
nothing:
	if
	:: pushed < TASKS -> goto again
	:: else
	fi;
	for (n : 0 .. TASKS - 1) {
		assert(taken[n] == 1)
	}
	drained = 1
}

active [THIEVES] proctype thief()
{
	byte t, s, n, got[2];

end:	do
	/* steal: half of the public part, one CAS */
	:: atomic { split > top -> t = top; s = split };
		n = (s - t + 1) / 2;
		if
		:: n > 2 -> n = 2
		:: else
		fi;
		got[0] = slot[t % RING];
		if
		:: n == 2 -> got[1] = slot[(t + 1) % RING]
		:: else
		fi;
		atomic {
			if
#ifdef B_TOPONLY
			:: top == t ->
#else
			:: top == t && split == s ->
#endif
				top = t + n;
				take(got[0]);
				if
				:: n == 2 -> take(got[1])
				:: else
				fi
			:: else
			fi;
			t = 0; s = 0; n = 0; got[0] = 0; got[1] = 0
		}

	/* force: t is bot as the thief sees it, n the new split */
#ifdef M_NOLOCK
	:: bot > split ->
#else
	:: atomic { !lock && bot > split -> lock = 1 };
#endif
		s = split;
		t = bot;
		if
		:: t <= s -> goto giveup
		:: else
		fi;
		n = s + (t - s + 1) / 2;
		guard = n;
#ifndef M_NOBARRIER
		DRAIN;
#endif
#ifndef M_NOREREAD
		t = bot;
#endif
		if
		:: t >= n -> split = n
#ifdef M_NORETREAT
		:: else
#else
		:: else -> guard = s
#endif
		fi;
giveup:
		atomic { t = 0; s = 0; n = 0 };
		UNLOCK
	od
}

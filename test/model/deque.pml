/* SPDX-License-Identifier: Apache-2.0 */
/* deque.pml - the split deque: each task is taken exactly once.
 *
 * Stands for src/core/deque.h and deque.c.  One owner pushes TASKS tasks,
 * pops and publishes in any order, then drains; THIEVES thieves steal and
 * force for ever.
 *
 *      top          split = guard              bot
 *       |   public    |        private          |
 *       +-------------+-------------------------+
 *    thieves: CAS     owner: plain stores, no fence
 *
 * pub = {top, split, epoch} is one word and changes by CAS only; a CAS is one
 * atomic step here.  split moves under the lock only, and guard == split
 * whenever the lock is free.  reclaim lowers split, so that the owner can pop
 * old tasks, push new ones into the same slots and publish them: {top, split}
 * is then what a sleepy thief has read, but the tasks are others.  Therefore
 * each reclaim adds one to epoch.  The owner's stores to bot and to the slots go through a
 * store buffer (TSO, FIFO, STORES deep), which its own atomic operations and
 * the thief's process barrier drain.  Indices begin at BASE, for bot may stand
 * one below top.  Growing the ring is not modelled: a full ring refuses.
 *
 * Checked: no task is taken twice, none is invented; a pop that returns
 * nothing saw an empty deque, so that all tasks are taken when the owner has
 * drained; guard == split when the lock is released.
 *
 * Sizes: TASKS, RING (slots), THIEVES, STORES.
 * Mutants, each of which must fail:
 *   M_NOBARRIER     force: no process barrier after guard is raised
 *   M_NOREREAD      force: bot is not read again after the barrier
 *   M_NOLOCK        force: does not take the lock
 *   M_NORETREAT     force: leaves guard up when it gives in
 *   M_NORECHECK     pop_slow: does not look at guard again under the lock
 *   M_PLAINRECLAIM  pop_slow: stores pub where it must compare and swap
 *   M_TOPONLY       steal: the CAS compares top only, not split
 *   M_PUBUNLOCKED   publish: does not take the lock
 *   M_CHECKFIRST    pop: reads guard before it stores bot
 *   M_NOEPOCH       reclaim: does not change epoch
 * The other way to reclaim, which needs no epoch and must pass:
 *   MOVEUP          the owner takes the whole public part by raising top to
 *                   split, and moves these tasks above split (split and top
 *                   never fall).  With it a CAS on top alone is right.
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
#define BOT  255			/* store buffer entry: bot, not a slot */

byte top = BASE, split = BASE, epoch;	/* pub */
byte guard = BASE, bot = BASE;
bool lock;
byte slot[RING];			/* as the thieves see them */
chan stores = [STORES] of { byte, byte };

byte taken[TASKS];			/* ghost */
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

	/* pop_slow */
	atomic { DRAIN && !lock -> lock = 1 };
#ifndef M_NORECHECK
	if
	:: atomic { b >= guard -> take(mine[b % RING]) };
		UNLOCK;
		goto again
	:: else
	fi;
#endif
#ifdef MOVEUP
	if
	:: atomic { split == top -> goto nothing }
	:: atomic { split != top -> t = top; n = split - top; top = split }
	fi;
	b++;				/* == split */
	for (g : 0 .. n - 1) {
		mine[b % RING] = mine[(t + g) % RING];
		stores!(b % RING), mine[b % RING];
		b++
	}
	b--;
	stores!BOT, b;
	t = 0; n = 0; g = 0;
	DRAIN;
#elif defined(M_PLAINRECLAIM)
	t = top;
	n = split;
	if
	:: n == t -> t = 0; n = 0; goto nothing
	:: else
	fi;
	atomic { top = t; split = t + (n - t) / 2; epoch++; guard = split; t = 0; n = 0 };
#else
	/* One step of the CAS loop: thieves move top between two of them. */
	if
	:: atomic { split == top -> goto nothing }
	:: atomic {
		split != top ->
		split = top + (split - top) / 2;
#ifndef M_NOEPOCH
		epoch++
#endif
	}
	fi;
	guard = split;
#endif
	take(mine[b % RING]);
	UNLOCK;
	goto again;

nothing:
	b++;
	stores!BOT, b;
	DRAIN;
	UNLOCK;
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
	byte t, s, e, n, got[2];

end:	do
	/* steal: half of the public part, one CAS */
	:: atomic { split > top -> t = top; s = split; e = epoch };
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
#ifdef M_TOPONLY
			:: top == t ->
#else
			:: top == t && split == s && epoch == e ->
#endif
				top = t + n;
				take(got[0]);
				if
				:: n == 2 -> take(got[1])
				:: else
				fi
			:: else
			fi;
			t = 0; s = 0; e = 0; n = 0; got[0] = 0; got[1] = 0
		}

	/* force: t is bot as the thief sees it, n the new split */
#ifdef M_NOLOCK
	:: split == top && bot > split ->
#else
	:: atomic { !lock && split == top && bot > split -> lock = 1 };
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

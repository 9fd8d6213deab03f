/* SPDX-License-Identifier: Apache-2.0 */
/* growth.pml - the deque's slots grow, and are trimmed, while thieves read
 * them.
 *
 * Models sn_deque_reserve(), grow() and sn_deque_trim() of
 * core/src/kernel/queue/deque.c, and sn_deque_steal() of core/src/kernel/queue/deque.c. One owner
 * pushes TASKS tasks, publishes, pops, takes back and trims in any order,
 * beginning with START slots. THIEVES thieves steal and force for ever.
 * deque.pml checks the mutual exclusion; here a pop of a private task, a
 * publish and a forced take are one step each, and memory is
 * sequentially consistent.
 *
 * A thief reads pub, then the address of the slots, then the tasks, each in a
 * separate step, and trusts them if pub has not changed. The owner copies one
 * task per step. Slots contain their own mask; old ones are kept.
 *
 * Checked: no task is taken twice, no empty slot is taken for a task, no freed
 * slot is read, and no index is past the end of the slots.
 *
 * Sizes: TASKS, START (initial slots), THIEVES.
 * Mutants, each of which must fail:
 *   M_SLOTSFIRST    grow: new slots are published before they are filled
 *   M_COPYPRIVATE   grow: copies only private tasks
 *   M_LIMIT         grow: computes the room from bottom instead of top
 *   M_MASKAPART     the mask is a word of the deque, not of the slots
 *   M_FREEOLD       grow: frees the old slots at once
 *   M_SLOTSBEFORE   steal: reads the address of the slots before pub
 *   M_TRIMEARLY     trim: when nothing is private, though tasks are public
 */
#ifndef TASKS
#define TASKS 4
#endif
#ifndef START
#define START 1
#endif
#ifndef THIEVES
#define THIEVES 1
#endif
#define SETS 3				/* sets of slots: START, twice, and four
					 * times as many */
#define MOST (START * 4)
#define CAPACITY(g) (START << (g))

byte top, split;			/* pub */
byte bottom;
byte slots;				/* the set that the thieves find */
#ifdef M_MASKAPART
byte mask;				/* the set whose mask it is */
#endif
byte slot[SETS * MOST];			/* 0: no task */
bool freed[SETS];			/* ghost */
byte taken[TASKS + 1];			/* ghost */
bool lock;				/* the owner is taking back */

#define AT(g, p) ((g) * MOST + (p) % CAPACITY(g))

inline take(t)
{
	assert(t > 0 && t <= TASKS && !taken[t]);
	taken[t] = 1
}

inline grow()
{
	assert(g + 1 < SETS);
	n = g + 1;
#ifdef M_SLOTSFIRST
	slots = n;
#endif
#ifdef M_COPYPRIVATE
	i = split;
#else
	i = t;
#endif
	do
	:: i < bottom ->
		slot[AT(n, i)] = slot[AT(g, i)];
		i++
	:: else -> break
	od;
#ifdef M_MASKAPART
	mask = n;
#endif
	slots = n;
#ifdef M_FREEOLD
	freed[g] = 1;
#endif
#ifdef M_LIMIT
	limit = bottom + CAPACITY(n);
#else
	limit = t + CAPACITY(n);
#endif
	g = n
}

inline reserve()
{
	t = top;
	if
	:: bottom - t + 1 > CAPACITY(g) -> grow()
	:: else -> limit = t + CAPACITY(g)
	fi;
	atomic { t = 0; n = 0; i = 0 }
}

active proctype owner()
{
	byte pushed, g, limit = START, t, n, i;

	do
	:: pushed < TASKS ->
		if
		:: bottom >= limit -> reserve()
		:: else
		fi;
		pushed++;
		slot[AT(g, bottom)] = pushed;
		bottom++
	:: atomic { bottom > split -> split = split + (bottom - split + 1) / 2 }
	:: atomic {			/* pop */
		bottom > split ->
			bottom--;
			take(slot[AT(g, bottom)])
		}
	:: atomic {			/* take back: half, and the oldest */
		bottom == split && top < split ->
			lock = 1;
			n = (split - top) / 2;
			t = slot[AT(g, top)];
			top++;
			split = bottom - n
		};
		if
		:: n == 0 -> take(t)
		:: else ->
			atomic {
				take(slot[AT(g, bottom - 1)]);
				i = bottom - 1
			};
			do
			:: i > bottom - n ->
				slot[AT(g, i)] = slot[AT(g, i - 1)];
				i--
			:: else -> break
			od;
			slot[AT(g, i)] = t
		fi;
		atomic { lock = 0; t = 0; n = 0; i = 0 }
#ifdef M_TRIMEARLY
	:: bottom == split && g > 0 ->
#else
	:: bottom == top && g > 0 ->
#endif
		i = 0;
		do
		:: i < SETS * MOST -> slot[i] = 0; i++
		:: else -> break
		od;
		i = 0
	:: pushed == TASKS && bottom == top -> break
	od;
	for (i : 1 .. TASKS) {
		assert(taken[i])
	}
}

active [THIEVES] proctype thief()
{
	byte t, s, n, g, m, got[2];

end:	do
	/* steal */
#ifdef M_SLOTSBEFORE
	:: g = slots;
		atomic { split > top -> t = top; s = split };
#else
	:: atomic { split > top -> t = top; s = split };
		g = slots;
#endif
		atomic {
			n = (s - t + 1) / 2;
			if
			:: n > 2 -> n = 2
			:: else
			fi;
			m = g
		};
#ifdef M_MASKAPART
		m = mask;
#endif
		atomic {
			assert(!freed[g] && t % CAPACITY(m) < CAPACITY(g));
			got[0] = slot[g * MOST + t % CAPACITY(m)]
		};
		if
		:: n == 2 ->
			atomic {
				assert(!freed[g] &&
				       (t + 1) % CAPACITY(m) < CAPACITY(g));
				got[1] = slot[g * MOST + (t + 1) % CAPACITY(m)]
			}
		:: else
		fi;
		atomic {
			if
			:: top == t && split == s ->
				top = t + n;
				take(got[0]);
				if
				:: n == 2 -> take(got[1])
				:: else
				fi
			:: else
			fi;
			t = 0; s = 0; n = 0; g = 0; m = 0;
			got[0] = 0; got[1] = 0
		}
	/* force */
	:: atomic {
		!lock && bottom > split ->
			split = split + (bottom - split + 1) / 2
		}
	od
}

/* SPDX-License-Identifier: Apache-2.0 */
/* trace_ring.pml - core/src/observe/trace.c: a writer overwrites the oldest events
 * of a ring while a reader copies one event word by word.
 *
 * An event has two words; both of event i are i + 1. The reader keeps what it
 * copied if `written` shows that the slot's next event has not begun.
 *
 * Each store is ordered after those before it (release), each load before those
 * after it (acquire), so interleavings are enough, except for the mutants,
 * which break that order.
 *
 *	M_EARLY   mutant: the writer stores a word before `written` has reached
 *	        this event, as with stores that are not ordered
 *	M_ONCE    mutant: the reader does not read `written` again
 *	M_FULL    mutant: the reader believes the slot that may be being written
 */
#define CAPACITY 2
#define EVENTS   5

byte word0[CAPACITY], word1[CAPACITY];
byte written;

active proctype writer()
{
	byte i;

	for (i : 0 .. EVENTS - 1) {
#ifdef M_EARLY
		word0[i % CAPACITY] = i + 1;
		written = i;
#else
		written = i;
		word0[i % CAPACITY] = i + 1;
#endif
		word1[i % CAPACITY] = i + 1;
	}
	written = EVENTS
}

active proctype reader()
{
	byte end, i, a, b, now;

	do
	:: end = written;
	   if
	   :: end == 0
	   :: else ->
		select (i : 0 .. EVENTS - 1);
		if
		:: i < end && i + CAPACITY >= end ->
			a = word0[i % CAPACITY];
			b = word1[i % CAPACITY];
#ifdef M_ONCE
			now = end;
#else
			now = written;
#endif
			if
#ifdef M_FULL
			:: now > i + CAPACITY
#else
			:: now >= i + CAPACITY
#endif
			:: else ->
				assert(a == i + 1 && b == i + 1)
			fi
		:: else
		fi
	   fi
	:: written == EVENTS -> break
	od
}

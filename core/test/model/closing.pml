/* SPDX-License-Identifier: Apache-2.0 */
/* closing.pml - a descriptor is closed on which a fiber of another worker waits:
 * the wait ends, and a wait on what the number means next does not.
 *
 * Stands for io/src/engine/closing.c, and for what io/src/epoll/epoll.c and io/src/uring/uring.c do with it.
 * A worker with one fiber, which tries, waits on the number, and then, if
 * the number was opened again, waits on it once more, knowing that; another
 * thread, which closes; a third, which opens.
 *
 * The count of the worker's waits goes through a store buffer, which the
 * kernel's locks empty when the wait is armed.
 *
 * Checked when nothing can move any more: no fiber waits for what is closed, nor
 * for what is next if its call began before the closing; the second wait waits on. Checked always: the
 * second wait is not ended by the closing.
 *
 * Mutants, each of which must fail:
 *   M_NOTELL   the closing thread only notes it
 *   M_WAKE     ... wakes before `pending` is set
 *   M_FIRST    ... looks at the counts before the close() alone
 *   M_LATE     ... takes its number after the close()
 *   M_NOTLOOKED  a wait is not compared with what is noted when it begins
 *   M_NOUNTIL  waits that begin between the number and the close() wait on
 *   M_ALL      waits end whenever they began
 *   M_NOLOOK   the worker sleeps without a look at `pending`
 */
#define NONE 0
#define OLD  1
#define NEW  2

byte file = OLD;
byte closings, before, until;
byte buffered, count;		/* the worker's; what others see */
bool pending, edge;
byte armed;			/* what the wait is on */
bool waiting;
byte begun;
byte second;			/* the fiber knows that the number is new */
bool opened;

inline close_it()
{
	atomic {
		file = NONE;
		if
		:: armed == OLD -> armed = NONE
		:: else
		fi
	}
}

inline tell()
{
#ifdef M_NOTELL
	skip
#else
#ifdef M_WAKE
	edge = 1;
	pending = 1
#else
	pending = 1;
	edge = 1
#endif
#endif
}

active proctype closer()
{
	byte seen;

#ifndef M_LATE
	atomic { closings++; before = closings };
#endif
#ifdef M_FIRST
	seen = count;
#endif
	close_it();
#ifdef M_LATE
	atomic { closings++; before = closings };
#endif
	atomic { closings++; until = closings };
#ifndef M_FIRST
	seen = count;
#endif
	if
	:: seen -> tell()
	:: else
	fi
}

active proctype opener()
{
	(file == NONE);
	if
	:: atomic { file == NONE -> file = NEW; opened = 1 }
	:: skip
	fi
}

active proctype store_buffer()
{
end:	do
	:: atomic { count != buffered -> count = buffered }
	od
}

inline end_wait()
{
	atomic { waiting = 0; armed = NONE; buffered-- }
}

/* The fiber begins to wait. Not on OLD, once it knows. */
inline begin()
{
	buffered++;
	count = buffered;	/* a fence */
	if
#ifndef M_NOTLOOKED
	:: begun < before -> buffered--
#endif
	:: else ->
		atomic {
			if
			:: file == NONE -> buffered--
			:: else -> armed = file; waiting = 1
			fi
		}
	fi
}

/* What has become of the wait. */
inline look()
{
	if
	:: pending ->
		pending = 0;
		if
#ifdef M_ALL
		:: waiting && before ->
#else
		:: waiting && begun < before ->
#endif
			assert(!second);
			end_wait()
#ifndef M_NOUNTIL
		:: waiting && begun >= before && begun < until ->
			end_wait();
			begin()
#endif
		:: else
		fi
	:: else
	fi
}

active proctype worker()
{
	begun = closings;
	skip;			/* its attempt gets -EAGAIN */
	begin();
	do
	:: look();
		if
		:: edge = 0	/* a look at the kernel takes it */
		:: skip
		fi;
		if
		:: !waiting && !second && opened -> second = 1; begun = closings; begin()
		:: else
		fi;
#ifndef M_NOLOOK
		if
		:: pending
		:: else ->
end_asleep:		if
			:: atomic { edge -> edge = 0 }
			:: atomic { !waiting && !second && opened }
			fi
		fi
#else
end_asleep:	if
		:: atomic { edge -> edge = 0 }
		:: atomic { !waiting && !second && opened }
		fi
#endif
	od
}

active proctype monitor()
{
end:	timeout ->
	assert(!waiting || armed != NONE);
	assert(!waiting || second || armed == OLD || begun >= before);
	assert(!second || (waiting && armed == NEW))
}

/* SPDX-License-Identifier: Apache-2.0 */
/* operation.pml - an operation that the kernel carries out while a deadline and
 * the cancelling of its group race its completion: no result is lost, and the
 * kernel never writes to a frame that is gone.
 *
 * Stands for finish() of io/src/uring/uring.c on sennit_poller_wait() and
 * sennit_poller_complete().  One worker, whose thread takes completions, fires
 * the deadline, empties its inbox and runs the fiber, one after the other;
 * another thread that cancels the group; the kernel, which moves a byte, or
 * finds that it is to cancel, or both in this order.
 *
 * Checked: the fiber is ready once at a time; the kernel moves bytes only while
 * the frame is there; a byte that was moved is reported, and one that is
 * reported was moved; in the end the fiber has gone on.
 *
 * Mutants, each of which must fail:
 *   M_RETURN   the fiber returns when its deadline ends the wait
 *   M_ERROR    ... returns the error of that whatever the completion brings
 *   M_NOCLAIM  a completion makes the fiber ready even if its wait has ended
 *   M_NODONE   a completion that has lost the claim leaves no trace
 *   M_RACED    the second wait ends by the group's cancelling as well
 *   M_NOASK    the fiber does not ask the kernel to cancel, and the kernel's
 *              request would never end by itself
 */
mtype = { RUN, FIRST, SECOND, GONE };

mtype fiber = RUN;
bool frame = 1;
bool waiting;			/* the claim: WAITING */
byte ready;			/* on the ready list */
bool inbox;			/* made ready by another thread */
bool asked;			/* submitted */
bool cancel;			/* the kernel is asked to cancel */
bool posted, result;		/* a completion; whether it moved the byte */
bool moved, done, got, reported;

inline claim(won)
{
	atomic {
		won = waiting;
		waiting = 0
	}
}

active proctype kernel()
{
	(asked);
	if
#ifndef M_NOASK
	:: atomic {
		assert(frame);
		moved = 1
	};
		atomic { result = 1; posted = 1 }
#endif
	:: cancel -> posted = 1
	fi
}

active proctype canceller()
{
	bool won;

#ifdef M_RACED
	do
	:: fiber == GONE -> break
	:: else ->
		claim(won);
		if
		:: won -> inbox = 1
		:: else
		fi
	od
#else
	claim(won);
	if
	:: won -> inbox = 1
	:: else
	fi
#endif
}

active proctype worker()
{
	bool won;

	do
	:: fiber == GONE -> break
	:: atomic { posted -> posted = 0 };	/* sennit_poller_complete */
		assert(frame);
#ifdef M_NODONE
		claim(won);
		if
		:: won -> got = result; done = 1; ready++
		:: else
		fi
#else
		got = result;
		done = 1;
#ifdef M_NOCLAIM
		ready++
#else
		if
		:: fiber == SECOND -> ready++	/* no other may */
		:: else ->
			claim(won);
			if
			:: won -> ready++
			:: else
			fi
		fi
#endif
#endif
	:: fiber == FIRST ->			/* the deadline */
		claim(won);
		if
		:: won -> ready++
		:: else
		fi
	:: atomic { inbox -> inbox = 0; ready++ }
	:: fiber == RUN ->			/* begins */
		asked = 1;
		waiting = 1;
		fiber = FIRST
	:: ready > 0 ->				/* runs again */
		assert(ready == 1);
		ready--;
		if
		:: done -> reported = got; frame = 0; fiber = GONE
#ifdef M_RETURN
		:: !done -> frame = 0; fiber = GONE
#else
		:: !done ->
			assert(fiber == FIRST);
#ifndef M_NOASK
			cancel = 1;
#endif
#ifdef M_RACED
			waiting = 1;
#endif
			fiber = SECOND
#endif
		fi;
#ifdef M_ERROR
		if
		:: fiber == GONE && cancel -> reported = 0
		:: else
		fi
#endif
	od;
	assert(ready == 0 && !inbox);
	assert(!moved || reported);
	assert(!reported || moved)
}

active proctype monitor()
{
end:	timeout ->
	assert(fiber == GONE)
}

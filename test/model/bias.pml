/* SPDX-License-Identifier: Apache-2.0 */
/* bias.pml - src/sched/bias.c, bias.h, as src/sync/mutex.c uses them: a mutex
 * that belongs to one worker, and how others end that.
 *
 * The owner worker's fibers 1..FIBERS are pinned, so they take turns: one runs
 * until it waits or its call is over. Others are threads of their own, 3 to
 * 2 + OTHERS. Each locks and unlocks ROUNDS (ROUNDS_OTHER) times. STATE is the
 * mutex's word, MARK is worker_, which each holder loads and stores, LIST is the
 * queue, and INSIDE lies in the owner's slot. The owner may claim the mutex at
 * any of its locks that finds no REVOKED.
 *
 * The owner's plain stores go through a store buffer, in order (TSO), STORES
 * deep. Its own atomic operations drain it, and so does the process barrier of
 * another thread. The owner may be preempted between any two steps.
 *
 * The queue is that of mutex.pml in its simplest form: an unlock with waiters
 * hands the lock over. mutex.pml checks the rest; each operation of the owner
 * on a biased word is one that it checks on the word without the bias.
 *
 * Checked: one holder at a time; each holder sees what the last one wrote;
 * nobody waits for ever; whoever has used the mutex last frees it as soon as
 * its unlock has returned, and nothing accesses it afterwards, also not out of
 * the store buffer; the mutex is not claimed after it was revoked.
 *
 * Mutants, each of which must fail:
 *   M_NOBARRIER   a revoker executes no process barrier
 *   M_NOINSIDE    a revoker does not wait until the owner has left
 *   M_WAITFIRST   it waits before the barrier
 *   M_CHECKFIRST  the owner looks for REVOKED before it shows that it is inside
 *   M_NOLOOK      the owner does not look for REVOKED
 *   M_LEAVEEARLY  the owner leaves before it stores the word
 *   M_LATETOUCH   the owner looks at the mutex once more after its last store
 *   M_INWORD      REVOKED is a bit of the word that the owner stores over
 *   M_PLAINCLEAR  a revoker clears BIASED by a load and a store
 *   M_ONELOOK     another thread's compare-and-set lets BIASED pass
 *   M_MARKLATE    a claim stores MARK after BIASED can be seen
 *   M_FORGET      a holder stores MARK without REVOKED
 *   M_NOMARK      an owner that gives up does not set REVOKED
 */
#ifndef FIBERS
#define FIBERS 2
#endif
#ifndef OTHERS
#define OTHERS 1
#endif
#ifndef ROUNDS
#define ROUNDS 2
#endif
#ifndef ROUNDS_OTHER
#define ROUNDS_OTHER 1
#endif
#ifndef STORES
#define STORES 3
#endif
#define TOTAL (FIBERS * ROUNDS + OTHERS * ROUNDS_OTHER)

#define LOCKED  1			/* of STATE */
#define WAITERS 2
#define HELD    4
#define BIASED  8
#define REVOKED 16			/* of MARK */
#define REST    (LOCKED | WAITERS | HELD)

#define STATE   0			/* of the mutex */
#define MARK    1
#define LIST    2
#define INSIDE  3			/* not of the mutex */
#define DATA    4			/* what it protects */
#define DEAD    5
#define OF_MUTEX(a) ((a) <= LIST)

byte mem[6];
byte view[6];				/* the owner's, where `pending` */
byte pending[6];
chan stores = [STORES] of { byte, byte };
bool woken[5];

byte holders;				/* ghosts */
byte uses = TOTAL;
bool revoked;

#define DRAINED (empty(stores))
#define ALIVE   assert(!mem[DEAD])

/* LIST: up to three, the oldest in the lowest digit of base 6 */
#define FIRST(l)     ((l) % 6)
#define REMOVE(l)    ((l) / 6)
#define APPEND(l, n) \
	((l) == 0 -> (n) : ((l) < 6 -> (l) + 6 * (n) : (l) + 36 * (n)))

active proctype memory()
{
	byte a, v;

end:	do
	:: atomic {
		stores?a, v ->
		assert(!OF_MUTEX(a) || !mem[DEAD]);
		mem[a] = v;
		pending[a]--;
		a = 0;
		v = 0
	}
	od
}

/* --- the owner worker ---------------------------------------------------- */

inline load(where_, into_)
{
	atomic {
		assert(!OF_MUTEX(where_) || !mem[DEAD]);
		into_ = (pending[where_] -> view[where_] : mem[where_])
	}
}

inline store(where_, what_)
{
	atomic {
		nfull(stores);
		stores!where_, what_;
		view[where_] = what_;
		pending[where_]++
	}
}

/* mark_ becomes REVOKED or 0. */
inline look_for_revoked()
{
#if defined(M_NOLOOK)
	x = 0
#elif defined(M_INWORD)
	load(STATE, x);
	x = x & REVOKED
#else
	load(MARK, x);
	x = x & REVOKED
#endif
}

/* Store word_ if the mutex is the owner's and shows from_. done: so it is. */
inline store_biased(from_, to_)
{
	done = 0;
	load(STATE, s);
	if
	:: (s & (BIASED | REST)) == (BIASED | from_) ->
#ifdef M_CHECKFIRST
		look_for_revoked();
		store(INSIDE, 1);
#else
		store(INSIDE, 1);
		look_for_revoked();
#endif
		if
		:: !x ->
#ifdef M_LEAVEEARLY
			store(INSIDE, 0);
			store(STATE, BIASED | to_);
#else
			store(STATE, BIASED | to_);
			store(INSIDE, 0);
#endif
#ifdef M_LATETOUCH
			load(MARK, x);
#endif
			done = 1
		:: else -> store(INSIDE, 0)
		fi
	:: else
	fi;
	s = 0;
	x = 0
}

/* The owner gives the bias up. It need not wait for itself. */
inline give_up()
{
#ifndef M_NOMARK
	atomic { DRAINED -> ALIVE; mem[MARK] = mem[MARK] | REVOKED;
		revoked = 1 };
#endif
	atomic { DRAINED -> ALIVE; mem[STATE] = mem[STATE] & REST }
}

inline use()
{
	atomic { assert(holders == 0); holders = 1 };
	load(DATA, x);
	assert(x == uses);
	atomic { uses--; x-- };
	store(DATA, x);
	x = 0
}

#define READY 0
#define WAITS 1
#define HOLDS 2

proctype owner()
{
	byte is[3], rounds[3];
	byte f, s, l, x;
	bool done, last;

	rounds[1] = ROUNDS;
	if
	:: FIBERS == 2 -> rounds[2] = ROUNDS
	:: else
	fi;

next:	atomic {
		f = 0; s = 0; l = 0; x = 0; done = 0; last = 0;
		if
		:: rounds[1] && (is[1] != WAITS || woken[1]) -> f = 1
		:: rounds[2] && (is[2] != WAITS || woken[2]) -> f = 2
		:: !rounds[1] && !rounds[2] -> goto over
		fi;
		if
		:: is[f] == WAITS ->
			woken[f] = 0;
			is[f] = HOLDS;
			goto noted
		:: is[f] == HOLDS -> goto unlock
		:: else
		fi
	}

	/* lock */
	store_biased(0, HELD);
	if
	:: done -> goto locked
	:: else
	fi;
again:	if
	:: atomic { DRAINED && mem[STATE] == 0 ->
		ALIVE; mem[STATE] = HELD };
		goto noted
	:: atomic { DRAINED && mem[STATE] & BIASED -> ALIVE };
		give_up();
		goto again
	:: atomic { DRAINED && mem[STATE] & HELD &&
		    !(mem[STATE] & (LOCKED | BIASED)) ->
		ALIVE;
		s = mem[STATE];
		mem[STATE] = s | LOCKED }
	fi;
	load(LIST, l);
	l = APPEND(l, f);
	store(LIST, l);
	is[f] = WAITS;
	store(STATE, s | WAITERS);
	goto next;

noted:	/* whoever has it without the bias notes that in MARK, and may claim */
	load(MARK, x);
#ifdef M_FORGET
	x = 0;
#endif
	store(MARK, x);
	if
	:: true
	:: !(x & REVOKED) ->
		/* a compare-and-set, which may find waiters */
		if
		:: atomic { DRAINED && mem[STATE] == HELD ->
			ALIVE;
			assert(!revoked);
			mem[STATE] = BIASED | HELD };
#ifdef M_MARKLATE
			store(MARK, x)
#endif
		:: atomic { DRAINED && mem[STATE] != HELD -> ALIVE }
		fi
	fi;
	x = 0;
locked:	is[f] = HOLDS;
	use();
	goto next;		/* the other fiber may run while f holds it */

unlock:	load(DATA, x);
	atomic {
		assert(x == uses);
		last = (x == 0);
		holders = 0;
		is[f] = READY;
		rounds[f]--
	};
	store_biased(HELD, 0);
	if
	:: done -> goto unlocked
	:: else
	fi;
more:	if
	:: atomic { DRAINED && mem[STATE] == HELD ->
		ALIVE; mem[STATE] = 0 };
		goto unlocked
	:: atomic { DRAINED && mem[STATE] & BIASED -> ALIVE };
		give_up();
		goto more
	:: atomic { DRAINED && mem[STATE] & WAITERS &&
		    !(mem[STATE] & (LOCKED | BIASED)) ->
		ALIVE;
		s = mem[STATE];
		mem[STATE] = s | LOCKED }
	fi;
	load(LIST, l);
	x = FIRST(l);
	l = REMOVE(l);
	store(LIST, l);
	s = (l -> s : s & HELD);
	store(STATE, s);
	if
	:: x <= 2 -> woken[x] = 1
	:: else -> atomic { DRAINED -> woken[x] = 1 }	/* an inbox */
	fi;

unlocked:
	if
	:: last -> store(DEAD, 1)
	:: else
	fi;
	goto next;

over:	skip
}

/* --- others -------------------------------------------------------------- */

inline revoke()
{
	atomic {
		ALIVE;
		revoked = 1;
#ifdef M_INWORD
		mem[STATE] = mem[STATE] | REVOKED
#else
		mem[MARK] = mem[MARK] | REVOKED
#endif
	};
#if defined(M_WAITFIRST) && !defined(M_NOINSIDE)
	mem[INSIDE] == 0;
#endif
#ifndef M_NOBARRIER
	DRAINED;
#endif
#if !defined(M_WAITFIRST) && !defined(M_NOINSIDE)
	mem[INSIDE] == 0;
#endif
#ifdef M_PLAINCLEAR
	s = mem[STATE] & REST;
	atomic { ALIVE; mem[STATE] = s }
#else
	atomic { ALIVE; mem[STATE] = mem[STATE] & REST }
#endif
}

#ifdef M_ONELOOK
#define PASSES(s) true
#else
#define PASSES(s) (!((s) & BIASED))
#endif

proctype other(byte n)
{
	byte rounds = ROUNDS_OTHER, s, l, x;
	bool last;

again:	if
	:: rounds == 0 -> goto over
	:: else
	fi;
	if
	:: atomic { mem[STATE] & BIASED -> ALIVE }; revoke()
	:: atomic { !(mem[STATE] & BIASED) -> ALIVE }
	fi;
	atomic {
		!(mem[STATE] & LOCKED) ->
		ALIVE;
		s = mem[STATE];
		if
#ifndef M_ONELOOK
		:: s & BIASED -> s = 0; goto again	/* claimed meanwhile */
#endif
		:: s & HELD && PASSES(s) -> mem[STATE] = s | LOCKED
		:: !(s & HELD) && PASSES(s) ->
			mem[STATE] = s | HELD; goto noted
		fi
	};
	l = mem[LIST];
	mem[LIST] = APPEND(l, n);
	atomic { ALIVE; mem[STATE] = s | WAITERS; s = 0; l = 0 };
	atomic { woken[n] -> woken[n] = 0 };

noted:	atomic { ALIVE; x = mem[MARK] };
#ifdef M_FORGET
	x = 0;
#endif
	atomic { ALIVE; mem[MARK] = x };
	atomic { assert(holders == 0); holders = 1 };
	x = mem[DATA];
	assert(x == uses);
	atomic { uses--; x--; mem[DATA] = x };
	atomic { last = (x == 0); holders = 0; rounds--; x = 0; s = 0 };
	if
	:: atomic { mem[STATE] == HELD -> ALIVE; mem[STATE] = 0 };
		goto unlocked
	:: atomic { !(mem[STATE] & LOCKED) && mem[STATE] != HELD ->
		ALIVE;
		assert(mem[STATE] & WAITERS && !(mem[STATE] & BIASED));
		s = mem[STATE];
		mem[STATE] = s | LOCKED }
	fi;
	l = mem[LIST];
	x = FIRST(l);
	l = REMOVE(l);
	mem[LIST] = l;
	atomic { ALIVE; mem[STATE] = (l -> s : s & HELD) };
	woken[x] = 1;
unlocked:
	if
	:: last -> atomic { ALIVE; mem[DEAD] = 1 }
	:: else
	fi;
	atomic { s = 0; l = 0; x = 0; last = 0 };
	goto again;
over:	skip
}

init
{
	atomic {
		mem[DATA] = TOTAL;
		run owner();
		if
		:: OTHERS >= 1 -> run other(3)
		:: else
		fi;
		if
		:: OTHERS == 2 -> run other(4)
		:: else
		fi
	}
}

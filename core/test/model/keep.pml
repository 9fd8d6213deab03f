/* SPDX-License-Identifier: Apache-2.0 */
/* keep.pml - core/src/library/group/wait_group.c: a wait
 * group whose owner counts the tasks that it ties in a word of its own.
 *
 * The owner spawns INLINE tasks that it runs itself in its wait, and STOLEN
 * tasks that a thief takes. PLAIN tasks were counted in the word before. OTHERS
 * wait, too, once the owner has notified them. With ALONE the owner does not wait:
 * the others do. With LATE the PLAIN task is counted at any time, and its counter
 * notifies the others; the wait group is not freed then. With ADDERS each STOLEN
 * task adds one, as a call or a spawn of its own does, and later ends that, too;
 * with NEAR the word counts as near its other end, so that the adder locks. With
 * POLL the owner looks, without waiting, when it has spawned. COUNT, LOCKED and
 * WAITERS are the bits of one word, state_.
 *
 * The owner's plain stores go through a store buffer, in order (TSO), STORES
 * deep. Its own atomic operations drain it, and so does the process barrier of
 * another thread. The queue is a set of sleepers: wait.pml checks queues.
 *
 * Checked: no wait returns before all tasks have ended, nor without seeing what
 * they did; no wait lasts for ever; an adder judges a count that the wait group
 * has at some moment; with INLINE, the first to return frees the
 * wait group, if no other has begun a wait without being in the queue yet, and
 * nothing accesses it afterwards, also not out of the store buffer.
 *
 * Mutants, each of which must fail:
 *   M_NOBARRIER   another waiter, or the end of a task, executes no barrier
 *   M_NOAWAIT     no thread waits for the end of ENDING
 *   M_NOENDING    the owner looks at the word, but does not say so before
 *   M_CHECKLATE   it looks after it has made its own count zero
 *   M_NOLOOK      it does not look
 *   M_DONEBLIND   the end of a task does not look at what is kept
 *   M_WAITONLY    only a waiter executes the barrier, not the end of a task
 *   M_TORN        an adder judges the word and what is kept without the lock
 *   M_KEPTFIRST   it reads what is kept before it locks
 *   M_BLINDADD    it adds in two steps
 */
#ifndef INLINE
#define INLINE 1
#endif
#ifndef STOLEN
#define STOLEN 1
#endif
#ifndef PLAIN
#define PLAIN 0
#endif
#ifndef OTHERS
#define OTHERS 1
#endif
#ifndef STORES
#define STORES 4
#endif

#define EVER (INLINE + 2 * STOLEN + PLAIN)
#define ENDING 16			/* of KEPT; below: the count */
#define NUMBER(k) ((k) % ENDING)

#define KEPT  0				/* of the wait group */
#define DEAD  1
#define TASKS 2				/* those that the thief may take */
#define DATA  3				/* what the owner's tasks did */
#define TOLD  4

byte mem[5];
byte view[5];				/* the owner's, where `pending` */
byte pending[5];
chan stores = [STORES] of { byte, byte };

#ifdef LATE
#define FREES  0
#define BEFORE 0
#else
#define FREES  (INLINE > 0)
#define BEFORE PLAIN
#endif

short COUNT = BEFORE;
bool  LOCKED, WAITERS;
byte  sleepers;
byte  wakes;

byte alive = BEFORE + INLINE + STOLEN;	/* ghosts */
bool late;				/* the late task has not ended */
bool over;				/* the owner's wait has returned */
byte inside;				/* others that began to wait */

#define ME      (1 << _pid)
#define DRAINED (empty(stores))
#define ALIVE   assert(!mem[DEAD])

active proctype memory()
{
	byte a, v;

end:	do
	:: atomic {
		stores?a, v ->
		assert(a != KEPT || !mem[DEAD]);
		mem[a] = v;
		pending[a]--;
		a = 0;
		v = 0
	}
	od
}

/* Lock held, the word becomes count_. zero_: the count is zero. */
inline look(count_, waits_, ends_, kept_, zero_)
{
	atomic { ALIVE; kept_ = mem[KEPT] };
	if
	:: waits_ && count_ <= 0 && count_ + NUMBER(kept_) != 0 ->
#if defined(M_WAITONLY)
		if
		:: !ends_ -> DRAINED
		:: else
		fi;
#elif !defined(M_NOBARRIER)
		DRAINED;
#endif
#ifndef M_NOAWAIT
		!(mem[KEPT] & ENDING);
#endif
		atomic { ALIVE; kept_ = mem[KEPT] }
	:: else
	fi;
#ifdef M_DONEBLIND
	if
	:: ends_ -> kept_ = 0
	:: else
	fi;
#endif
	zero_ = (count_ + NUMBER(kept_) == 0);
	kept_ = 0
}

/* The last access. */
inline finish(count_)
{
	atomic {
		ALIVE;
		COUNT = count_;
		LOCKED = 0;
		WAITERS = 0;
		wakes = wakes | sleepers;
		sleepers = 0
	}
}

inline done()
{
	if
	:: atomic { !LOCKED && COUNT >= 2 -> ALIVE; COUNT-- }
	:: atomic { !LOCKED -> ALIVE; LOCKED = 1; c = COUNT - 1 };
		w = WAITERS;
		look(c, w, true, k, z);
		if
		:: z && w -> finish(c)
		:: else -> atomic { ALIVE; COUNT = c; LOCKED = 0 }
		fi
	fi;
	c = 0;
	w = 0;
	z = 0
}

/* What the adder judges is the count at some moment. It is in it itself. */
inline add()
{
#if defined(M_TORN)
	atomic { !LOCKED -> ALIVE; c = COUNT };
	atomic { ALIVE; k = mem[KEPT] };
	assert(c + NUMBER(k) > 0 && c + NUMBER(k) <= EVER);
	atomic { !LOCKED -> ALIVE; COUNT++ };
#elif defined(NEAR) || defined(M_KEPTFIRST)
#ifdef M_KEPTFIRST
	atomic { ALIVE; k = mem[KEPT] };
#endif
	atomic { !LOCKED -> ALIVE; LOCKED = 1; c = COUNT };
#ifndef M_KEPTFIRST
	atomic { ALIVE; k = mem[KEPT] };
#endif
	assert(c + NUMBER(k) > 0 && c + NUMBER(k) <= EVER);
	atomic { ALIVE; COUNT = c + 1; LOCKED = 0 };
#elif defined(M_BLINDADD)
	atomic { !LOCKED -> ALIVE; c = COUNT };
	atomic { ALIVE; COUNT = c + 1 };
#else
	atomic { !LOCKED -> ALIVE; COUNT++ };
#endif
	c = 0;
	k = 0
}

inline returned()
{
#ifdef LATE
	assert(!late)
#else
	assert(alive == 0);
	assert(mem[DATA] == INLINE)
#endif
}

active proctype thief()
{
	short c;
	byte k, n;
	bool w, z;

	do
	:: n < STOLEN ->
#ifdef ADDERS
		atomic { mem[TASKS] > n -> n++ };
		alive++;
		add();
		alive--;
		done();
		alive--;
#else
		atomic { mem[TASKS] > n -> n++; alive-- };
#endif
		done()
	:: else -> break
	od
}

active [PLAIN] proctype plain()
{
	short c;
	byte k;
	bool w, z;

#ifdef LATE
	atomic { !LOCKED -> COUNT++; late = 1; mem[TOLD] = 1 };
	late = 0;
#else
	alive--;
#endif
	done()
}

active [OTHERS] proctype other()
{
	short c;
	byte k;
	bool z;

	mem[TOLD] == 1;
	/* It may wait only if the wait group still exists. */
	atomic {
		!LOCKED || over || mem[DEAD] ->
		if
		:: over || mem[DEAD] -> goto gone
		:: else -> LOCKED = 1; c = COUNT; inside++
		fi
	};
	look(c, true, false, k, z);
	if
	:: z -> atomic { finish(c); inside-- }
	:: else ->
		atomic {
			ALIVE;
			sleepers = sleepers | ME;
			WAITERS = 1;
			LOCKED = 0;
			inside--
		};
		atomic { wakes & ME -> wakes = wakes & ~ME }
	fi;
	returned();
	atomic {
		if
		:: FREES && !inside -> mem[DEAD] = 1
		:: else
		fi
	};
gone:	skip
}

inline load(where_, into_)
{
	atomic {
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

active proctype owner()
{
	short c;
	byte k, n;
	bool z;

	/* spawn */
	do
	:: n < INLINE + STOLEN ->
		n++;
		store(KEPT, n);
		if
		:: n > INLINE -> store(TASKS, n - INLINE)
		:: else
		fi
	:: else -> break
	od;
#ifndef LATE
	store(TOLD, 1);
#endif

#ifdef ALONE
	goto out;
#endif
#ifdef POLL
	atomic { DRAINED && !LOCKED -> ALIVE; LOCKED = 1; c = COUNT };
	load(KEPT, k);
	c = c + k;
	store(KEPT, 0);
	DRAINED;
	assert(c > 0);
	atomic { ALIVE; COUNT = c; LOCKED = 0 };
	k = 0;
	c = 0;
#endif
	/* run its own */
	n = 0;
	do
	:: n < INLINE ->
		n++;
		store(DATA, n);
		alive--
	:: else -> break
	od;

	/* end_owner_count */
	load(KEPT, k);
	if
	:: k == INLINE ->
#if !defined(M_NOENDING) && !defined(M_CHECKLATE)
		store(KEPT, k | ENDING);
#endif
#ifdef M_CHECKLATE
		store(KEPT, 0);
#endif
#ifdef M_NOLOOK
		z = 1;
#else
		atomic { ALIVE; z = (COUNT == 0 && !LOCKED && !WAITERS) };
#endif
		if
		:: z ->
#ifndef M_CHECKLATE
			store(KEPT, 0);
#endif
			goto out
		:: else -> store(KEPT, k)
		fi
	:: else
	fi;

	/* wait_until */
	atomic { DRAINED && !LOCKED -> ALIVE; LOCKED = 1; c = COUNT };
	load(KEPT, k);
	c = c + k;
	store(KEPT, 0);
	DRAINED;
	c = c - INLINE;
	look(c, true, false, k, z);
	if
	:: z -> finish(c)
	:: else ->
		atomic {
			ALIVE;
			COUNT = c;
			sleepers = sleepers | ME;
			WAITERS = 1;
			LOCKED = 0
		};
		atomic { wakes & ME -> wakes = wakes & ~ME }
	fi;

out:
#ifndef LATE
	over = 1;
#endif
#ifndef ALONE
	assert(alive == 0);
	if
	:: FREES && !inside -> store(DEAD, 1)
	:: else
	fi
#endif
}

/* SPDX-License-Identifier: Apache-2.0 */
/* fiber.h - suspends and resumes fibers, and keeps what reports read of them:
 * see struct sennit_fiber.
 */
#ifndef SN_FIBER_H
#define SN_FIBER_H

#include "os/os.h"
#include "sched/state.h"

/* Make a fiber of the stack low[0..size-1]. Stacks lie `pitch` bytes apart. */
struct sennit_fiber *sn_fiber_make(char *low, size_t size, size_t pitch,
				   struct home *home, uint32_t id);
/* The minimum number of bytes for frames on a stack with `usable` bytes. */
size_t sn_fiber_room(size_t usable);

/* Forget an idle fiber. Its stack low[0..size-1] may then be reused. */
void sn_fiber_forget(struct sennit_fiber *f, size_t size);

/* Make *f the fiber of the calling thread's own stack. */
void sn_fiber_adopt_thread(struct sennit_fiber *f, struct home *home);

/* Whether the address lies on f's stack. Never for a thread's own stack. */
static ALWAYS_INLINE bool sn_fiber_holds(const struct sennit_fiber *f,
					 uintptr_t                  address)
{
	return address - (uintptr_t)f->low < f->size;
}

/* A group member runs on its opener's stack only where at least this many bytes
 * and half of the stack are free. */
#define FIBER_MEMBER_STACK ((size_t)16 * 1024)

/* --- task name ------------------------------------------------------------ */

/* Store the name, cut to SENNIT_TASK_NAME_SIZE - 1 bytes; "" removes it. */
void sn_task_name_write(struct task_name *tag, const char *name);

/* Read the name. Returns false if there is none, or if it is being written. */
bool sn_task_name_read(struct task_name *tag, char name[SENNIT_TASK_NAME_SIZE]);

/* --- fiber state ---------------------------------------------------------- */

static inline void sn_fiber_state_init(struct fiber_state *s)
{
	a_init(&s->task, 0);
	a_init(&s->object, NULL);
	a_init(&s->since, 0);
	a_init(&s->doing, SENNIT_REPORT_RUNNING);
	a_init(&s->jump, 0);
	a_init(&s->deadline, 0);
#ifdef SENNIT_SPAWN_SITES
	a_init(&s->site, 0);
#endif
}

/* The fiber begins to run `task`; NULL: it runs none. */
static inline void sn_fiber_state_set_task(struct fiber_state *s,
					   sennit_task_fn     *task)
{
	/* -> fiber_state.read: RUNNING */
	a_store_rel(&s->task, (uintptr_t)task);
}

/* The task that the owner has stored. */
static inline sennit_task_fn *sn_fiber_state_get_task(
	const struct fiber_state *s)
{
	return (sennit_task_fn *)a_load_rlx(&s->task);
}

/* A task, and where it was spawned, as reports show it. */
struct shown_task {
	sennit_task_fn *task;
#ifdef SENNIT_SPAWN_SITES
	uintptr_t site;
#endif
};

/* What the owner has stored. */
static inline struct shown_task sn_fiber_state_shown(
	const struct fiber_state *s)
{
	return (struct shown_task){
		.task = sn_fiber_state_get_task(s),
#ifdef SENNIT_SPAWN_SITES
		.site = a_load_rlx(&s->site),
#endif
	};
}

/* While the task changes there is no site. So a reader that finds the same one
 * before and after the task knows that they belong together. */
static inline void sn_fiber_state_show(struct fiber_state *s,
				       struct shown_task   shown)
{
#ifdef SENNIT_SPAWN_SITES
	a_store_rel(&s->site, 0); /* -> fiber_state.read: RUNNING */
	sn_fiber_state_set_task(s, shown.task);
	/* -> fiber_state.read: RUNNING, the task */
	a_store_rel(&s->site, shown.site);
#else
	sn_fiber_state_set_task(s, shown.task);
#endif
}

/* The fiber begins to run *t, which was queued. */
static inline void sn_fiber_state_begin(struct fiber_state *s,
					const struct task  *t)
{
	sn_fiber_state_show(s, (struct shown_task){
				       .task = t->run,
#ifdef SENNIT_SPAWN_SITES
				       .site = (uintptr_t)t->site,
#endif
			       });
}

/* The running fiber is about to wait. No thread may wake it before this call.
 * `serial` must differ from that of the previous wait. */
static inline void sn_fiber_state_block(struct fiber_state *s, uint32_t kind,
					const void *object, uint32_t serial,
					sennit_time now, sennit_time deadline)
{
	uint32_t doing = serial * FIBER_STATE_SERIAL |
			 kind << FIBER_STATE_KIND | SENNIT_REPORT_BLOCKED;

	if (deadline < SN_UNCANCELLED) {
		doing |= FIBER_STATE_TIMED;
		/* -> fiber_state.read: RUNNING */
		a_store_rel(&s->deadline, deadline);
	}
	/* -> fiber_state.read: RUNNING */
	a_store_rel(&s->object, (void *)(uintptr_t)object);
	a_store_rel(&s->since, now); /* -> fiber_state.read: RUNNING */
	/* -> fiber_state.read: BLOCKED, the rest */
	a_store_rel(&s->doing, doing);
}

/* The running fiber yields to others. */
static inline void sn_fiber_state_yield(struct fiber_state *s, uint32_t serial,
					sennit_time now)
{
	a_store_rel(&s->since, now); /* -> fiber_state.read: RUNNING */
	/* -> fiber_state.read: READY, the rest */
	a_store_rel(&s->doing,
		    serial * FIBER_STATE_SERIAL | SENNIT_REPORT_READY);
}

/* What the owner waits for: enum sennit_waits_for. */
static inline uint32_t sn_fiber_state_kind(const struct fiber_state *s)
{
	return a_load_rlx(&s->doing) / (1u << FIBER_STATE_KIND) %
	       FIBER_STATE_KINDS;
}

/* Set the start time of the current wait. */
static inline void sn_fiber_state_set_since(struct fiber_state *s,
					    sennit_time         now)
{
	a_store_rlx(&s->since, now);
}

/* The wait is over. The thread that has claimed it calls this before the fiber
 * can be resumed. */
static inline void sn_fiber_state_ready(struct fiber_state *s)
{
	uint32_t doing = a_load_rlx(&s->doing) & ~FIBER_STATE_STATE;

	/* -> fiber_state.read: READY, the rest */
	a_store_rel(&s->doing, doing | SENNIT_REPORT_READY);
}

/* The wait ends earlier than sn_fiber_state_block() said. Owner only, while
 * another thread may end the wait. */
static inline void sn_fiber_state_reschedule(struct fiber_state *s,
					     sennit_time         deadline)
{
	uint32_t doing = a_load_rlx(&s->doing); /* a guess; the CAS checks it */

	if (deadline >= SN_UNCANCELLED)
		return;
	/* -> fiber_state.read: BLOCKED, or RUNNING */
	a_store_rel(&s->deadline, deadline);
	while ((doing & FIBER_STATE_STATE) == SENNIT_REPORT_BLOCKED &&
	       /* -> fiber_state.read: BLOCKED, the deadline */
	       !a_cas_weak_rel(&s->doing, &doing, doing | FIBER_STATE_TIMED))
		continue;
}

/* The fiber runs again. */
static inline void sn_fiber_state_run(struct fiber_state *s)
{
	a_store_rlx(&s->doing, SENNIT_REPORT_RUNNING);
}

/* --- jumps ---------------------------------------------------------------- */

/* The next fiber of the list is f, of the calling worker. A distance that does
 * not fit is a wrong hint. */
static inline void sn_jumps_pass(struct jumps *j, struct sennit_fiber *f)
{
	struct sennit_fiber **at = &j->last[j->at++ % JUMP];
	struct sennit_fiber  *from = *at;

	*at = f;
	if (from)
		a_store_rlx(
			&from->state.jump,
			(uint32_t)(((intptr_t)f - (intptr_t)from) / JUMP_STEP));
}

/* f is no fiber of the worker any more. */
static inline void sn_jumps_forget(struct jumps              *j,
				   const struct sennit_fiber *f)
{
	for (uint32_t i = 0; i < JUMP; i++)
		if (j->last[i] == f)
			j->last[i] = NULL;
}

/* To which fiber f leads: the address may be any. f: to none. */
static inline const void *sn_jumps_target(const struct sennit_fiber *f)
{
	const intptr_t distance = (int32_t)a_load_rlx(&f->state.jump);

	return (const char *)f + distance * JUMP_STEP;
}

/* Fetch the lines that a wake and a switch touch first of the fiber to which f
 * leads. */
static inline void sn_jumps_follow(const struct sennit_fiber *f)
{
	const char *to = sn_jumps_target(f);

	if (to == (const char *)f)
		return;
	__builtin_prefetch(to, 1);
	__builtin_prefetch(to + JUMP_STEP, 1);
}

/* --- waited lock ---------------------------------------------------------- */

static inline void sn_waited_lock_init(struct waited_lock *l)
{
	a_init(&l->place, 0);
}

/* The calling fiber is about to wait for the lock whose owner is *owner. */
static inline void sn_waited_lock_set(struct waited_lock *l,
				      sennit_pointer *owner, bool shielded)
{
	/* -> waited_lock.open: the lock, the scope */
	a_store_rel(&l->place,
		    (uintptr_t)owner | (shielded ? WAITED_LOCK_SHIELDED : 0));
}

static inline bool sn_waited_lock_is_set(const struct waited_lock *l)
{
	return a_load_rlx(&l->place); /* not raced: the owner asks */
}

/* The wait is over: nobody reads the lock through *l after this call. */
static inline void sn_waited_lock_clear(struct waited_lock *l)
{
	/* only a reader changes the mark, and the CAS checks it */
	uintptr_t place = a_load_rlx(&l->place) & ~(uintptr_t)WAITED_LOCK_READ;
	uintptr_t old = place;
	uint32_t  times = 0;

	/* <- waited_lock.done */
	while (unlikely(!a_cas_weak_acq(&l->place, &old, 0))) {
		if (old != place)
			os_thread_give_way(times++);
		old = place;
	}
}

/* Keep the fiber of *l in its wait until sn_waited_lock_let_go(l, *place).
 * Returns false if it is in no such wait, or if another reader looks. */
static inline bool sn_waited_lock_keep(struct waited_lock *l, uintptr_t *place)
{
	*place = a_load_rlx(&l->place); /* a guess; the CAS checks it */
	if (!*place || *place & WAITED_LOCK_READ)
		return false;
	/* <- waited_lock.open */
	if (!a_cas_acq(&l->place, place, *place | WAITED_LOCK_READ))
		return false;
	TORTURE_POINT();
	return true;
}

static inline void sn_waited_lock_let_go(struct waited_lock *l, uintptr_t place)
{
	/* -> waited_lock.done: the lock and the scope have been read */
	a_store_rel(&l->place, place);
}

/* Where the owner of that lock stands. */
static inline sennit_pointer *sn_waited_lock_owner(uintptr_t place)
{
	return (sennit_pointer *)(place & ~(uintptr_t)WAITED_LOCK_SHIELDED);
}

/* --- read locks ----------------------------------------------------------- */

/* The owner has locked *lock as a reader. */
static inline void sn_read_locks_add(struct read_locks *r, void *lock)
{
	unsigned i = 0;

	while (i < READ_LOCKS - 1 && a_load_rlx(&r->lock[i])) /* own */
		i++;
	a_store_rel(&r->lock[i], lock); /* -> fiber_state.read: RUNNING */
}

/* It is about to unlock it. */
static inline void sn_read_locks_remove(struct read_locks *r, const void *lock)
{
	for (unsigned i = 0; i < READ_LOCKS; i++)
		if (a_load_rlx(&r->lock[i]) == lock) { /* own */
			/* -> fiber_state.read: RUNNING */
			a_store_rel(&r->lock[i], NULL);
			return;
		}
}

/* --- what reports read besides its state -------------------------------- */

static inline void *sn_fiber_identity(const struct sennit_fiber *f)
{
	return a_load_rlx(&f->identity); /* not raced: the owner asks */
}

static inline void sn_fiber_set_identity(struct sennit_fiber *f, void *identity)
{
	/* -> fiber_state.read: RUNNING */
	a_store_rel(&f->identity, identity);
}

static inline struct sennit_cancel_scope *sn_fiber_scope(
	const struct sennit_fiber *f)
{
	return a_load_rlx(&f->scope); /* not raced: the owner asks */
}

static inline void sn_fiber_set_scope(struct sennit_fiber        *f,
				      struct sennit_cancel_scope *scope)
{
	/* -> fiber_state.read: RUNNING */
	a_store_rel(&f->scope, (void *)scope);
}

/* --- switching ---------------------------------------------------------- */

#if defined(SN_ASAN) || defined(SN_TSAN)
/* The running thread is about to switch stacks. for_good: the stack of `from`
 * becomes idle. */
void sn_fiber_leaving(struct sennit_fiber *from, struct sennit_fiber *to,
		      bool for_good);
/* The running thread has just switched to f's stack. fresh: the stack was
 * idle. */
void sn_fiber_arrived(struct sennit_fiber *f, bool fresh);
#else
#define sn_fiber_leaving(from, to, for_good) ((void)0)
#define sn_fiber_arrived(f, fresh)           ((void)0)
#endif

/* Always inlined where that is possible: diag/src/merged.c counts the frames.
 */
#if defined(SN_ASAN) || defined(SN_TSAN)
#define SWITCH_INLINE inline
#else
#define SWITCH_INLINE ALWAYS_INLINE
#endif

/* Suspend `from`, which runs, and resume `to`, which is suspended. */
NO_SANITIZE static SWITCH_INLINE void sn_fiber_switch(struct sennit_fiber *from,
						      struct sennit_fiber *to)
{
	from->home->current = to;
	sn_fiber_leaving(from, to, false);
	if (unlikely(from->home->fp_shared))
		arch_switch_shared(&from->suspended, to->suspended);
	else
		arch_switch(&from->suspended, to->suspended);
	sn_fiber_arrived(from, false);
}

/* Suspend `from`, which runs, and call entry(to) on the idle stack of `to`.
 * entry begins with sn_fiber_arrived and ends with sn_fiber_end. */
NO_SANITIZE static SWITCH_INLINE void sn_fiber_start(struct sennit_fiber *from,
						     struct sennit_fiber *to,
						     arch_entry          *entry)
{
	void *top = (void *)((uintptr_t)to & ~(uintptr_t)15);

	from->home->current = to;
	sn_fiber_leaving(from, to, false);
	arch_note_low(top, to->low);
	if (unlikely(from->home->fp_shared))
		arch_start_shared(&from->suspended, top, entry, to, 0);
	else
		arch_start(&from->suspended, top, entry, to,
			   from->home->fp_control);
	sn_fiber_arrived(from, false);
}

/* The last call of an entry, which returns its result. The stack of `self` is
 * idle afterwards. */
NO_SANITIZE static inline arch_stack sn_fiber_end(struct sennit_fiber *self,
						  struct sennit_fiber *next)
{
	self->home->current = next;
	sn_fiber_leaving(self, next, true);
	return next->suspended;
}

/* --- longjmp check -------------------------------------------------------- */

/* Detects a task that was left by longjmp().
 *
 * After a jump from a task to another stack of this thread, or from the
 * thread's own stack into a task, the wrong fiber counts as running. Its next
 * wait would save one stack as another. The stack pointer is compared with the
 * running fiber's stack where a fiber is left without hurry, where there is
 * nothing to run after a task, and where a thread unbinds. Jumps within a stack
 * are allowed, and so are stacks of the program, for example a coroutine on
 * which a task waits.
 */

/* Within this distance of the last address that was seen on the thread's own
 * stack, no lookup is made. */
#define ASTRAY_NEAR ((uintptr_t)32 * 1024)

/* Abort if the address lies on another fiber's stack or on the thread's own
 * stack. */
COLD void sn_longjmp_found(struct worker *w, uintptr_t here);

/* Abort if the address lies on any fiber's stack although the thread's own
 * stack counts as running. Otherwise remember the address. */
void sn_astray_on_thread(struct worker *w, uintptr_t here);

/* A thread that had no worker is on its own stack. */
static ALWAYS_INLINE void sn_longjmp_begin(struct worker *w)
{
	w->last_seen_at = (uintptr_t)__builtin_frame_address(0);
}

/* Call this on the stack of the running fiber. The bounds of a thread's own
 * stack are unknown, so the address is looked up among the fibers' stacks. */
static ALWAYS_INLINE void sn_longjmp_check(struct worker *w)
{
	const struct sennit_fiber *f = w->home.current;
	const uintptr_t            here = (uintptr_t)__builtin_frame_address(0);

	if (f == &w->main) {
		if (unlikely(here - w->last_seen_at + ASTRAY_NEAR >=
			     2 * ASTRAY_NEAR))
			sn_astray_on_thread(w, here);
	} else if (unlikely(!sn_fiber_holds(f, here))) {
		sn_longjmp_found(w, here);
	}
}

#endif

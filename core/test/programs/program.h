/* SPDX-License-Identifier: Apache-2.0 */
/* program.h - generated programs: a world, objects, and actors that
 * call the library, as data that a seed makes.
 *
 * Any list of steps is a program: a step that would be misuse where it comes,
 * for example to unlock what the actor does not hold, is left out at run time.
 * So a program that fails can be cut anywhere.
 *
 * No program can hang by its own fault: who holds something waits for a limited
 * time only, and when all wait for ever, the first actor supplies everything
 * that may be waited for. So a program that does not end is a fault of the
 * library.
 */
#ifndef SN_PROGRAM_H
#define SN_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { OBJECTS = 8, ACTORS = 7, STEPS = 12, NAMES = 4 };

enum object_kind {
	EVENT,
	MUTEX,
	COND,
	SEMAPHORE,
	RWLOCK,
	BARRIER,
	ONCE,
	LINE, /* a queue of tickets */
	CHANNEL,
	FUTURE,
	WAIT_GROUP,
	POOL,
	GROUP,
	DOMAIN,
	OBJECT_KINDS
};

struct object_plan {
	uint8_t kind;
	uint8_t value;  /* mode; count; parties; capacity; flags of a group */
	uint8_t set;    /* at first; policy of a pool; deadline of a group */
	uint8_t shared; /* made by a call of shared.h */
};

/* How long a wait may take. */
enum limit { TRY, PAST, NOW, TICK, SOON, FAR, EVER, UNCANCELLED, LIMITS };

/* What an actor does next. `name` are indices of objects, of which the step
 * uses the first one of its kind, or `count` of them, also the same again. */
struct step {
	uint8_t call; /* enum step_call */
	uint8_t name[NAMES];
	uint8_t count;
	uint8_t limit; /* enum limit */
	uint8_t flag;
};

/* How an actor begins. */
enum actor_kind {
	TASK,
	COPY,
	MANY,
	SAME_THREAD,
	BACKGROUND,
	ON, /* schedule_on */
	TIED,
	MEMBER,
	MEMBER_COPY,
	MEMBER_HERE,
	MEMBER_ON,
	OUTCOME, /* future_spawn */
	CONTINUATION,
	INLINE_CONTINUATION,
	CALLED, /* ticket_on_call */
	IN_DOMAIN,
	THREAD,
	BOUND_THREAD,
	BLOCKING,
	RUN,
	FIRST, /* the function of once_call */
	FORKED,
	ELSEWHERE, /* on another scheduler */
	ACTOR_KINDS
};

struct actor_plan {
	uint8_t     kind;
	uint8_t     parent; /* an earlier actor, which starts it */
	uint8_t     name;   /* of a group, a domain, a queue of tickets */
	uint8_t     error;  /* of a member */
	uint8_t     count;
	struct step steps[STEPS];
};

struct world_plan {
	uint8_t workers, max_workers;
	uint8_t main; /* enum main_kind */
	uint8_t fifo, lazy, spread, retire, min_workers, max_fibers;
	uint8_t calls;    /* threads for blocking calls */
	uint8_t refusals; /* allocation that fails; 0: none */
	uint8_t second;   /* workers of another scheduler */
	uint8_t clients;  /* of the end */
	uint8_t cpus;     /* that both schedulers share; 0: none */
	uint8_t hold;     /* at the end: do all workers run at once? */
};

enum main_kind { MAIN_BOUND, MAIN_UNBOUND, MAIN_KINDS };

struct program {
	uint64_t           seed;
	struct world_plan  world;
	uint8_t            objects, actors;
	struct object_plan object[OBJECTS];
	struct actor_plan  actor[ACTORS]; /* the first is the main part */
};

/* The calls that steps make: STEP(name, function, kind of object, weight). */
#define STEP_CALLS(STEP)                   \
	STEP(set, EVENT, 8)                \
	STEP(clear, EVENT, 3)              \
	STEP(look, EVENT, 1)               \
	STEP(await, EVENT, 8)              \
	STEP(await_any, EVENT, 6)          \
	STEP(await_all, EVENT, 5)          \
	STEP(lock, MUTEX, 10)              \
	STEP(unlock, MUTEX, 5)             \
	STEP(await_notify, COND, 6)        \
	STEP(notify_one, COND, 5)          \
	STEP(notify_all, COND, 3)          \
	STEP(take, SEMAPHORE, 8)           \
	STEP(give, SEMAPHORE, 6)           \
	STEP(read_lock, RWLOCK, 6)         \
	STEP(write_lock, RWLOCK, 6)        \
	STEP(unlock_rw, RWLOCK, 6)         \
	STEP(arrive, BARRIER, 8)           \
	STEP(attempt, ONCE, 8)             \
	STEP(draw, LINE, 6)                \
	STEP(await_turn, LINE, 6)          \
	STEP(end_turn, LINE, 4)            \
	STEP(await_other_turn, LINE, 4)    \
	STEP(send, CHANNEL, 8)             \
	STEP(receive, CHANNEL, 8)          \
	STEP(close, CHANNEL, 1)            \
	STEP(length, CHANNEL, 1)           \
	STEP(settle, FUTURE, 6)            \
	STEP(await_future, FUTURE, 8)      \
	STEP(await_any_future, FUTURE, 5)  \
	STEP(await_all_futures, FUTURE, 4) \
	STEP(add, WAIT_GROUP, 5)           \
	STEP(done, WAIT_GROUP, 7)          \
	STEP(await_zero, WAIT_GROUP, 7)    \
	STEP(borrow, POOL, 8)              \
	STEP(give_back, POOL, 6)           \
	STEP(open_group, GROUP, 6)         \
	STEP(end_group, GROUP, 6)          \
	STEP(await_members, GROUP, 3)      \
	STEP(cancel, GROUP, 5)             \
	STEP(set_deadline, GROUP, 3)       \
	STEP(await_domain, DOMAIN, 2)      \
	STEP(choose_case, OBJECT_KINDS, 8) \
	STEP(start, OBJECT_KINDS, 10)      \
	STEP(yield, OBJECT_KINDS, 5)       \
	STEP(sleep, OBJECT_KINDS, 5)       \
	STEP(ask, OBJECT_KINDS, 2)         \
	STEP(hold, OBJECT_KINDS, 3)        \
	STEP(set_workers, OBJECT_KINDS, 5) \
	STEP(loop, OBJECT_KINDS, 3)        \
	STEP(refer, OBJECT_KINDS, 3)       \
	STEP(set_cpus, OBJECT_KINDS, 4)    \
	STEP(trim, OBJECT_KINDS, 2)

enum step_call {
#define STEP(name, kind, weight) CALL_##name,
	STEP_CALLS(STEP)
#undef STEP
		STEP_KINDS
};

/* Makes the program of this seed. */
void program_make(struct program *p, uint64_t seed);

/* Makes a program of a fuzzer's bytes. */
void program_make_from(struct program *p, const uint8_t *bytes, size_t size);

/* The steps of all actors. */
unsigned program_steps(const struct program *p);

/* The objects that a step may touch: a bit for each. */
unsigned program_objects(const struct program *p, const struct step *s);

/* Runs it once: a scenario of sennit_explore. A fault prints what was wrong and
 * aborts. */
void program_run(void *program);

/* Prints it as a program in C. */
void program_print(const struct program *p, uint64_t schedule);

/* How many calls of each kind have run, and which pairs on one object. */
struct coverage {
	_Atomic(uint64_t) programs, runs, calls;
	_Atomic(uint64_t) undecided; /* histories that were too long to check */
	_Atomic(uint64_t) call[STEP_KINDS];
	uint32_t          pair[STEP_KINDS][STEP_KINDS];
};
extern struct coverage *coverage;

#endif

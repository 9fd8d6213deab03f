/* SPDX-License-Identifier: Apache-2.0 */
/* fork.h - fork-join at the price of a few instructions: functions whose calls
 * can be spawned, compiled into the program. Opt-in; include/sennit.h leaves it
 * out.
 *
 *	SENNIT_FORK_1(unsigned, fib, unsigned, n)
 *	{
 *		unsigned a, b;
 *
 *		if (n < 2)
 *			return n;
 *		SENNIT_SPAWN(fib, other, n - 1);
 *		b = SENNIT_CALL(fib, n - 2);
 *		a = SENNIT_SYNC(fib, other);
 *		return a + b;
 *	}
 *
 *	unsigned result = SENNIT_RUN(fib, 32);
 *
 * SENNIT_FORK_n(result, name, type, parameter, ...) begins the definition of a
 * function with n = 1..4 parameters and a result (not void). In its body, and
 * in that of others that are defined so:
 *
 *	SENNIT_SPAWN(name, record, arguments...)   declares `record` and makes
 *	    the call a task, which another worker may steal;
 *	SENNIT_SYNC(name, record)   is its result: it calls the function here if
 *	    nobody has taken it, else waits;
 *	SENNIT_SPAWN_TO(name, record, arguments...)   spawns with a record that
 *	    the function has declared: SENNIT_RECORD(name) record, or an array;
 *	    once synced it may be used again;
 *	SENNIT_CALL(name, arguments...)   calls it here and now.
 *
 * SENNIT_RUN(name, arguments...) calls it from anywhere else in a task, or on a
 * bound thread.
 *
 * Each spawn is synced once, before its function returns, the last spawned
 * first (any other order works, and is slow). A call may wait on anything: then
 * its caller waits with it, as it would in SENNIT_SYNC. What is not stolen is
 * part of the task that syncs it, with its name, local values, locks and
 * floating-point control; so a function neither leaves a lock held nor control
 * changed, and knows nothing of who it is. A group's deadline and cancelling
 * reach its waits wherever it runs. No exception may leave it. Memory that
 * cannot be had makes a spawn a call at once.
 *
 * The program and the library must agree on what the macros compile to: a
 * library that does not aborts at the first SENNIT_RUN, saying so.
 *
 * Source: Lace (van Dijk and van de Pol, 2014) for joining the last spawned
 * first as a plain call; here a call may also wait, and deep recursion goes on
 * on other stacks.
 */
#ifndef SENNIT_FORK_H
#define SENNIT_FORK_H

#include "sennit/task.h"
#include "sennit/wait_group.h"

#include <stdbool.h>

SENNIT_BEGIN

/* --- the library's, as the macros use it --------------------------------- */

#define SENNIT_FORK_VERSION_ 1

struct sennit_fork_slot_ {
	uintptr_t run, argument, meta, unused;
};

/* The head of a worker's deque, whose owner alone comes here. */
struct sennit_fork_deque_ {
	uint32_t                  bottom, limit, mask;
	bool                      asymmetric;
	struct sennit_fork_slot_ *slot;
};

/* The same of what thieves write. */
struct sennit_fork_guard_ {
	uint32_t guard, asked;
};

/* Where a function runs: fixed as long as it does. */
struct sennit_here_ {
	struct sennit_fork_deque_ *deque; /* NULL: nothing is quick here */
	const struct sennit_fork_guard_ *guard;
	const uint32_t                  *sleepers;
	const bool                      *pushes;
	uint32_t                        *dispatches;
	const char                      *shallow;
	uintptr_t                        meta;
};

/* Find out where the caller is. Misuse with no scheduler bound, or if the
 * program was compiled for another library.
 *
 * From: fiber.  Blocks: no.  */
SENNIT_API void sennit_fork_begin_(struct sennit_here_ *me, uint32_t version);

/* Spawn where it is not quick.
 *
 * From: fiber.  Blocks: yes (if it becomes a call).  */
SENNIT_API void sennit_fork_push_(const struct sennit_here_ *me,
				  sennit_task_fn *run, void *record);

/* Somebody looks for work.
 *
 * From: fiber.  Blocks: no.  */
SENNIT_API void sennit_fork_help_(void);

/* Whether the record's task, the newest, is still ours although thieves may
 * take it: its claim is half made.
 *
 * From: fiber.  Blocks: no.  */
SENNIT_API bool sennit_fork_pop_(const void *record);

SENNIT_END

#define SENNIT_LIKELY_(x)   __builtin_expect(!!(x), 1)
#define SENNIT_UNLIKELY_(x) __builtin_expect(!!(x), 0)

/* As sn_deque_push, and the look for sleepers after it. */
static inline void sennit_fork_spawn_(const struct sennit_here_ *me,
				      sennit_task_fn *run, void *record)
{
	struct sennit_fork_deque_ *d = me->deque;
	uint32_t                   b = d->bottom;
	struct sennit_fork_slot_  *s = &d->slot[b & d->mask];

	if (SENNIT_UNLIKELY_((int32_t)(b - d->limit) >= 0)) {
		sennit_fork_push_(me, run, record);
		return;
	}
	__atomic_store_n(&s->run, (uintptr_t)run, __ATOMIC_RELAXED);
	__atomic_store_n(&s->argument, (uintptr_t)record, __ATOMIC_RELAXED);
	__atomic_store_n(&s->meta, me->meta, __ATOMIC_RELAXED);
	__atomic_store_n(&d->bottom, b + 1, __ATOMIC_RELEASE);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (SENNIT_UNLIKELY_(
		    __atomic_load_n(&me->guard->asked, __ATOMIC_RELAXED) |
		    __atomic_load_n(me->sleepers, __ATOMIC_RELAXED)))
		sennit_fork_help_();
}

/* As sn_deque_pop, if the newest task is the record's: then the caller calls
 * its function. Each counts as a dispatch of the worker's; when others are due
 * to have their turn, or the stack is deep, the answer is no. */
static inline bool sennit_fork_take_(const struct sennit_here_ *me,
				     const void                *record)
{
	struct sennit_fork_deque_ *d = me->deque;
	uint32_t                   b = d->bottom - 1;

	if (SENNIT_UNLIKELY_(
		    __atomic_load_n(&d->slot[b & d->mask].argument,
				    __ATOMIC_RELAXED) != (uintptr_t)record ||
		    (const char *)__builtin_frame_address(0) < me->shallow))
		return false;
	if (SENNIT_UNLIKELY_(!--*me->dispatches)) {
		*me->dispatches = 1;
		return false;
	}
	__atomic_store_n(&d->bottom, b, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (SENNIT_UNLIKELY_((int32_t)(b - __atomic_load_n(&me->guard->guard,
							   __ATOMIC_RELAXED)) <
			     0))
		return sennit_fork_pop_(record);
	return true;
}

/* --- defining ------------------------------------------------------------ */

#define SENNIT_LIST_(...) __VA_ARGS__

/* Not every function is both spawned and run. */
#define SENNIT_MAYBE_UNUSED_ __attribute__((unused))

/* clang-format off */
#define SENNIT_FORK_(R, NAME, FIELDS, PARAMETERS, FILL, PASS) \
	struct NAME##_forked_ { \
		sennit_wait_group done_; \
		R                 result_; \
		SENNIT_LIST_ FIELDS \
	}; \
	static R NAME##_body_(const struct sennit_here_ *sennit_me_, \
			      SENNIT_LIST_ PARAMETERS); \
	SENNIT_MAYBE_UNUSED_ \
	static void NAME##_alone_(void *forked_) \
	{ \
		struct NAME##_forked_ *x_ = (struct NAME##_forked_ *)forked_; \
		struct sennit_here_    me_; \
		\
		sennit_fork_begin_(&me_, SENNIT_FORK_VERSION_); \
		x_->result_ = NAME##_body_(&me_, SENNIT_LIST_ PASS); \
		(void)sennit_wait_group_done(&x_->done_); \
	} \
	SENNIT_MAYBE_UNUSED_ \
	static inline void NAME##_spawn_(const struct sennit_here_ *me_, \
					 struct NAME##_forked_     *x_, \
					 SENNIT_LIST_ PARAMETERS) \
	{ \
		static const sennit_wait_group one_ = SENNIT_FORK_ONE_; \
		\
		x_->done_ = one_; \
		SENNIT_LIST_ FILL \
		sennit_fork_spawn_(me_, NAME##_alone_, x_); \
	} \
	SENNIT_MAYBE_UNUSED_ \
	static inline R NAME##_sync_(const struct sennit_here_ *me_, \
				     struct NAME##_forked_     *x_) \
	{ \
		if (SENNIT_LIKELY_(sennit_fork_take_(me_, x_))) \
			return NAME##_body_(me_, SENNIT_LIST_ PASS); \
		sennit_wait_group_wait(&x_->done_); \
		return x_->result_; \
	} \
	SENNIT_MAYBE_UNUSED_ \
	static inline R NAME##_run_(SENNIT_LIST_ PARAMETERS) \
	{ \
		struct NAME##_forked_  args_; \
		struct NAME##_forked_ *x_ = &args_; \
		struct sennit_here_    me_; \
		\
		SENNIT_LIST_ FILL \
		sennit_fork_begin_(&me_, SENNIT_FORK_VERSION_); \
		return NAME##_body_(&me_, SENNIT_LIST_ PASS); \
	} \
	static R NAME##_body_(const struct sennit_here_ *sennit_me_, \
			      SENNIT_LIST_ PARAMETERS)
/* clang-format on */

/* A wait group of one. */
#ifdef __cplusplus
#define SENNIT_FORK_ONE_                    \
	{                                   \
		{ UINT32_C(8) }, 0, nullptr \
	}
#else
#define SENNIT_FORK_ONE_                 \
	{                                \
		{ UINT32_C(8) }, 0, NULL \
	}
#endif

#define SENNIT_FORK_1(R, NAME, T1, A1) \
	SENNIT_FORK_(R, NAME, (T1 a1_;), (T1 A1), (x_->a1_ = A1;), (x_->a1_))

#define SENNIT_FORK_2(R, NAME, T1, A1, T2, A2)                   \
	SENNIT_FORK_(R, NAME, (T1 a1_; T2 a2_;), (T1 A1, T2 A2), \
		     (x_->a1_ = A1; x_->a2_ = A2;), (x_->a1_, x_->a2_))

#define SENNIT_FORK_3(R, NAME, T1, A1, T2, A2, T3, A3)            \
	SENNIT_FORK_(R, NAME, (T1 a1_; T2 a2_; T3 a3_;),          \
		     (T1 A1, T2 A2, T3 A3),                       \
		     (x_->a1_ = A1; x_->a2_ = A2; x_->a3_ = A3;), \
		     (x_->a1_, x_->a2_, x_->a3_))

#define SENNIT_FORK_4(R, NAME, T1, A1, T2, A2, T3, A3, T4, A4)             \
	SENNIT_FORK_(                                                      \
		R, NAME, (T1 a1_; T2 a2_; T3 a3_; T4 a4_;),                \
		(T1 A1, T2 A2, T3 A3, T4 A4),                              \
		(x_->a1_ = A1; x_->a2_ = A2; x_->a3_ = A3; x_->a4_ = A4;), \
		(x_->a1_, x_->a2_, x_->a3_, x_->a4_))

#define SENNIT_SPAWN(NAME, RECORD, ...) \
	struct NAME##_forked_ RECORD;   \
	NAME##_spawn_(sennit_me_, &RECORD, __VA_ARGS__)

#define SENNIT_RECORD(NAME) struct NAME##_forked_

#define SENNIT_SPAWN_TO(NAME, RECORD, ...) \
	NAME##_spawn_(sennit_me_, &(RECORD), __VA_ARGS__)

#define SENNIT_SYNC(NAME, RECORD) NAME##_sync_(sennit_me_, &(RECORD))

#define SENNIT_CALL(NAME, ...) NAME##_body_(sennit_me_, __VA_ARGS__)

#define SENNIT_RUN(NAME, ...) NAME##_run_(__VA_ARGS__)

#endif

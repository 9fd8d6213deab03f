/* SPDX-License-Identifier: Apache-2.0 */
/* fork_join_inside.h - what the macros of fork_join.h expand to. Not for users:
 * everything here ends with an underscore, and may change in each version.
 */
#ifndef SENNIT_FORK_INSIDE_H
#define SENNIT_FORK_INSIDE_H

#include "sennit/task.h"
#include "sennit/wait_group.h"

#include <stdbool.h>

SENNIT_BEGIN

/* --- the library's ------------------------------------------------------- */

#define SENNIT_FORK_VERSION_ 2

/* These types declare the library's own structs a second time, so the compiler
 * must assume that accesses to the two declarations alias. */
#define SENNIT_MAY_ALIAS_ __attribute__((may_alias))

/* Also where a 64-bit word needs less, as on i386: it is changed atomically. */
#define SENNIT_ALIGNED_ __attribute__((aligned(8)))

typedef uint32_t SENNIT_MAY_ALIAS_ sennit_fork_half_;

struct SENNIT_MAY_ALIAS_ sennit_fork_slot_ {
	uintptr_t run, argument, meta;
	uintptr_t unused[32 / sizeof(uintptr_t) - 3];
};

/* A worker's deque. Only the owner accesses the head, except that thieves read
 * bottom. bottom is the low half of its word, and the high half is zero. */
struct SENNIT_MAY_ALIAS_ sennit_fork_deque_ {
	uint64_t                  bottom;
	uint32_t                  limit, mask;
	struct sennit_fork_slot_ *slot;
	char                      apart_[128 - 16 - sizeof(void *)];
	uint32_t                  guard, asked; /* written by thieves */
};

/* A call that may be stolen. Low half of `at`: the value of bottom while this
 * is the newest task. High half: the state of the task, 0 until a worker runs
 * it. So one comparison with bottom shows whether the task is the newest one
 * and not stolen. */
struct SENNIT_MAY_ALIAS_ sennit_fork_record_ {
	uint64_t at       SENNIT_ALIGNED_;
	sennit_wait_group done; /* the library's, when there is a wait */
};

/* Where a function runs. It does not change while the function runs. */
struct sennit_here_ {
	struct sennit_fork_deque_ *deque; /* no room: the fast paths are not
					   * taken */
	const sennit_fork_half_   *sleepers;
	uint32_t                  *dispatches;
	const char                *shallow;
	uintptr_t                  meta;
};

/* Find the worker of the caller, and return the deque's bottom. It is misuse if
 * no scheduler is bound, or if the program was compiled for another version of
 * the library.
 *
 * From: fiber.  Blocks: no.  */
SENNIT_API uint64_t sennit_fork_begin_(struct sennit_here_ *me,
				       uint32_t             version);

/* Like sennit_fork_begin_, for a task that a worker's loop starts. It first
 * marks the task as started, so that readers do not take it for queued.
 * sennit_fork_end_ ends such a task.
 *
 * From: fiber.  Blocks: no.  */
SENNIT_API uint64_t sennit_fork_start_(struct sennit_here_        *me,
				       struct sennit_fork_record_ *record,
				       uint32_t                    version);
SENNIT_API void     sennit_fork_end_(struct sennit_fork_record_ *record);

/* Spawn on the slow path: if there is no room, or bottom is not as expected.
 * Returns bottom.
 *
 * From: fiber.  Blocks: yes (if it becomes a call).  */
SENNIT_API uint64_t sennit_fork_push_(const struct sennit_here_  *me,
				      sennit_task_fn             *run,
				      struct sennit_fork_record_ *record);

/* Serve a thief or sleeper that looks for work. Returns bottom.
 *
 * From: fiber.  Blocks: no.  */
SENNIT_API uint64_t sennit_fork_help_(const struct sennit_here_ *me);

/* Join on the slow path. If the task can be taken off the deque, take it and
 * return true; the caller runs it. Otherwise wait until it has run.
 *
 * From: fiber.  Blocks: yes.  */
SENNIT_API bool sennit_fork_join_(const struct sennit_here_  *me,
				  struct sennit_fork_record_ *record);

SENNIT_END

#define SENNIT_LIKELY_(x)   __builtin_expect(!!(x), 1)
#define SENNIT_UNLIKELY_(x) __builtin_expect(!!(x), 0)
#define SENNIT_INLINE_      static inline __attribute__((always_inline, unused))

/* Return whether bottom is `at`.
 *
 * Each spawn and each join writes `bottom`. To read it back would make each of
 * them wait for the previous one, some eight cycles. So the caller keeps the
 * expected value in a register and only compares: a predicted branch waits for
 * nothing. The assembler statement hides the copy from the compiler, which
 * would otherwise continue with the value that it has read, since the two are
 * equal. */
SENNIT_INLINE_ bool sennit_fork_is_at_(const struct sennit_fork_deque_ *deque,
				       uint64_t                         at)
{
	__asm__("" : "+r"(at));
	return __atomic_load_n(&deque->bottom, __ATOMIC_RELAXED) == at;
}

/* Return whether the stack is shallow enough to run a call on it. With
 * AddressSanitizer local variables may be elsewhere. */
SENNIT_INLINE_ bool sennit_fork_is_shallow_(const struct sennit_here_ *me)
{
#if defined(__SANITIZE_ADDRESS__) || !defined(__OPTIMIZE__)
	return (const char *)__builtin_frame_address(0) >= me->shallow;
#else
	char        here;
	const char *depth;

	__asm__("" : "=r"(depth) : "0"(&here));
	return depth >= me->shallow;
#endif
}

/* Return the record's address for a call that is seldom made, computed from a
 * field. Otherwise the compiler would keep the address that goes into the slot
 * until then, in a register that each call would have to save. */
SENNIT_INLINE_ struct sennit_fork_record_ *sennit_fork_again_(
	struct sennit_fork_record_ *record)
{
	char *done = (char *)&record->done;

	__asm__("" : "+r"(done));
	done -= offsetof(struct sennit_fork_record_, done);
	return (struct sennit_fork_record_ *)(void *)done;
}

/* Push like sn_deque_push, and then look for sleepers. `at` is the value of
 * bottom as far as the caller knows. Returns the value of bottom after the
 * push.
 *
 * A task is pushed at bottom, whatever the caller expected, so the comparison
 * is enough. The fence is for the compiler, which then takes this code for a
 * call: gcc guesses that a branch around a call is the likely one, and then
 * tests for the leaves of a tree at the call site. */
SENNIT_INLINE_ uint64_t sennit_fork_spawn_(const struct sennit_here_ *me,
					   uint64_t at, sennit_task_fn *run,
					   struct sennit_fork_record_ *record)
{
	struct sennit_fork_deque_ *d;
	struct sennit_fork_slot_  *s;

	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	d = me->deque;
	if (SENNIT_UNLIKELY_(!sennit_fork_is_at_(d, at) ||
			     (int32_t)((uint32_t)at - d->limit) >= 0))
		return sennit_fork_push_(me, run, sennit_fork_again_(record));
	s = &d->slot[(uint32_t)at & d->mask];
	__atomic_store_n(&s->run, (uintptr_t)run, __ATOMIC_RELAXED);
	__atomic_store_n(&s->argument, (uintptr_t)record, __ATOMIC_RELAXED);
	__atomic_store_n(&s->meta, me->meta, __ATOMIC_RELAXED);
	at = (uint32_t)(at + 1);
	__atomic_store_n(&record->at, at, __ATOMIC_RELAXED);
	__atomic_store_n(&d->bottom, at, __ATOMIC_RELEASE);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (SENNIT_UNLIKELY_(__atomic_load_n(&d->asked, __ATOMIC_RELAXED) |
			     __atomic_load_n(me->sleepers, __ATOMIC_RELAXED)))
		return sennit_fork_help_(me);
	return at;
}

/* Pop like sn_deque_pop, if the newest task is the record's; the caller then
 * calls its function. Each success counts as a dispatch of the worker. The
 * result is false if other tasks or fibers are due, or if the stack is deep.
 *
 * docs/design/groups.md explains why the task is the newest. If guard forbids
 * the pop, bottom gets its previous value, as in sn_deque_pop_rest. */
SENNIT_INLINE_ bool sennit_fork_take_(const struct sennit_here_  *me,
				      struct sennit_fork_record_ *record,
				      uint64_t                   *at)
{
	struct sennit_fork_deque_ *d = me->deque;
	uint64_t b = __atomic_load_n(&record->at, __ATOMIC_RELAXED);

	if (SENNIT_UNLIKELY_(!sennit_fork_is_at_(d, b) ||
			     !sennit_fork_is_shallow_(me) ||
			     !--*me->dispatches))
		return false;
	b = (uint32_t)(b - 1);
	__atomic_store_n(&d->bottom, b, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (SENNIT_UNLIKELY_(
		    (int32_t)((uint32_t)b -
			      __atomic_load_n(&d->guard, __ATOMIC_RELAXED)) <
		    0)) {
		__atomic_store_n(&d->bottom, (uint32_t)(b + 1),
				 __ATOMIC_RELAXED);
		return false;
	}
	*at = b;
	return true;
}

/* Return whether the caller must call the record's function. */
SENNIT_INLINE_ bool sennit_fork_sync_(const struct sennit_here_  *me,
				      struct sennit_fork_record_ *record,
				      uint64_t                   *at)
{
	bool mine;

	if (SENNIT_LIKELY_(sennit_fork_take_(me, record, at)))
		return true;
	mine = sennit_fork_join_(me, sennit_fork_again_(record));
	*at = __atomic_load_n(&me->deque->bottom, __ATOMIC_RELAXED);
	return mine;
}

/* --- lists of parameters ------------------------------------------------- */

/* The number of pairs: 1 to 8. A type without a name leaves `odd`, which no
 * macro below knows. */
#define SENNIT_FORK_PICK_(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, N, \
			  ...)                                               \
	N
#define SENNIT_FORK_COUNT_(...)                                                \
	SENNIT_FORK_PICK_(__VA_ARGS__, 8, odd, 7, odd, 6, odd, 5, odd, 4, odd, \
			  3, odd, 2, odd, 1, odd, 0)

#define SENNIT_FORK_PASTE_(A, B)  A##B##_
#define SENNIT_FORK_CHOOSE_(A, B) SENNIT_FORK_PASTE_(A, B)

/* A list "type, name, ..." by WHAT, a macro for each of its lengths. */
#define SENNIT_FORK_EACH_(WHAT, ...) \
	SENNIT_FORK_CHOOSE_(WHAT, SENNIT_FORK_COUNT_(__VA_ARGS__))(__VA_ARGS__)

/* clang-format off */
#define SENNIT_FORK_FIELDS_1_(T, A) T a1_;
#define SENNIT_FORK_FIELDS_2_(T, A, ...) \
	T a2_; SENNIT_FORK_FIELDS_1_(__VA_ARGS__)
#define SENNIT_FORK_FIELDS_3_(T, A, ...) \
	T a3_; SENNIT_FORK_FIELDS_2_(__VA_ARGS__)
#define SENNIT_FORK_FIELDS_4_(T, A, ...) \
	T a4_; SENNIT_FORK_FIELDS_3_(__VA_ARGS__)
#define SENNIT_FORK_FIELDS_5_(T, A, ...) \
	T a5_; SENNIT_FORK_FIELDS_4_(__VA_ARGS__)
#define SENNIT_FORK_FIELDS_6_(T, A, ...) \
	T a6_; SENNIT_FORK_FIELDS_5_(__VA_ARGS__)
#define SENNIT_FORK_FIELDS_7_(T, A, ...) \
	T a7_; SENNIT_FORK_FIELDS_6_(__VA_ARGS__)
#define SENNIT_FORK_FIELDS_8_(T, A, ...) \
	T a8_; SENNIT_FORK_FIELDS_7_(__VA_ARGS__)

#define SENNIT_FORK_NAMES_1_(T, A) T A
#define SENNIT_FORK_NAMES_2_(T, A, ...) \
	T A, SENNIT_FORK_NAMES_1_(__VA_ARGS__)
#define SENNIT_FORK_NAMES_3_(T, A, ...) \
	T A, SENNIT_FORK_NAMES_2_(__VA_ARGS__)
#define SENNIT_FORK_NAMES_4_(T, A, ...) \
	T A, SENNIT_FORK_NAMES_3_(__VA_ARGS__)
#define SENNIT_FORK_NAMES_5_(T, A, ...) \
	T A, SENNIT_FORK_NAMES_4_(__VA_ARGS__)
#define SENNIT_FORK_NAMES_6_(T, A, ...) \
	T A, SENNIT_FORK_NAMES_5_(__VA_ARGS__)
#define SENNIT_FORK_NAMES_7_(T, A, ...) \
	T A, SENNIT_FORK_NAMES_6_(__VA_ARGS__)
#define SENNIT_FORK_NAMES_8_(T, A, ...) \
	T A, SENNIT_FORK_NAMES_7_(__VA_ARGS__)

#define SENNIT_FORK_FILL_1_(T, A) x_->a1_ = A;
#define SENNIT_FORK_FILL_2_(T, A, ...) \
	x_->a2_ = A; SENNIT_FORK_FILL_1_(__VA_ARGS__)
#define SENNIT_FORK_FILL_3_(T, A, ...) \
	x_->a3_ = A; SENNIT_FORK_FILL_2_(__VA_ARGS__)
#define SENNIT_FORK_FILL_4_(T, A, ...) \
	x_->a4_ = A; SENNIT_FORK_FILL_3_(__VA_ARGS__)
#define SENNIT_FORK_FILL_5_(T, A, ...) \
	x_->a5_ = A; SENNIT_FORK_FILL_4_(__VA_ARGS__)
#define SENNIT_FORK_FILL_6_(T, A, ...) \
	x_->a6_ = A; SENNIT_FORK_FILL_5_(__VA_ARGS__)
#define SENNIT_FORK_FILL_7_(T, A, ...) \
	x_->a7_ = A; SENNIT_FORK_FILL_6_(__VA_ARGS__)
#define SENNIT_FORK_FILL_8_(T, A, ...) \
	x_->a8_ = A; SENNIT_FORK_FILL_7_(__VA_ARGS__)

#define SENNIT_FORK_PASS_1_(T, A) x_->a1_
#define SENNIT_FORK_PASS_2_(T, A, ...) \
	x_->a2_, SENNIT_FORK_PASS_1_(__VA_ARGS__)
#define SENNIT_FORK_PASS_3_(T, A, ...) \
	x_->a3_, SENNIT_FORK_PASS_2_(__VA_ARGS__)
#define SENNIT_FORK_PASS_4_(T, A, ...) \
	x_->a4_, SENNIT_FORK_PASS_3_(__VA_ARGS__)
#define SENNIT_FORK_PASS_5_(T, A, ...) \
	x_->a5_, SENNIT_FORK_PASS_4_(__VA_ARGS__)
#define SENNIT_FORK_PASS_6_(T, A, ...) \
	x_->a6_, SENNIT_FORK_PASS_5_(__VA_ARGS__)
#define SENNIT_FORK_PASS_7_(T, A, ...) \
	x_->a7_, SENNIT_FORK_PASS_6_(__VA_ARGS__)
#define SENNIT_FORK_PASS_8_(T, A, ...) \
	x_->a8_, SENNIT_FORK_PASS_7_(__VA_ARGS__)

/* --- results ------------------------------------------------------------- */

/* `void` if R is that, otherwise `value`: only then is there such a macro. */
#define SENNIT_FORK_SAW_void ~, void
#define SENNIT_FORK_SECOND_(A, B, ...) B
#define SENNIT_FORK_SECOND_OF_(...) SENNIT_FORK_SECOND_(__VA_ARGS__)
#define SENNIT_FORK_KIND_(R) \
	SENNIT_FORK_SECOND_OF_(SENNIT_FORK_SAW_##R, value, ~)

#define SENNIT_FORK_KEEP_value_(R) R result_;
#define SENNIT_FORK_KEEP_void_(R)
#define SENNIT_FORK_STORE_value_   x_->result_ =
#define SENNIT_FORK_STORE_void_
#define SENNIT_FORK_RETURN_value_  return
#define SENNIT_FORK_RETURN_void_
#define SENNIT_FORK_STORED_value_  return x_->result_;
#define SENNIT_FORK_STORED_void_

/* --- functions ----------------------------------------------------------- */

#define SENNIT_FORK_LIST_(...) __VA_ARGS__

/* Not every function is both spawned and run. */
#define SENNIT_MAYBE_UNUSED_ __attribute__((unused))

#define SENNIT_FORK_DECLARED_(LINKAGE, R, KIND, NAME, FIELDS, NAMES, FILL, \
			      PASS) \
	struct NAME##_forked_ { \
		struct sennit_fork_record_ forked_; \
		SENNIT_FORK_KEEP_##KIND##_(R) \
		SENNIT_FORK_LIST_ FIELDS \
	}; \
	LINKAGE R NAME##_body_(const struct sennit_here_ *sennit_me_, \
			       uint64_t sennit_at_, SENNIT_FORK_LIST_ NAMES); \
	SENNIT_MAYBE_UNUSED_ \
	static void NAME##_alone_(void *forked_) \
	{ \
		struct NAME##_forked_ *x_ = (struct NAME##_forked_ *)forked_; \
		struct sennit_here_    me_; \
		uint64_t               at_ = sennit_fork_start_( \
			&me_, &x_->forked_, SENNIT_FORK_VERSION_); \
		\
		SENNIT_FORK_STORE_##KIND##_ \
			NAME##_body_(&me_, at_, SENNIT_FORK_LIST_ PASS); \
		sennit_fork_end_(&x_->forked_); \
	} \
	SENNIT_INLINE_ uint64_t NAME##_spawn_(const struct sennit_here_ *me_, \
					      uint64_t                   at_, \
					      struct NAME##_forked_     *x_, \
					      SENNIT_FORK_LIST_ NAMES) \
	{ \
		SENNIT_FORK_LIST_ FILL \
		return sennit_fork_spawn_(me_, at_, NAME##_alone_, \
					  &x_->forked_); \
	} \
	SENNIT_INLINE_ R NAME##_sync_(const struct sennit_here_ *me_, \
				      uint64_t                  *at_, \
				      struct NAME##_forked_     *x_) \
	{ \
		if (SENNIT_LIKELY_(sennit_fork_sync_(me_, &x_->forked_, at_))) \
			SENNIT_FORK_RETURN_##KIND##_ \
				NAME##_body_(me_, *at_, \
					     SENNIT_FORK_LIST_ PASS); \
		SENNIT_FORK_STORED_##KIND##_ \
	} \
	SENNIT_MAYBE_UNUSED_ \
	static inline R NAME##_run_(SENNIT_FORK_LIST_ NAMES) \
	{ \
		struct NAME##_forked_  args_; \
		struct NAME##_forked_ *x_ = &args_; \
		struct sennit_here_    me_; \
		uint64_t               at_; \
		\
		SENNIT_FORK_LIST_ FILL \
		at_ = sennit_fork_begin_(&me_, SENNIT_FORK_VERSION_); \
		SENNIT_FORK_RETURN_##KIND##_ \
			NAME##_body_(&me_, at_, SENNIT_FORK_LIST_ PASS); \
	} \
	struct NAME##_forked_ /* and the user's semicolon */
/* clang-format on */

/* Its arguments are expanded before KIND is a part of other names. */
#define SENNIT_FORK_DECLARE_(...) SENNIT_FORK_DECLARED_(__VA_ARGS__)

#endif

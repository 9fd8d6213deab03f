/* SPDX-License-Identifier: Apache-2.0 */
/* fork_join.h - fork-join that costs a few instructions: functions whose calls
 * can be spawned, compiled into the program. sennit.h does not include this
 * header.
 *
 *	SENNIT_FORK(unsigned, fib, unsigned, n)
 *	{
 *		unsigned a, b;
 *
 *		if (n < 2)
 *			return n;
 *		SENNIT_FORK_SPAWN(fib, other, n - 1);
 *		b = SENNIT_FORK_CALL(fib, n - 2);
 *		a = SENNIT_FORK_SYNC(fib, other);
 *		return a + b;
 *	}
 *
 *	unsigned result = SENNIT_FORK_RUN(fib, 32);
 *
 * SENNIT_FORK begins the definition of such a function. In its body, and in the
 * bodies of other functions that are defined so, SENNIT_FORK_SPAWN makes a call
 * a task, SENNIT_FORK_SYNC joins it, and SENNIT_FORK_CALL calls directly.
 * SENNIT_FORK_RUN calls from anywhere else.
 *
 * Each spawn must be synced once, before its function returns. To sync the last
 * spawn first is fast; any other order works and is slow. A call may wait for
 * anything. Its caller waits with it, as it would in SENNIT_FORK_SYNC. A call
 * that is not stolen is part of the task that syncs it: it has that task's
 * name, local values, locks and floating-point control. So a function must not
 * leave a lock held or the control changed, and must not depend on the identity
 * of its task. The deadline and the cancellation of a group reach its waits
 * wherever it runs. No exception may leave it. If there is no memory for a
 * spawn, the spawn becomes a call at once.
 *
 * Traces, probes and metrics see a call as a task only if it is stolen, or if
 * its own worker starts it on another stack. Any other call is a plain one, and
 * nothing of it is recorded but its waits.
 *
 * The program and the library must agree on what the macros compile to. If they
 * do not, the first SENNIT_FORK_RUN prints that and aborts the process.
 *
 * Source: Lace (van Dijk and van de Pol, 2014), for joining the last spawned
 * call first as a plain call. In contrast to Lace a call may also wait, and
 * deep recursion continues on other stacks.
 *
 * Experimental: what this header declares may change in each minor version.
 */
#ifndef SENNIT_FORK_JOIN_H
#define SENNIT_FORK_JOIN_H

#include "sennit/detail/fork_join_inside.h"

/* --- functions ----------------------------------------------------------- */

/* Begin the definition of a static function with 1 to 8 parameters, each a type
 * and a name: SENNIT_FORK(result, name, type, parameter, ...) { body }. The
 * result may be void, and begins with a word. No type contains a comma; use a
 * typedef for others. */
#define SENNIT_FORK(RESULT, NAME, ...)                          \
	SENNIT_FORK_DECLARE(static, RESULT, NAME, __VA_ARGS__); \
	SENNIT_FORK_DEFINE(RESULT, NAME, __VA_ARGS__)

/* Declare a function that is defined later by SENNIT_FORK_DEFINE, for functions
 * that call each other. LINKAGE is `static`, or `extern` for a function that
 * several files use; the declaration then stands in a header.
 *
 *	SENNIT_FORK_DECLARE(static, int, odd, int, n);
 *
 *	SENNIT_FORK(int, even, int, n) { ... SENNIT_FORK_CALL(odd, n - 1) ... }
 *
 *	SENNIT_FORK_DEFINE(int, odd, int, n) { ... }
 */
#define SENNIT_FORK_DECLARE(LINKAGE, RESULT, NAME, ...)                \
	SENNIT_FORK_DECLARE_(                                          \
		LINKAGE, RESULT, SENNIT_FORK_KIND_(RESULT), NAME,      \
		(SENNIT_FORK_EACH_(SENNIT_FORK_FIELDS_, __VA_ARGS__)), \
		(SENNIT_FORK_EACH_(SENNIT_FORK_NAMES_, __VA_ARGS__)),  \
		(SENNIT_FORK_EACH_(SENNIT_FORK_FILL_, __VA_ARGS__)),   \
		(SENNIT_FORK_EACH_(SENNIT_FORK_PASS_, __VA_ARGS__)))

/* Begin the definition of a function that SENNIT_FORK_DECLARE has declared with
 * the same result, name and parameters. */
#define SENNIT_FORK_DEFINE(RESULT, NAME, ...)                               \
	RESULT NAME##_body_(                                                \
		SENNIT_MAYBE_UNUSED_ const struct sennit_here_ *sennit_me_, \
		SENNIT_MAYBE_UNUSED_ uint64_t                   sennit_at_, \
		SENNIT_FORK_EACH_(SENNIT_FORK_NAMES_, __VA_ARGS__))

/* --- calls, in the bodies of such functions ------------------------------ */

/* Declare RECORD and make the call NAME(arguments...) a task, which another
 * worker may steal. */
#define SENNIT_FORK_SPAWN(NAME, RECORD, ...) \
	struct NAME##_forked_ RECORD;        \
	SENNIT_FORK_SPAWN_TO(NAME, RECORD, __VA_ARGS__)

/* Join the call of this record: call the function here if no worker has taken
 * the task, otherwise wait. Returns what the function returned. */
#define SENNIT_FORK_SYNC(NAME, RECORD) \
	NAME##_sync_(sennit_me_, &sennit_at_, &(RECORD))

/* Spawn with a record that the function has declared, SENNIT_FORK_RECORD(NAME)
 * record, or with one of an array. After the sync it may be used again. */
#define SENNIT_FORK_RECORD(NAME) struct NAME##_forked_
#define SENNIT_FORK_SPAWN_TO(NAME, RECORD, ...)                       \
	sennit_at_ = NAME##_spawn_(sennit_me_, sennit_at_, &(RECORD), \
				   __VA_ARGS__)

/* Call the function directly. Returns what it returns. */
#define SENNIT_FORK_CALL(NAME, ...) \
	NAME##_body_(sennit_me_, sennit_at_, __VA_ARGS__)

/* --- calls, from elsewhere ----------------------------------------------- */

/* Call the function from any other code of a task, or of a bound thread.
 * Returns what it returns. */
#define SENNIT_FORK_RUN(NAME, ...) NAME##_run_(__VA_ARGS__)

#endif

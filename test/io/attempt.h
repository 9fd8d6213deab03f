/* SPDX-License-Identifier: Apache-2.0 */
/* attempt.h - one try of an operation, and a wait that somebody else ends. */
#ifndef SN_TEST_ATTEMPT_H
#define SN_TEST_ATTEMPT_H

#include "operations.h"

/* What is tried, in one of the places. */
struct attempt {
	const struct operation *of;
	int                     fds[2];
	sennit_scheduler       *s;
	bool                    nonblock;
	ptrdiff_t               result;
	atomic_bool             over;
};

/* -EBADF: the kernel was not yet asked. */
static inline bool is_closed(ptrdiff_t result)
{
	return result == -ECANCELED || result == -EBADF;
}

static inline void begin(struct attempt *a)
{
	a->of->open(a->fds);
	set_nonblock(a->fds[0], a->nonblock);
	atomic_store(&a->over, false);
}

static inline void end(struct attempt *a)
{
	close(a->fds[0]);
	if (a->fds[1] >= 0)
		close(a->fds[1]);
}

static inline void said(const struct attempt *a, ptrdiff_t result,
			ptrdiff_t expected, const char *when)
{
	if (result == expected)
		return;
	fprintf(stderr, "%s%s, %s: %td, expected %td\n", a->of->name,
		a->nonblock ? " (O_NONBLOCK)" : "", when, result, expected);
	EXPECT(false);
}

static inline void call_to_wait(void *argument)
{
	struct attempt *a = argument;

	a->result = a->of->call(a->fds[0], SENNIT_NEVER);
	atomic_store(&a->over, true);
}

static inline void make_ready(void *argument)
{
	struct attempt *a = argument;

	a->of->make_ready(a->fds);
}

static inline void wait_in_task(struct attempt *a)
{
	must_schedule(call_to_wait, a);
	EXPECT_SOON(io_waits(a->s) == 1);
	in_a_thread(make_ready, a);
	EXPECT_SOON(atomic_load(&a->over));
	said(a, a->result, a->of->done, "made ready by a thread");
}

#endif

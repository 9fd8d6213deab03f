/* SPDX-License-Identifier: Apache-2.0 */
/* steps.h - the steps of a call, and what a test does at one of them.
 *
 * A step is a place where a call lets others run, waits, hands itself to a
 * helper thread, or is about to have the system wait for it: each is a function
 * that the linker replaces (--wrap) by one of this file. Between two steps a
 * worker runs nothing else.
 */
#ifndef SN_TEST_STEPS_H
#define SN_TEST_STEPS_H

/* steps.c - between any two steps of each call, its descriptor is closed and
 * the number used again, or its group is cancelled.
 *
 * A step is a place where a call lets others run, waits, hands itself to a
 * helper thread, or is about to have the system wait for it: each is a function
 * that the linker replaces (--wrap) by one of this file. Between two steps a
 * worker runs nothing else. Each call is made with the same steps until all
 * have had their turn; it always is the one after which the worker lets others
 * run.
 *
 * What holds at each step: the call ends; it transfers nothing from or to what
 * the number means next; one that ends with -ECANCELED has taken nothing from
 * a descriptor that stays open.
 */
#include "attempt.h"

#include "sennit/blocking.h"
#include "sennit/group.h"
#include "sennit/poller.h"

#include <sys/epoll.h>

/* Steps of a call that pauses, until it need not do so any more. */
#define PAUSES 8

enum action { CLOSE_HERE, CLOSE_BESIDE, CANCEL, ACTIONS };

static const char *const action_names[] = { "closed by the fiber's worker",
					    "closed by a thread", "cancelled" };

#if defined(SN_TSAN) /* which reports who closes what others may use */
#define FIRST CANCEL
#else
#define FIRST CLOSE_HERE
#endif

static struct scene {
	const struct operation *of;
	enum action             action;
	int                     old[2], next[2];
	sennit_group            group;
	unsigned                at; /* which step */
	atomic_uint             passed;
	unsigned                yields;
	bool                    inside; /* the call runs, its fiber has not
					 * been left */
	atomic_bool             acted;
	char                    step[32]; /* where */
	atomic_bool             over;
	ptrdiff_t               result;
} x;

/* --- what happens at a step ---------------------------------------------- */

static void *close_and_use_again(void *unused)
{
	EXPECT(sennit_close(x.old[0]) == 0);
	must(dup2(x.next[0], x.old[0]) == x.old[0], "dup2");
	return unused;
}

static void act(const char *step)
{
	x.acted = true;
	snprintf(x.step, sizeof(x.step), "%s", step);
	if (x.action == CANCEL)
		sennit_group_cancel(&x.group);
	else if (x.action == CLOSE_HERE)
		close_and_use_again(NULL);
	else
		pthread_join(must_start_thread(close_and_use_again, NULL),
			     NULL);
}

static void pass(const char *step)
{
	if (!x.acted && x.passed++ == x.at)
		act(step);
}

/* --- the steps ------------------------------------------------------------ */

void __real_sennit_yield(void);
void __wrap_sennit_yield(void);
int  __real_sennit_sleep_until(sennit_time deadline);
int  __wrap_sennit_sleep_until(sennit_time deadline);
int  __real_sennit_poller_wait(sennit_poller_op *op, int fd, sennit_time d);
int  __wrap_sennit_poller_wait(sennit_poller_op *op, int fd, sennit_time d);
int  __real_epoll_ctl(int epoll, int what, int fd, struct epoll_event *event);
int  __wrap_epoll_ctl(int epoll, int what, int fd, struct epoll_event *event);
int  __real_sennit_blocking_call_until(sennit_blocking_fn *f, void *argument,
				       void **result, sennit_time deadline);
int  __wrap_sennit_blocking_call_until(sennit_blocking_fn *f, void *argument,
				       void **result, sennit_time deadline);

/* Before the call's fiber may be left. Whether it is one of the call's. */
static bool leave(const char *step)
{
	const bool is_calls = x.inside;

	x.inside = false;
	if (is_calls)
		pass(step);
	return is_calls;
}

static void come_back(bool is_calls, const char *step)
{
	if (is_calls)
		pass(step);
	x.inside = is_calls;
}

void __wrap_sennit_yield(void)
{
	bool is_calls = leave("before a yield");

	x.yields++;
	__real_sennit_yield();
	come_back(is_calls, "after a yield");
}

int __wrap_sennit_sleep_until(sennit_time deadline)
{
	bool is_calls = leave("before a pause");
	int  err = __real_sennit_sleep_until(deadline);

	come_back(is_calls, "after a pause");
	return err;
}

int __wrap_sennit_poller_wait(sennit_poller_op *op, int fd, sennit_time d)
{
	bool is_calls = leave("before a wait");
	int  err = __real_sennit_poller_wait(op, fd, d);

	come_back(is_calls, "after a wait");
	return err;
}

int __wrap_epoll_ctl(int epoll, int what, int fd, struct epoll_event *event)
{
	/* No other fiber of the worker can run here. */
	if (x.inside && x.action == CLOSE_BESIDE)
		pass("before epoll_ctl");
	return __real_epoll_ctl(epoll, what, fd, event);
}

struct late_call {
	sennit_blocking_fn *f;
	void               *argument;
};

/* It has waited for a thread. */
static void *call_late(void *argument)
{
	const struct late_call *c = argument;

	pass("before a helper thread begins");
	return c->f(c->argument);
}

int __wrap_sennit_blocking_call_until(sennit_blocking_fn *f, void *argument,
				      void **result, sennit_time deadline)
{
	struct late_call c = { f, argument };
	bool             is_calls = leave("before a blocking call");
	int              err;

	err = is_calls ? __real_sennit_blocking_call_until(call_late, &c,
							   result, deadline)
		       : __real_sennit_blocking_call_until(f, argument, result,
							   deadline);
	come_back(is_calls, "after a blocking call");
	return err;
}

#endif

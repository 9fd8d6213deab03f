/* SPDX-License-Identifier: Apache-2.0 */
/* proxies.h - a scheduler's threads for blocking calls: who is idle, how many.
 *
 *	started --> works --no call waits--> idle --patience ends--> gone
 *	              ^                        |
 *	              +------- given a call ---+
 *
 *	word    lock of all this, in the manner of sched/queue.h
 *	calls   waiters whose calls have not begun, first come first
 *	idle    proxies without work, last used first
 *
 * A proxy's record lies on its own stack, a call's on its caller's: nothing is
 * allocated.
 *
 * Invariants
 *   - A call waits only while no proxy is idle, and `count` is not below
 *     `ceiling`: it has been begun by one of those, before they rest.
 *   - count counts those who are being started. Whoever takes back the last of
 *     them, refused, begins what waits itself.
 *   - A proxy wakes whom it has worked for once it has another call or rests:
 *     who calls at once again finds it. And the scheduler, which does not end
 *     while that fiber is blocked, ends only when all of them rest.
 *   - A proxy is inside its scheduler (sched/finish.h) until it has left.
 */
#ifndef SN_PROXIES_H
#define SN_PROXIES_H

#include "sched/queue.h"

enum { PROXY_RESTS, PROXY_SLEEPS, PROXY_GIVEN };

struct proxy {
	struct link    link;  /* under word: of the idle ones */
	bool           idle;  /* under word: among them */
	struct waiter *given; /* handed by proxy.give; NULL: leave */
	a_u32          state; /* any: the enum above; slept on */
};

struct proxies {
	sennit_word  word;    /* any */
	void        *calls;   /* under word */
	struct link *idle;    /* under word */
	uint32_t     limit;   /* under word: the most there may be */
	uint32_t     ceiling; /* under word: the most to be had now, not more
			       * than limit */
	uint32_t     count;   /* under word */
	bool         choose;  /* under word: the limit is to be chosen yet */
	a_u32        names;   /* any: the next one's number */
};

/* limit 0: the library's choice, which it makes when there are so many that the
 * system may mind. */
void sn_proxies_init(struct proxies *p, uint32_t limit);

/* Whether the limit must be chosen before there is one more. Lock held. */
bool sn_proxies_must_choose(const struct proxies *p);

/* Choose it; several callers at once come to the same. */
void sn_proxies_choose(struct proxies *p);

/* The scheduler has ended: all leave. */
void sn_proxies_close(struct proxies *p);

/* How many there are now, those included that are being started. */
uint32_t sn_proxies_count(struct proxies *p);

/* Take an idle proxy to give it a call, NULL when there is none. Lock held. */
struct proxy *sn_proxies_take_idle(struct proxies *p);

/* Give the proxy, which was taken, a call; or NULL: it leaves. Not under the
 * lock. It may be gone on return. */
void sn_proxy_give(struct proxy *to, struct waiter *call);

/* One that was to be started will not come. True: it was the last one, and the
 * caller must begin what waits. */
bool sn_proxies_refused(struct proxies *p);

/* The calling proxy, which has no other call, rests from now on: it may be
 * given one. Lock held. */
void sn_proxy_rest(struct proxies *p, struct proxy *self);

/* Wait for what it is given, at most until the deadline. NULL: it is not
 * counted any more and must leave. */
struct waiter *sn_proxy_await(struct proxies *p, struct proxy *self,
			      sennit_time deadline);

#endif

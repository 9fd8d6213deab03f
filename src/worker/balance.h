/* SPDX-License-Identifier: Apache-2.0 */
/* balance.h - who gets tasks that have not started, so that those which will
 * wait do not all become fibers of one worker.
 *
 * A fiber stays where it began. A worker starts a task that waits in a fraction
 * of a microsecond, and whoever is woken to help comes some 50 us later: left
 * alone, the first to come would have turned a whole burst into fibers of its
 * own. So
 *
 *   - a searcher takes a share of another's inbox, of which those that search
 *     or sleep get as much each;
 *   - a worker piles up when of its tasks more begin to wait than end:
 *     SHARE_PILE of them. Then it leaves the inbox of an idle worker to that
 *     one, which it wakes, and what a busy one holds to it for a while;
 *   - a worker that piles up deals what it has not started to the idle ones,
 *     and so again whenever it has begun SHARE_PILE more waits.
 *
 * Where tasks end, as in fork-join, nobody piles up, and nothing of this
 * happens.
 */
#ifndef SN_BALANCE_H
#define SN_BALANCE_H

#include "worker/worker.h"

/* By how many more waits begun than tasks ended a worker piles up. Fork-join
 * that descends goes as deep now and then, and one that deals by then has
 * begun little. */
#define SHARE_PILE 4u

/* The count goes no higher, so that as many tasks that end suffice to forget a
 * burst of any length. */
#define SHARE_PILE_MAX 8u

/* Count; whether w, the caller's, piles up.
 *
 * Who leaves an inbox to its worker reads mail.idle, which may be stale. It
 * says idle, and the worker has found something else: it stored that before it
 * left the count of searchers, and whoever is the last to leave that, or to
 * announce its sleep after it, sees the store and does not leave the inbox. It
 * says busy: the inbox is taken after a while, as before a long task. */
bool sn_balance_piles_up(struct worker *w);

/* Into how many parts the inbox of the victim goes: for the caller, who
 * searches, all others that search or sleep, and the victim. */
uint32_t sn_balance_parts(const struct worker *victim);

/* A task of w's, the caller's, has begun to wait, w is about to start another,
 * and somebody is idle: if w piles up, deal what has not started. */
COLD void sn_balance_deal(struct worker *w);

#endif

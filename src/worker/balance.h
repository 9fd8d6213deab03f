/* SPDX-License-Identifier: Apache-2.0 */
/* balance.h - distributes tasks that have not started, so that tasks which will
 * wait do not all become fibers of one worker.
 *
 * A fiber stays on the worker where it began. A worker starts a task that waits
 * within a fraction of a microsecond, but a worker that is woken to help
 * arrives about 50 us later. Without the rules below, the first worker would
 * have turned a whole burst into its own fibers by then. The rules:
 *
 *   - A searcher takes a share of another worker's inbox, such that all
 *     workers that search or sleep could get an equal share.
 *   - A worker piles up when, of its tasks, SHARE_PILE more begin to wait
 *     than end. It then leaves the inbox of an idle worker to that
 *     worker, which it wakes, and leaves the tasks of a busy worker to it
 *     for a while.
 *   - A worker that piles up deals tasks that it has not started to idle
 *     workers, and does so again whenever SHARE_PILE more waits begin.
 *
 * Where tasks end without waiting, as in fork-join, no worker piles up and none
 * of this happens.
 */
#ifndef SN_BALANCE_H
#define SN_BALANCE_H

#include "worker/worker.h"

/* The pile is the number of waits that have begun minus those that have ended,
 * times SHARE_WAIT, minus the tasks that have ended. So a worker of whose tasks
 * one in SHARE_WAIT waits piles up, wherever the others end. */
#define SHARE_WAIT 16u

/* The pile from which on a worker piles up: three waits. Two would also be
 * those of fibers that come and go: with 64 workers a wake moved half as many
 * cache lines again (test/cachelines). A descending fork-join reaches this
 * depth sometimes; dealing then costs little, because few tasks have begun. */
#define SHARE_PILE (2 * SHARE_WAIT + SHARE_WAIT / 2)

/* The upper limit of the pile. So this many tasks that end make a worker forget
 * a burst of any length. */
#define SHARE_PILE_MAX (8 * SHARE_WAIT)

/* Update the count. Returns whether w, the caller's worker, piles up.
 *
 * A worker that leaves an inbox to its owner relies on mail.idle, which may be
 * stale. If it says idle, but the owner has found other work: the owner stored
 * that before it left the count of searchers. The last searcher that leaves
 * that count, or that announces its sleep afterwards, sees the store and does
 * not leave the inbox. If it says busy: the inbox is taken after a while, as
 * during a long task. */
bool sn_balance_piles_up(struct worker *w);

/* The number of parts into which the inbox of the victim is divided: one for
 * the calling searcher, one for each other worker that searches or sleeps, and
 * one for the victim. */
uint32_t sn_balance_parts(const struct worker *victim);

/* Call this when a task of w, the caller's worker, has begun to wait, w is
 * about to start another, and some worker is idle. If w piles up, it deals
 * tasks that have not started. */
COLD void sn_balance_deal(struct worker *w);

#endif

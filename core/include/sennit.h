/* SPDX-License-Identifier: Apache-2.0 */
/* sennit.h - includes the headers that programs use, in reading order.
 *
 * The first ten are all that most programs need. Others are included one by
 * one: fork_join.h, dag.h, domain.h, end.h, poller.h, those of diagnosis, and
 * those of libsennit-io.
 */
#ifndef SENNIT_H
#define SENNIT_H

/* Start, time, structure, data. */
#include "sennit/base.h"
#include "sennit/scheduler.h"
#include "sennit/task.h"
#include "sennit/group.h"
#include "sennit/fiber.h"
#include "sennit/mutex.h"
#include "sennit/channel.h"
#include "sennit/event.h"
#include "sennit/future.h"
#include "sennit/parallel.h"

/* More ways to wait and to share. */
#include "sennit/resources.h"
#include "sennit/config.h"
#include "sennit/local.h"
#include "sennit/wait_group.h"
#include "sennit/cond.h"
#include "sennit/select.h"
#include "sennit/rwlock.h"
#include "sennit/semaphore.h"
#include "sennit/barrier.h"
#include "sennit/once.h"
#include "sennit/shared.h"
#include "sennit/ticket.h"
#include "sennit/pool.h"
#include "sennit/blocking.h"
#include "sennit/report.h"

#endif

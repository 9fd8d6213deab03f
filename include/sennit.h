/* SPDX-License-Identifier: Apache-2.0 */
/* sennit.h - includes all headers of sennit, in reading order. */
#ifndef SENNIT_H
#define SENNIT_H

#include "sennit/base.h"
#include "sennit/resources.h"
#include "sennit/config.h"
#include "sennit/scheduler.h"
#include "sennit/task.h"
#include "sennit/fiber.h"
#include "sennit/local.h"
#include "sennit/event.h"
#include "sennit/wait_group.h"
#include "sennit/mutex.h"
#include "sennit/cond.h"
#include "sennit/channel.h"
#include "sennit/select.h"
#include "sennit/group.h"
#include "sennit/parallel.h"
#include "sennit/rwlock.h"
#include "sennit/semaphore.h"
#include "sennit/barrier.h"
#include "sennit/once.h"
#include "sennit/shared.h"
#include "sennit/ticket.h"
#include "sennit/pool.h"
#include "sennit/future.h"
#include "sennit/end.h"
#include "sennit/domain.h"
#include "sennit/blocking.h"
#include "sennit/dag.h"
#include "sennit/trace.h"
#include "sennit/report.h"
#include "sennit/stack_use.h"
#include "sennit/deterministic.h"

#endif

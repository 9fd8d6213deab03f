/* SPDX-License-Identifier: Apache-2.0 */
/* environment.h - SENNIT_DEBUG: what the environment turns on, without a call
 * of the program.
 *
 *	SENNIT_DEBUG=stall,dump=USR1,watchdog=50,trace=FILE,live=PATH,
 *		profile=FILE
 *
 * It is read when the process creates its first scheduler; not in a process
 * that runs with other rights than its caller's, and not again in the child of
 * a fork, where all of it is off. What needs libsennit-diag is found in a table
 * that this library fills in when it is loaded (sennit/debugger.h): it is
 * linked to the program, or else loaded from beside the shared libsennit.
 *
 * The build option SENNIT_DEBUG_SWITCH=OFF leaves it out.
 */
#ifndef SN_ENVIRONMENT_H
#define SN_ENVIRONMENT_H

#include "sched/state.h"

#if defined(SENNIT_NO_DEBUG_SWITCH) || defined(SENNIT_DETERMINISTIC)
static inline void sn_environment_prepare(sennit_config *config)
{
	(void)config;
}

static inline void sn_environment_add(sennit_scheduler *s)
{
	(void)s;
}

static inline void sn_environment_remove(sennit_scheduler *s)
{
	(void)s;
}

static inline void sn_environment_fork(void)
{
}
#else
/* A scheduler will be created with this configuration. */
void sn_environment_prepare(sennit_config *config);

/* *s has been created, and the caller holds a reference. */
void sn_environment_add(sennit_scheduler *s);

/* *s has ended, and all that it has recorded is still there. */
void sn_environment_remove(sennit_scheduler *s);

/* In the child of a fork. */
void sn_environment_fork(void);
#endif

#endif

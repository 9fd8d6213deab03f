/* SPDX-License-Identifier: Apache-2.0 */
/* environment.h - SENNIT_DEBUG, which turns on diagnosis from the environment.
 *
 *	SENNIT_DEBUG=stall,dump=USR1,watchdog=50,trace=FILE,live=PATH,
 *		profile=FILE
 *
 * The variable is read when the process creates its first scheduler. It is
 * ignored in a process that runs with other rights than its caller. In the
 * child of a fork everything is off and the variable is not read again.
 * Functions of libsennit-diag are called through a table that this library
 * fills in when it is loaded (sennit/detail/debugger.h). It is linked to the
 * program, or else loaded from the folder of the shared libsennit.
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
/* Called before a scheduler is created with this configuration. */
void sn_environment_prepare(sennit_config *config);

/* Called after *s was created. The caller holds a reference. */
void sn_environment_add(sennit_scheduler *s);

/* Called after *s has ended, while its recorded data still exist. */
void sn_environment_remove(sennit_scheduler *s);

/* Called in the child of a fork. */
void sn_environment_fork(void);
#endif

#endif

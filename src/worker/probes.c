/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/probes.h"

#ifdef SENNIT_HAVE_SDT
/* Tracers find the semaphores by their addresses in the notes, wherever they
 * are; the section is the one that SystemTap's header names. */
#define DEFINE(name)                                      \
	volatile unsigned short sennit_##name##_semaphore \
		__attribute__((section(".probes"), used))

DEFINE(task__begin);
DEFINE(task__end);
DEFINE(wait);
DEFINE(wake);
DEFINE(steal);
DEFINE(park);
DEFINE(overflow);
#else
typedef int sn_probes_none; /* a file must declare something */
#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* system.h - what these headers need of the system: pages, aligned memory and
 * the CPUs of a thread. There are two files with it. */
#ifndef marl_detail_system_h
#define marl_detail_system_h

#if __has_include(<sys/mman.h>)
#include "system_posix.h"
#else
#include "system_windows.h"
#endif

#endif

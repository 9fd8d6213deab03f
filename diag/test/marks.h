/* SPDX-License-Identifier: Apache-2.0 */
/* marks.h - functions that can be found in a backtrace without symbols: each is
 * in its own section, whose bounds the linker defines. */
#ifndef SN_TEST_MARKS_H
#define SN_TEST_MARKS_H

#include "sennit/stacks.h"

#include <stdbool.h>

#define MARK(section_name)                                                   \
	extern const char __start_##section_name[], __stop_##section_name[]; \
	static inline unsigned count_##section_name(const sennit_stack *s)   \
	{                                                                    \
		unsigned n = 0;                                              \
                                                                             \
		for (uint32_t i = 0; i < s->count; i++)                      \
			n += (const char *)s->frames[i] - 1 >=               \
				     __start_##section_name &&               \
			     (const char *)s->frames[i] - 1 <                \
				     __stop_##section_name;                  \
		return n;                                                    \
	}

/* Whether frames have lines. */
#if defined(SENNIT_HAVE_LIBDW)
#define HAS_LINES 1
#else
#define HAS_LINES 0
#endif

/* Whether stacks have more than their first frame. */
#if HAS_LINES || defined(__x86_64__) || defined(__i386__) || \
	defined(__aarch64__)
#define HAS_FRAMES 1
#else
#define HAS_FRAMES 0
#endif

/* Compilers keep the frame of such a function, because the call is not its last
 * action. */
#define MARKED(section_name) __attribute__((noinline, section(#section_name)))
#define NOT_LAST()           __asm__ volatile("")

/* Schedule run(argument) on the workers of *s. */
static inline int enqueue(sennit_scheduler *s, sennit_task_fn *run,
			  void *argument)
{
	const sennit_task t = { .run = run, .argument = argument };

	return sennit_schedule_task_on(s, &t);
}

#endif

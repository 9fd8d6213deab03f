/* SPDX-License-Identifier: Apache-2.0 */
/* machine.h - a machine with a processor and a cache for each thread, which
 * runs the library one thread at a time.
 *
 * Implements base/torture.h in place of base/determinism.c. Each thread
 * has a clock. At each point the thread whose clock is lowest goes on. A clock
 * advances with what its thread does: accesses (those that transfer a line take
 * longer), pauses, wakes, machine_work(). So a run depends on nothing but the
 * program, and the threads do as much in a microsecond as on a machine with a
 * processor for each.
 *
 * hooks.c tells this of each access to memory of code that was compiled with
 * -fsanitize=thread.
 */
#ifndef SN_TEST_MACHINE_H
#define SN_TEST_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An access by the calling thread. `pc` is where. */
void machine_access(const volatile void *address, size_t size, bool write,
		    uintptr_t pc);

/* The calling thread computes for so many nanoseconds. */
void machine_work(uint64_t ns);

#endif

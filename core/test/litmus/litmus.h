/* SPDX-License-Identifier: Apache-2.0 */
/* litmus.h - what all litmus tests share: the functions that the code under
 * test calls, and main.
 *
 * A test includes this file first, then the code under test. With
 * LITMUS_ROUNDS, as the test suite builds it, it is a program of many rounds
 * (rounds.h). Without, for a model checker, it is one round without clocks,
 * system calls or instructions that a checker does not know. */
#ifndef LITMUS_H
#define LITMUS_H

#undef NDEBUG
#ifndef SENNIT_DETERMINISTIC
#define SENNIT_DETERMINISTIC /* a_pause is then a call, and limits are
			      * minimal */
#endif

#include "base/atomic.h"
#include "base/compiler.h"
#include "base/memory.h"
#include "base/torture.h"
#include "os/os.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#undef TORTURE_POINT
#define TORTURE_POINT() ((void)0) /* each atomic operation is a point */

/* One thread takes memory. It is freed after the round. */
static _Alignas(CACHE_LINE) unsigned char litmus_memory[4096];
static size_t litmus_taken;

#ifdef LITMUS_ROUNDS
#include "rounds.h"
#else
#include "once.h"
#endif

/* --- functions that the code under test calls --------------------------- */

#if defined(SN_TSAN) || defined(SENNIT_HELGRIND)
a_u32 sn_fence_word;
#endif

_Noreturn void sn_panic(const char *file, int line, const char *format, ...)
{
	(void)file;
	(void)line;
	(void)format;
	assert(false && "misuse, or broken");
	abort();
}

void *sn_memory_take(const sennit_allocator *a, size_t size, size_t alignment)
{
	size_t from = (litmus_taken + alignment - 1) & ~(alignment - 1);

	(void)a;
	assert(from + size <= sizeof(litmus_memory));
	litmus_taken = from + size;
	return litmus_memory + from;
}

void sn_memory_give(const sennit_allocator *a, void *memory, size_t size)
{
	(void)a;
	(void)memory;
	(void)size;
}

bool os_discard(void *memory, size_t size)
{
	(void)memory;
	(void)size;
	return true;
}

/* A checker knows no process barrier, so the tests use fences. */
void os_process_barrier(void)
{
	assert(false && "a shape uses the process barrier");
}

void os_word_wake_one(a_u32 *word)
{
	(void)word;
}

void os_word_wake_all(a_u32 *word)
{
	(void)word;
}

void sn_deterministic_point(void)
{
	litmus_yield();
}

void os_thread_give_way(uint32_t times)
{
	(void)times;
	litmus_yield();
}

bool os_word_wait(a_u32 *word, uint32_t expected, sennit_time deadline)
{
	(void)deadline;
	LITMUS_AWAIT(a_load_rlx(word) != expected);
	return true;
}

#endif

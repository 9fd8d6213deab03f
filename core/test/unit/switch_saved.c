/* SPDX-License-Identifier: Apache-2.0 */
/* switch_saved.c - the registers of a suspended stack are where the debugger
 * interface says. */
#include "arch/cpu.h"
#include "sennit/detail/debugger.h"

#include "testing/test.h"

#include <stdbool.h>
#include <string.h>

#define STACK 65536

static _Alignas(64) char stack[STACK];
static arch_stack outer;
static arch_stack inner;
static uintptr_t  sp;

static uint64_t word_at(const void *place, uint32_t at)
{
	uintptr_t value;

	memcpy(&value, (const char *)place + at, sizeof(value));
	return value;
}

/* Only gcc keeps such variables in their registers across a call. */
#if defined(__x86_64__) && !defined(__clang__)
static NOINLINE void suspend(void)
{
	register uint64_t b __asm__("rbx") = 3;
	register uint64_t c __asm__("r12") = 12;
	register uint64_t d __asm__("r13") = 13;
	register uint64_t e __asm__("r14") = 14;
	register uint64_t f __asm__("r15") = 15;

	__asm__ volatile("mov %%rsp, %0" : "=m"(sp));
	__asm__ volatile("" : "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f));
	arch_switch(&inner, outer);
	__asm__ volatile("" : "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f));
}

static bool has_mark(uint32_t number)
{
	return number == 3 || (number >= 12 && number <= 15);
}

#define MARKS 5
#elif defined(__aarch64__) && !defined(__clang__)
static NOINLINE void suspend(void)
{
	register uint64_t b __asm__("x19") = 19;
	register uint64_t c __asm__("x20") = 20;
	register uint64_t d __asm__("x24") = 24;
	register uint64_t e __asm__("x27") = 27;
	register uint64_t f __asm__("x28") = 28;

	__asm__ volatile("mov %0, sp" : "=r"(sp));
	__asm__ volatile("" : "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f));
	arch_switch(&inner, outer);
	__asm__ volatile("" : "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f));
}

static bool has_mark(uint32_t number)
{
	return number == 19 || number == 20 || number == 24 || number == 27 ||
	       number == 28;
}

#define MARKS 5
#else
static NOINLINE void suspend(void)
{
	arch_switch(&inner, outer);
}

static bool has_mark(uint32_t number)
{
	return false;
}

#define MARKS 0
#endif

/* How far code of this program may lie from suspend(), in bytes. */
#define NEAR (1 << 24)

static arch_stack entry(void *argument)
{
	suspend();
	return outer;
}

/* The portable switch is a function of its own that calls libc's, so its
 * registers are those of that call. */
TEST(registers_lie_where_they_are_said_to)
{
	const struct sennit_debug_context *c = &arch_saved;
	unsigned                           marks = 0;

	arch_start(&outer, stack + STACK, entry, NULL, arch_fp_control());
	if (c->sp_is_stored || !c->machine)
		skip();
	for (uint32_t i = 0; i < c->count; i++) {
		if (!has_mark(c->registers[i].number))
			continue;
		assert_int_equal(word_at(inner, c->registers[i].at),
				 c->registers[i].number);
		marks++;
	}
	assert_int_equal(marks, MARKS);
	assert_true(!sp || (uintptr_t)inner + c->sp_at == sp);
	/* Compilers inline suspend() or move its parts. */
	assert_true(word_at(inner, c->pc_at) - (uintptr_t)suspend + NEAR <
		    2 * (uint64_t)NEAR);
	arch_switch(&outer, inner);
}

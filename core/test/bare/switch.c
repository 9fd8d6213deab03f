/* SPDX-License-Identifier: Apache-2.0 */
/* switch.c - a program without a C library, for a processor that Debian has no
 * C library for: two stacks run in turns, and each keeps the registers of a
 * callee and its floating-point control. tools/test-platforms
 * compiles it with the switch of loongarch64. The exit status is 0, or the
 * number of the line that failed, modulo 128.
 */
#include "../unit/registers.h"

#define TURNS 1000

static _Alignas(16) char stack[65536];
static arch_stack outer;
static arch_stack inner;

static _Noreturn void leave(long status)
{
	register long number __asm__("a7") = 93; /* exit */
	register long a0 __asm__("a0") = status;

	__asm__ volatile("syscall 0" : : "r"(number), "r"(a0));
	__builtin_unreachable();
}

#define EXPECT(x)                                  \
	do {                                       \
		if (!(x))                          \
			leave(__LINE__ % 127 + 1); \
	} while (0)

/* Let this stack and the other run in turns, and find in the registers what was
 * there before. */
static NOINLINE void turns(arch_stack *save, arch_stack *resume, uint64_t seed,
			   uint64_t control)
{
	_Alignas(16) uint64_t registers[2 * REGISTERS];

	for (int i = 0; i < TURNS; i++) {
		for (int k = 0; k < REGISTERS; k++)
			registers[k] = seed * (uint64_t)(k + 1 + i);
		EXPECT(arch_fp_control() == control);
		fill_and_go(registers, arch_switch, save, *resume);
		for (int k = 0; k < REGISTERS; k++)
			EXPECT(registers[k] == registers[REGISTERS + k]);
	}
}

static arch_stack entry(void *argument)
{
	EXPECT(argument == stack);
	EXPECT((uintptr_t)__builtin_frame_address(0) % 16 == 0);
	turns(&inner, &outer, 0x123456789, *(const uint64_t *)argument);
	return outer;
}

void _start(void);
void _start(void)
{
	const uint64_t mine = arch_fp_control();
	const uint64_t others = mine ^ 0x100; /* another rounding */

	*(uint64_t *)(void *)stack = others;
	arch_start(&outer, stack + sizeof(stack), entry, stack, others);
	turns(&outer, &inner, 0x987654321, mine);
	EXPECT(arch_fp_control() == mine);
	leave(0);
}

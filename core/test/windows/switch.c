/* SPDX-License-Identifier: Apache-2.0 */
/* switch.c - arch_switch and arch_start keep what the x64 calling convention of
 * Windows says that a call keeps. core/test/unit/switch.c has the System V one.
 *
 * Results are asserted on the main stack, because cmocka leaves a failed case
 * by longjmp.
 */
#include "testing/test.h"

#include "arch/cpu.h"

#include <stdbool.h>
#include <string.h>
#include <windows.h>

struct machine {
	void (*go)(arch_stack *save, arch_stack resume);
	void (*start)(arch_stack *save, void *top, arch_entry *entry, void *arg,
		      uint64_t control);
};

static struct machine built = { arch_switch, arch_start };
static struct machine shared = { arch_switch_shared, arch_start_shared };

#define TEST_ON_EACH(f)                                             \
	TEST_ENTRIES(f, struct machine *m,                          \
		     { #f "_built", f##_case, NULL, NULL, &built }, \
		     { #f "_shared", f##_case, NULL, NULL, &shared })

enum { WORDS = 8, LANES = 20, STACK = 65536 };

/* rbx rbp rdi rsi r12-r15, and xmm6-xmm15 at a multiple of 16. */
struct kept {
	_Alignas(16) uint64_t word[WORDS];
	uint64_t lane[LANES];
};

struct visit {
	const struct machine *m;
	arch_stack            main, other;
	struct kept           theirs;
	int                   rounds;
	bool                  broken;
};

static _Alignas(16) char stack[STACK];

/* Call go(save, resume) with the registers of *k, and note there what they are
 * when it returns. */
void go_filled(void (*go)(arch_stack *, arch_stack), arch_stack *save,
	       arch_stack resume, struct kept *k);

__asm__(".text\n"
	".globl go_filled\n"
	"go_filled:\n"
	".irp r, rbp, rbx, rdi, rsi, r12, r13, r14, r15\n"
	"push %\\r\n"
	".endr\n"
	"sub $200, %rsp\n" /* 32 for the callee, *k, ten registers */
	"mov %r9, 32(%rsp)\n"
	"mov %rcx, %rax\n"
	"mov %rdx, %rcx\n"
	"mov %r8, %rdx\n"
	".irp n, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n"
	"movups %xmm\\n, 40 + 16 * (\\n - 6)(%rsp)\n"
	"movaps 64 + 16 * (\\n - 6)(%r9), %xmm\\n\n"
	".endr\n"
	"mov (%r9), %rbx\n"
	"mov 8(%r9), %rbp\n"
	"mov 16(%r9), %rdi\n"
	"mov 24(%r9), %rsi\n"
	"mov 32(%r9), %r12\n"
	"mov 40(%r9), %r13\n"
	"mov 48(%r9), %r14\n"
	"mov 56(%r9), %r15\n"
	"call *%rax\n"
	"mov 32(%rsp), %r9\n"
	"mov %rbx, (%r9)\n"
	"mov %rbp, 8(%r9)\n"
	"mov %rdi, 16(%r9)\n"
	"mov %rsi, 24(%r9)\n"
	"mov %r12, 32(%r9)\n"
	"mov %r13, 40(%r9)\n"
	"mov %r14, 48(%r9)\n"
	"mov %r15, 56(%r9)\n"
	".irp n, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n"
	"movaps %xmm\\n, 64 + 16 * (\\n - 6)(%r9)\n"
	"movups 40 + 16 * (\\n - 6)(%rsp), %xmm\\n\n"
	".endr\n"
	"add $200, %rsp\n"
	".irp r, r15, r14, r13, r12, rsi, rdi, rbx, rbp\n"
	"pop %\\r\n"
	".endr\n"
	"ret\n");

static void fill(struct kept *k, uint64_t seed)
{
	for (size_t i = 0; i < WORDS; i++)
		k->word[i] = seed + i;
	for (size_t i = 0; i < LANES; i++)
		k->lane[i] = seed + 100 + i;
}

/* Go to the other side with registers of its own, and look at them again. */
static bool keeps(const struct machine *m, arch_stack *save, arch_stack resume,
		  uint64_t seed)
{
	struct kept before, k;

	fill(&before, seed);
	k = before;
	go_filled(m->go, save, resume, &k);
	return !memcmp(&k, &before, sizeof(k));
}

static arch_stack answer(void *argument)
{
	struct visit *v = argument;

	while (v->rounds--)
		v->broken |= !keeps(v->m, &v->other, v->main, 0xabc000);
	return v->main;
}

TEST_ON_EACH(registers_survive)
{
	struct visit v = { .m = m, .rounds = 3 };

	v.m->start(&v.main, stack + STACK, answer, &v, arch_fp_control());
	assert_true(keeps(v.m, &v.main, v.other, 0x123000));
	assert_true(keeps(v.m, &v.main, v.other, 0x456000));
	assert_true(keeps(v.m, &v.main, v.other, 0x789000));
	assert_int_equal(v.rounds, -1);
	assert_false(v.broken);
}

/* --- the thread's block -------------------------------------------------- */

struct block {
	void *base, *limit, *low, *fiber_data;
};

static struct block block(void)
{
	return (struct block){ (void *)__readgsqword(0x8),
			       (void *)__readgsqword(0x10),
			       (void *)__readgsqword(0x1478),
			       (void *)__readgsqword(0x20) };
}

struct seen {
	struct visit visit;
	struct block there, again;
};

static arch_stack look(void *argument)
{
	struct seen *s = argument;

	s->there = block();
	__writegsqword(0x20, 0x55); /* as ConvertThreadToFiber() does */
	s->visit.m->go(&s->visit.other, s->visit.main);
	s->again = block();
	return s->visit.main;
}

TEST_ON_EACH(bounds_belong_to_the_stack)
{
	struct seen  s = { .visit.m = m };
	struct block mine = block(), after;

	arch_note_low(stack + STACK, stack);
	s.visit.m->start(&s.visit.main, stack + STACK, look, &s,
			 arch_fp_control());
	after = block();
	assert_memory_equal(&after, &mine, sizeof(mine));
	s.visit.m->go(&s.visit.main, s.visit.other);
	after = block();
	assert_memory_equal(&after, &mine, sizeof(mine));
	assert_ptr_equal(s.there.base, stack + STACK);
	assert_ptr_equal(s.there.limit, stack);
	assert_true((char *)s.there.low < stack);
	assert_ptr_equal(s.again.fiber_data, (void *)0x55);
	s.again.fiber_data = s.there.fiber_data;
	assert_memory_equal(&s.again, &s.there, sizeof(s.there));
}

TEST_ON_EACH(bounds_are_open_without_a_note)
{
	struct seen s = { .visit.m = m };

	memset(stack + STACK - 64, 0x33, 64);
	s.visit.m->start(&s.visit.main, stack + STACK, look, &s,
			 arch_fp_control());
	s.visit.m->go(&s.visit.main, s.visit.other);
	assert_ptr_equal(s.there.base, stack + STACK);
	assert_null(s.there.limit);
	assert_null(s.there.low);
}

/* --- floating-point control ---------------------------------------------- */

enum { ROUND_DOWN = 0x2000, ROUND_UP = 0x800 }; /* of MXCSR, of the x87 */

static arch_stack change(void *argument)
{
	struct seen   *s = argument;
	const uint64_t begin = arch_fp_control();

	arch_fp_set_control(begin | ROUND_DOWN | (uint64_t)ROUND_UP << 32);
	s->visit.m->go(&s->visit.other, s->visit.main);
	s->visit.broken = arch_fp_control() !=
			  (begin | ROUND_DOWN | (uint64_t)ROUND_UP << 32);
	arch_fp_set_control(begin);
	return s->visit.main;
}

TEST(fp_control_belongs_to_the_stack)
{
	struct seen    s = { .visit.m = &built };
	const uint64_t mine = arch_fp_control();

	s.visit.m->start(&s.visit.main, stack + STACK, change, &s, mine);
	assert_int_equal(arch_fp_control(), mine);
	s.visit.m->go(&s.visit.main, s.visit.other);
	assert_int_equal(arch_fp_control(), mine);
	assert_false(s.visit.broken);
}

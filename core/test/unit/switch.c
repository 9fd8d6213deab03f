/* SPDX-License-Identifier: Apache-2.0 */
/* switch.c - registers and stacks survive a switch. */
#define SN_TEST_SHARED /* floating-point control is not saved here */
#include "switch.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>

/* --- registers ---------------------------------------------------------- */

/* Fill the callee-saved registers from the first half of `registers`, switch,
 * and store their contents to the second half. */
#if defined(__x86_64__)
#define REGISTERS 6

static NOINLINE void go_filled(const struct machine *m, uint64_t *registers,
			       arch_stack *save, arch_stack resume)
{
	void *go = (void *)(uintptr_t)m->go;

	__asm__ volatile("sub $128, %%rsp\n\t" /* skip the red zone */
			 "push %%rbp\n\t"
			 "mov %%rsp, %%rbp\n\t"
			 "and $-16, %%rsp\n\t"
			 "push %%rbp\n\t"
			 "push %%rdx\n\t"
			 "mov (%%rdx), %%rbx\n\t"
			 "mov 8(%%rdx), %%rbp\n\t"
			 "mov 16(%%rdx), %%r12\n\t"
			 "mov 24(%%rdx), %%r13\n\t"
			 "mov 32(%%rdx), %%r14\n\t"
			 "mov 40(%%rdx), %%r15\n\t"
			 "call *%%rax\n\t"
			 "pop %%rdx\n\t"
			 "mov %%rbx, 48(%%rdx)\n\t"
			 "mov %%rbp, 56(%%rdx)\n\t"
			 "mov %%r12, 64(%%rdx)\n\t"
			 "mov %%r13, 72(%%rdx)\n\t"
			 "mov %%r14, 80(%%rdx)\n\t"
			 "mov %%r15, 88(%%rdx)\n\t"
			 "pop %%rsp\n\t"
			 "pop %%rbp\n\t"
			 "add $128, %%rsp"
			 : "+a"(go), "+d"(registers), "+D"(save), "+S"(resume)
			 :
			 : "rbx", "rcx", "r8", "r9", "r10", "r11", "r12", "r13",
			   "r14", "r15", "memory", "cc", "xmm0", "xmm1", "xmm2",
			   "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8",
			   "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14",
			   "xmm15");
}
#elif defined(__aarch64__)
#define REGISTERS 19

static NOINLINE void go_filled(const struct machine *m, uint64_t *registers,
			       arch_stack *save, arch_stack resume)
{
	register arch_stack *x0 __asm__("x0") = save;
	register arch_stack  x1 __asm__("x1") = resume;
	register uint64_t   *x2 __asm__("x2") = registers;
	register void       *x3 __asm__("x3") = (void *)(uintptr_t)m->go;

	__asm__ volatile("stp x29, x2, [sp, -16]!\n\t"
			 "ldp x19, x20, [x2]\n\t"
			 "ldp x21, x22, [x2, 16]\n\t"
			 "ldp x23, x24, [x2, 32]\n\t"
			 "ldp x25, x26, [x2, 48]\n\t"
			 "ldp x27, x28, [x2, 64]\n\t"
			 "ldp d8, d9, [x2, 80]\n\t"
			 "ldp d10, d11, [x2, 96]\n\t"
			 "ldp d12, d13, [x2, 112]\n\t"
			 "ldp d14, d15, [x2, 128]\n\t"
			 "ldr x29, [x2, 144]\n\t"
			 "blr x3\n\t"
			 "ldr x2, [sp, 8]\n\t"
			 "add x2, x2, 152\n\t"
			 "stp x19, x20, [x2]\n\t"
			 "stp x21, x22, [x2, 16]\n\t"
			 "stp x23, x24, [x2, 32]\n\t"
			 "stp x25, x26, [x2, 48]\n\t"
			 "stp x27, x28, [x2, 64]\n\t"
			 "stp d8, d9, [x2, 80]\n\t"
			 "stp d10, d11, [x2, 96]\n\t"
			 "stp d12, d13, [x2, 112]\n\t"
			 "stp d14, d15, [x2, 128]\n\t"
			 "str x29, [x2, 144]\n\t"
			 "ldp x29, x9, [sp], 16"
			 : "+r"(x0), "+r"(x1), "+r"(x2), "+r"(x3)
			 :
			 : "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11",
			   "x12", "x13", "x14", "x15", "x16", "x17", "x19",
			   "x20", "x21", "x22", "x23", "x24", "x25", "x26",
			   "x27", "x28", "x30", "v0", "v1", "v2", "v3", "v4",
			   "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12",
			   "v13", "v14", "v15", "v16", "v17", "v18", "v19",
			   "v20", "v21", "v22", "v23", "v24", "v25", "v26",
			   "v27", "v28", "v29", "v30", "v31", "memory", "cc");
}
#else
#include "registers.h"

#ifdef REGISTERS
static void go_filled(const struct machine *m, uint64_t *registers,
		      arch_stack *save, arch_stack resume)
{
	fill_and_go(registers, m->go, save, resume);
}
#endif
#endif

#ifdef REGISTERS
#ifndef PORTABLE_REGISTERS
#define PORTABLE_REGISTERS REGISTERS
#endif

/* The size in bytes of the registers that this switch keeps. */
static size_t kept(const struct machine *m)
{
	return 8 * (is_portable(m) ? PORTABLE_REGISTERS : REGISTERS);
}

static void fill(uint64_t *registers, uint64_t seed)
{
	for (unsigned i = 0; i < REGISTERS; i++)
		registers[i] = seed * (i + 1);
}

static arch_stack fill_with_others(void *argument)
{
	struct pair *p = argument;
	uint64_t    *registers = p->data;

	go_filled(p->machine, registers, &p->other, p->main);
	return p->main;
}

TEST_ON_EACH(callee_saved_registers_survive)
{
	_Alignas(16) uint64_t mine[2 * REGISTERS];
	_Alignas(16) uint64_t others[2 * REGISTERS];
	struct pair           p;

	fill(mine, 0x0123456789abcdef);
	fill(others, 0x5555aaaa33337777);
	start_other(&p, m, fill_with_others, others);
	go_filled(p.machine, mine, &p.main, p.other);
	assert_memory_equal(mine, mine + REGISTERS, kept(p.machine));
	assert_memory_equal(others, others + REGISTERS, kept(p.machine));
}

/* arch_start saves registers, too: the other stack fills them, and the resume
 * of arch_start's frame restores them. */
struct nested_start {
	struct pair pair;
	_Alignas(16) uint64_t registers[2 * REGISTERS];
};

static arch_stack refill_and_leave(void *argument)
{
	struct nested_start *n = argument;

	go_filled(n->pair.machine, n->registers, &n->pair.other, n->pair.main);
	return n->pair.main;
}

static NOINLINE uint64_t start_and_add(struct nested_start *n, uint64_t a,
				       uint64_t b, uint64_t c, uint64_t d)
{
	start_on(n->pair.machine, &n->pair.main, 0, refill_and_leave, n);
	return a + 2 * b + 3 * c + 5 * d;
}

TEST_ON_EACH(values_in_registers_survive_a_start)
{
	struct nested_start n = { .pair.machine = m };

	fill(n.registers, 0x5555aaaa33337777);
	assert_int_equal(start_and_add(&n, 1000, 200, 30, 4), 1510);
	to_other(&n.pair);
	assert_memory_equal(n.registers, n.registers + REGISTERS,
			    kept(n.pair.machine));
}
#endif

/* --- stacks ------------------------------------------------------------- */

static bool is_on(unsigned index, const void *address)
{
	const unsigned char *a = address;

	return a >= stacks[index] && a < stacks[index] + STACK_SIZE;
}

struct arrival {
	void *argument;
	void *frame;
	void *aligned;
};

static arch_stack note_arrival(void *argument)
{
	struct pair      *p = argument;
	struct arrival   *a = p->data;
	_Alignas(16) char local[16];
	char *volatile aligned = local;

	a->argument = argument;
	a->frame = __builtin_frame_address(0);
	a->aligned = aligned;
	return p->main;
}

/* The compiler aligns a local variable on the ABI's assumption about the stack
 * pointer. A frame begins one return address and one frame pointer below that
 * alignment, or at the end of the stack. */
TEST_ON_EACH(entry_finds_its_argument_and_an_aligned_stack)
{
	struct arrival a = { 0 };
	struct pair    p;

	start_other(&p, m, note_arrival, &a);
	assert_ptr_equal(a.argument, &p);
	assert_true(is_on(0, (char *)a.frame - 1));
	assert_int_equal(((uintptr_t)a.frame + 2 * sizeof(void *)) % 16, 0);
	assert_int_equal((uintptr_t)a.aligned % 16, 0);
}

static arch_stack count_turns(void *argument)
{
	struct pair       *p = argument;
	volatile unsigned *turns = p->data;

	for (;;) {
		(*turns)++;
		to_main(p);
	}
	return p->main;
}

TEST_ON_EACH(a_million_switches_lose_nothing)
{
	volatile unsigned turns = 0;
	struct pair       p;

	start_other(&p, m, count_turns, (void *)(uintptr_t)&turns);
	for (unsigned i = 1; i < 500000; i++) {
		to_other(&p);
		if (turns != i + 1)
			break;
	}
	assert_int_equal(turns, 500000);
}

static arch_stack count_and_leave(void *argument)
{
	struct pair *p = argument;
	unsigned    *runs = p->data;

	(*runs)++;
	return p->main;
}

TEST_ON_EACH(an_emptied_stack_can_be_started_again)
{
	unsigned    runs = 0;
	struct pair p;

	for (unsigned i = 0; i < 10000; i++)
		start_other(&p, m, count_and_leave, &runs);
	assert_int_equal(runs, 10000);
}

/* Three stacks: main starts the first, the first starts the second. */
struct nest {
	const struct machine *machine;
	arch_stack            main;
	arch_stack            first;
	char                  trace[8];
};

static void note(struct nest *n, char what)
{
	n->trace[strlen(n->trace)] = what;
}

static arch_stack second_leaves_for_main(void *argument)
{
	struct nest *n = argument;

	note(n, '2');
	return n->main;
}

static arch_stack first_starts_second(void *argument)
{
	struct nest *n = argument;

	note(n, '1');
	start_on(n->machine, &n->first, 1, second_leaves_for_main, n);
	note(n, 'f');
	return n->main;
}

TEST_ON_EACH(leaving_resumes_the_stack_that_entry_names)
{
	struct nest n = { .machine = m };

	start_on(n.machine, &n.main, 0, first_starts_second, &n);
	note(&n, 'm');
	n.machine->go(&n.main, n.first);
	note(&n, 'M');
	assert_string_equal(n.trace, "12mfM");
}

static arch_stack block_a_signal(void *argument)
{
	struct pair *p = argument;
	sigset_t     usr1;

	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &usr1, NULL);
	to_main(p);
	pthread_sigmask(SIG_SETMASK, NULL, p->data);
	return p->main;
}

TEST_ON_EACH(the_signal_mask_is_the_threads)
{
	sigset_t    before;
	sigset_t    now;
	sigset_t    seen;
	struct pair p;

	pthread_sigmask(SIG_SETMASK, NULL, &before);
	start_other(&p, m, block_a_signal, &seen);
	pthread_sigmask(SIG_SETMASK, NULL, &now);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	to_other(&p);
	assert_true(sigismember(&now, SIGUSR1));
	assert_false(sigismember(&seen, SIGUSR1));
}

/* SPDX-License-Identifier: Apache-2.0 */
/* context.c - what the ABI of Windows says of a stack and of registers holds
 * for tasks that wait.
 */
#include "testing/with_workers.h"

#include <windows.h>

/* --- the stack's bounds ------------------------------------------------- */

struct bounds {
	ULONG_PTR low, end;
};

static struct bounds bounds(void)
{
	struct bounds b;

	GetCurrentThreadStackLimits(&b.low, &b.end);
	return b;
}

static bool holds(struct bounds b, const void *address)
{
	return (ULONG_PTR)address - b.low < b.end - b.low;
}

static int look_at_bounds(void *unused)
{
	char          local;
	struct bounds before = bounds();

	(void)unused;
	EXPECT(holds(before, &local));
	EXPECT(before.end - before.low <= 128 * 1024);
	sennit_sleep(SENNIT_MILLISECOND);
	EXPECT(bounds().low == before.low && bounds().end == before.end);
	return 0;
}

TEST_WITH_WORKERS(a_task_sees_the_bounds_of_its_stack)
{
	struct bounds mine = bounds();
	sennit_group  g;

	sennit_group_init(&g, SENNIT_NEVER, 0);
	for (int i = 0; i < 20; i++)
		assert_int_equal(sennit_group_spawn(&g, look_at_bounds, NULL),
				 0);
	assert_int_equal(sennit_group_wait(&g), 0);
	assert_true(holds(mine, &w));
	assert_int_equal(bounds().low, mine.low);
	assert_int_equal(bounds().end, mine.end);
}

/* --- backtraces --------------------------------------------------------- */

static int walk_up(void *unused)
{
	void  *frames[64];
	USHORT n;

	(void)unused;
	sennit_yield();
	n = CaptureStackBackTrace(0, 64, frames, NULL);
	EXPECT(n >= 2 && n < 32); /* this function, the library, and an end */
	return 0;
}

TEST_WITH_WORKERS(a_backtrace_ends_at_the_first_frame)
{
	sennit_group g;

	sennit_group_init(&g, SENNIT_NEVER, 0);
	for (int i = 0; i < 4; i++)
		assert_int_equal(sennit_group_spawn(&g, walk_up, NULL), 0);
	assert_int_equal(sennit_group_wait(&g), 0);
}

/* --- exceptions --------------------------------------------------------- */

/* Raise an exception in a frame that has a handler, as __except makes it. */
void raise_guarded(void);

__asm__(".text\n"
	".seh_proc raise_guarded\n"
	"raise_guarded:\n"
	".seh_handler handle_own, @except\n"
	"sub $40, %rsp\n"
	".seh_stackalloc 40\n"
	".seh_endprologue\n"
	"mov $0xe0000042, %ecx\n"
	"xor %edx, %edx\n"
	"xor %r8d, %r8d\n"
	"xor %r9d, %r9d\n"
	"call *__imp_RaiseException(%rip)\n"
	"nop\n"
	"add $40, %rsp\n"
	"ret\n"
	".seh_endproc\n");

static atomic_uint handled;

EXCEPTION_DISPOSITION handle_own(EXCEPTION_RECORD *r, void *frame, CONTEXT *c,
				 void *dispatcher);

EXCEPTION_DISPOSITION handle_own(EXCEPTION_RECORD *r, void *frame, CONTEXT *c,
				 void *dispatcher)
{
	(void)c;
	(void)dispatcher;
	EXPECT(holds(bounds(), frame));
	if (r->ExceptionCode != 0xe0000042)
		return ExceptionContinueSearch;
	atomic_fetch_add(&handled, 1);
	return ExceptionContinueExecution;
}

static int raise_and_go_on(void *unused)
{
	(void)unused;
	raise_guarded();
	sennit_yield();
	raise_guarded();
	return 0;
}

/* The system passes over handlers whose frames lie outside of the bounds. */
TEST_WITH_WORKERS(an_exception_finds_the_handler_of_its_frame)
{
	sennit_group g;

	atomic_store(&handled, 0);
	sennit_group_init(&g, SENNIT_NEVER, 0);
	for (int i = 0; i < 4; i++)
		assert_int_equal(sennit_group_spawn(&g, raise_and_go_on, NULL),
				 0);
	assert_int_equal(sennit_group_wait(&g), 0);
	assert_int_equal(atomic_load(&handled), 8);
}

/* --- registers ---------------------------------------------------------- */

enum { KEPT = 10 }; /* xmm6 to xmm15 */

struct lanes {
	_Alignas(16) uint64_t word[2 * KEPT];
};

static void wait_a_little(void)
{
	sennit_sleep(10 * SENNIT_MICROSECOND);
}

#define EACH(move)                                                    \
	move(6, 0) move(7, 16) move(8, 32) move(9, 48) move(10, 64)   \
		move(11, 80) move(12, 96) move(13, 112) move(14, 128) \
			move(15, 144)
#define LOAD_XMM(n, at)  "movaps " #at "(%[in]), %%xmm" #n "\n\t"
#define STORE_XMM(n, at) "movaps %%xmm" #n ", " #at "(%[out])\n\t"

/* Load the registers, wait, and store what they are then. `in` and `out` are in
 * registers that a callee keeps. */
static NOINLINE void wait_with(const struct lanes *in, struct lanes *out)
{
	__asm__ volatile(
		EACH(LOAD_XMM) "sub $32, %%rsp\n\t"
			       "call *%[wait]\n\t"
			       "add $32, %%rsp\n\t" EACH(STORE_XMM)
		:
		: [in] "b"(in), [out] "S"(out), [wait] "D"(wait_a_little)
		: "rax", "rcx", "rdx", "r8", "r9", "r10", "r11", "xmm0", "xmm1",
		  "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8",
		  "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15",
		  "cc", "memory");
}

static int keep_lanes(void *number)
{
	struct lanes in, out;

	for (size_t i = 0; i < 2 * KEPT; i++)
		in.word[i] = (uint64_t)(uintptr_t)number << 32 | i;
	for (int i = 0; i < 50; i++) {
		memset(&out, 0, sizeof(out));
		wait_with(&in, &out);
		EXPECT(!memcmp(&in, &out, sizeof(in)));
	}
	return 0;
}

TEST_WITH_WORKERS(vector_registers_outlive_a_wait)
{
	sennit_group g;

	sennit_group_init(&g, SENNIT_NEVER, 0);
	for (uintptr_t i = 1; i <= 8; i++)
		assert_int_equal(sennit_group_spawn(&g, keep_lanes, (void *)i),
				 0);
	assert_int_equal(sennit_group_wait(&g), 0);
}

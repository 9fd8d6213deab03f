/* SPDX-License-Identifier: Apache-2.0 */
/* linux_fault_handler.c - os.h on Linux: looking at faults before whoever did
 * so before. */
#include "os/os.h"

#include <execinfo.h>
#include <signal.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

/* A fault on memory is one or the other, as the kernel sees it. */
static const int faults[] = { SIGSEGV, SIGBUS };

#define FAULTS (sizeof(faults) / sizeof(faults[0]))

static struct sigaction previous[FAULTS]; /* fixed once watched */
static struct sigaction ours[FAULTS];     /* fixed once watched */
static a_u32            undone[FAULTS];   /* any: a handler that wished to be
					   * called once has been */
static void (*watcher)(uintptr_t address, uintptr_t stack_pointer);

/* Where the thread's stack had come to; 0: unknown, or to an alternate one. */
static uintptr_t stack_pointer_of(const ucontext_t *context)
{
	const stack_t *other = &context->uc_stack;
	uintptr_t      sp = 0;

#if defined(__x86_64__)
	sp = (uintptr_t)context->uc_mcontext.gregs[REG_RSP];
#elif defined(__aarch64__)
	sp = context->uc_mcontext.sp;
#endif
	return sp - (uintptr_t)other->ss_sp <= other->ss_size ? 0 : sp;
}

/* --- passing it on ------------------------------------------------------ */

/* Whether nothing faults again when the handler returns: the signal was sent,
 * or tells of memory that nobody has touched yet. */
static bool is_sent(int number, const siginfo_t *info)
{
	return info->si_code <= 0 ||
	       (number == SIGBUS && info->si_code == BUS_MCEERR_AO);
}

/* The same signal once more, for whoever handles it now, as soon as the running
 * handler has returned. A fault comes by itself. */
static void come_again(int number, siginfo_t *info)
{
	sigset_t one;

	if (!is_sent(number, info))
		return;
	sigemptyset(&one);
	sigaddset(&one, number);
	pthread_sigmask(SIG_BLOCK, &one, NULL); /* until then */
	syscall(SYS_rt_tgsigqueueinfo, getpid(), os_thread_id(), number, info);
}

/* The program may have set another, which then calls us. */
static bool is_installed(int number, void (*handler)(int, siginfo_t *, void *))
{
	struct sigaction now;

	return !sigaction(number, NULL, &now) && now.sa_sigaction == handler;
}

static void end_as_without_handler(int number, siginfo_t *info)
{
	signal(number, SIG_DFL);
	come_again(number, info);
}

/* Call the program's handler; one that wished to be undone first, once. */
static void call(size_t i, siginfo_t *info, void *context)
{
	const struct sigaction *before = &previous[i];
	uint32_t                no = 0;

	if (before->sa_flags & (int)SA_RESETHAND) {
		if (!a_cas_rlx(&undone[i], &no, 1)) {
			end_as_without_handler(faults[i], info);
			return;
		}
		if (is_installed(faults[i], ours[i].sa_sigaction))
			signal(faults[i], SIG_DFL);
	}
	if (before->sa_flags & SA_SIGINFO)
		before->sa_sigaction(faults[i], info, context);
	else
		before->sa_handler(faults[i]);
}

/* In place of ours for one signal: the kernel has chosen the stack as for the
 * program's handler. */
static void relay(int number, siginfo_t *info, void *context)
{
	size_t i = number == faults[1];

	sigaction(number, &ours[i], NULL);
	call(i, info, context);
}

/* Whether the program's handler would run elsewhere, by its flags: on the stack
 * that was interrupted, while we have been called on another. */
static bool belongs_elsewhere(size_t i, const ucontext_t *context)
{
	const stack_t  *other = &context->uc_stack;
	const uintptr_t here = (uintptr_t)__builtin_frame_address(0);

	return !(previous[i].sa_flags & SA_ONSTACK) &&
	       here - (uintptr_t)other->ss_sp < other->ss_size &&
	       stack_pointer_of(context) &&
	       is_installed(faults[i], ours[i].sa_sigaction);
}

/* To the kernel: it calls us again, without an alternate stack. Where the stack
 * has overflowed, it cannot, and ends the process. */
static void hand_back(size_t i, siginfo_t *info)
{
	struct sigaction act = ours[i];

	act.sa_sigaction = relay;
	act.sa_flags &= ~SA_ONSTACK;
	sigaction(faults[i], &act, NULL);
	come_again(faults[i], info);
}

/* What handled the fault before us does so now, as the kernel would have it. */
static void pass_on(size_t i, siginfo_t *info, void *context)
{
	bool is_ignored = previous[i].sa_handler == SIG_IGN;

	if (is_ignored && is_sent(faults[i], info))
		return;
	if (is_ignored || previous[i].sa_handler == SIG_DFL)
		end_as_without_handler(faults[i], info);
	else if (belongs_elsewhere(i, context))
		hand_back(i, info);
	else
		call(i, info, context);
}

static void fault(int number, siginfo_t *info, void *context)
{
	/* A signal that was sent has no address. */
	if (info->si_code > 0)
		watcher((uintptr_t)info->si_addr, stack_pointer_of(context));
	pass_on(number == faults[1], info, context);
}

/* The mask and what else the kernel does around a handler stay as they were. */
static void take_over(size_t i)
{
	sigaction(faults[i], NULL, &previous[i]);
	ours[i] = previous[i];
	ours[i].sa_sigaction = fault;
	ours[i].sa_flags |= SA_SIGINFO | SA_ONSTACK;
	ours[i].sa_flags &= ~(int)SA_RESETHAND;
	if (previous[i].sa_handler == SIG_IGN)
		ours[i].sa_flags |= SA_RESTART;
	sigaction(faults[i], &ours[i], NULL);
}

void os_faults_watch(void (*look)(uintptr_t address, uintptr_t stack_pointer))
{
	void *frame[1];

	watcher = look;
	/* The first call may load a library, which a handler must not. */
	(void)backtrace(frame, 1);
	for (size_t i = 0; i < FAULTS; i++)
		take_over(i);
}

/* --- the alternate stack ------------------------------------------------ */

void os_write_backtrace(int fd)
{
	void *frames[64];
	int   count = backtrace(frames, 64);

	backtrace_symbols_fd(frames, count, fd);
}

/* What the kernel stores for a handler, on processors with large registers
 * some 4 KiB, and room to print a backtrace. */
size_t os_fault_stack_size(void)
{
	long least = sysconf(_SC_SIGSTKSZ);

	return (size_t)(least > 0 ? least : MINSIGSTKSZ) + 32 * 1024;
}

bool os_fault_stack_use(void *memory, size_t size)
{
	stack_t mine = { .ss_sp = memory, .ss_size = size };
	stack_t before;

	if (sigaltstack(&mine, &before))
		return false;
	if (before.ss_flags & SS_DISABLE)
		return true;
	sigaltstack(&before, NULL);
	return false;
}

void os_fault_stack_drop(const void *memory)
{
	stack_t none = { .ss_flags = SS_DISABLE };
	stack_t now;

	if (!sigaltstack(&none, &now) && now.ss_sp != memory &&
	    !(now.ss_flags & SS_DISABLE))
		sigaltstack(&now, NULL);
}

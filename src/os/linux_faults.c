/* SPDX-License-Identifier: Apache-2.0 */
/* linux_faults.c - os.h on Linux: looking at faults before whoever did so
 * before. */
#include "os/os.h"

#include <execinfo.h>
#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

/* A fault on memory is one or the other, as the kernel sees it. */
static const int faults[] = { SIGSEGV, SIGBUS };

#define FAULTS (sizeof(faults) / sizeof(faults[0]))

static struct sigaction previous[FAULTS]; /* fixed once watched */
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

/* What handled the fault before us does so now. */
static void pass_on(const struct sigaction *before, int number, siginfo_t *info,
		    void *context)
{
	bool sent = info->si_code <= 0;

	if (before->sa_flags & SA_SIGINFO) {
		before->sa_sigaction(number, info, context);
	} else if (before->sa_handler == SIG_IGN && sent) {
		return;
	} else if (before->sa_handler == SIG_DFL ||
		   before->sa_handler == SIG_IGN) {
		/* The instruction faults again, and the system ends us. */
		signal(number, SIG_DFL);
		if (sent)
			raise(number);
	} else {
		before->sa_handler(number);
	}
}

static void fault(int number, siginfo_t *info, void *context)
{
	const struct sigaction *before = &previous[number == faults[1]];

	/* A signal that was sent has no address. */
	if (info->si_code > 0)
		watcher((uintptr_t)info->si_addr, stack_pointer_of(context));
	pass_on(before, number, info, context);
}

void os_faults_watch(void (*look)(uintptr_t address, uintptr_t stack_pointer))
{
	struct sigaction act = { .sa_sigaction = fault,
				 .sa_flags = SA_SIGINFO | SA_ONSTACK };
	void            *frame[1];

	watcher = look;
	/* The first call may load a library, which a handler must not. */
	(void)backtrace(frame, 1);
	sigemptyset(&act.sa_mask);
	for (size_t i = 0; i < FAULTS; i++) {
		sigaction(faults[i], NULL, &previous[i]);
		/* A handler's own wish to be undone after its first call, or
		 * to be interrupted by further faults, stays. */
		act.sa_flags |= previous[i].sa_flags & SA_NODEFER;
		sigaction(faults[i], &act, NULL);
	}
}

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

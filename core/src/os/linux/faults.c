/* SPDX-License-Identifier: Apache-2.0 */
/* faults.c - os.h on Linux: fault handlers that run before the
 * handlers which were installed earlier, and then call those. */
#include "os/os.h"
#include "os/posix/fault_escape.h"
#include "arch/cpu.h"
#include "sennit/detail/debugger.h"

#include <errno.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

/* The kernel reports a memory fault with either of the first two. The others
 * are handled for os_death_watch alone. */
static const int faults[] = { SIGSEGV, SIGBUS,  SIGABRT, SIGILL,
			      SIGFPE,  SIGTRAP, SIGSYS };

#define MEMORY_FAULTS 2u
#define FAULTS        (sizeof(faults) / sizeof(faults[0]))

static struct sigaction previous[FAULTS]; /* fixed once it is taken over */
static struct sigaction ours[FAULTS];     /* fixed once it is taken over */
static a_u32            undone[FAULTS];   /* any: 1 when the handler has been
					   * uninstalled, by SA_RESETHAND or by
					   * itself */
typedef void fault_watcher_fn(uintptr_t address, uintptr_t stack_pointer);

static fault_watcher_fn *fault_watcher;

/* Fixed once it is not NULL. */
static const struct sennit_debug_death *death;

static size_t index_of(int number)
{
	size_t i = 0;

	while (i < FAULTS - 1 && faults[i] != number)
		i++;
	return i;
}

/* The stack pointer at the fault. 0: unknown, or on an alternate stack. */
static uintptr_t stack_pointer_of(const ucontext_t *context)
{
	const stack_t *other = &context->uc_stack;
	uintptr_t      sp = ARCH_LINUX_SP(context);

	return sp - (uintptr_t)other->ss_sp <= other->ss_size ? 0 : sp;
}

/* --- calling the earlier handler ---------------------------------------- */

/* Whether the signal was sent by a process, or reports memory that the thread
 * has not accessed (BUS_MCEERR_AO). The kernel ignores such a signal if it is
 * told to; it does not ignore others. */
static bool is_sent(int number, const siginfo_t *info)
{
	return info->si_code <= 0 ||
	       (number == SIGBUS && info->si_code == BUS_MCEERR_AO);
}

#ifndef SEGV_MTEAERR
#define SEGV_MTEAERR 8
#endif

/* Whether the fault comes again when the handler returns, unless another thread
 * has mended the cause. The processor reports int3 and int $4 behind the
 * instruction, and a system call that seccomp has refused is over; the kernel
 * has a code of its own for int $4. A memory tag that is checked late
 * (SEGV_MTEAERR) is reported somewhere else. */
static bool repeats(int number, const siginfo_t *info)
{
	return !is_sent(number, info) && number != SIGTRAP &&
	       number != SIGSYS && info->si_code != SI_KERNEL &&
	       !(number == SIGSEGV && info->si_code == SEGV_MTEAERR);
}

/* Raise the signal for the action now installed, to arrive when the running
 * handler returns. A seccomp filter may refuse to queue it but not refuse
 * tgkill(), which raise() and abort() need: then its code and address are
 * lost. */
static void raise_later(int number, siginfo_t *info)
{
	const int error = errno;
	sigset_t  one;

	sigemptyset(&one);
	sigaddset(&one, number);
	pthread_sigmask(SIG_BLOCK, &one, NULL); /* until the handler returns */
	if (syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid),
		    number, info))
		syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), number);
	errno = error;
}

/* Let the default action end the process, even if the fault would repeat: then
 * it depends on other threads whether it does. A core file keeps the fault's
 * code and address. Only qemu takes a raised signal with the code of a fault
 * for a fault of its own. A kernel maps a vDSO, and qemu 7 does not: without
 * one the signal is one that the process has sent, with the address as its
 * value. */
static void end_later(int number, const siginfo_t *info)
{
	siginfo_t raised = *info;

	if (repeats(number, info) && !getauxval(AT_SYSINFO_EHDR)) {
		raised.si_code = SI_QUEUE;
		raised.si_pid = getpid();
		raised.si_uid = getuid();
		raised.si_value.sival_ptr = info->si_addr;
	}
	raise_later(number, &raised);
}

/* Whether the library's handler is still the installed one. The program may
 * have installed another, which calls the library's. */
static bool is_installed(int number, void (*handler)(int, siginfo_t *, void *))
{
	struct sigaction now;

	return !sigaction(number, NULL, &now) && now.sa_sigaction == handler;
}

static void end_as_without_handler(int number, const siginfo_t *info,
				   const void *context)
{
	if (death)
		death->last_words(number, context);
	signal(number, SIG_DFL);
	end_later(number, info);
}

/* The program's handler has returned. If it has uninstalled itself, as those do
 * that let the process end, ours comes again when the signal does. abort()
 * uninstalls every handler that returns. */
static void stay(size_t i, const siginfo_t *info, const void *context)
{
	struct sigaction now;

	if (!death)
		return;
	if (!sigaction(faults[i], NULL, &now) && now.sa_handler == SIG_DFL) {
		a_store_rlx(&undone[i], 1);
		sigaction(faults[i], &ours[i], NULL);
	} else if (faults[i] == SIGABRT && info->si_code == SI_TKILL &&
		   info->si_pid == getpid()) {
		death->last_words(SIGABRT, context);
	}
}

/* Call the program's handler. A handler with SA_RESETHAND is called once and
 * uninstalled first; not if the next signal must come here. */
static void call_previous_handler(size_t i, siginfo_t *info, void *context)
{
	const struct sigaction *before = &previous[i];
	uint32_t                no = 0;

	if (before->sa_flags & (int)SA_RESETHAND
		    ? !a_cas_rlx(&undone[i], &no, 1)
		    : a_load_rlx(&undone[i])) {
		end_as_without_handler(faults[i], info, context);
		return;
	}
	if (before->sa_flags & (int)SA_RESETHAND && !death &&
	    is_installed(faults[i], ours[i].sa_sigaction))
		signal(faults[i], SIG_DFL);
	if (before->sa_flags & SA_SIGINFO)
		before->sa_sigaction(faults[i], info, context);
	else
		before->sa_handler(faults[i]);
	stay(i, info, context);
}

/* Replaces the library's handler for one signal. The kernel has chosen the
 * stack as it would for the program's handler. */
static void relay(int number, siginfo_t *info, void *context)
{
	const size_t i = index_of(number);

	sigaction(number, &ours[i], NULL);
	call_previous_handler(i, info, context);
}

/* Whether the program's handler would run on another stack by its flags: on the
 * interrupted one, whereas the library's handler runs on the alternate
 * stack. */
static bool belongs_elsewhere(size_t i, const ucontext_t *context)
{
	const stack_t  *other = &context->uc_stack;
	const uintptr_t here = (uintptr_t)__builtin_frame_address(0);

	return !(previous[i].sa_flags & SA_ONSTACK) &&
	       here - (uintptr_t)other->ss_sp < other->ss_size &&
	       stack_pointer_of(context) &&
	       is_installed(faults[i], ours[i].sa_sigaction);
}

/* Let the kernel deliver the fault again to `relay`, without the alternate
 * stack. If the stack has overflowed, the kernel cannot, and ends the
 * process. */
static void hand_back(size_t i, siginfo_t *info)
{
	struct sigaction act = ours[i];

	act.sa_sigaction = relay;
	act.sa_flags &= ~SA_ONSTACK;
	sigaction(faults[i], &act, NULL);
	if (!repeats(faults[i], info))
		raise_later(faults[i], info);
}

/* Run the handler that was installed before the library's, or its default
 * action, as the kernel would. */
static void run_previous_action(size_t i, siginfo_t *info, void *context)
{
	bool is_ignored = previous[i].sa_handler == SIG_IGN;

	if (is_ignored && is_sent(faults[i], info))
		return;
	if (is_ignored || previous[i].sa_handler == SIG_DFL)
		end_as_without_handler(faults[i], info, context);
	else if (belongs_elsewhere(i, context))
		hand_back(i, info);
	else
		call_previous_handler(i, info, context);
}

/* Initial-exec, because a handler may not allocate it. */
static _Thread_local uintptr_t code __attribute__((tls_model("initial-exec")));

uintptr_t os_fault_code(void)
{
	return code;
}

static void fault(int number, siginfo_t *info, void *context)
{
	const struct sennit_debug_context *at = &sennit_debug_interrupted;
	const size_t                       i = index_of(number);

	if (death)
		death->fault();
	/* A signal that a process sent has no fault address. */
	if (info->si_code > 0 && i < MEMORY_FAULTS) {
		fault_escape_take();
		code = at->machine
			       ? *(const uintptr_t
					   *)(const void *)((const char *)
								    context +
							    at->pc_at)
			       : 0;
		fault_escape_watch(fault_watcher, (uintptr_t)info->si_addr,
				   stack_pointer_of(context));
	}
	run_previous_action(i, info, context);
}

/* The signal mask and the other flags of the earlier handler stay in effect. */
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
	fault_watcher = look;
	os_backtrace_prepare();
	for (size_t i = 0; i < MEMORY_FAULTS; i++)
		take_over(i);
}

int os_death_watch(const struct sennit_debug_death *d)
{
	const bool first = !death;

	death = d;
	for (size_t i = MEMORY_FAULTS; first && i < FAULTS; i++)
		take_over(i);
	return 0;
}

/* --- the alternate stack ------------------------------------------------ */

/* Four signal frames, as sysconf(_SC_SIGSTKSZ) of glibc, plus room to print a
 * backtrace. A frame is about 4 KiB on processors with large registers. The
 * kernel reports its size since Linux 5.14 on x86. */
size_t os_fault_stack_size(void)
{
	const size_t frame = getauxval(AT_MINSIGSTKSZ);

	return (frame ? 4 * frame : (size_t)SIGSTKSZ) + (size_t)32 * 1024;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* bsd.c - os.h on macOS and FreeBSD: memory mappings and guard pages of
 * stacks, by mmap(2), mprotect(2), madvise(2). Not tested on either. */
#include "os/bsd/faults.h"

#include "base/compiler.h"
#include "os/os.h"
#include "os/posix/fault_escape.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

size_t os_page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

/* Both systems promise more memory than there is. MAP_STACK of FreeBSD grows on
 * demand and has a guard of its own, so it is not wanted here. */
static void *map(void *at, size_t size, int flags)
{
	void *memory = mmap(at, size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANON | flags, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

void *os_map(size_t size)
{
	return map(NULL, size, 0);
}

void os_unmap(void *memory, size_t size)
{
	munmap(memory, size);
}

/* msync() fails if part of the range is not mapped. */
static bool has_hole(void *memory, size_t size)
{
	return msync(memory, size, MS_ASYNC) && errno == ENOMEM;
}

bool os_map_anew(void *memory, size_t size)
{
	if (map(memory, size, MAP_FIXED))
		return true;
	CHECK(!has_hole(memory, size),
	      "the system unmapped idle stacks and cannot map them again");
	return false;
}

/* The system may take such a page when it needs memory, and then gives zeros.
 * It counts as used until then. */
void os_discard(void *memory, size_t size)
{
	uintptr_t page = os_page_size();
	uintptr_t first = ((uintptr_t)memory + page - 1) & ~(page - 1);
	uintptr_t end = ((uintptr_t)memory + size) & ~(page - 1);
	int       saved = errno;

	if (first < end)
		madvise((void *)first, end - first, MADV_FREE);
	errno = saved;
}

enum os_guard os_guard_kind(void)
{
	return OS_GUARD_MAPPING;
}

int os_guard(enum os_guard kind, void *low, size_t pitch, size_t count,
	     size_t size)
{
	(void)kind;
	for (size_t i = 0; i < count; i++)
		if (mprotect((char *)low + i * pitch, size, PROT_NONE))
			return -errno;
	return 0;
}

void os_populate(void *low, size_t pitch, size_t count, size_t size)
{
	(void)low;
	(void)pitch;
	(void)count;
	(void)size;
}

/* No limit on mappings is known. */
size_t os_mapping_limit(void)
{
	return SIZE_MAX;
}

/* --- bsd faults ----------------------------------------------------------- */

/* os.h on macOS and FreeBSD: fault handlers that run before the handlers which
 * were installed earlier, and then call those; the alternate signal stack.
 * Simpler than faults.c: an earlier handler runs on the alternate stack, too.
 * Not tested on either. */

/* Both systems report a memory fault with either signal. */
static const int faults[] = { SIGSEGV, SIGBUS };

#define FAULTS (sizeof(faults) / sizeof(faults[0]))

static struct sigaction previous[FAULTS]; /* fixed after os_faults_watch */
static void (*watcher)(uintptr_t address, uintptr_t stack_pointer);

/* The stack pointer at the fault. 0: on an alternate stack. */
static uintptr_t stack_pointer_of(const void *context)
{
	uintptr_t sp = os_context_sp(context);
	stack_t   other;

	if (sigaltstack(NULL, &other) || other.ss_flags & SS_DISABLE)
		return sp;
	return sp - (uintptr_t)other.ss_sp <= other.ss_size ? 0 : sp;
}

/* A fault repeats when the handler returns, and then finds the default action.
 * A signal that a process sent is raised again for it. */
static void end_as_without_handler(int number, const siginfo_t *info)
{
	signal(number, SIG_DFL);
	if (info->si_code <= 0 || info->si_code == SI_USER)
		pthread_kill(pthread_self(), number);
}

static void pass_on(const struct sigaction *before, int number, siginfo_t *info,
		    void *context)
{
	if (before->sa_flags & SA_SIGINFO)
		before->sa_sigaction(number, info, context);
	else if (before->sa_handler == SIG_DFL || before->sa_handler == SIG_IGN)
		end_as_without_handler(number, info);
	else
		before->sa_handler(number);
}

static void fault(int number, siginfo_t *info, void *context)
{
	/* A signal that a process sent has no fault address. */
	if (info->si_code > 0 && info->si_code != SI_USER) {
		fault_escape_take();
		fault_escape_watch(watcher, (uintptr_t)info->si_addr,
				   stack_pointer_of(context));
	}
	pass_on(&previous[number == faults[1]], number, info, context);
}

/* The signal mask and the other flags of the earlier handler stay in effect. */
static void take_over(size_t i)
{
	struct sigaction ours;

	sigaction(faults[i], NULL, &previous[i]);
	ours = previous[i];
	ours.sa_sigaction = fault;
	ours.sa_flags |= SA_SIGINFO | SA_ONSTACK;
	ours.sa_flags &= ~SA_RESETHAND;
	sigaction(faults[i], &ours, NULL);
}

void os_faults_watch(void (*look)(uintptr_t address, uintptr_t stack_pointer))
{
	watcher = look;
	os_backtrace_prepare();
	for (size_t i = 0; i < FAULTS; i++)
		take_over(i);
}

/* --- the alternate stack ------------------------------------------------ */

/* Plus room to print a backtrace. */
size_t os_fault_stack_size(void)
{
	return (size_t)SIGSTKSZ + (size_t)32 * 1024;
}

/* --- the process -------------------------------------------------------- */

const char *os_environment(const char *name)
{
	return issetugid() ? NULL : getenv(name);
}

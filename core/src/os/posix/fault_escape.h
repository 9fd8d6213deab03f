/* SPDX-License-Identifier: Apache-2.0 */
/* fault_escape.h - for systems with POSIX signals: a fault handler's watcher
 * that may fault itself.
 *
 * The watcher reads records of the library and walks the frames of the program.
 * Whatever caused the fault may have overwritten both. So a fault of the
 * watcher ends the watcher, not the process: its handler jumps back to before
 * the call, and the first fault goes on to the program's handler.
 *
 * A handler that the program has installed later, and that calls the library's,
 * sees the second fault first.
 */
#ifndef SN_FAULT_ESCAPE_H
#define SN_FAULT_ESCAPE_H

#include "base/compiler.h"
#include "os/os.h"

#include <setjmp.h>
#include <signal.h>
#include <unistd.h>

/* Where the calling thread's watcher ends when it faults. NULL: it does not
 * watch. Initial-exec, because a handler may not allocate it. */
static _Thread_local sigjmp_buf *fault_escape
	__attribute__((tls_model("initial-exec")));

/* For the handler of a real fault, before anything else. Does not return if the
 * thread's watcher has caused it. */
static inline void fault_escape_take(void)
{
	if (fault_escape)
		siglongjmp(*fault_escape, 1);
}

/* Call look(address, stack_pointer), in a handler. What a second fault prints
 * comes behind what the watcher has printed. */
static inline void fault_escape_watch(void (*look)(uintptr_t address,
						   uintptr_t stack_pointer),
				      uintptr_t address,
				      uintptr_t stack_pointer)
{
	sigjmp_buf back;
	sigset_t   faults, before;

	sigemptyset(&faults);
	sigaddset(&faults, SIGSEGV);
	sigaddset(&faults, SIGBUS);
	pthread_sigmask(SIG_UNBLOCK, &faults, &before);
	if (!sigsetjmp(back, 0)) {
		fault_escape = &back;
		look(address, stack_pointer);
	} else {
		os_print(STDERR_FILENO,
			 "sennit: no more about this fault: what would be "
			 "printed is damaged\n");
	}
	fault_escape = NULL;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "diag/thread_sample.h"

#include "base/atomic.h"
#include "diag/own_memory.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

/* Its default action is to be ignored, so that one which comes late does no
 * harm, whoever has changed its action meanwhile. */
#define SIGNAL SIGURG

/* The handler takes a sample only between ASKED and the end of the wait. */
enum { IDLE, ASKED, TAKING, TAKEN };

static a_u32    state; /* asker: IDLE <-> ASKED, TAKEN -> IDLE; handler: ASKED
			 * -> TAKING -> TAKEN */
static a_u32    asked; /* the thread that is to answer */
static char     context[sizeof(ucontext_t)];
static char     copy[THREAD_SAMPLE_COPY];
static uint64_t copied_from;
static size_t   copied;

bool sn_call_frame_begin(struct call_frame                 *f,
			 const struct sennit_debug_context *layout,
			 uintptr_t base, const char *bytes)
{
	uint64_t sp = base + layout->sp_at;

	if (layout->machine != EM_X86_64 && layout->machine != EM_AARCH64)
		return false;
	f->sp = layout->machine == EM_X86_64 ? 7 : 31;
	f->known = 0;
	memcpy(&f->pc, bytes + layout->pc_at, sizeof(f->pc));
	if (layout->sp_is_stored)
		memcpy(&sp, bytes + layout->sp_at, sizeof(sp));
	for (uint32_t i = 0; i < layout->count; i++) {
		const uint32_t n = layout->registers[i].number;

		if (n >= CALL_FRAME_REGISTERS)
			continue;
		memcpy(&f->registers[n], bytes + layout->registers[i].at,
		       sizeof(f->registers[n]));
		f->known |= UINT64_C(1) << n;
	}
	f->registers[f->sp] = sp;
	f->known |= UINT64_C(1) << f->sp;
	return true;
}

/* Async-signal-safe. */
static void answer(int number, siginfo_t *info, void *interrupted)
{
	const int error = errno;
	uint32_t  expected = ASKED;

	(void)number;
	(void)info;
	if (a_load_rlx(&asked) != (uint32_t)syscall(SYS_gettid) ||
	    /* <- thread_sample.asked */
	    !a_cas_acq(&state, &expected, TAKING))
		return;
	memcpy(context, interrupted, sizeof(context));
	memcpy(&copied_from, context + sennit_debug_interrupted.sp_at,
	       sizeof(copied_from));
	copied = sn_own_memory_copy(copy, copied_from, sizeof(copy));
	a_store_rel(&state, TAKEN); /* -> thread_sample.taken */
	errno = error;
}

bool sn_thread_sample_is_possible(void)
{
	struct sigaction now;
	struct sigaction ours = {
		.sa_sigaction = answer,
		.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK,
	};

#if defined(SN_TSAN)
	return false; /* it puts signals off, to when the thread is elsewhere */
#endif
	if (!sennit_debug_interrupted.machine || sigaction(SIGNAL, NULL, &now))
		return false;
	if (now.sa_flags & SA_SIGINFO)
		return now.sa_sigaction == answer;
	if (now.sa_handler != SIG_DFL && now.sa_handler != SIG_IGN)
		return false;
	sigfillset(&ours.sa_mask);
	return !sigaction(SIGNAL, &ours, NULL);
}

static void pause_briefly(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 20000 }, NULL);
}

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* Wait for the answer, or see to it that none comes. */
static bool await(void)
{
	const uint64_t end = now_ms() + THREAD_SAMPLE_WAIT_MS;
	uint32_t       expected = ASKED;

	while (a_load_rlx(&state) == ASKED && now_ms() < end)
		pause_briefly();
	/* relaxed: nothing was taken */
	if (a_cas_rlx(&state, &expected, IDLE))
		return false;
	while (a_load_acq(&state) != TAKEN) /* <- thread_sample.taken */
		pause_briefly();
	return true;
}

bool sn_thread_sample_take(struct thread_sample *s, uint32_t thread)
{
	a_store_rlx(&asked, thread);
	a_store_rel(&state, ASKED); /* -> thread_sample.asked: the thread */
	if (syscall(SYS_tgkill, getpid(), thread, SIGNAL)) {
		a_store_rlx(&state, IDLE);
		return false;
	}
	if (!await())
		return false;
	a_store_rlx(&state, IDLE);
	s->memory = (struct call_frame_memory){
		.copy = copy,
		.low = copied_from,
		.size = copied,
	};
	return sn_call_frame_begin(&s->frame, &sennit_debug_interrupted, 0,
				   context);
}

/* The line ends with the stack pointer and the program counter. */
static uintptr_t read_stack_pointer(uint32_t thread)
{
	char    path[64];
	char    line[256];
	char   *at;
	ssize_t n;
	int     fd;

	snprintf(path, sizeof(path), "/proc/self/task/%u/syscall", thread);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, line, sizeof(line) - 1);
	close(fd);
	line[n > 0 ? n : 0] = '\0';
	at = strrchr(line, ' ');
	if (!at)
		return 0; /* "running" */
	*at = '\0';
	at = strrchr(line, ' ');
	return at ? (uintptr_t)strtoull(at, NULL, 16) : 0;
}

/* An emulator's kernel says where the emulator is. So ask about this thread
 * first, which is here. */
uintptr_t sn_thread_blocked_at(uint32_t thread)
{
	const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	const uintptr_t said =
		read_stack_pointer((uint32_t)syscall(SYS_gettid));

	return said <= here && here - said < 4096 ? read_stack_pointer(thread)
						  : 0;
}

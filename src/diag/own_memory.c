/* SPDX-License-Identifier: Apache-2.0 */
#include "diag/own_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* Where process_vm_readv is refused, or an emulator does not know it:
 * /proc/self/mem of the process that opened it, which a child of a fork is not.
 * Set by sn_own_memory_is_readable. */
static int   file = -1;
static pid_t owner;

static ssize_t copy_by_call(void *to, uintptr_t from, size_t size)
{
	struct iovec local = { .iov_base = to, .iov_len = size };
	struct iovec remote = { .iov_base = (void *)from, .iov_len = size };

	return process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
}

size_t sn_own_memory_copy(void *to, uintptr_t from, size_t size)
{
	const int error = errno;
	ssize_t   n;

	n = file < 0 ? copy_by_call(to, from, size)
		     : pread(file, to, size, (off_t)from);
	errno = error;
	return n > 0 ? (size_t)n : 0;
}

bool sn_own_memory_is_readable(void)
{
	static const char there = 1;
	char              copy = 0;

	if (file >= 0 && owner != getpid()) {
		close(file);
		file = -1;
	}
	if (file < 0 && copy_by_call(&copy, (uintptr_t)&there, 1) != 1) {
		file = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
		owner = getpid();
	}
	return sn_own_memory_read(&copy, (uintptr_t)&there, 1) && copy;
}

/* libsennit has registered the process where the kernel has the command.
 * Registering again does no harm. */
void sn_own_memory_barrier(void)
{
	if (!syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0))
		return;
	syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0,
		0);
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0))
		syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* posix.h - what the C library of mingw-w64 lacks and the tests use. The build
 * includes it first in every test of a Windows build. */
#ifndef SN_TEST_POSIX_H
#define SN_TEST_POSIX_H

#include <stddef.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Ends the process after that many seconds; 0 takes it back. Returns 0. */
unsigned alarm(unsigned seconds);

/* As in POSIX and C11. free() releases the memory. */
int   posix_memalign(void **out, size_t alignment, size_t size);
void *aligned_alloc(size_t alignment, size_t size);

/* The system's id of the calling thread. */
pid_t gettid(void);

/* The bytes are those of the file or the pipe. The offset changes. */
int     pipe(int ends[2]);
ssize_t pread(int fd, void *bytes, size_t size, off64_t at);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* told_limit.h - a getrlimit that reports a chosen limit on threads, so that
 * few of them start at once. */
#ifndef SN_TEST_TOLD_LIMIT_H
#define SN_TEST_TOLD_LIMIT_H

#include "base/compiler.h"

#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_ulong most_threads;

/* The type of its first parameter has no portable name. */
int limit_told(int what, struct rlimit *limit) __asm__("getrlimit");

/* ThreadSanitizer calls it, too, before it is initialised. */
NO_SANITIZE int limit_told(int what, struct rlimit *limit)
{
	unsigned long long now[2];

	if (syscall(SYS_prlimit64, 0, what, NULL, now))
		return -1;
	limit->rlim_cur = what == RLIMIT_NPROC ? atomic_load(&most_threads)
					       : (rlim_t)now[0];
	limit->rlim_max = (rlim_t)now[1];
	return 0;
}

/* What glibc makes of it in files with 64-bit offsets, as the library's. */
int limit_told_64(int what, struct rlimit *limit) __asm__("getrlimit64");

NO_SANITIZE int limit_told_64(int what, struct rlimit *limit)
{
	return limit_told(what, limit);
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* with_backend.h - runs the tests of libsennit-io with the backend that
 * SENNIT_TEST_IO names: epoll; uring, skipped where there is none; refused,
 * where a filter refuses what old kernels lack, and epoll must do.
 */
#ifndef SN_TEST_WITH_BACKEND_H
#define SN_TEST_WITH_BACKEND_H

#include "../api/with_workers.h"

#include "sennit/io.h"
#include "sennit/net.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

static const char *wanted_backend = "epoll";

/* cachestat(), which no header of Debian 12's has. */
#define TEST_CACHESTAT 451

/* From now on io_uring_setup() fails, as in a container; cachestat(), as before
 * Linux 6.5; preadv2() and pwritev2(), as under qemu-user. */
static inline void refuse_new_calls(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_setup, 5, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_preadv2, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pwritev2, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, TEST_CACHESTAT, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
	};
	const struct sock_fprog program = {
		.len = sizeof(filter) / sizeof(filter[0]), .filter = filter
	};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
		printf("skipped: no filters here\n");
		exit(77);
	}
}

static inline const char *backend_here(void)
{
	sennit_scheduler *s;
	const char       *name;

	if (sennit_scheduler_create(
		    &s, SENNIT_CONFIG(.workers = SENNIT_WORKERS_NONE)) ||
	    sennit_bind(s))
		exit(3);
	name = sennit_io_backend();
	sennit_unbind();
	(void)!sennit_scheduler_shutdown(s, SENNIT_NEVER);
	return name;
}

static inline int choose_backend(void)
{
	const char *wanted = getenv("SENNIT_TEST_IO");
	const char *here;

	if (wanted && !strcmp(wanted, "refused"))
		refuse_new_calls();
	else if (wanted)
		wanted_backend = wanted;
	setenv("SENNIT_IO",
	       wanted && !strcmp(wanted, "refused") ? "uring" : wanted_backend,
	       1);
	here = backend_here();
	if (!here || strcmp(here, wanted_backend) != 0) {
		printf("no %s here but %s\n", wanted_backend, here);
		return wanted && !strcmp(wanted, "uring") ? 77 : 1;
	}
	return 0;
}

#define USES_BACKEND BEFORE_ALL(choose_backend)

/* --- who waits ---------------------------------------------------------- */

static inline void count_io_waits(void *context, const sennit_report_entry *e)
{
	if (e->state == SENNIT_REPORT_BLOCKED &&
	    e->waits_for == SENNIT_WAITS_FOR_IO)
		++*(unsigned *)context;
}

/* How many fibers wait for I/O. */
static inline unsigned io_waits(sennit_scheduler *s)
{
	unsigned count = 0;

	sennit_scheduler_report(s, count_io_waits, &count);
	return count;
}

static inline sennit_time in_ms(uint64_t ms)
{
	return sennit_after(ms * SENNIT_MILLISECOND);
}

#endif

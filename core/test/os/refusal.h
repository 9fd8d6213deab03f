/* SPDX-License-Identifier: Apache-2.0 */
/* refusal.h - makes the kernel refuse a system call to the calling process, for
 * good, by a seccomp filter. */
#ifndef SN_TEST_REFUSAL_H
#define SN_TEST_REFUSAL_H

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

/* Defined in linux/mman.h since 6.13; older headers lack it. */
#define GUARD_INSTALL 102

struct refusal {
	uint32_t call;
	uint32_t advice; /* for madvise: only this advice; 0: any */
	uint32_t error;
};

#define LOAD_WORD(field) \
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define SKIP_UNLESS(value, count) \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, (count))
#define ANSWER(value) BPF_STMT(BPF_RET | BPF_K, (value))

static inline bool refuse(const struct refusal *r)
{
	struct sock_filter any[] = {
		LOAD_WORD(nr),
		SKIP_UNLESS(r->call, 1),
		ANSWER(SECCOMP_RET_ERRNO | r->error),
		ANSWER(SECCOMP_RET_ALLOW),
	};
	struct sock_filter advised[] = {
		LOAD_WORD(nr),
		SKIP_UNLESS(r->call, 3),
		LOAD_WORD(args[2]),
		SKIP_UNLESS(r->advice, 1),
		ANSWER(SECCOMP_RET_ERRNO | r->error),
		ANSWER(SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { .len = r->advice ? 6 : 4,
				      .filter = r->advice ? advised : any };

	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	       !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

#endif

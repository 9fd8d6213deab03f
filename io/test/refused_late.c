/* SPDX-License-Identifier: Apache-2.0 */
/* refused_late.c - the system calls with which workers wait have worked and
 * then fail for good, with an error that might be temporary: the process prints
 * a message and aborts, because no call could continue. */
#include "operations.h"

#include "testing/child.h"

#include <signal.h>

#if defined(SN_ASAN) || defined(SN_TSAN) /* see core/test/api/fork.c */

SKIP_ALL("threads do not outlive a fork");

#else

#define REFUSE(number)                                       \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 1), \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)err)

/* All waits fail from now on, in all threads. */
static void refuse_to_wait(int err)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		REFUSE(SYS_io_uring_enter),
		REFUSE(SYS_epoll_pwait2),
		REFUSE(SYS_epoll_pwait),
#ifdef SYS_epoll_wait
		REFUSE(SYS_epoll_wait),
#endif
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = {
		.len = sizeof(filter) / sizeof(filter[0]), .filter = filter
	};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
		    SECCOMP_FILTER_FLAG_TSYNC, &program))
		_exit(SKIPPED);
}

static void read_one(void *fd)
{
	char byte;

	(void)!sennit_read(*(int *)fd, &byte, 1, SENNIT_NEVER);
}

static void be_refused(int err)
{
	sennit_scheduler *s;
	int               first[2], second[2];

	signal(SIGABRT, SIG_DFL);
	alarm(60);
	if (sennit_scheduler_create(&s, SENNIT_CONFIG(.workers = 1)) ||
	    sennit_thread_bind(s))
		_exit(3);
	begin_pipe(first);
	begin_pipe(second);
	must_schedule(read_one, &first[0]);
	EXPECT_SOON(io_waits(s) == 1);
	refuse_to_wait(err);
	must(write(first[1], "x", 1) == 1, "write");
	must_schedule(read_one, &second[0]);
	for (;;)
		pause();
}

TEST_ALONE(who_cannot_wait_any_more_says_so)
{
	static const int errors[] = { EMFILE, ENOMEM };

	for (int i = 0; i < 2; i++) {
		char  text[1024];
		int   words;
		pid_t child = begin_heard_child(&words);
		int   status;

		if (!child)
			be_refused(errors[i]);
		status = await_words(child, words, text, sizeof(text));
		skip_if_told(status, "no filters here");
		assert_true(WIFSIGNALED(status));
		assert_int_equal(WTERMSIG(status), SIGABRT);
		assert_non_null(strstr(text, "but worked before"));
		assert_non_null(strstr(text, strerror(errors[i])));
		assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
	}
}

USES_BACKEND;

#endif

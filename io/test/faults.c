/* SPDX-License-Identifier: Apache-2.0 */
/* faults.c - the system calls with which workers wait are interrupted, fail for
 * a while, or fail for good: no byte is lost, no call hangs, and a process that
 * cannot continue prints a message.
 *
 * io_uring_enter() and the epoll wait are replaced, and fail now and then.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "operations.h"

#include "testing/child.h"
#include "../src/engine/linux_calls.h"

#include <dirent.h>
#include <dlfcn.h>
#include <signal.h>
#include <sys/epoll.h>

static atomic_bool faulty;
static atomic_uint faults;

/* About every fourth call. */
static int fault_of(const int *errors, unsigned count)
{
	static _Thread_local uint32_t x = 2463534242u;

	if (!atomic_load_explicit(&faulty, memory_order_relaxed))
		return 0;
	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	if (x % 4)
		return 0;
	atomic_fetch_add(&faults, 1);
	return errors[x / 4 % count];
}

int epoll_pwait2(int fd, struct epoll_event *events, int count,
		 const struct timespec *limit, const sigset_t *mask)
{
	static const int errors[] = { EINTR };
	const int        err = fault_of(errors, 1);
	int64_t          t[2]; /* the kernel's layout, on every processor */

	if (limit) {
		t[0] = limit->tv_sec;
		t[1] = limit->tv_nsec;
	}
	errno = err;
	return err ? -1
		   : (int)syscall(SYS_epoll_pwait2, fd, events, count,
				  limit ? t : NULL, mask, _NSIG / 8);
}

/* For systems without epoll_pwait2(). */
int epoll_wait(int fd, struct epoll_event *events, int count, int ms)
{
	static const int errors[] = { EINTR };
	const int        err = fault_of(errors, 1);

	errno = err;
	return err ? -1 : epoll_pwait(fd, events, count, ms, NULL);
}

#if __has_include(<liburing.h>)
#include <liburing.h>

static const int ring_errors[] = { EINTR, EAGAIN, EBUSY };

static void *real(const char *name)
{
	void *f = dlsym(RTLD_NEXT, name);

	must(f, name);
	return f;
}

int io_uring_submit(struct io_uring *ring)
{
	static int (*call)(struct io_uring *);
	int err = fault_of(ring_errors, 3);

	if (!call)
		*(void **)&call = real("io_uring_submit");
	return err ? -err : call(ring);
}

int io_uring_submit_and_get_events(struct io_uring *ring)
{
	static int (*call)(struct io_uring *);
	int err = fault_of(ring_errors, 3);

	if (!call)
		*(void **)&call = real("io_uring_submit_and_get_events");
	return err ? -err : call(ring);
}

int io_uring_submit_and_wait_timeout(struct io_uring      *ring,
				     struct io_uring_cqe **cqe, unsigned wait,
				     struct __kernel_timespec *limit,
				     sigset_t                 *mask)
{
	static int (*call)(struct io_uring *, struct io_uring_cqe **, unsigned,
			   struct __kernel_timespec *, sigset_t *);
	int err = fault_of(ring_errors, 3);

	if (!call)
		*(void **)&call = real("io_uring_submit_and_wait_timeout");
	return err ? -err : call(ring, cqe, wait, limit, mask);
}
#endif

/* --- traffic ------------------------------------------------------------ */

enum { PAIRS = 4, NUMBERS = LOAD(2000) };

struct pair {
	int         fds[2];
	atomic_uint over;
};

static void send_numbers(void *argument)
{
	struct pair *p = argument;

	for (uint32_t i = 0; i < NUMBERS; i++) {
		ptrdiff_t n = sennit_send(p->fds[1], &i, sizeof(i), 0,
					  SENNIT_NEVER);

		EXPECT(n == sizeof(i));
	}
	atomic_fetch_add(&p->over, 1);
}

/* Usually with a deadline that is too early, then once more. */
static ptrdiff_t receive(int fd, uint32_t *number, uint32_t i)
{
	ptrdiff_t n = sennit_recv(fd, number, sizeof(*number), MSG_WAITALL,
				  sennit_after(i % 8 * SENNIT_MICROSECOND));

	return n == -ETIMEDOUT ? sennit_recv(fd, number, sizeof(*number),
					     MSG_WAITALL, SENNIT_NEVER)
			       : n;
}

static void receive_numbers(void *argument)
{
	struct pair *p = argument;

	for (uint32_t i = 0; i < NUMBERS; i++) {
		uint32_t number = 0;

		EXPECT(receive(p->fds[0], &number, i) == sizeof(number));
		EXPECT(number == i);
	}
	atomic_fetch_add(&p->over, 1);
}

static void carry_numbers(void)
{
	struct pair p[PAIRS];

	for (int i = 0; i < PAIRS; i++) {
		open_sockets(p[i].fds);
		atomic_init(&p[i].over, 0);
		must_schedule(receive_numbers, &p[i]);
		must_schedule(send_numbers, &p[i]);
	}
	for (int i = 0; i < PAIRS; i++) {
		EXPECT_SOON(atomic_load(&p[i].over) == 2);
		close(p[i].fds[0]);
		close(p[i].fds[1]);
	}
}

TEST_WITH_WORKERS(calls_that_fail_for_a_while_lose_nothing)
{
	atomic_store(&faults, 0);
	atomic_store(&faulty, true);
	for (int i = 0; i < 1000 && !atomic_load(&faults); i++)
		carry_numbers();
	atomic_store(&faulty, false);
	assert_true(atomic_load(&faults));
}

/* --- signals ------------------------------------------------------------ */

static atomic_bool hammers;

static void on_signal(int number)
{
	(void)number;
}

static void hammer_threads(void)
{
	DIR           *tasks = opendir("/proc/self/task");
	struct dirent *e;

	must(tasks, "/proc/self/task");
	while ((e = readdir(tasks)))
		if (e->d_name[0] != '.')
			syscall(SYS_tgkill, getpid(), atoi(e->d_name), SIGUSR1);
	closedir(tasks);
}

static void *hammer(void *unused)
{
	(void)unused;
	while (atomic_load(&hammers)) {
		hammer_threads();
		usleep(100);
	}
	return NULL;
}

static void receive_in_vain(void *unused)
{
	int  fds[2];
	char byte;

	(void)unused;
	open_sockets(fds);
	EXPECT(sennit_recv(fds[0], &byte, 1, 0, in_ms(20)) == -ETIMEDOUT);
	must(write(fds[1], "x", 1) == 1, "write");
	EXPECT(sennit_recv(fds[0], &byte, 1, 0, SENNIT_NEVER) == 1);
	close(fds[0]);
	close(fds[1]);
}

TEST_WITH_WORKERS(signals_interrupt_no_call)
{
	struct sigaction a = { .sa_handler = on_signal };
	pthread_t        t;

	sigaction(SIGUSR1, &a, NULL);
	atomic_store(&hammers, true);
	t = must_start_thread(hammer, NULL);
	carry_numbers();
	in_a_thread(receive_in_vain, NULL);
	atomic_store(&hammers, false);
	pthread_join(t, NULL);
}

/* --- no memory ---------------------------------------------------------- */

static atomic_bool scarce;

static void *allocate(void *context, size_t size, size_t alignment)
{
	void *p;

	(void)context;
	if (atomic_load(&scarce))
		return NULL;
	return posix_memalign(&p,
			      alignment < sizeof(void *) ? sizeof(void *)
							 : alignment,
			      size)
		       ? NULL
		       : p;
}

static void release(void *context, void *memory, size_t size)
{
	(void)context;
	(void)size;
	free(memory);
}

TEST_ALONE(without_memory_a_first_call_fails_and_later_not)
{
	const sennit_allocator a = { .allocate = allocate, .release = release };
	const sennit_config    c = { .size = sizeof(c),
				     .workers = SENNIT_WORKERS_NONE,
				     .allocator = &a };
	sennit_scheduler      *s = start_with(&c);
	int                    fds[2];
	char                   byte;

	begin_pipe(fds);
	assert_int_equal(sennit_thread_bind(s), 0);
	atomic_store(&scarce, true);
	assert_int_equal(sennit_read(fds[0], &byte, 1, in_ms(1)), -ENOMEM);
	atomic_store(&scarce, false);
	assert_int_equal(sennit_read(fds[0], &byte, 1, in_ms(1)), -ETIMEDOUT);
	sennit_thread_unbind();
	end_scheduler(s);
	close(fds[0]);
	close(fds[1]);
}

#if !defined(SN_ASAN) && !defined(SN_TSAN) /* see core/test/api/fork.c */

/* --- refused for good --------------------------------------------------- */

/* io_uring_enter() fails from now on, in all threads. */
static void refuse_to_enter(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_enter, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
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

static void read_late(void *argument)
{
	struct pair *p = argument;
	char         byte;

	EXPECT(sennit_read(p->fds[0], &byte, 1, SENNIT_NEVER) == 1);
	atomic_fetch_add(&p->over, 1);
}

static void filter_late(bool in_flight)
{
	sennit_scheduler *s;
	struct pair       p[2];

	signal(SIGABRT, SIG_DFL);
	if (sennit_scheduler_create(&s, SENNIT_CONFIG(.workers = 2)) ||
	    sennit_thread_bind(s))
		_exit(3);
	for (int i = 0; i < 2; i++) {
		begin_pipe(p[i].fds);
		atomic_init(&p[i].over, 0);
	}
	must_schedule(read_late, &p[0]);
	EXPECT_SOON(io_waits(s) == 1);
	if (!in_flight) {
		must(write(p[0].fds[1], "x", 1) == 1, "write");
		EXPECT_SOON(atomic_load(&p[0].over));
	}
	refuse_to_enter();
	must_schedule(read_late, &p[1]);
	must(write(p[1].fds[1], "x", 1) == 1, "write");
	if (in_flight)
		must(write(p[0].fds[1], "x", 1) == 1, "write");
	EXPECT_SOON(atomic_load(&p[0].over) && atomic_load(&p[1].over));
	_exit(atomic_load(&broken_claims) ? 99 : 0);
}

/* Requests that the kernel already has cannot be cancelled. If there are none,
 * the ring is refused as well. */
TEST_ALONE(a_late_filter_ends_the_process_with_one_line)
{
	const bool by_ring = !strcmp(wanted_backend, "uring");

	for (int i = 0; i < 2; i++) {
		char  text[1024];
		int   words;
		pid_t child = begin_heard_child(&words);
		int   status;

		if (!child)
			filter_late(i);
		status = await_words(child, words, text, sizeof(text));
		skip_if_told(status, "no filters here");
		if (!by_ring) {
			assert_true(WIFEXITED(status) && !WEXITSTATUS(status));
			continue;
		}
		assert_true(WIFSIGNALED(status));
		assert_int_equal(WTERMSIG(status), SIGABRT);
		assert_non_null(strstr(text, "io_uring fails"));
		assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
	}
}

#endif

USES_BACKEND;

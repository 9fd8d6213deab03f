/* SPDX-License-Identifier: Apache-2.0 */
/* os_memory.c - the os room: guards, and system calls that older kernels and
 * stricter sandboxes refuse. */
#include "os/os.h"
#include "testing/child.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

/* --- guards ------------------------------------------------------------- */

/* Whether the kernel cannot read the address. */
static bool is_unreadable(const void *address)
{
	int  fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	int  pipes[2];
	bool refused;

	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
	refused = write(pipes[1], address, 1) < 0 && errno == EFAULT;
	close(pipes[0]);
	close(pipes[1]);
	return refused;
}

/* Guard every second page of a mapping, and check that exactly those are
 * guarded. */
static bool guards_work(enum os_guard kind)
{
	enum { PAGES = 150 };
	size_t page = os_page_size();
	char  *memory = os_map(PAGES * page);
	bool   right = true;

	if (!memory || os_guard(kind, memory, 2 * page, PAGES / 2, page))
		return false;
	for (size_t i = 0; i < PAGES; i++)
		right &= is_unreadable(memory + i * page) == (i % 2 == 0);
	os_unmap(memory, PAGES * page);
	return right;
}

/* --- older kernels, stricter sandboxes ---------------------------------- */

/* Make the system call fail with ENOSYS in this process. Returns false if the
 * system has no such filters. */
static bool deny(uint32_t call)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(*code), code };

	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	       !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* Run the claim in a process whose system call is denied. */
static void expect_without(uint32_t call, bool (*claim)(void))
{
	const pid_t child = begin_child();
	int         status;

	if (!child)
		_exit(!deny(call) ? SKIPPED : !claim());
	status = await_child(child);
	skip_if_told(status, "no filters of system calls here");
	assert_int_equal(status, 0);
}

/* Must run as the first test, before this process has queried the system. */
static bool guards_split_mappings(void)
{
	return os_guard_kind() == OS_GUARD_MAPPING;
}

TEST(denied_advice_means_guards_by_mapping)
{
	expect_without(SYS_madvise, guards_split_mappings);
}

static bool there_is_no_barrier(void)
{
	return !os_process_barrier_init();
}

TEST(denied_barrier_is_told)
{
	expect_without(SYS_membarrier, there_is_no_barrier);
}

static bool cheap_guards_work(void)
{
	return guards_work(OS_GUARD_CHEAP);
}

TEST(cheap_guards_do_not_need_batches)
{
	if (os_guard_kind() != OS_GUARD_CHEAP) {
		print_message("no cheap guards here\n");
		skip();
	}
	expect_without(SYS_process_madvise, cheap_guards_work);
}

static bool there_is_a_cpu(void)
{
	uint32_t cpu = 7;

	return os_cpu_list(&cpu, 1) == 1 && cpu == 0;
}

TEST(unknown_affinity_is_the_first_cpu)
{
	expect_without(SYS_sched_getaffinity, there_is_a_cpu);
}

/* --- each kind of guard --------------------------------------------------- */

TEST(guards_of_every_kind_guard)
{
	assert_true(guards_work(OS_GUARD_MAPPING));
	if (os_guard_kind() == OS_GUARD_CHEAP)
		assert_true(guards_work(OS_GUARD_CHEAP));
	else
		print_message("no cheap guards here\n");
}

/* Populate every second page, and check that the system has found memory for
 * these and for no other. */
static bool populates(void)
{
	enum { PAGES = 150 };
	size_t        page = os_page_size();
	char         *memory = os_map(PAGES * page);
	unsigned char there[PAGES];
	bool          right = true;

	assert_non_null(memory);
	os_populate(memory, 2 * page, PAGES / 2, page);
	assert_int_equal(mincore(memory, PAGES * page, there), 0);
	for (size_t i = 0; i < PAGES; i++)
		right &= (there[i] & 1) == (i % 2 == 0);
	os_unmap(memory, PAGES * page);
	return right;
}

/* Where the system takes that advice for many ranges, as it does for guards. */
TEST(populated_pages_are_there)
{
	if (os_guard_kind() != OS_GUARD_CHEAP) {
		print_message("no advice for many ranges here\n");
		skip();
	}
	assert_true(populates());
}

static bool populates_nothing(void)
{
	return !populates();
}

/* A hint only. */
TEST(denied_population_changes_nothing)
{
	expect_without(SYS_process_madvise, populates_nothing);
}

TEST(guard_of_unmapped_memory_is_an_error)
{
	const bool cheap = os_guard_kind() == OS_GUARD_CHEAP;
	size_t     page = os_page_size();
	char      *memory = os_map(5 * page);

	assert_non_null(memory);
	os_unmap(memory + 2 * page, page);
	if (!mprotect(memory + 2 * page, page, PROT_NONE)) {
		print_message("what is not mapped can be protected: qemu\n");
		skip();
	}
	assert_true(os_guard(OS_GUARD_MAPPING, memory, 2 * page, 3, page) < 0);
	assert_true(!cheap ||
		    os_guard(OS_GUARD_CHEAP, memory, 2 * page, 3, page) < 0);
	os_unmap(memory, 2 * page);
	os_unmap(memory + 3 * page, 2 * page);
}

/* --- a map call that fails half-way -------------------------------------- */

#ifdef SYS_mmap2 /* what libc calls on 32 bits */
#define MAP_CALL SYS_mmap2
#else
#define MAP_CALL SYS_mmap
#endif

/* Trap the system calls that map at a fixed address, instead of executing
 * them. */
static bool trap_maps_in_place(void (*instead)(int, siginfo_t *, void *))
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MAP_CALL, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, args[3])),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, MAP_FIXED, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(*code), code };
	struct sigaction  act = { .sa_sigaction = instead,
				  .sa_flags = SA_SIGINFO };

	return !sigaction(SIGSYS, &act, NULL) &&
	       !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	       !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* Set the return value of a trapped system call. */
static void set_result(ucontext_t *context, long result)
{
#if defined(__x86_64__)
	context->uc_mcontext.gregs[REG_RAX] = result;
#elif defined(__i386__)
	context->uc_mcontext.gregs[REG_EAX] = result;
#elif defined(__aarch64__)
	context->uc_mcontext.regs[0] = (unsigned long)result;
#else
	_exit(SKIPPED); /* unknown processor */
#endif
}

static struct {
	char        *memory;
	size_t       size;
	bool         makes_hole;
	volatile int refusals; /* refusals still to come */
} trapped;

/* Either refuse the call after the old pages have been unmapped, or execute the
 * mapping by another system call, because the same call would be trapped
 * again. */
static void refuse_map(int number, siginfo_t *info, void *context)
{
	if (trapped.makes_hole)
		munmap(trapped.memory, trapped.size);
	if (trapped.refusals && trapped.refusals--)
		set_result(context, -ENOMEM);
	else
		set_result(context, (long)mmap(trapped.memory, trapped.size,
					       PROT_READ | PROT_WRITE,
					       MAP_PRIVATE | MAP_ANONYMOUS |
						       MAP_FIXED_NOREPLACE,
					       -1, 0));
}

/* Map a range of ones again. `refusals` is the number of refused calls;
 * makes_hole says whether each leaves a hole. Returns 0: mapped again; 1:
 * unchanged; 2: neither. */
static int outcome_of_map_anew(int refusals, bool makes_hole)
{
	bool anew;

	trapped.size = 8 * os_page_size();
	trapped.memory = os_map(trapped.size);
	trapped.refusals = refusals;
	trapped.makes_hole = makes_hole;
	memset(trapped.memory, 1, trapped.size);
	if (!trap_maps_in_place(refuse_map))
		return SKIPPED;
	anew = os_map_anew(trapped.memory, trapped.size);
	for (size_t i = 0; i < trapped.size; i += os_page_size())
		if (is_unreadable(trapped.memory + i) ||
		    trapped.memory[i] != !anew)
			return 2;
	return !anew;
}

static int status_of_map_anew(int refusals, bool makes_hole)
{
	const pid_t child = begin_child();
	int         status;

	if (!child) {
		signal(SIGABRT, SIG_DFL);
		_exit(outcome_of_map_anew(refusals, makes_hole));
	}
	status = await_child(child);
	skip_if_told(status, "no filters of system calls here");
	return status;
}

TEST(a_refused_map_leaves_all_as_before)
{
	assert_int_equal(WEXITSTATUS(status_of_map_anew(1, false)), 1);
}

/* Symptom: the slab handed out stacks at addresses that were no longer
 * mapped. */
TEST(a_hole_left_by_a_refused_map_is_filled)
{
	const int status = status_of_map_anew(1, true);

	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

TEST(a_hole_that_cannot_be_filled_is_named)
{
	const int status = status_of_map_anew(2, true);

	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGABRT);
}

TEST(impossible_map_is_refused)
{
	assert_null(os_map(SIZE_MAX / 16 * 15));
}

TEST(mapping_limit_is_plausible)
{
	assert_true(os_mapping_limit() >= 1000);
}

/* --- the barrier -------------------------------------------------------- */

TEST(barrier_can_be_prepared_twice)
{
	if (!os_process_barrier_init()) {
		print_message("no membarrier here\n");
		skip();
	}
	assert_true(os_process_barrier_init());
	os_process_barrier();
}

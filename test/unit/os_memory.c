/* SPDX-License-Identifier: Apache-2.0 */
/* os_memory.c - the operating system's room: guards, and what older kernels
 * and stricter sandboxes refuse. */
#include "os/os.h"
#include "../child.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* --- guards ------------------------------------------------------------- */

/* Does the kernel refuse to read there? */
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

/* Guard every second page of a mapping; are those, and only those, guarded? */
static bool guards_work(enum os_guard kind)
{
	enum { PAGES = 150 };
	size_t page = os_page_size();
	char  *memory = os_map(PAGES * page);
	void  *low[PAGES / 2];
	bool   right = true;

	for (int i = 0; i < PAGES / 2; i++)
		low[i] = memory + page * (size_t)(2 * i);
	if (!memory || os_guard_pages(kind, low, PAGES / 2))
		return false;
	for (size_t i = 0; i < PAGES; i++)
		right &= is_unreadable(memory + i * page) == (i % 2 == 0);
	os_unmap(memory, PAGES * page);
	return right;
}

static void guards_of_every_kind_guard(void **state)
{
	(void)state;
	assert_true(guards_work(OS_GUARD_MAPPING));
	if (os_guard_kind() == OS_GUARD_CHEAP)
		assert_true(guards_work(OS_GUARD_CHEAP));
	else
		print_message("no cheap guards here\n");
}

static void guard_of_unmapped_memory_is_an_error(void **state)
{
	size_t page = os_page_size();
	char  *memory = os_map(3 * page);
	void  *low[] = { memory, memory + page, memory + 2 * page };

	(void)state;
	assert_non_null(memory);
	os_unmap(low[1], page);
	assert_true(os_guard_pages(OS_GUARD_MAPPING, low, 3) < 0);
	if (os_guard_kind() == OS_GUARD_CHEAP)
		assert_true(os_guard_pages(OS_GUARD_CHEAP, low, 3) < 0);
	os_unmap(low[0], page);
	os_unmap(low[2], page);
}

static void impossible_map_is_refused(void **state)
{
	(void)state;
	assert_null(os_map(SIZE_MAX / 2));
}

static void mapping_limit_is_plausible(void **state)
{
	(void)state;
	assert_true(os_mapping_limit() >= 1000);
}

/* --- the barrier -------------------------------------------------------- */

static void barrier_can_be_prepared_twice(void **state)
{
	(void)state;
	if (!os_process_barrier_init()) {
		print_message("no membarrier here\n");
		skip();
	}
	assert_true(os_process_barrier_init());
	os_process_barrier();
}

/* --- older kernels, stricter sandboxes ---------------------------------- */

/* From now on this process gets ENOSYS for the system call; false when the
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

/* Run the claim in a process that is denied the system call. */
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

static bool there_is_no_barrier(void)
{
	return !os_process_barrier_init();
}

static void denied_barrier_is_told(void **state)
{
	(void)state;
	expect_without(SYS_membarrier, there_is_no_barrier);
}

static bool cheap_guards_work(void)
{
	return guards_work(OS_GUARD_CHEAP);
}

static void cheap_guards_do_not_need_batches(void **state)
{
	(void)state;
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

static void unknown_affinity_is_the_first_cpu(void **state)
{
	(void)state;
	expect_without(SYS_sched_getaffinity, there_is_a_cpu);
}

/* First of all tests, before this process has asked for itself. */
static bool guards_split_mappings(void)
{
	return os_guard_kind() == OS_GUARD_MAPPING;
}

static void denied_advice_means_guards_by_mapping(void **state)
{
	(void)state;
	expect_without(SYS_madvise, guards_split_mappings);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(denied_advice_means_guards_by_mapping),
		cmocka_unit_test(guards_of_every_kind_guard),
		cmocka_unit_test(guard_of_unmapped_memory_is_an_error),
		cmocka_unit_test(impossible_map_is_refused),
		cmocka_unit_test(mapping_limit_is_plausible),
		cmocka_unit_test(barrier_can_be_prepared_twice),
		cmocka_unit_test(denied_barrier_is_told),
		cmocka_unit_test(cheap_guards_do_not_need_batches),
		cmocka_unit_test(unknown_affinity_is_the_first_cpu),
	};

	return cmocka_run_group_tests_name("os_memory", tests, NULL, NULL);
}

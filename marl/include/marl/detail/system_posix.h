/* SPDX-License-Identifier: Apache-2.0 */
/* system_posix.h - see system.h. */
#ifndef marl_detail_system_posix_h
#define marl_detail_system_posix_h

#include "../debug.h"

#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>

/* An object of this program or shared library alone: see export.h. */
#define MARL_OWN MARL_NO_EXPORT

namespace marl
{
namespace detail
{

/* Whether a thread's variables live until their destructors have run. */
constexpr bool THREAD_LOCALS_LAST = true;

inline size_t systemPageSize()
{
	return static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

/* NULL if there is no memory. */
inline void *takeAligned(size_t alignment, size_t size)
{
	void *memory = nullptr;

	return posix_memalign(&memory, alignment, size) ? nullptr : memory;
}

inline void giveAligned(void *memory)
{
	std::free(memory);
}

/* Whole pages between two pages that fault. NULL if there is no memory. */
inline void *takeGuarded(size_t size, size_t page)
{
	void *all = mmap(nullptr, size + 2 * page, PROT_NONE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (all == MAP_FAILED)
		return nullptr;
	char *memory = static_cast<char *>(all) + page;
	if (mprotect(memory, size, PROT_READ | PROT_WRITE)) {
		munmap(all, size + 2 * page);
		return nullptr;
	}
	return memory;
}

inline void giveGuarded(void *memory, size_t size, size_t page)
{
	munmap(static_cast<char *>(memory) - page, size + 2 * page);
}

/* The system's set of CPUs, which may have more than CPU_SETSIZE members. */
class CpuSet
{
public:
	explicit CpuSet(size_t cpus) : size_(CPU_ALLOC_SIZE(cpus))
	{
		set_ = CPU_ALLOC(cpus);
		require(set_ != nullptr, "out of memory");
		CPU_ZERO_S(size_, set_);
	}
	~CpuSet()
	{
		CPU_FREE(set_);
	}
	CpuSet(const CpuSet &) = delete;
	CpuSet &operator=(const CpuSet &) = delete;

	void add(size_t cpu)
	{
		CPU_SET_S(cpu, size_, set_);
	}
	bool has(size_t cpu) const
	{
		return CPU_ISSET_S(cpu, size_, set_);
	}
	bool read()
	{
		return !sched_getaffinity(0, size_, set_);
	}
	void apply() const
	{
		/* The system refuses it if no CPU of the set exists. The
		 * affinity then stays unchanged. */
		(void)pthread_setaffinity_np(pthread_self(), size_, set_);
	}

private:
	size_t     size_;
	cpu_set_t *set_;
};

} // namespace detail
} // namespace marl

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* system_windows.h - see system.h. It declares the system's functions itself,
 * because windows.h defines macros with names that programs use. */
#ifndef marl_detail_system_windows_h
#define marl_detail_system_windows_h

#include <malloc.h>

#include <cstddef>

extern "C" {
__declspec(dllimport) void *VirtualAlloc(void *, size_t, unsigned long,
					 unsigned long);
__declspec(dllimport) int VirtualFree(void *, size_t, unsigned long);
__declspec(dllimport) void *GetCurrentProcess(void);
__declspec(dllimport) void *GetCurrentThread(void);
__declspec(dllimport) int GetProcessAffinityMask(void *, unsigned long long *,
						 unsigned long long *);
__declspec(dllimport) unsigned long long SetThreadAffinityMask(
	void *, unsigned long long);
}

/* An object of this program or shared library alone: see export.h. A DLL shares
 * none. */
#define MARL_OWN

namespace marl
{
namespace detail
{

/* Whether a thread's variables live until their destructors have run. gcc
 * emulates such variables there, and frees them first. */
constexpr bool THREAD_LOCALS_LAST = false;

inline size_t systemPageSize()
{
	return 4096; /* of x86-64 */
}

/* NULL if there is no memory. */
inline void *takeAligned(size_t alignment, size_t size)
{
	return _aligned_malloc(size, alignment);
}

inline void giveAligned(void *memory)
{
	_aligned_free(memory);
}

/* Whole pages between two pages that fault. NULL if there is no memory. */
inline void *takeGuarded(size_t size, size_t page)
{
	const unsigned long commit = 0x1000, reserve = 0x2000, release = 0x8000;
	const unsigned long no_access = 1, read_write = 4;
	void *all = VirtualAlloc(nullptr, size + 2 * page, reserve, no_access);

	if (!all)
		return nullptr;
	void *memory = VirtualAlloc(static_cast<char *>(all) + page, size,
				    commit, read_write);
	if (!memory)
		VirtualFree(all, 0, release);
	return memory;
}

inline void giveGuarded(void *memory, size_t, size_t page)
{
	const unsigned long release = 0x8000;

	VirtualFree(static_cast<char *>(memory) - page, 0, release);
}

/* CPUs of the process's group, which has at most 64. */
class CpuSet
{
public:
	explicit CpuSet(size_t)
	{
	}
	void add(size_t cpu)
	{
		if (cpu < 64)
			mask_ |= 1ull << cpu;
	}
	bool has(size_t cpu) const
	{
		return cpu < 64 && ((mask_ >> cpu) & 1);
	}
	bool read()
	{
		unsigned long long all = 0;

		return GetProcessAffinityMask(GetCurrentProcess(), &mask_,
					      &all) != 0;
	}
	void apply() const
	{
		/* The system refuses it unless all CPUs of the set exist. The
		 * affinity then stays unchanged. */
		(void)SetThreadAffinityMask(GetCurrentThread(), mask_);
	}

private:
	unsigned long long mask_ = 0;
};

} // namespace detail
} // namespace marl

#endif

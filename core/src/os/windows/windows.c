/* SPDX-License-Identifier: Apache-2.0 */
/* windows.c - os.h on Windows: thread names, names of functions, the process
 * barrier. */
#include "base/memory.h"
#include "base/text.h"
#include "os/os.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

/* Of Windows 10; not in the headers of mingw-w64 10. */
HRESULT WINAPI SetThreadDescription(HANDLE thread, PCWSTR name);

/* --- what the C library lacks -------------------------------------------- */

int pause(void)
{
	Sleep(INFINITE);
	return 0;
}

/* --- threads ------------------------------------------------------------ */

/* As long as on Linux. */
void os_thread_name(const char *name, uint32_t index)
{
	char  text[16];
	WCHAR wide[16];

	os_thread_text(text, sizeof(text), name, index);
	pthread_setname_np(pthread_self(), text); /* for pthread_getname_np() */
	if (MultiByteToWideChar(CP_UTF8, 0, text, -1, wide, 16))
		SetThreadDescription(GetCurrentThread(), wide);
}

uint32_t os_thread_count(bool (*counts)(const char *name))
{
	(void)counts;
	return 0;
}

/* A process has the rights of the user that started it. */
const char *os_environment(const char *name)
{
	return getenv(name);
}

/* There is no libsennit-diag. */
void os_load_beside(const char *file)
{
	(void)file;
}

bool os_is_loaded(void)
{
	return false;
}

/* A program exports no names. */
void os_function_around(uintptr_t address, char *text, size_t size)
{
	(void)address;
	(void)size;
	text[0] = '\0';
}

bool os_is_beside(uintptr_t address, uintptr_t other)
{
	(void)address;
	(void)other;
	return false;
}

size_t os_backtrace(void **frames, size_t size)
{
	(void)frames;
	(void)size;
	return 0;
}

int os_death_watch(const struct sennit_debug_death *d)
{
	(void)d;
	return -ENOTSUP;
}

uintptr_t os_fault_code(void)
{
	return 0;
}

/* Windows has no signals that another thread or process could send. */
void os_thread_block_signals(void)
{
}

/* A program exports no names, so file+offset is all that there is without its
 * debug information. */
int os_create_file(const char *name)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

	return fd < 0 ? -errno : fd;
}

void os_function_name(uintptr_t address, char *text, size_t size)
{
	const DWORD how = GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS |
			  GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT;
	HMODULE     module;
	char        path[MAX_PATH];
	char        shown[96];
	const char *file;

	if (!GetModuleHandleExA(how, (LPCSTR)address, &module) ||
	    !GetModuleFileNameA(module, path, sizeof(path))) {
		snprintf(text, size, "%#" PRIxPTR, address);
		return;
	}
	path[sizeof(path) - 1] = '\0';
	file = strrchr(path, '\\');
	sn_escape(shown, sizeof(shown), file ? file + 1 : path);
	snprintf(text, size, "%s+%#" PRIxPTR, shown,
		 address - (uintptr_t)module);
}

struct own_thread {
	uint32_t id;  /* 0: not asked for */
	void    *low; /* of its own stack */
};

static _Thread_local struct own_thread own;

/* A worker asks before it leaves its own stack. The thread's block describes
 * that stack then, and later the one of a fiber. */
uint32_t os_thread_id(void)
{
	ULONG_PTR low, end;

	if (!own.id) {
		GetCurrentThreadStackLimits(&low, &end);
		own.low = (void *)low;
		own.id = GetCurrentThreadId();
	}
	return own.id;
}

/* Windows does not fork. */
void os_thread_forked(void)
{
}

bool os_thread_has_stack(uintptr_t address)
{
	MEMORY_BASIC_INFORMATION at;

	return own.low && VirtualQuery((void *)address, &at, sizeof(at)) &&
	       at.AllocationBase == own.low;
}

bool os_thread_is_below_stack(uintptr_t address, size_t *size)
{
	(void)address;
	*size = 0;
	return false;
}

/* Every stack of a thread grows on demand here. */
void *os_thread_far_end(size_t size)
{
	(void)size;
	return NULL;
}

/* --- barrier on other threads ------------------------------------------- */

/* FlushProcessWriteBuffers of wine does nothing and reports no error. So with
 * wine the fast paths have fences of their own. */
bool os_process_barrier_init(void)
{
	HMODULE system = GetModuleHandleA("ntdll.dll");

	return system && !GetProcAddress(system, "wine_get_version");
}

void os_process_barrier(void)
{
	FlushProcessWriteBuffers();
}

/* --- windows memory libc -------------------------------------------------- */

/* memory_libc.c - the allocator of the C library of Windows, whose free() does
 * not release aligned memory. */

static void *libc_allocate(void *context, size_t size, size_t alignment)
{
	(void)context;
	return _aligned_malloc(size, alignment);
}

static void libc_release(void *context, void *memory, size_t size)
{
	(void)context;
	(void)size;
	_aligned_free(memory);
}

const sennit_allocator sn_memory_libc = { libc_allocate, libc_release, NULL };

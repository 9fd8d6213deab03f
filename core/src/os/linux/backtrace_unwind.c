/* SPDX-License-Identifier: Apache-2.0 */
/* backtrace_unwind.c - os.h on Linux: backtraces where libc has no
 * <execinfo.h>, as musl has none. The compiler's runtime library walks the
 * frames (Itanium C++ ABI, level 1: _Unwind_Backtrace). */
#include "base/text.h"
#include "os/os.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <link.h>
#include <stdio.h>
#include <unwind.h>

struct walk {
	int fd;     /* -1: nothing is written */
	int frames; /* that may follow */
};

/* "file(function+0x12) [0x5581]", as <execinfo.h> writes it. A program that is
 * linked statically has no names: dladdr() of musl then knows nothing. */
static void write_frame(int fd, uintptr_t address)
{
	Dl_info at;
	char    file[128], name[128] = "";

	if (!dladdr((void *)address, &at) || !at.dli_fname) {
		os_print(fd, "[%#" PRIxPTR "]\n", address);
		return;
	}
	sn_escape(file, sizeof(file), at.dli_fname);
	if (at.dli_sname)
		sn_escape(name, sizeof(name), at.dli_sname);
	os_print(fd, "%s(%s+%#" PRIxPTR ") [%#" PRIxPTR "]\n", file, name,
		 address - (uintptr_t)(at.dli_sname ? at.dli_saddr
						    : at.dli_fbase),
		 address);
}

static _Unwind_Reason_Code write_walked_frame(struct _Unwind_Context *frame,
					      void                   *argument)
{
	struct walk *walk = argument;
	uintptr_t    address = _Unwind_GetIP(frame);

	if (!address || walk->frames-- == 0)
		return _URC_END_OF_STACK;
	if (walk->fd >= 0)
		write_frame(walk->fd, address);
	return _URC_NO_REASON;
}

/* Called for each object. Whether it contains this code and has a table for
 * unwinding. */
static int has_table(struct dl_phdr_info *object, size_t size, void *unused)
{
	const uintptr_t here = (uintptr_t)has_table;
	bool            is_mine = false, has = false;

	(void)size;
	(void)unused;
	for (int i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &object->dlpi_phdr[i];

		is_mine |= segment->p_type == PT_LOAD &&
			   here - object->dlpi_addr - segment->p_vaddr <
				   segment->p_memsz;
		has |= segment->p_type == PT_GNU_EH_FRAME;
	}
	return is_mine && has;
}

static bool can_unwind; /* fixed after os_backtrace_prepare */

/* Without the table the walk would abort the program: it looks up its own
 * frame. Debian's musl-gcc makes the table only with -Wl,--eh-frame-hdr. The
 * first walk may allocate memory, which a signal handler must not do. */
void os_backtrace_prepare(void)
{
	struct walk one = { .fd = -1, .frames = 1 };

	can_unwind = dl_iterate_phdr(has_table, NULL);
	if (can_unwind)
		_Unwind_Backtrace(write_walked_frame, &one);
}

void os_write_backtrace(int fd)
{
	struct walk all = { .fd = fd, .frames = 64 };

	if (can_unwind)
		_Unwind_Backtrace(write_walked_frame, &all);
	else
		os_print(fd, "sennit: no backtrace: link the program with "
			     "-Wl,--eh-frame-hdr\n");
}

struct list {
	void **frames;
	size_t count, size;
};

static _Unwind_Reason_Code list_frame(struct _Unwind_Context *frame,
				      void                   *argument)
{
	struct list *l = argument;

	if (l->count == l->size || !_Unwind_GetIP(frame))
		return _URC_END_OF_STACK;
	l->frames[l->count++] = (void *)_Unwind_GetIP(frame);
	return _URC_NO_REASON;
}

size_t os_backtrace(void **frames, size_t size)
{
	struct list l = { .frames = frames, .size = size };

	if (can_unwind)
		_Unwind_Backtrace(list_frame, &l);
	return l.count;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind.h"

#include "base/own_fd.h"
#include "base/own_file.h"
#include "base/text.h"
#include "last_words.h"
#include "loaded_files.h"
#include "sennit/symbol.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/membarrier.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* /proc/self/mem, for systems where process_vm_readv is refused or an emulator
 * does not implement it. The file shows the process that opened it, so a child
 * of fork() cannot use it. Set by sn_own_memory_is_readable. */
static struct own_file mem_file = { .fd = -1 };
static pid_t           owner; /* this process */

static ssize_t copy_by_call(void *to, uintptr_t from, size_t size)
{
	struct iovec local = { .iov_base = to, .iov_len = size };
	struct iovec remote = { .iov_base = (void *)from, .iov_len = size };

	return process_vm_readv(owner, &local, 1, &remote, 1, 0);
}

/* Copy as many parts as one call can. The call ends at the first part that is
 * not readable to its end; its size becomes the number of bytes read. Returns
 * the number of parts that are done. */
static size_t copy_some(struct memory_part *parts, size_t count)
{
	struct iovec local[PARTS_MAX] = { { NULL, 0 } };
	struct iovec remote[PARTS_MAX] = { { NULL, 0 } };
	ssize_t      n;
	size_t       i;

	for (i = 0; i < count; i++) {
		local[i] = (struct iovec){ parts[i].to, parts[i].size };
		remote[i] = (struct iovec){ (void *)parts[i].from,
					    parts[i].size };
	}
	n = process_vm_readv(owner, local, count, remote, count, 0);
	if (n < 0)
		n = 0;
	for (i = 0; i < count && (size_t)n >= parts[i].size; i++)
		n -= (ssize_t)parts[i].size;
	if (i < count)
		parts[i++].size = (size_t)n;
	return i;
}

void sn_own_memory_copy_parts(struct memory_part *parts, size_t count)
{
	const int error = errno;

	if (mem_file.fd < 0)
		for (size_t i = 0; i < count;)
			i += copy_some(parts + i, count - i);
	else
		for (size_t i = 0; i < count; i++)
			parts[i].size = sn_own_memory_copy(
				parts[i].to, parts[i].from, parts[i].size);
	errno = error;
}

size_t sn_own_memory_copy(void *to, uintptr_t from, size_t size)
{
	const int error = errno;
	ssize_t   n;

	n = mem_file.fd < 0 ? copy_by_call(to, from, size)
			    : pread(mem_file.fd, to, size, (off_t)from);
	errno = error;
	return n > 0 ? (size_t)n : 0;
}

bool sn_own_memory_is_readable(void)
{
	static const char there = 1;
	char              copy = 0;

	/* Nothing is written where nothing changes: a sample that was late may
	 * read both. */
	if (mem_file.fd >= 0 &&
	    (owner != getpid() || !sn_own_file_is_there(&mem_file)))
		sn_own_file_close(&mem_file);
	if (owner != getpid())
		owner = getpid();
	if (mem_file.fd < 0 && copy_by_call(&copy, (uintptr_t)&there, 1) != 1)
		mem_file = sn_own_file(sn_own_fd(
			open("/proc/self/mem", O_RDONLY | O_CLOEXEC)));
	return sn_own_memory_read(&copy, (uintptr_t)&there, 1) && copy;
}

/* libsennit has registered the process where the kernel has the command.
 * Registering again is harmless. */
void sn_own_memory_barrier(void)
{
	if (!syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0))
		return;
	syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0,
		0);
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0))
		syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
}

/* --- symbols -------------------------------------------------------------- */

#define FUNCTION_NAME 256 /* bytes of a function's name; longer names are cut */
#define KNOWN         2048u

/* Find a name on the dump thread, without the loader's lock. */
static void find_last(struct symbol *s)
{
	uintptr_t   offset;
	const char *name = sn_last_words_name(s->address, &offset);

	s->is_function = name;
	if (!name)
		name = sn_loaded_files_name(s->address, &offset);
	if (!name)
		return;
	s->begin = s->address - offset;
	sn_escape(s->name, sizeof(s->name), name);
}

/* Ask the loader first, because that is cheapest. Files contain the names of
 * all functions unless they were stripped. */
static void find_symbol(struct symbol *s, uintptr_t address)
{
	char        name[FUNCTION_NAME];
	uintptr_t   offset;
	Dl_info     at;
	const char *file;
	bool        known;

	*s = (struct symbol){ .address = address };
	if (sn_last_words_are_spoken()) {
		find_last(s);
		return;
	}
	known = dladdr((const void *)address, &at) && at.dli_fname;
	if (known && at.dli_sname) {
		s->is_function = true;
		s->begin = (uintptr_t)at.dli_saddr;
		sn_escape(s->name, sizeof(s->name), at.dli_sname);
	} else if (known && sn_program_image_name(address, name, sizeof(name),
						  &offset)) {
		s->is_function = true;
		s->begin = address - offset;
		sn_escape(s->name, sizeof(s->name), name);
	} else if (known) {
		file = strrchr(at.dli_fname, '/');
		s->begin = (uintptr_t)at.dli_fbase;
		sn_escape(s->name, sizeof(s->name),
			  file ? file + 1 : at.dli_fname);
	}
}

static void find_line(struct symbol *s)
{
	char file[sizeof(s->file)];

	s->line = sn_program_image_line(s->address, file, sizeof(file));
	if (s->line)
		sn_escape(s->file, sizeof(s->file), file);
}

size_t sn_symbol_write(const struct symbol *s, char *text, size_t size)
{
	const uintptr_t offset = s->address - s->begin;
	int             n;

	if (s->is_function && !offset)
		n = snprintf(text, size, "%s", s->name);
	else if (s->name[0])
		n = snprintf(text, size, "%s+%#" PRIxPTR, s->name, offset);
	else
		n = snprintf(text, size, "%#" PRIxPTR, s->address);
	return (size_t)n < size ? (size_t)n : size - 1;
}

static struct symbol *symbol_slot(struct symbols *s, uintptr_t address)
{
	if (!s->known) {
		void *p = mmap(NULL, KNOWN * sizeof(*s->known),
			       PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (p == MAP_FAILED)
			return &s->last;
		s->known = p;
	}
	return &s->known[(address * UINT64_C(0x9e3779b97f4a7c15) >> 32) %
			 KNOWN];
}

const struct symbol *sn_symbols_find(struct symbols *s, uintptr_t address)
{
	struct symbol *slot = symbol_slot(s, address);

	if (slot->address == address && address)
		return slot;
	find_symbol(slot, address);
	if (s->has_lines)
		find_line(slot);
	return slot;
}

void sn_symbols_free(struct symbols *s)
{
	if (s->known)
		munmap(s->known, KNOWN * sizeof(*s->known));
}

size_t sennit_symbol_print(const void *address, char *text, size_t size)
{
	struct symbol s;

	find_symbol(&s, (uintptr_t)address);
	return sn_symbol_write(&s, text, size);
}

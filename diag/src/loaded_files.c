/* SPDX-License-Identifier: Apache-2.0 */
#include "loaded_files.h"

#include "base/atomic.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILES 256u

/* A file of the program, its load address, and its symbols. Fixed once it is
 * counted. */
struct loaded_file {
	uintptr_t bias, low, high;
	char      path[256];
	const ElfW(Sym) * symbols; /* in the mapped file */
	size_t      count;
	const char *strings;
	size_t      strings_size;
	struct stat file;    /* when it was mapped; zeroes: it was not */
	uint64_t    unloads; /* of any library, when it was added */
};

static pthread_mutex_t    files_lock = PTHREAD_MUTEX_INITIALIZER;
static struct loaded_file loaded_files[FILES];
static a_u32              loaded_files_count; /* under the lock; any: read */
static char               missing[320];       /* under the lock */
static uint64_t           changes; /* under the lock: loads and unloads that
				    * were seen; 0: none yet */

/* --- symbol tables -------------------------------------------------------- */

static bool lies_in(size_t offset, size_t size, size_t whole)
{
	return offset <= whole && size <= whole - offset;
}

/* Use the symbols of that section, if the file contains all of it. */
static void use_symbols(struct loaded_file *f, const char *bytes, size_t size,
			const ElfW(Shdr) * sections, size_t i, size_t count)
{
	const ElfW(Shdr) *s = &sections[i];
	const ElfW(Shdr) * strings;

	if (s->sh_link >= count)
		return;
	strings = &sections[s->sh_link];
	if (!lies_in(s->sh_offset, s->sh_size, size) || !strings->sh_size ||
	    s->sh_offset % _Alignof(ElfW(Sym)) ||
	    !lies_in(strings->sh_offset, strings->sh_size, size) ||
	    bytes[strings->sh_offset + strings->sh_size - 1])
		return;
	f->symbols = (const void *)(bytes + s->sh_offset);
	f->count = s->sh_size / sizeof(ElfW(Sym));
	f->strings = bytes + strings->sh_offset;
	f->strings_size = strings->sh_size;
}

static bool is_elf(const char *bytes, size_t size)
{
	const ElfW(Ehdr) *e = (const void *)bytes;

	return size >= sizeof(*e) && !memcmp(e->e_ident, ELFMAG, SELFMAG) &&
	       e->e_shentsize == sizeof(ElfW(Shdr)) &&
	       e->e_shoff % _Alignof(ElfW(Shdr)) == 0 &&
	       lies_in(e->e_shoff, e->e_shnum * sizeof(ElfW(Shdr)), size);
}

/* Use the table of all symbols, or else the dynamic symbols. */
static void read_symbols(struct loaded_file *f, const char *bytes, size_t size)
{
	const ElfW(Ehdr) *e = (const void *)bytes;
	const ElfW(Shdr) * sections;

	sections = (const void *)(bytes + e->e_shoff);
	for (size_t i = 0; i < e->e_shnum && !f->symbols; i++)
		if (sections[i].sh_type == SHT_SYMTAB)
			use_symbols(f, bytes, size, sections, i, e->e_shnum);
	for (size_t i = 0; i < e->e_shnum && !f->symbols; i++)
		if (sections[i].sh_type == SHT_DYNSYM)
			use_symbols(f, bytes, size, sections, i, e->e_shnum);
}

/* --- files ---------------------------------------------------------------- */

/* Report whether the file is what was loaded, not a later build in its place:
 * they have the same notes, the build id among them. */
static bool is_same_build(const struct dl_phdr_info *info, const char *bytes,
			  size_t size)
{
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type == PT_NOTE &&
		    (!lies_in(p->p_offset, p->p_filesz, size) ||
		     memcmp(bytes + p->p_offset,
			    (const void *)(info->dlpi_addr + p->p_vaddr),
			    p->p_filesz) != 0))
			return false;
	}
	return true;
}

/* Map the file. The mapping stays. It is read-only, because a tracer increments
 * the semaphores of probes in a writable mapping. Returns why it is not used,
 * or NULL. */
static const char *map_file(struct loaded_file        *f,
			    const struct dl_phdr_info *info, const char *path)
{
	struct stat s = { .st_size = 0 };
	const char *bytes = MAP_FAILED;
	const int   fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t      size;

	if (fd < 0)
		return strerror(errno);
	if (!fstat(fd, &s) && s.st_size > 0)
		bytes = mmap(NULL, (size_t)s.st_size, PROT_READ, MAP_PRIVATE,
			     fd, 0);
	close(fd);
	size = (size_t)s.st_size;
	if (bytes == MAP_FAILED)
		return "the file cannot be mapped";
	if (is_elf(bytes, size) && is_same_build(info, bytes, size)) {
		f->file = s;
		read_symbols(f, bytes, size);
		return NULL;
	}
	munmap((void *)(uintptr_t)bytes, size);
	return "its file was replaced, perhaps by another build";
}

/* Lock held. */
static uint32_t count_of_files(void)
{
	return a_load_rlx(&loaded_files_count);
}

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void set_loaded_range(struct loaded_file        *f,
			     const struct dl_phdr_info *info)
{
	f->bias = info->dlpi_addr;
	f->low = UINTPTR_MAX;
	f->high = 0;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		const uintptr_t begin = f->bias + p->p_vaddr;

		if (p->p_type != PT_LOAD)
			continue;
		if (begin < f->low)
			f->low = begin;
		if (begin + p->p_memsz > f->high)
			f->high = begin + p->p_memsz;
	}
}

/* The name of the loaded file; that of the program is empty. */
static void name_loaded_file(struct loaded_file        *f,
			     const struct dl_phdr_info *info)
{
	ssize_t n;

	if (info->dlpi_name[0]) {
		snprintf(f->path, sizeof(f->path), "%s", info->dlpi_name);
		return;
	}
	n = readlink("/proc/self/exe", f->path, sizeof(f->path) - 1);
	if (n > 0)
		f->path[n] = '\0';
	else
		strcpy(f->path, "program");
}

/* Return the entry with this name at this place, if it is the newest there. */
static const struct loaded_file *known_file(const struct loaded_file *new)
{
	for (uint32_t i = count_of_files(); i > 0; i--) {
		const struct loaded_file *f = &loaded_files[i - 1];

		if (f->bias == new->bias && f->low == new->low)
			return !strcmp(f->path, new->path) ? f : NULL;
	}
	return NULL;
}

/* Report whether a library may have been unloaded and loaded again from another
 * file at the same path, as a program does that loads its new build. */
static bool may_be_replaced(const struct loaded_file  *f,
			    const struct dl_phdr_info *info)
{
	struct stat now;

	return info->dlpi_subs != f->unloads && strchr(f->path, '/') &&
	       !stat(f->path, &now) &&
	       (now.st_dev != f->file.st_dev || now.st_ino != f->file.st_ino ||
		now.st_size != f->file.st_size ||
		now.st_mtim.tv_sec != f->file.st_mtim.tv_sec ||
		now.st_mtim.tv_nsec != f->file.st_mtim.tv_nsec);
}

static int add_file(struct dl_phdr_info *info, size_t size, void *now)
{
	const uint32_t            count = count_of_files();
	struct loaded_file       *f = &loaded_files[count];
	const bool                is_program = !info->dlpi_name[0];
	const struct loaded_file *known;
	const char               *why = NULL;

	(void)size;
	*(uint64_t *)now = info->dlpi_adds + info->dlpi_subs;
	if (count == FILES || *(uint64_t *)now == changes)
		return 1;
	memset(f, 0, sizeof(*f));
	set_loaded_range(f, info);
	name_loaded_file(f, info);
	f->unloads = info->dlpi_subs;
	known = known_file(f);
	if (known && (is_program || !may_be_replaced(known, info)))
		return 0;
	/* The kernel's own (linux-vdso) has no file. */
	if (is_program || strchr(f->path, '/'))
		why = map_file(f, info,
			       is_program ? "/proc/self/exe" : f->path);
	if (why && known) /* it is still what was loaded before */
		return 0;
	if (why && !missing[0])
		snprintf(missing, sizeof(missing), "%s: %s", base_of(f->path),
			 why);
	/* -> loaded_files.count: the entry */
	a_store_rel(&loaded_files_count, count + 1);
	return 0;
}

uint64_t sn_loaded_files_update(void)
{
	uint64_t now = 0;

	pthread_mutex_lock(&files_lock);
	dl_iterate_phdr(add_file, &now);
	changes = now;
	pthread_mutex_unlock(&files_lock);
	return now;
}

void sn_loaded_files_missing(char *text, size_t size)
{
	pthread_mutex_lock(&files_lock);
	snprintf(text, size, "%s", missing);
	pthread_mutex_unlock(&files_lock);
}

/* --- addresses ------------------------------------------------------------ */

/* The newest comes first: another may have been unloaded from there. */
static const struct loaded_file *loaded_file_of(uintptr_t address)
{
	/* <- loaded_files.count: the entries */
	for (uint32_t i = a_load_acq(&loaded_files_count); i > 0; i--) {
		const struct loaded_file *f = &loaded_files[i - 1];

		if (address >= f->low && address < f->high)
			return f;
	}
	return NULL;
}

static bool covers(const ElfW(Sym) * s, uintptr_t at)
{
	return (s->st_info & 15) == STT_FUNC && s->st_shndx != SHN_UNDEF &&
	       at - s->st_value < (s->st_size ? s->st_size : 1);
}

const char *sn_loaded_files_function(uintptr_t address, uintptr_t *offset)
{
	const struct loaded_file *f = loaded_file_of(address);
	const uintptr_t           at = f ? address - f->bias : 0;

	for (size_t i = 0; f && i < f->count; i++) {
		const ElfW(Sym) *s = &f->symbols[i];

		if (!covers(s, at) || s->st_name >= f->strings_size)
			continue;
		*offset = at - s->st_value;
		return f->strings + s->st_name;
	}
	return NULL;
}

const char *sn_loaded_files_name(uintptr_t address, uintptr_t *offset)
{
	const struct loaded_file *f = loaded_file_of(address);

	if (!f)
		return NULL;
	*offset = address - f->bias;
	return base_of(f->path);
}

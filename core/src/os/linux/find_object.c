/* SPDX-License-Identifier: Apache-2.0 */
/* find_object.c - the call of libc by which the compiler's runtime library
 * finds unwind tables, for a compiler that was built for glibc and a libc that
 * has no such call: Debian's musl-gcc. Only such a build has this file.
 *
 * The interface is that of the GNU C Library manual, "Dynamic Linker
 * Introspection". */
#include <link.h>
#include <stddef.h>
#include <stdint.h>

/* As <dlfcn.h> of glibc 2.35 has it on processors without base addresses in
 * unwind tables, all but 32-bit x86. */
struct found_object {
	unsigned long long flags; /* none are defined */
	void              *start; /* of the object's memory */
	void              *end;
	struct link_map   *map;
	void              *eh_frame; /* its PT_GNU_EH_FRAME segment */
	unsigned long long reserved[7];
};

struct query {
	uintptr_t            address;
	struct found_object *found;
};

/* Weak: a libc or a program that has the call itself takes precedence. Visible,
 * because the runtime library is linked to the program, after libsennit. */
__attribute__((weak, visibility("default"))) int _dl_find_object(
	void *address, struct found_object *found);

/* Called for each object. Returns whether it contains the address. */
static int find_in_object(struct dl_phdr_info *object, size_t size,
			  void *argument)
{
	const struct query  *query = argument;
	struct found_object *found = query->found;
	int                  is_inside = 0;

	(void)size;
	found->eh_frame = NULL;
	for (int i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
		uintptr_t low = object->dlpi_addr + segment->p_vaddr;

		if (segment->p_type == PT_GNU_EH_FRAME)
			found->eh_frame = (void *)low;
		if (segment->p_type != PT_LOAD ||
		    query->address - low >= segment->p_memsz)
			continue;
		found->start = (void *)low;
		found->end = (void *)(low + segment->p_memsz);
		is_inside = 1;
	}
	return is_inside;
}

int _dl_find_object(void *address, struct found_object *found)
{
	struct query query = { (uintptr_t)address, found };

	found->flags = 0;
	found->map = NULL;
	return dl_iterate_phdr(find_in_object, &query) && found->eh_frame ? 0
									  : -1;
}

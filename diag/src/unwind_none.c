/* SPDX-License-Identifier: Apache-2.0 */
/* unwind_none.c - the same without libdw: frames have no names and lines. */
#include "unwind.h"

#include "last_words.h"

uint32_t sn_program_image_walk(const struct call_frame        *f,
			       const struct call_frame_memory *m,
			       const void **frames, uint32_t room, bool *whole)
{
	if (sn_last_words_are_spoken())
		return sn_last_words_walk(f, m, frames, room, whole);
	*whole = false;
	frames[0] = (const void *)f->pc;
	return 1;
}

bool sn_program_image_name(uintptr_t address, char *name, size_t size,
			   uintptr_t *offset)
{
	(void)address;
	(void)name;
	(void)size;
	(void)offset;
	return false;
}

uint32_t sn_program_image_line(uintptr_t address, char *file, size_t size)
{
	(void)address;
	(void)file;
	(void)size;
	return 0;
}

void sn_program_image_open(char *why, size_t size)
{
	(void)size;
	if (why)
		why[0] = '\0';
}

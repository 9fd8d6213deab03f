/* SPDX-License-Identifier: Apache-2.0 */
/* unwind.h - callers of a frame: registers, the program's images, and copies of
 * memory that may be gone. */
#ifndef SN_UNWIND_H
#define SN_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define CALL_FRAME_REGISTERS 33

/* Registers have the numbers of DWARF. */
struct call_frame {
	uintptr_t pc;
	uint64_t  known; /* mask: registers that have values */
	uint64_t  registers[CALL_FRAME_REGISTERS];
	unsigned  sp; /* fixed: the number of the stack pointer */
};

/* Memory from `low` on, as it was when it was copied. */
struct call_frame_memory {
	const char *copy;
	uintptr_t   low;
	size_t      size;
};

/* Read 8 bytes at the address. Returns false if they were not copied. */
static inline bool sn_call_frame_load(const struct call_frame_memory *m,
				      uint64_t address, uint64_t *value)
{
	const uint64_t at = address - m->low;

	if (address < m->low || m->size < sizeof(*value) ||
	    at > m->size - sizeof(*value))
		return false;
	memcpy(value, m->copy + at, sizeof(*value));
	return true;
}

/* --- program image -------------------------------------------------------- */

/* What the files of the program and of its libraries say about its code: the
 * callers of a frame, and the names of functions.
 *
 * libdw reads them (unwind_libdw.c). A build without libdw knows neither
 * (unwind_none.c).
 */

/* Write the addresses of the frame and of its callers to `frames`, innermost
 * first, `room` at most. The registers and the copied memory are the only
 * input besides the files: the stack that was copied may have changed since.
 * *whole becomes whether the outermost frame was reached. Returns how many; at
 * least one, as room must not be 0. */
uint32_t sn_program_image_walk(const struct call_frame        *f,
			       const struct call_frame_memory *m,
			       const void **frames, uint32_t room, bool *whole);

/* Write the name of the function around the address to `name`, and the
 * address's offset in it. Returns false if it is not known. */
bool sn_program_image_name(uintptr_t address, char *name, size_t size,
			   uintptr_t *offset);

/* Write the file that the code at the address comes from. Returns the line in
 * it; 0: not known. */
uint32_t sn_program_image_line(uintptr_t address, char *file, size_t size);

/* Open the files now, if they are not open; the other functions do so only for
 * files that were loaded since. `why`, if it is not NULL, becomes why names are
 * missing, as far as files could not be opened; "": none. */
void sn_program_image_open(char *why, size_t size);

/* --- symbols -------------------------------------------------------------- */

/* What an address in the program's code is called. */
struct symbol {
	uintptr_t address;
	uintptr_t begin; /* of the function, or of the file in memory */
	bool      is_function;
	uint32_t  line;      /* 0: not known */
	char      name[256]; /* of the function, or its file; escaped, and cut.
			      * "": not known */
	char      file[192]; /* of the line; likewise */
};

/* Write as sennit_symbol_print does. */
size_t sn_symbol_write(const struct symbol *s, char *text, size_t size);

/* The symbols of the addresses that were asked for before. */
struct symbols {
	bool has_lines;       /* set by the caller: whether they are found */
	struct symbol *known; /* NULL at first, and if there is no memory */
	struct symbol  last;  /* the only one then */
};

/* The result is valid until the next call. */
const struct symbol *sn_symbols_find(struct symbols *s, uintptr_t address);

void sn_symbols_free(struct symbols *s);

/* --- own memory ----------------------------------------------------------- */

/* Reads memory of this process that may be unmapped, or written by other
 * threads, at any moment.
 *
 * The kernel copies. So an address that is not mapped is an error, not a fault,
 * and sanitizers see no access: what was read is checked afterwards.
 */

/* Copy at most `size` bytes from `from`. Returns the number of bytes copied,
 * less than `size` where memory ends; 0: nothing could be read.
 * Async-signal-safe. */
size_t sn_own_memory_copy(void *to, uintptr_t from, size_t size);

/* Some memory, and where it is copied to. */
struct memory_part {
	void     *to;
	uintptr_t from;
	size_t    size; /* afterwards: the number of bytes copied */
};

/* Copy all parts, each as sn_own_memory_copy does, with few system calls.
 * PARTS_MAX at most. */
#define PARTS_MAX 16u
void sn_own_memory_copy_parts(struct memory_part *parts, size_t count);

/* Copy all `size` bytes. Returns false if that is not possible. */
static inline bool sn_own_memory_read(void *to, uintptr_t from, size_t size)
{
	return sn_own_memory_copy(to, from, size) == size;
}

/* Whether this process may read its memory in this way. Chooses how: to be
 * called before the other functions, by one thread at a time. */
bool sn_own_memory_is_readable(void);

/* What other threads stored before something that an earlier read has seen is
 * seen by later reads. */
void sn_own_memory_barrier(void);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* unwind.h - finds the callers of a frame, and copies memory that may be
 * unmapped. */
#ifndef SN_UNWIND_H
#define SN_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define CALL_FRAME_REGISTERS 33

/* Registers have DWARF numbers. */
struct call_frame {
	uintptr_t pc;
	uint64_t  known; /* mask: registers whose values are known */
	uintptr_t registers[CALL_FRAME_REGISTERS];
	unsigned  sp; /* fixed: number of the stack pointer */
};

/* A copy of the memory from the address `low` on. */
struct call_frame_memory {
	const char *copy;
	uintptr_t   low;
	size_t      size;
};

/* Read the word at the address. Returns false if the copy does not contain
 * it. */
static inline bool sn_call_frame_load(const struct call_frame_memory *m,
				      uintptr_t address, uintptr_t *value)
{
	const uintptr_t at = address - m->low;

	if (address < m->low || m->size < sizeof(*value) ||
	    at > m->size - sizeof(*value))
		return false;
	memcpy(value, m->copy + at, sizeof(*value));
	return true;
}

/* --- program image -------------------------------------------------------- */

/* What the files of the program and its libraries contain about code: unwind
 * tables and names of functions.
 *
 * libdw reads them (unwind_libdw.c). In a build without libdw lines are not
 * known, and on most processors nothing is (unwind_tables.c).
 */

/* Write the addresses of the frame and of its callers to `frames`, innermost
 * first, at most `room` of them; room must not be 0. The function uses only the
 * registers, the copied memory and the files, because the stack itself may have
 * changed since it was copied. Set *whole to whether the outermost frame was
 * reached. Returns the number of addresses, at least one. */
uint32_t sn_program_image_walk(const struct call_frame        *f,
			       const struct call_frame_memory *m,
			       const void **frames, uint32_t room, bool *whole);

/* Write the name of the function that contains the address to `name`, and set
 * *offset to the address's offset in it. Returns false if it is not known. */
bool sn_program_image_name(uintptr_t address, char *name, size_t size,
			   uintptr_t *offset);

/* Write the source file of the code at the address to `file`. Returns the line
 * in it; 0: not known. */
uint32_t sn_program_image_line(uintptr_t address, char *file, size_t size);

/* Open the files now, unless they are open. The other functions then open only
 * files that were loaded since. If `why` is not NULL, write why names are
 * missing to it because files could not be opened; "": none are missing. */
void sn_program_image_open(char *why, size_t size);

/* --- symbols -------------------------------------------------------------- */

/* The name of an address in the program's code. */
struct symbol {
	uintptr_t address;
	uintptr_t begin; /* start of the function, or of the file in memory */
	bool      is_function;
	uint32_t  line;      /* 0: not known */
	char      name[256]; /* of the function, or of its file; escaped and
			      * cut. "": not known */
	char      file[192]; /* the source file; likewise */
};

/* Write the symbol like sennit_symbol_print. */
size_t sn_symbol_write(const struct symbol *s, char *text, size_t size);

/* A cache of symbols. */
struct symbols {
	bool           has_lines; /* set by the caller: whether to find lines */
	struct symbol *known;     /* NULL at first, and if there is no memory */
	struct symbol  last;      /* the only one in that case */
};

/* Return the symbol of the address. It is valid until the next call. */
const struct symbol *sn_symbols_find(struct symbols *s, uintptr_t address);

void sn_symbols_free(struct symbols *s);

/* --- own memory ----------------------------------------------------------- */

/* Reads memory of this process that other threads may unmap or write at any
 * time.
 *
 * The kernel copies the memory. So an unmapped address is an error, not a
 * fault, and sanitizers see no access. The caller validates what was read.
 */

/* Copy at most `size` bytes from `from`. Returns the number of bytes copied:
 * less than `size` where readable memory ends, 0 if nothing could be read.
 * Async-signal-safe. */
size_t sn_own_memory_copy(void *to, uintptr_t from, size_t size);

/* A range of memory and the buffer for its copy. */
struct memory_part {
	void     *to;
	uintptr_t from;
	size_t    size; /* after the call: the number of bytes copied */
};

/* Copy all parts, at most PARTS_MAX, each like sn_own_memory_copy, with few
 * system calls. */
#define PARTS_MAX 16u
void sn_own_memory_copy_parts(struct memory_part *parts, size_t count);

/* Copy exactly `size` bytes. Returns false if that is not possible. */
static inline bool sn_own_memory_read(void *to, uintptr_t from, size_t size)
{
	return sn_own_memory_copy(to, from, size) == size;
}

/* Report whether this process may read its memory in this way, and choose the
 * system call. Must be called before the other functions, by one thread at a
 * time. */
bool sn_own_memory_is_readable(void);

/* Order reads: if an earlier read saw a store of another thread, later reads
 * see everything that the thread stored before it. */
void sn_own_memory_barrier(void);

#endif

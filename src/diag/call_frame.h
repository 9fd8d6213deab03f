/* SPDX-License-Identifier: Apache-2.0 */
/* call_frame.h - the registers of a frame, and a copy of the stack above it. */
#ifndef SN_CALL_FRAME_H
#define SN_CALL_FRAME_H

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

#endif

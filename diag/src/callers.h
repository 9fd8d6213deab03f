/* SPDX-License-Identifier: Apache-2.0 */
/* callers.h - finds the callers of a frame in a signal handler.
 *
 * The walk reads the unwind tables of the program's files where the loader has
 * mapped them, so code needs no frame pointers (.eh_frame: DWARF 5, section
 * 6.4; the Linux Standard Base, "Exception Frames"). For code without a table
 * the walk follows the frame pointer, if that leads to code. It allocates
 * nothing, takes no lock and calls no function that does. It reads only the
 * part of the stack that the caller passes.
 *
 * unwind.h also walks, from any thread and with all registers, but libdw
 * allocates memory and takes locks.
 */
#ifndef SN_CALLERS_H
#define SN_CALLERS_H

#include "unwind.h"

/* How to leave the frames of the most recent addresses. Each walker has its own
 * cache: see sn_callers_walk. */
#define CALLERS_REMEMBERED 512u

struct caller_step {
	uintptr_t pc;           /* 0: none */
	int32_t   cfa_at;       /* offset from the register cfa_from */
	int32_t   fp_at, ra_at; /* from the CFA */
	uint8_t   cfa_from;
	uint8_t   fp, ra; /* how they are found */
	bool      is_signal;
	bool      is_signed; /* the return address is signed, on 64-bit ARM */
};

struct callers {
	struct caller_step steps[CALLERS_REMEMBERED];
};

/* Return DWARF's number of the stack pointer; 0: this code does not read the
 * tables of the processor. machine: EM_* of elf.h. */
unsigned sn_callers_stack_pointer(uint32_t machine);

/* Set *f to a frame at `pc` of which only the stack pointer and the frame
 * pointer are known. sennit_debug_interrupted must describe the processor. */
void sn_callers_begin(struct call_frame *f, uintptr_t pc, uintptr_t sp,
		      uintptr_t fp);

/* Write the address of the frame and those of its callers to `frames`,
 * innermost first, at most `room` of them; room must not be 0. Set *whole to
 * whether the outermost frame was reached. *f becomes undefined. The caller
 * zeroes *c before the first use, and nothing else may use it during the call,
 * not even a signal handler. Async-signal-safe. Returns the number of
 * addresses, at least one. */
uint32_t sn_callers_walk(struct callers *c, struct call_frame *f,
			 const struct call_frame_memory *m, uintptr_t *frames,
			 uint32_t room, bool *whole);

#endif

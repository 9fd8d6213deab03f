/* SPDX-License-Identifier: Apache-2.0 */
/* callers.h - the callers of a frame, found in a signal handler.
 *
 * The walk reads the unwind tables of the program's files where the loader has
 * mapped them, so code needs no frame pointers (.eh_frame: DWARF 5, section
 * 6.4; the Linux Standard Base, "Exception Frames"). Code without a table is
 * left by its frame pointer, if what that leads to is code. It allocates
 * nothing, takes no lock and calls no function that does; of the stack it reads
 * only the memory that it is given.
 *
 * unwind.h walks as well, from any thread and with all registers, but libdw
 * allocates and locks.
 */
#ifndef SN_CALLERS_H
#define SN_CALLERS_H

#include "diag/unwind.h"

/* How a frame is left, for the addresses that were met most recently. Each
 * walker has its own: see sn_callers_walk. */
#define CALLERS_REMEMBERED 512u

struct caller_step {
	uintptr_t pc;           /* 0: none */
	int32_t   cfa_at;       /* from that register */
	int32_t   fp_at, ra_at; /* from the CFA */
	uint8_t   cfa_from;
	uint8_t   fp, ra; /* how they are found */
	bool      is_signal;
	bool      is_signed; /* the return address, on 64-bit ARM */
};

struct callers {
	struct caller_step steps[CALLERS_REMEMBERED];
};

/* Set *f to a frame at `pc`, of which only its stack pointer and its frame
 * pointer are known. The processor must be one that
 * sennit_debug_interrupted describes. */
void sn_callers_begin(struct call_frame *f, uintptr_t pc, uintptr_t sp,
		      uintptr_t fp);

/* Write the address of the frame and those of its callers to `frames`,
 * innermost first, `room` at most. *whole becomes whether the outermost frame
 * was reached. *f becomes undefined. `c` begins as zeros; nobody else may use
 * it meanwhile, not even a handler that interrupts the call. Async-signal-safe.
 * Returns how many; at least one, as room must not be 0. */
uint32_t sn_callers_walk(struct callers *c, struct call_frame *f,
			 const struct call_frame_memory *m, uintptr_t *frames,
			 uint32_t room, bool *whole);

#endif

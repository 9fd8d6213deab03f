/* SPDX-License-Identifier: Apache-2.0 */
/* program_image.h - what the files of the program and of its libraries say
 * about its code: the callers of a frame, and the names of functions.
 *
 * libdw reads them (program_image_libdw.c). A build without libdw knows neither
 * (program_image_none.c).
 */
#ifndef SN_PROGRAM_IMAGE_H
#define SN_PROGRAM_IMAGE_H

#include "diag/call_frame.h"

/* Write the addresses of the frame and of its callers to `frames`, innermost
 * first, `room` at most. The registers and the copied memory are the only
 * input besides the files: the stack that was copied may have changed since.
 * Returns how many; at least one, as room must not be 0. */
uint32_t sn_program_image_walk(const struct call_frame        *f,
			       const struct call_frame_memory *m,
			       const void **frames, uint32_t room);

/* Write the name of the function around the address to `name`, and the
 * address's offset in it. Returns false if it is not known. */
bool sn_program_image_name(uintptr_t address, char *name, size_t size,
			   uintptr_t *offset);

#endif

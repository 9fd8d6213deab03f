/* SPDX-License-Identifier: Apache-2.0 */
/* last_words.h - parts of a dump that work while the process crashes. No lock
 * may be taken and no memory allocated then, because the thread that has
 * crashed may hold a lock of malloc() or of the loader.
 *
 * A thread that waits for a crash writes the dump. It walks, names and prints
 * as any thread does, but its memory is a mapping that was made before,
 * callers.h walks instead of libdw, and names come from symbol tables that were
 * mapped before. All other threads work as usual.
 */
#ifndef SN_LAST_WORDS_H
#define SN_LAST_WORDS_H

#include "unwind.h"
#include "sennit/base.h"

/* Report whether the calling thread is the one that writes the dump. */
bool sn_last_words_are_spoken(void);

/* Like sennit_dump_fatal, but into a file that the library has opened. Nothing
 * is written once the program has closed the file. */
SENNIT_MUST_USE int sn_last_words_into(int fd, uint32_t limit_ms);

/* Allocate or resize memory for visits; new memory is zero. On the dump thread
 * it comes from the mapping made before, and is never reused. On others it is a
 * mapping of its own, because malloc's memory may be damaged. Returns NULL if
 * there is no memory. */
void *sn_last_words_resize(void *memory, size_t size);
void  sn_last_words_free(void *memory);

/* Like sn_program_image_walk, for the dump thread. */
uint32_t sn_last_words_walk(const struct call_frame        *f,
			    const struct call_frame_memory *m,
			    const void **frames, uint32_t room, bool *whole);

/* Return the name of the function that contains the address, and set *offset to
 * the address's offset in it. NULL: not known. For the dump thread. */
const char *sn_last_words_name(uintptr_t address, uintptr_t *offset);

#endif

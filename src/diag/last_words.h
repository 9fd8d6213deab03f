/* SPDX-License-Identifier: Apache-2.0 */
/* last_words.h - what a dump needs while the process ends, when no lock may be
 * taken and nothing may be allocated: whoever holds a lock of malloc() or of
 * the loader may be the thread that has crashed.
 *
 * A thread that waits for the end of the process speaks then. It walks, names
 * and prints as any thread does, but its memory is a mapping that was made
 * before, callers.h walks in place of libdw, and names come from symbol tables
 * that were mapped before. On all other threads nothing changes.
 */
#ifndef SN_LAST_WORDS_H
#define SN_LAST_WORDS_H

#include "diag/unwind.h"

/* Whether the calling thread speaks. */
bool sn_last_words_are_spoken(void);

/* Memory for visits, zeros: without a speaker a mapping, as malloc's memory may
 * be damaged. That of a speaker is used up. NULL: there is no more. */
void *sn_last_words_resize(void *memory, size_t size);
void  sn_last_words_free(void *memory);

/* As sn_program_image_walk. For a speaker. */
uint32_t sn_last_words_walk(const struct call_frame        *f,
			    const struct call_frame_memory *m,
			    const void **frames, uint32_t room, bool *whole);

/* The name of the function around the address, and the address's offset in it.
 * NULL: not known. For a speaker. */
const char *sn_last_words_name(uintptr_t address, uintptr_t *offset);

/* The file that the address lies in, and its offset from where that is loaded.
 * NULL: none. For a speaker. */
const char *sn_last_words_file(uintptr_t address, uintptr_t *offset);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* loaded_files.h - the files of the program that are in memory, and the
 * functions that their symbol tables name: .symtab, or .dynsym where the file
 * is stripped.
 *
 * A file is mapped once and stays. Readers take no lock and allocate nothing,
 * so a thread that writes a dump while the process crashes may read; it faults
 * where a file was truncated.
 */
#ifndef SN_LOADED_FILES_H
#define SN_LOADED_FILES_H

#include <stddef.h>
#include <stdint.h>

/* Map the files that were loaded since the last call. Takes locks, the loader's
 * too. Returns how often files were loaded or unloaded: if that is what an
 * earlier call returned, nothing has changed since. */
uint64_t sn_loaded_files_update(void);

/* Write why names are missing to `text`: a file could not be opened, or is of
 * another build than what is in memory. "": none are missing. */
void sn_loaded_files_missing(char *text, size_t size);

/* Return the name of the function that contains the address, and set *offset to
 * the address's offset in it. NULL: not known. The name is valid for ever. */
const char *sn_loaded_files_function(uintptr_t address, uintptr_t *offset);

/* Return the name of the file that contains the address, without its folder,
 * and set *offset to the offset from its load address. NULL: none. */
const char *sn_loaded_files_name(uintptr_t address, uintptr_t *offset);

#endif

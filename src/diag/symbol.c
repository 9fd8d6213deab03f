/* SPDX-License-Identifier: Apache-2.0 */
#include "sennit/symbol.h"

#include "base/escape.h"
#include "diag/program_image.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NAME 256 /* bytes of a function's name; longer ones are cut */

/* Appends `+offset`. Returns the length of the text. */
static size_t add_offset(char *text, size_t used, size_t size, uintptr_t offset)
{
	int n = snprintf(text + used, size - used, "+%#" PRIxPTR, offset);

	return used + (size_t)n < size ? used + (size_t)n : size - 1;
}

/* `name`, and the offset unless it is 0. */
static size_t print_name(char *text, size_t size, const char *name,
			 uintptr_t offset)
{
	size_t used = sn_escape(text, size, name);

	return offset ? add_offset(text, used, size, offset) : used;
}

/* Names that the loader knows cost least; files know those of all functions
 * that were not stripped. */
size_t sennit_symbol_print(const void *address, char *text, size_t size)
{
	const uintptr_t where = (uintptr_t)address;
	char            name[NAME];
	uintptr_t       offset;
	Dl_info         at;
	const char     *file;
	bool            known = dladdr(address, &at) && at.dli_fname;
	int             n;

	if (known && at.dli_sname)
		return print_name(text, size, at.dli_sname,
				  where - (uintptr_t)at.dli_saddr);
	if (known && sn_program_image_name(where, name, sizeof(name), &offset))
		return print_name(text, size, name, offset);
	if (known) {
		file = strrchr(at.dli_fname, '/');
		return add_offset(
			text,
			sn_escape(text, size, file ? file + 1 : at.dli_fname),
			size, where - (uintptr_t)at.dli_fbase);
	}
	n = snprintf(text, size, "%#" PRIxPTR, where);
	return (size_t)n < size ? (size_t)n : size - 1;
}

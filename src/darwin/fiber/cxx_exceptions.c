/* SPDX-License-Identifier: Apache-2.0 */
/* cxx_exceptions.c - takes the place of src/fiber/cxx_exceptions.c on macOS,
 * where a weak name that no library defines does not link. */
#include "fiber/cxx_exceptions.h"

#include <dlfcn.h>

struct cxx_globals *sn_cxx_globals(void)
{
	static struct cxx_globals none; /* never written */
	struct cxx_globals *(*get)(void);

	*(void **)&get = dlsym(RTLD_DEFAULT, "__cxa_get_globals");
	return get ? get() : &none;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "fiber/cxx_exceptions.h"

struct cxx_globals *sn_cxx_globals(void)
{
	static struct cxx_globals none; /* never written */

	return &none;
}

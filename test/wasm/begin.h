/* SPDX-License-Identifier: Apache-2.0 */
/* begin.h - what test/main.c does before a test of WebAssembly. */
#ifndef SN_TEST_BEGIN_H
#define SN_TEST_BEGIN_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "again.h"

/* but: the case that is left out; "": none. */
static void begin(const char *but, int argc, char **argv)
{
	note_arguments(argc, argv);
	if (*but)
		cmocka_set_skip_filter(but);
}

#endif

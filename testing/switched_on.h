/* SPDX-License-Identifier: Apache-2.0 */
/* switched_on.h - for a program of its own whose children have switches of
 * SENNIT_DEBUG on: it is skipped where the build has none.
 */
#ifndef SN_TEST_SWITCHED_ON_H
#define SN_TEST_SWITCHED_ON_H

#include "test.h"

#ifdef SENNIT_NO_DEBUG_SWITCH
SKIP_ALL("built without SENNIT_DEBUG_SWITCH");
#endif

/* What is switched on may still run when main() returns, and LeakSanitizer
 * would rely on pointers of threads that run. */
const char *__lsan_default_options(void);
const char *__lsan_default_options(void)
{
	return "detect_leaks=0";
}

#endif

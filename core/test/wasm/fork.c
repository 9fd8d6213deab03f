/* SPDX-License-Identifier: Apache-2.0 */
/* fork.c - in the place of fork(), which WebAssembly does not have: ends the
 * case. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <unistd.h>

pid_t __wrap_fork(void);

pid_t __wrap_fork(void)
{
	print_message("there is no fork()\n");
	skip();
	return -1;
}

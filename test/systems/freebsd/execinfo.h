/* SPDX-License-Identifier: Apache-2.0 */
/* execinfo.h - see tools/check-systems. */
#ifndef SN_TEST_EXECINFO_H
#define SN_TEST_EXECINFO_H

#include <stddef.h>

size_t backtrace(void **frames, size_t most);
int    backtrace_symbols_fd(void *const *frames, size_t count, int fd);

#endif

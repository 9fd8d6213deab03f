/* SPDX-License-Identifier: Apache-2.0 */
/* execinfo.h - see tools/check-systems. */
#ifndef SN_TEST_EXECINFO_H
#define SN_TEST_EXECINFO_H

int  backtrace(void **frames, int most);
void backtrace_symbols_fd(void *const *frames, int count, int fd);

#endif

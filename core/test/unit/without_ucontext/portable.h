/* SPDX-License-Identifier: Apache-2.0 */
/* portable.h - where libc has no ucontext, there is no portable switch. */
#ifndef SN_TEST_PORTABLE_H
#define SN_TEST_PORTABLE_H

static inline bool is_portable(const struct machine *m)
{
	(void)m;
	return false;
}

#define ON_PORTABLE(f, setup, teardown)

#endif

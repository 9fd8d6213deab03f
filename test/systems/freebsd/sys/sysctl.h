/* SPDX-License-Identifier: Apache-2.0 */
/* sysctl.h - see tools/check-systems. */
#ifndef SN_TEST_SYSCTL_H
#define SN_TEST_SYSCTL_H

#include <stddef.h>

int sysctlbyname(const char *name, void *old, size_t *old_size, const void *new,
		 size_t new_size);

#endif

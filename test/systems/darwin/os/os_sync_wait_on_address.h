/* SPDX-License-Identifier: Apache-2.0 */
/* os_sync_wait_on_address.h - see tools/check-systems. */
#ifndef SN_TEST_OS_SYNC_H
#define SN_TEST_OS_SYNC_H

#include <stddef.h>
#include <stdint.h>

typedef enum { OS_CLOCK_MACH_ABSOLUTE_TIME = 32 } os_clockid_t;

enum { OS_SYNC_WAIT_ON_ADDRESS_NONE, OS_SYNC_WAKE_BY_ADDRESS_NONE = 0 };

int os_sync_wait_on_address(void *address, uint64_t value, size_t size,
			    uint32_t flags);
int os_sync_wait_on_address_with_timeout(void *address, uint64_t value,
					 size_t size, uint32_t flags,
					 os_clockid_t clock,
					 uint64_t     nanoseconds);
int os_sync_wake_by_address_any(void *address, size_t size, uint32_t flags);
int os_sync_wake_by_address_all(void *address, size_t size, uint32_t flags);

#endif

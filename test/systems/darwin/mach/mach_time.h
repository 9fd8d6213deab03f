/* SPDX-License-Identifier: Apache-2.0 */
/* mach_time.h - see tools/check-systems. */
#ifndef SN_TEST_MACH_TIME_H
#define SN_TEST_MACH_TIME_H

#include <stdint.h>

typedef struct {
	uint32_t numer, denom;
} mach_timebase_info_data_t;

int      mach_timebase_info(mach_timebase_info_data_t *info);
uint64_t mach_absolute_time(void);

#endif

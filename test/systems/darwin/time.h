/* SPDX-License-Identifier: Apache-2.0 */
/* time.h - see tools/check-systems. */
#ifndef SN_TEST_TIME_H
#define SN_TEST_TIME_H

#include_next <time.h>

#include <stdint.h>

#define CLOCK_UPTIME_RAW_APPROX 9

uint64_t clock_gettime_nsec_np(clockid_t clock);

#endif

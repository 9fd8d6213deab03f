/* SPDX-License-Identifier: Apache-2.0 */
/* time.h - see tools/check-systems. */
#ifndef SN_TEST_TIME_H
#define SN_TEST_TIME_H

#include_next <time.h>

#define CLOCK_MONOTONIC_FAST 12

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* thread_status.h - see tools/check-systems. */
#ifndef SN_TEST_THREAD_STATUS_H
#define SN_TEST_THREAD_STATUS_H

#define arm_thread_state64_get_sp(state) ((uintptr_t)(state).__sp)

#endif

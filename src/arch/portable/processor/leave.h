/* SPDX-License-Identifier: Apache-2.0 */
/* leave.h - how much of a stack of that size a task leaves free that is called
 * on the stack of a waiting fiber. */
#ifndef SN_LEAVE_H
#define SN_LEAVE_H

#define ARCH_LEAVE(size) ((size) / 2)

#endif

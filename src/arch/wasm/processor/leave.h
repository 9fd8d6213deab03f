/* SPDX-License-Identifier: Apache-2.0 */
/* leave.h - as portable/processor/leave.h. A suspended stack keeps the frames
 * of the machine in what is free, and they need more room than those of C. */
#ifndef SN_LEAVE_H
#define SN_LEAVE_H

#define ARCH_LEAVE(size) ((size) / 8 * 7)

#endif

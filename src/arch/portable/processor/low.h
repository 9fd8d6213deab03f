/* SPDX-License-Identifier: Apache-2.0 */
/* low.h - no switch needs the low end of a stack. */
#ifndef SN_LOW_H
#define SN_LOW_H

#define arch_note_low(top, low) ((void)0)

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* bias.h - x86-64 keeps the order of stores and the order of loads. So the
 * plain stores of worker/bias.h need no fence but that of whoever revokes. */
#ifndef SN_ARCH_BIAS_H
#define SN_ARCH_BIAS_H

enum { ARCH_HAS_BIAS = 1 };

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* bias.h - nothing is biased: no model of this processor's memory shows that
 * worker/bias.h is sound on it. */
#ifndef SN_ARCH_BIAS_H
#define SN_ARCH_BIAS_H

enum { ARCH_HAS_BIAS = 0 };

#endif

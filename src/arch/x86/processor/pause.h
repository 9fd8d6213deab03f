/* SPDX-License-Identifier: Apache-2.0 */
/* pause.h - a hint that this is a spin loop. */
#ifndef SN_PAUSE_H
#define SN_PAUSE_H

#define PAUSE() __builtin_ia32_pause()

#endif

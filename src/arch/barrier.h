/* SPDX-License-Identifier: Apache-2.0 */
/* barrier.h - ARCH_BARRIER(), for a function through which no exception may
 * pass. It prints which task the exception left and stops the search for a
 * handler, so that std::terminate is called before any frame is unwound.
 *
 * The directive adds a personality routine (fiber/cxx_exceptions.c) to the
 * compiler's unwind information of the function. 0x1b is the encoding of its
 * address: 4 bytes, relative to their own position.
 */
#ifndef SN_BARRIER_H
#define SN_BARRIER_H

#include "base/compiler.h"
#include "processor/barrier.h"

#endif

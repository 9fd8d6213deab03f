/* SPDX-License-Identifier: Apache-2.0 */
/* interrupted.c - the registers that a signal handler gets, whatever switches
 * the contexts here. */
#include "processor/ucontext_interrupted.h"

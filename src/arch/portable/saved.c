/* SPDX-License-Identifier: Apache-2.0 */
/* saved.c - the registers in libc's ucontext, of the processors that the
 * debugger scripts know. */
#include "processor/ucontext_saved.h"

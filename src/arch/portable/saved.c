/* SPDX-License-Identifier: Apache-2.0 */
/* saved.c - the registers in libc's ucontext, of the processors that the
 * debugger scripts know. In brackets: quotes would find the header beside this
 * file, which knows none. */
#include <processor/ucontext_saved.h>

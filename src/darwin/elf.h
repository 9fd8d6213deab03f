/* SPDX-License-Identifier: Apache-2.0 */
/* elf.h - macOS has no such header: the names of processors that
 * arch/.../saved.c gives to debugger scripts. */
#ifndef SN_ELF_H
#define SN_ELF_H

#define EM_X86_64  62
#define EM_AARCH64 183

#endif

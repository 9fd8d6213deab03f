/* SPDX-License-Identifier: Apache-2.0 */
/* interrupt.h - Ctrl-C sets a flag that all tasks check between steps. */
#ifndef TREESUM_INTERRUPT_H
#define TREESUM_INTERRUPT_H

#include <stdbool.h>

/* The exit status that a shell reports for a program that SIGINT ended. */
#define INTERRUPT_STATUS 130

void interrupt_install(void);
bool interrupt_asked(void);

#endif

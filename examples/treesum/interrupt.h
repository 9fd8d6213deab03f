/* SPDX-License-Identifier: Apache-2.0 */
/* interrupt.h - Ctrl-C sets a flag that everything looks at between steps. */
#ifndef TREESUM_INTERRUPT_H
#define TREESUM_INTERRUPT_H

#include <stdbool.h>

/* What a shell reports for a program that SIGINT ended. */
#define INTERRUPT_STATUS 130

void interrupt_install(void);
bool interrupt_asked(void);

#endif

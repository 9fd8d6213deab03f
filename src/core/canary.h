/* SPDX-License-Identifier: Apache-2.0 */
/* canary.h - words below a stack whose loss shows that it was overrun: for
 * stacks that the system gives no guard.
 *
 *	... | CANARY_WORDS words | low ...
 */
#ifndef SN_CANARY_H
#define SN_CANARY_H

#include <stdbool.h>

/* Write the words below low, which is aligned to a word. */
void sn_canary_write(void *low);

/* Whether they are as written. */
bool sn_canary_is_whole(const void *low);

#endif

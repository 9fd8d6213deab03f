/* SPDX-License-Identifier: Apache-2.0 */
/* canary.h - words below a stack that has no guard page. A changed word shows
 * that the stack overflowed.
 *
 *	... | CANARY_WORDS words | low ...
 */
#ifndef SN_CANARY_H
#define SN_CANARY_H

#include <stdbool.h>

/* Write the canary below `low`, which is aligned to a word. */
void sn_canary_write(void *low);

/* Whether the canary is unchanged. */
bool sn_canary_is_whole(const void *low);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* merged.h - prints equal stacks once: the number of fibers, and which one has
 * waited longest. */
#ifndef SN_MERGED_H
#define SN_MERGED_H

#include "sennit/stacks.h"

/* Like sennit_stacks_print, for the merged formats. */
int sn_merged_print(sennit_scheduler *s, int fd,
		    enum sennit_stacks_format format);

#endif

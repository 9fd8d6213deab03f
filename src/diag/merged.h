/* SPDX-License-Identifier: Apache-2.0 */
/* merged.h - equal stacks as one: how many fibers, and which waited longest. */
#ifndef SN_MERGED_H
#define SN_MERGED_H

#include "sennit/stacks.h"

/* As sennit_stacks_print, for the formats that merge. */
int sn_merged_print(sennit_scheduler *s, int fd,
		    enum sennit_stacks_format format);

#endif

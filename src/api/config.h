/* SPDX-License-Identifier: Apache-2.0 */
/* config.h - from what the caller asked for to what makes up a scheduler. */
#ifndef SN_CONFIG_H
#define SN_CONFIG_H

#include "sennit/scheduler.h"

/* The smallest stack_size that is accepted, bytes. */
#define CONFIG_STACK_MIN ((size_t)16 * 1024)

/* Fill *out with *user (NULL: nothing asked for) and every default. Returns 0,
 * -EINVAL, or -E2BIG when a newer caller set bytes that we do not know. */
SENNIT_MUST_USE int sn_config_read(sennit_config       *out,
				   const sennit_config *user);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* config.h - from what the caller asked for to what makes up a scheduler. */
#ifndef SN_CONFIG_H
#define SN_CONFIG_H

#include "sennit/scheduler.h"

/* The smallest stack_size that is accepted, bytes. */
#define CONFIG_STACK_MIN ((size_t)16 * 1024)

/* Fill *out with *user (NULL: nothing asked for) and every default. Returns 0,
 * or the errors of sennit_config_check, *field then as it says. */
SENNIT_MUST_USE int sn_config_read(sennit_config       *out,
				   const sennit_config *user,
				   const char         **field);

#endif

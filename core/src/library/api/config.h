/* SPDX-License-Identifier: Apache-2.0 */
/* config.h - checks a configuration and fills in its defaults. */
#ifndef SN_CONFIG_H
#define SN_CONFIG_H

#include "sennit/scheduler.h"

/* The smallest accepted stack_size, in bytes. */
#define CONFIG_STACK_MIN ((size_t)16 * 1024)

/* Fill *out from *user and the defaults; NULL stands for a config of all
 * defaults. Returns 0 or an error of sennit_config_check; *field is then the
 * name of the invalid field. */
SENNIT_MUST_USE int sn_config_read(sennit_config       *out,
				   const sennit_config *user,
				   const char         **field);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* pool.h - whether a pool may be destroyed. */
#ifndef SN_POOL_H
#define SN_POOL_H

#include "sennit/pool.h"

/* Why not, for a message. NULL: it may. */
const char *sn_pool_use(sennit_pool *p);

#endif

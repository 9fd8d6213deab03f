/* SPDX-License-Identifier: Apache-2.0 */
/* domain_end.h - whom a domain tells of its end, and what weak handles keep of
 * it: its block, which may outlive its scheduler. */
#ifndef SN_DOMAIN_END_H
#define SN_DOMAIN_END_H

#include "worker/end_clients.h"

/* The part of a domain. */
struct domain_end {
	struct end_clients clients;
	sennit_allocator   memory;  /* fixed: of the block */
	size_t             size;    /* fixed: of the block */
	uint32_t           process; /* fixed: see worker/fork_exit.h */
};

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* fetch_own.h - the same for x86-64. GCC's builtin fetches a shared copy
 * unless -march names a newer processor. Every 64-bit processor either executes
 * prefetchw or ignores it. */
#ifndef SN_FETCH_OWN_H
#define SN_FETCH_OWN_H

#define FETCH_OWN(address) \
	__asm__ volatile("prefetchw %0" ::"m"(*(const char *)(address)))

#endif

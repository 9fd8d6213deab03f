/* SPDX-License-Identifier: Apache-2.0 */
/* fetch_own.h - a hint that the caller is about to write a cache
 * line. */
#ifndef SN_FETCH_OWN_H
#define SN_FETCH_OWN_H

#define FETCH_OWN(address) __builtin_prefetch(address, 1)

#endif

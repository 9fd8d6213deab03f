/* SPDX-License-Identifier: Apache-2.0 */
/* fetch_record.h - a record of who waits lies in its fiber's frame, on a page
 * of its own, in the midst of what is touched when the wait ends: below it what
 * wakes the fiber, above it the frames that return. Whoever ends many waits
 * fetches the records of the next ones. */
#ifndef SN_IO_FETCH_RECORD_H
#define SN_IO_FETCH_RECORD_H

#include <stdint.h>

/* Events whose records are fetched before it is their turn. */
#define IO_FETCH_AHEAD 4

/* Any address; NULL, too. */
static inline void sn_io_fetch_record(const void *record)
{
	const uintptr_t first = (uintptr_t)record - (uintptr_t)3 * 64;

	for (unsigned line = 0; line < 8; line++)
		__builtin_prefetch((const void *)(first + line * 64));
}

#endif

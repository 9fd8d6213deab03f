/* SPDX-License-Identifier: Apache-2.0 */
/* time_left.h - how long the system may wait, as it wants to be told. */
#ifndef SN_IO_TIME_LEFT_H
#define SN_IO_TIME_LEFT_H

#include "sennit/base.h"

#include <time.h>

/* From `now` to the deadline; nothing if that has passed. */
static inline struct timespec sn_io_time_left(sennit_time deadline,
					      sennit_time now)
{
	const sennit_time left = deadline > now ? deadline - now : 0;

	return (struct timespec){ .tv_sec = (time_t)(left / SENNIT_SECOND),
				  .tv_nsec = (long)(left % SENNIT_SECOND) };
}

/* The same in ms for poll() and its like, not less, and an hour at most; NULL:
 * without end. */
static inline int sn_io_milliseconds(const struct timespec *left)
{
	if (!left)
		return -1;
	if (left->tv_sec >= 3600)
		return 3600 * 1000;
	return (int)left->tv_sec * 1000 +
	       (int)((left->tv_nsec + 999999) / 1000000);
}

#endif

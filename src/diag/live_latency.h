/* SPDX-License-Identifier: Apache-2.0 */
/* live_latency.h - how long tasks ran and fibers waited in the last period, if
 * the program records it (sennit_metrics_record). */
#ifndef SN_LIVE_LATENCY_H
#define SN_LIVE_LATENCY_H

#include "sennit/metrics.h"

#define LIVE_LATENCIES 32

struct live_latency {
	char             name[64];
	char             kind[32]; /* "": there is one of this name */
	sennit_histogram all;      /* since the scheduler was created */
	uint64_t         count;    /* of the last period, as the next two */
	uint64_t         p50, p99; /* nanoseconds */
};

struct live_latencies {
	struct live_latency of[LIVE_LATENCIES];
	uint32_t            count;
};

/* A period has ended: what has come since the last call. */
void sn_live_latencies_read(struct live_latencies *l, sennit_scheduler *s);

#endif

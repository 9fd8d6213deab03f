/* SPDX-License-Identifier: Apache-2.0 */
/* metrics_family.h - which metrics there are, and where their values come
 * from. */
#ifndef SN_METRICS_FAMILY_H
#define SN_METRICS_FAMILY_H

#include "sennit/metrics.h"

struct worker;

struct sn_metric_family {
	const char *name;
	const char *help;
	const char *unit; /* NULL: none */
	uint32_t    type; /* enum sennit_metric_type */

	/* Of metrics of each worker: */
	uint64_t (*of_worker)(struct worker *w);
	uint64_t (*of_past)(sennit_scheduler *s); /* of threads that have
						   * unbound; NULL: 0 */
};

/* The metrics of each worker. The last one has no name. */
extern const struct sn_metric_family sn_metrics_of_workers[];

/* The metrics that are a field of sennit_stats. The last one has no name. */
struct sn_metric_of_stats {
	struct sn_metric_family family;
	size_t                  at; /* offset of the field */
};

extern const struct sn_metric_of_stats sn_metrics_of_stats[];

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* metrics.c - write what Prometheus reads. */
#include "calls.h"
#include "sennit/metrics.h"

#include <string.h>

static void show(sennit_scheduler *s)
{
	char  text[16] = "";
	FILE *file = tmpfile();

	CHECK(file);
	CHECK(sennit_metrics_write(s, fileno(file),
				   SENNIT_METRICS_OPENMETRICS) == 0);
	rewind(file);
	CHECK(fgets(text, sizeof(text), file) && text[0] == '#');
	fclose(file);

	/* Bucket i of a histogram counts durations up to this bound. */
	CHECK(sennit_histogram_bound(0) < sennit_histogram_bound(1));
	CHECK(sennit_histogram_bound(SENNIT_HISTOGRAM_BUCKETS - 1) ==
	      SENNIT_NEVER);
}

int main(void)
{
	return run(show);
}

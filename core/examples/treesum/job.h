/* SPDX-License-Identifier: Apache-2.0 */
/* job.h - the data that all tasks of one run share. */
#ifndef TREESUM_JOB_H
#define TREESUM_JOB_H

#include "buffers.h"
#include "entries.h"
#include "progress.h"

struct job {
	struct entries    entries;
	struct buffers    buffers;
	struct progress   progress;
	sennit_wait_group tasks; /* scheduled and not yet done */
};

#endif

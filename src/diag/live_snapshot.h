/* SPDX-License-Identifier: Apache-2.0 */
/* live_snapshot.h - looks at all schedulers of a live view, and their text. */
#ifndef SN_LIVE_SNAPSHOT_H
#define SN_LIVE_SNAPSHOT_H

#include "diag/live_sample.h"
#include "diag/live_text.h"

#include "sennit/end.h"

#define LIVE_VERSION    1 /* of the protocol */
#define LIVE_SCHEDULERS 8
#define LIVE_HOT        16

/* The longest snapshot: all bounds of live_sample.h reached. */
#define LIVE_TEXT (UINT32_C(1) << 20)

struct live_snapshot {
	sennit_weak       *only;  /* fixed; NULL: all schedulers */
	uint64_t           looks; /* since the last reset */
	struct live_sample samples[LIVE_SCHEDULERS];
};

/* Nobody looks any more: the next look begins anew. */
void sn_live_snapshot_reset(struct live_snapshot *p);

void sn_live_snapshot_look(struct live_snapshot *p);

/* Whether every scheduler has rates. True if there is no scheduler. */
bool sn_live_snapshot_is_warm(const struct live_snapshot *p);

/* Append the last look, as one line of JSON. */
void sn_live_snapshot_write(const struct live_snapshot *p, struct live_text *t);

#endif

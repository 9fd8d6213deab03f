/* SPDX-License-Identifier: Apache-2.0 */
#include "io/refusal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A lack of memory, or completions that must be taken first, are over before
 * that. The process may have been stopped meanwhile: hence both. */
#define PATIENCE (2 * SENNIT_SECOND)
#define TRIES    1000u

static _Noreturn void give_up(int err, const char *of)
{
	fprintf(stderr,
		"sennit: %s was refused (%s) after it had worked, and what "
		"waits by it cannot go on: was a filter set too late?%s\n",
		of, strerror(-err),
		strcmp(of, "io_uring") != 0
			? ""
			: " (SENNIT_IO=epoll does without)");
	abort();
}

void sn_io_refusal_note(struct refusal *r, int err, const char *of)
{
	const sennit_time now = sennit_now();

	switch (err) {
	case -EINTR: /* it works */
	case -ETIME:
		r->since = 0;
		return;
	case -EPERM: /* of a filter */
	case -ENOSYS:
	case -EACCES:
		give_up(err, of);
	default:
		break;
	}
	if (!r->since) {
		r->since = now;
		r->count = 0;
	}
	if (++r->count > TRIES && now - r->since > PATIENCE)
		give_up(err, of);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "io/watches.h"

#include <string.h>

/* At first: more when a higher number comes. */
#ifdef SENNIT_TORTURE
#define PLACES 4u
#else
#define PLACES 256u
#endif

void sn_io_watches_free(struct watches *w)
{
	if (w->of)
		w->memory->release(w->memory->context, w->of,
				   w->count * sizeof(*w->of));
	w->of = NULL;
	w->count = 0;
}

static bool grow(struct watches *w, uint32_t least)
{
	uint32_t      count = w->count ? w->count : PLACES;
	struct watch *of;

	while (count <= least)
		count *= 2;
	of = w->memory->allocate(w->memory->context, count * sizeof(*of),
				 _Alignof(struct watch));
	if (!of)
		return false;
	if (w->count)
		memcpy(of, w->of, w->count * sizeof(*of));
	memset(of + w->count, 0, (count - w->count) * sizeof(*of));
	sn_io_watches_free(w);
	w->of = of;
	w->count = count;
	return true;
}

struct watch *sn_io_watches_place(struct watches *w, int fd)
{
	uint32_t use = sn_io_known_use(fd);

	if (!use || ((uint32_t)fd >= w->count && !grow(w, (uint32_t)fd)))
		return NULL;
	if (w->of[fd].use != use)
		w->of[fd] = (struct watch){ .use = 0 };
	return &w->of[fd];
}

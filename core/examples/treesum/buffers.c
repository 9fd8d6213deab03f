/* SPDX-License-Identifier: Apache-2.0 */
/* buffers.c - the pool of buffers that tasks wait for. */
#include "buffers.h"

#include <errno.h>
#include <stdlib.h>

static int make_buffer(struct buffer *one)
{
	one->bytes = malloc(BUFFER_SIZE);
	one->digest = EVP_MD_CTX_new();
	if (!one->bytes || !one->digest)
		return -ENOMEM;
	/* To look up the algorithm is slow, so it is done once here and not for
	 * every file. */
	if (!EVP_DigestInit_ex(one->digest, EVP_sha256(), NULL))
		return -ENOMEM;
	return 0;
}

int buffers_init(struct buffers *b, uint32_t count)
{
	uint32_t i;

	b->all = calloc(count, sizeof(struct buffer));
	if (!b->all)
		return -ENOMEM;
	b->count = count;
	for (i = 0; i < count; i++) {
		if (make_buffer(&b->all[i]))
			return -ENOMEM;
		b->all[i].next = b->free;
		b->free = &b->all[i];
	}
	return 0;
}

void buffers_free(struct buffers *b)
{
	uint32_t i;

	for (i = 0; b->all && i < b->count; i++) {
		EVP_MD_CTX_free(b->all[i].digest);
		free(b->all[i].bytes);
	}
	free(b->all);
}

struct buffer *buffers_take(struct buffers *b)
{
	struct buffer *one;

	sennit_mutex_lock(&b->lock);
	while (!(one = b->free))
		(void)!sennit_cond_wait_until(&b->freed, &b->lock,
					      SENNIT_UNCANCELLED);
	b->free = one->next;
	sennit_mutex_unlock(&b->lock);
	return one;
}

void buffers_give(struct buffers *b, struct buffer *one)
{
	sennit_mutex_lock(&b->lock);
	one->next = b->free;
	b->free = one;
	sennit_mutex_unlock(&b->lock);
	sennit_cond_notify_one(&b->freed);
}

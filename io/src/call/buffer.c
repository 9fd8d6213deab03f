/* SPDX-License-Identifier: Apache-2.0 */
/* buffer.c - the calls of sennit/buffer.h, on the shared objects of
 * sennit/shared.h, which count the references and detect misuse. */
#include "sennit/buffer.h"
#include "sennit/shared.h"

#include <string.h>

struct sennit_buffer {
	size_t size;              /* fixed, as are the bytes */
	_Alignas(8) char bytes[]; /* `size` of them */
};

int sennit_buffer_create(sennit_buffer **out, const void *bytes, size_t size)
{
	sennit_buffer *b;

	if (size > SIZE_MAX - sizeof(*b))
		return -ENOMEM;
	b = sennit_shared_create(sizeof(*b) + size, NULL, NULL);
	if (!b)
		return -ENOMEM;
	b->size = size;
	if (size) /* bytes may be NULL otherwise */
		memcpy(b->bytes, bytes, size);
	*out = b;
	return 0;
}

sennit_buffer *sennit_buffer_retain(sennit_buffer *b)
{
	return sennit_shared_retain(b);
}

void sennit_buffer_release(sennit_buffer *b)
{
	if (b)
		sennit_shared_release(b);
}

const void *sennit_buffer_data(const sennit_buffer *b)
{
	return b->bytes;
}

size_t sennit_buffer_size(const sennit_buffer *b)
{
	return b->size;
}

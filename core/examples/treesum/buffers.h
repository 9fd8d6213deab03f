/* SPDX-License-Identifier: Apache-2.0 */
/* buffers.h - a fixed number of buffers, which also limits the number of open
 * files.
 *
 * A task takes a buffer before it opens its file. If none is free, its fiber is
 * suspended until another task returns one. The worker runs other tasks
 * meanwhile.
 */
#ifndef TREESUM_BUFFERS_H
#define TREESUM_BUFFERS_H

#include <sennit.h>

#include <openssl/evp.h>

#define BUFFER_SIZE ((size_t)128 * 1024)

struct buffer {
	struct buffer *next; /* under lock, while it is free */
	EVP_MD_CTX    *digest;
	unsigned char *bytes; /* BUFFER_SIZE of them */
};

struct buffers {
	sennit_mutex   lock;
	sennit_cond    freed;
	struct buffer *free; /* under lock */
	struct buffer *all;
	uint32_t       count;
};

/* Returns 0 or -ENOMEM. In both cases buffers_free() frees *b. */
int  buffers_init(struct buffers *b, uint32_t count);
void buffers_free(struct buffers *b);

struct buffer *buffers_take(struct buffers *b);
void           buffers_give(struct buffers *b, struct buffer *one);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* buffer.h - bytes with a reference count: one copy for all that send it.
 *
 *	create --retain, retain, ...--> release (each), and the last one frees
 *
 * A server that sends the same bytes to many clients makes one buffer and gives
 * each client a reference, for example through a channel of `sennit_buffer *`:
 *
 *	if (sennit_buffer_create(&b, text, strlen(text)))
 *		return -ENOMEM;
 *	for (c = clients; c; c = c->next) {
 *		sennit_buffer_retain(b);
 *		if (sennit_channel_send_until(&c->out, &b,
 *					      sennit_after(200000000)))
 *			sennit_buffer_release(b); // c is too slow
 *	}
 *	sennit_buffer_release(b);
 *
 * With a deadline of 0 a sender that does not wait in between would be faster
 * than the fibers that take the buffers.
 *
 * The bytes do not change, so any number of fibers and threads may read them at
 * once. In libsennit-io. shared.h has objects whose contents change.
 */
#ifndef SENNIT_BUFFER_H
#define SENNIT_BUFFER_H

#include "sennit/base.h"

SENNIT_BEGIN

typedef struct sennit_buffer sennit_buffer;

/* Create a buffer with a copy of the `size` bytes at *bytes, and store it in
 * *out. A size of 0 makes an empty buffer. The caller owns the one reference.
 * Returns 0 or -ENOMEM.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_buffer_create(sennit_buffer **out,
						    const void     *bytes,
						    size_t          size);

/* Take one more reference to *b. The caller must hold a reference, or know that
 * another user holds one during the call. It is misuse after the last release,
 * which the library reports as long as the memory still shows it. Returns b.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API sennit_buffer *sennit_buffer_retain(sennit_buffer *b);

/* Release a reference to *b, unless b is NULL. The last release frees the
 * buffer. Misuse as in sennit_buffer_retain.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_buffer_release(sennit_buffer *b);

/* Return the bytes of *b. They are valid as long as the caller holds its
 * reference, and aligned to 8 bytes.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API const void *sennit_buffer_data(const sennit_buffer *b);

/* Return the number of bytes of *b.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API size_t sennit_buffer_size(const sennit_buffer *b);

SENNIT_END

#endif

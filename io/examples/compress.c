/* SPDX-License-Identifier: Apache-2.0 */
/* compress.c - a pipeline with back-pressure: a fiber reads a file, one
 * compresses, one sends to a socket. Bounded channels between them make each
 * wait for the next, so a slow receiver slows down the reading, and memory does
 * not grow with the file.
 *
 *	compress [FILE]
 *
 * The first stage that fails cancels the group, so the others end as well. Here
 * the receiver is another fiber, which checks what arrives.
 */
#include <sennit.h>
#include <sennit/io.h>
#include <sennit/net.h>

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define BLOCK    4096 /* bytes */
#define QUEUE    4    /* blocks between two stages */
#define PATIENCE (60 * SENNIT_SECOND)

/* A block belongs to the stage that has it. The pointer goes through the
 * channel, and the block with it. */
struct block {
	size_t size;
	char   bytes[BLOCK];
};

static struct block  *plain_memory[QUEUE], *packed_memory[QUEUE];
static sennit_channel plain = SENNIT_CHANNEL_INIT_ARRAY(plain_memory);
static sennit_channel packed = SENNIT_CHANNEL_INIT_ARRAY(packed_memory);

static int         file, to_peer, from_peer;
static int64_t     size;        /* of the file */
static int64_t     hang_up_at;  /* where the receiver has had enough */
static atomic_long blocks;      /* that exist */
static atomic_long most;        /* of them at once */
static long        read_blocks; /* of the file; the reader counts */

static struct block *make_block(void)
{
	struct block *b = malloc(sizeof(*b));
	long          n = atomic_fetch_add(&blocks, 1) + 1;
	long          seen = atomic_load(&most);

	while (n > seen && !atomic_compare_exchange_weak(&most, &seen, n))
		;
	if (b)
		b->size = 0;
	return b;
}

static void free_block(struct block *b)
{
	atomic_fetch_sub(&blocks, 1);
	free(b);
}

/* Also when it cannot be sent, the block is the channel's. */
static int pass_on(sennit_channel *c, struct block *b)
{
	int err = sennit_channel_send_until(c, &b, SENNIT_NEVER);

	if (err)
		free_block(b);
	return err;
}

/* --- the stages --------------------------------------------------------- */

/* A stage that has done its work closes its channel: the next one gets what the
 * channel still holds, and then -EPIPE, which is the end. */
static int read_file(void *unused)
{
	int       err = 0;
	ptrdiff_t n = 1;

	(void)unused;
	while (!err && n > 0) {
		struct block *b = make_block();

		n = b ? sennit_read(file, b->bytes, BLOCK, SENNIT_NEVER)
		      : -ENOMEM;
		if (n > 0) {
			b->size = (size_t)n;
			err = pass_on(&plain, b);
			read_blocks++;
		} else {
			free_block(b);
			err = (int)n;
		}
	}
	if (!err)
		sennit_channel_close(&plain);
	return err;
}

/* What zlib makes of the input so far, block by block. */
static int deflate_all(z_stream *z, int flush)
{
	int err = 0;

	do {
		struct block *b = make_block();

		if (!b) {
			free_block(b);
			return -ENOMEM;
		}
		z->next_out = (Bytef *)b->bytes;
		z->avail_out = BLOCK;
		(void)deflate(z, flush);
		b->size = BLOCK - z->avail_out;
		if (b->size)
			err = pass_on(&packed, b);
		else
			free_block(b);
	} while (!err && !z->avail_out);
	return err;
}

static int compress_all(void *unused)
{
	z_stream      z = { 0 };
	struct block *b;
	int err = deflateInit(&z, Z_DEFAULT_COMPRESSION) == Z_OK ? 0 : -ENOMEM;

	(void)unused;
	while (!err && !(err = sennit_channel_receive_until(&plain, &b,
							    SENNIT_NEVER))) {
		z.next_in = (Bytef *)b->bytes;
		z.avail_in = (uInt)b->size;
		err = deflate_all(&z, Z_NO_FLUSH);
		free_block(b);
	}
	if (err == -EPIPE) {
		err = deflate_all(&z, Z_FINISH);
		sennit_channel_close(&packed);
	}
	deflateEnd(&z);
	return err;
}

static int send_block(const struct block *b)
{
	size_t done = 0;

	while (done < b->size) {
		ptrdiff_t n = sennit_send(to_peer, b->bytes + done,
					  b->size - done, 0,
					  sennit_after(PATIENCE));

		if (n < 0)
			return (int)n;
		done += (size_t)n;
	}
	return 0;
}

static int send_all(void *unused)
{
	struct block *b;
	int           end, err = 0;

	(void)unused;
	while (!err && !(end = sennit_channel_receive_until(&packed, &b,
							    SENNIT_NEVER))) {
		err = send_block(b);
		free_block(b);
	}
	sennit_shutdown(to_peer, SHUT_WR);
	return err ? err : end == -EPIPE ? 0 : end;
}

/* --- the receiver ------------------------------------------------------- */

/* Compares what arrives with the file, a little at a time. */
static int compare(z_stream *z, char *bytes, size_t count, int64_t *at)
{
	char unpacked[1024], wanted[sizeof(unpacked)];
	int  state = Z_OK;

	z->next_in = (Bytef *)bytes;
	z->avail_in = (uInt)count;
	do {
		size_t    n;
		ptrdiff_t have;

		z->next_out = (Bytef *)unpacked;
		z->avail_out = sizeof(unpacked);
		state = inflate(z, Z_NO_FLUSH);
		n = sizeof(unpacked) - z->avail_out;
		have = sennit_pread(file, wanted, n, *at, SENNIT_NEVER);
		if ((state != Z_OK && state != Z_STREAM_END &&
		     state != Z_BUF_ERROR) ||
		    have != (ptrdiff_t)n || memcmp(unpacked, wanted, n))
			return -EBADMSG;
		*at += (int64_t)n;
	} while (!z->avail_out);
	return 0;
}

static int receive_all(void *unused)
{
	z_stream  z = { 0 };
	char      bytes[512];
	int64_t   at = 0;
	ptrdiff_t n = 1;
	int       err = inflateInit(&z) == Z_OK ? 0 : -ENOMEM;

	(void)unused;
	while (!err && n > 0 && at < hang_up_at) {
		n = sennit_recv(from_peer, bytes, sizeof(bytes), 0,
				sennit_after(PATIENCE));
		if (n > 0)
			err = compare(&z, bytes, (size_t)n, &at);
		sennit_sleep(10 * SENNIT_MICROSECOND); /* it is slow */
	}
	inflateEnd(&z);
	sennit_close(from_peer);
	if (!err && !n && at != size)
		err = -EBADMSG;
	return n < 0 ? (int)n : err;
}

/* --- all ---------------------------------------------------------------- */

/* A stage that was cancelled leaves blocks in its channel. */
static void drain(sennit_channel *c)
{
	struct block *b;

	while (!sennit_channel_receive_until(c, &b, 0))
		free_block(b);
}

static int run(void)
{
	sennit_member_fn *const stages[] = { read_file, compress_all, send_all,
					     receive_all };
	int                     fds[2], ended, err = 0;
	sennit_group            g;

	if (lseek(file, 0, SEEK_SET) ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds))
		return -errno;
	to_peer = fds[0];
	from_peer = fds[1];
	plain = (sennit_channel)SENNIT_CHANNEL_INIT_ARRAY(plain_memory);
	packed = (sennit_channel)SENNIT_CHANNEL_INIT_ARRAY(packed_memory);
	sennit_group_init(&g, SENNIT_NEVER, 0);
	for (size_t i = 0; i < 4 && !err; i++)
		err = sennit_group_spawn(&g, stages[i], NULL);
	ended = sennit_group_wait(&g);
	drain(&plain);
	drain(&packed);
	sennit_close(to_peer);
	return ended ? ended : err;
}

/* The file, or a megabyte that does not compress. */
static int open_file(const char *path)
{
	FILE    *made = path ? NULL : tmpfile();
	uint32_t random = 1;

	if (path)
		return open(path, O_RDONLY | O_CLOEXEC);
	for (int i = 0; made && i < 1 << 20; i++) {
		random = random * 1664525u + 1013904223u;
		putc((int)(random >> 24), made);
	}
	if (!made || fflush(made))
		return -1;
	return fileno(made); /* it is closed when the program ends */
}

static int check(void)
{
	int err = run();
	int cut;

	printf("%ld bytes in %ld blocks, at most %ld at once\n", (long)size,
	       (long)read_blocks, (long)most);
	/* In hand: the reader's, two of the compressor's, the sender's. */
	if (err || most > 2 * QUEUE + 4 || blocks)
		return err ? err : -EBADMSG;
	hang_up_at = 1000;
	cut = run();
	printf("a receiver that hangs up: %s\n", sennit_strerror(cut));
	return blocks ? -EBADMSG : 0;
}

int main(int argc, char **argv)
{
	sennit_scheduler *s;
	int               err;

	file = open_file(argc > 1 ? argv[1] : NULL);
	size = file < 0 ? -1 : lseek(file, 0, SEEK_END);
	if (size < 0) {
		perror("compress");
		return 1;
	}
	hang_up_at = size + 1;
	if (sennit_scheduler_create(&s, NULL) || sennit_thread_bind(s))
		return 1;
	err = check();
	if (err)
		fprintf(stderr, "compress: %s\n", sennit_strerror(err));
	sennit_thread_unbind();
	if (sennit_scheduler_shutdown(s, SENNIT_NEVER))
		return 1;
	return err ? 1 : 0;
}

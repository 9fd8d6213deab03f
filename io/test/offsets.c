/* SPDX-License-Identifier: Apache-2.0 */
/* offsets.c - file offsets that need more than 32 bits: each call reads and
 * writes at the given offset, and not at the one with the same lower half. The
 * system's own calls here have 64-bit offsets, whatever the build's default
 * is.
 */
#define _FILE_OFFSET_BITS 64

#include "operations.h"

#include "sennit/file.h"

#include <linux/stat.h>

_Static_assert(sizeof(off_t) == 8, "the program's offsets");

enum { SIZE = 8 };

static const int64_t places[] = {
	((int64_t)1 << 31) - SIZE / 2, (int64_t)1 << 31,
	((int64_t)1 << 32) - SIZE / 2, ((int64_t)1 << 32) + 1,
	((int64_t)1 << 33) + 5,        ((int64_t)1 << 40) + 7
};

/* Bytes that no call here writes are 0. */
static const char nothing[SIZE];

static void make_bytes(char bytes[SIZE])
{
	static atomic_uint calls;
	unsigned           value = atomic_fetch_add(&calls, 1);

	snprintf(bytes, SIZE, "%07u", value % 10000000u);
}

/* With the system calls only. */
static void expect_bytes(int file, int64_t at, const char bytes[SIZE])
{
	char found[SIZE];

	EXPECT(pread(file, found, SIZE, at) == SIZE);
	EXPECT(!memcmp(found, bytes, SIZE));
}

/* The data for `at` is there, and not at the offset of its lower half. */
static void expect_only(int file, int64_t at, const char bytes[SIZE])
{
	expect_bytes(file, at, bytes);
	if (at > UINT32_MAX)
		expect_bytes(file, at & UINT32_MAX, nothing);
	expect_bytes(file, 0, nothing);
}

static void put(int file, int64_t at, char bytes[SIZE])
{
	make_bytes(bytes);
	must(pwrite(file, bytes, SIZE, at) == SIZE, "pwrite");
}

static void expect_read(ptrdiff_t n, const char *found, const char *bytes)
{
	EXPECT(n == SIZE && !memcmp(found, bytes, SIZE));
}

static void by_place(int file, int64_t at)
{
	char bytes[SIZE], found[SIZE];

	make_bytes(bytes);
	EXPECT(sennit_pwrite(file, bytes, SIZE, at, SENNIT_NEVER) == SIZE);
	expect_only(file, at, bytes);
	put(file, at, bytes);
	expect_read(sennit_pread(file, found, SIZE, at, SENNIT_NEVER), found,
		    bytes);
}

static void by_position(int file, int64_t at)
{
	char         bytes[SIZE], found[SIZE];
	struct iovec v = { bytes, SIZE };

	must(lseek(file, at, SEEK_SET) == at, "lseek");
	make_bytes(bytes);
	EXPECT(sennit_write(file, bytes, SIZE, SENNIT_NEVER) == SIZE);
	EXPECT(lseek(file, 0, SEEK_CUR) == at + SIZE);
	expect_only(file, at, bytes);
	must(lseek(file, at, SEEK_SET) == at, "lseek");
	make_bytes(bytes);
	EXPECT(sennit_writev(file, &v, 1, SENNIT_NEVER) == SIZE);
	expect_only(file, at, bytes);
	must(lseek(file, at, SEEK_SET) == at, "lseek");
	expect_read(sennit_read(file, found, SIZE, SENNIT_NEVER), found, bytes);
	must(lseek(file, at, SEEK_SET) == at, "lseek");
	v.iov_base = found;
	expect_read(sennit_readv(file, &v, 1, SENNIT_NEVER), found, bytes);
}

static void by_splice(int file, int64_t at)
{
	char    bytes[SIZE], found[SIZE];
	int     ends[2];
	int64_t place = at;

	begin_pipe(ends);
	make_bytes(bytes);
	must(write(ends[1], bytes, SIZE) == SIZE, "write");
	EXPECT(sennit_splice(ends[0], NULL, file, &place, SIZE, 0,
			     SENNIT_NEVER) == SIZE);
	EXPECT(place == at + SIZE);
	expect_only(file, at, bytes);
	put(file, at, bytes);
	place = at;
	EXPECT(sennit_splice(file, &place, ends[1], NULL, SIZE, 0,
			     SENNIT_NEVER) == SIZE);
	EXPECT(place == at + SIZE);
	expect_read(sennit_read(ends[0], found, SIZE, 0), found, bytes);
	close(ends[0]);
	close(ends[1]);
}

/* To a socket and to a pipe, from a given offset and from the file's own
 * position. */
static void by_sendfile(int file, int64_t at)
{
	char bytes[SIZE], found[SIZE];

	for (int kind = 0; kind < 4; kind++) {
		const bool own = kind % 2;
		int64_t    place = at;
		int        ends[2];

		if (kind / 2)
			open_sockets(ends);
		else
			begin_pipe(ends);
		put(file, at, bytes);
		must(lseek(file, own ? at : 0, SEEK_SET) >= 0, "lseek");
		EXPECT(sennit_sendfile(ends[1], file, own ? NULL : &place, SIZE,
				       SENNIT_NEVER) == SIZE);
		EXPECT((own ? lseek(file, 0, SEEK_CUR) : place) == at + SIZE);
		expect_read(sennit_read(ends[0], found, SIZE, 0), found, bytes);
		close(ends[0]);
		close(ends[1]);
	}
}

static void by_size(int file, int64_t at)
{
	struct statx x;
	const off_t  end = lseek(file, 0, SEEK_END);

	EXPECT(sennit_ftruncate(file, at, SENNIT_NEVER) == 0);
	EXPECT(lseek(file, 0, SEEK_END) == at);
	EXPECT(sennit_statx(file, "", AT_EMPTY_PATH, STATX_SIZE, &x,
			    SENNIT_NEVER) == 0);
	EXPECT(x.stx_size == (uint64_t)at);
	EXPECT(sennit_ftruncate(file, end, SENNIT_NEVER) == 0);
	EXPECT(lseek(file, 0, SEEK_END) == end);
}

typedef void use_fn(int file, int64_t at);

/* In a sparse file. */
static void use_each_place(void *argument)
{
	use_fn *const *use = argument;

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		int file = memfd_create("sparse", MFD_CLOEXEC);

		must(file >= 0, "memfd_create");
		must(!ftruncate(file, places[i] + SIZE), "ftruncate");
		(*use)(file, places[i]);
		close(file);
	}
}

static void use_everywhere(use_fn *use)
{
	in_each_place(use_each_place, &use);
}

TEST_WITH_ONE(reads_and_writes_happen_at_their_place)
{
	(void)w;
	use_everywhere(by_place);
}

TEST_WITH_ONE(reads_and_writes_happen_at_the_position)
{
	(void)w;
	use_everywhere(by_position);
}

TEST_WITH_ONE(splices_happen_at_their_place)
{
	(void)w;
	use_everywhere(by_splice);
}

TEST_WITH_ONE(files_are_sent_from_their_place)
{
	(void)w;
	use_everywhere(by_sendfile);
}

TEST_WITH_ONE(a_file_gets_its_size)
{
	(void)w;
	use_everywhere(by_size);
}

USES_BACKEND;

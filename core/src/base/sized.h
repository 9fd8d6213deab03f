/* SPDX-License-Identifier: Apache-2.0 */
/* sized.h - structs of the interface that begin with their size. Such a struct
 * may grow at its end in a later version, so a program and the library may have
 * been built with different ones of it.
 */
#ifndef SN_SIZED_H
#define SN_SIZED_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* The size of a struct up to and including the member. Of the member that was
 * the last one in the first release, it is the smallest size that a program can
 * have. */
#define SIZE_THROUGH(type, member) \
	(offsetof(type, member) + sizeof(((type *)0)->member))

/* The member is the last one, and no nameless bytes follow it: a member that is
 * added later would lie in them, and the size would not tell. */
#define ENDS_WITH(type, member)                                    \
	_Static_assert(sizeof(type) == SIZE_THROUGH(type, member), \
		       "no nameless bytes at the end of the struct")

/* Check the caller's struct at `from`, of which the library knows `size` bytes.
 * Returns 0, -EINVAL if it is smaller than `first`, the size in the first
 * release, or -E2BIG if a newer caller has set bytes that this library does not
 * know. */
static inline int sn_sized_check(const void *from, size_t size, size_t first)
{
	const unsigned char *bytes = (const unsigned char *)from;
	size_t               given;

	memcpy(&given, from, sizeof(given));
	if (given < first)
		return -EINVAL;
	for (size_t i = size; i < given; i++)
		if (bytes[i])
			return -E2BIG;
	return 0;
}

/* Copy the caller's struct at `from` to the library's at `to`, which has `size`
 * bytes. Members that an older caller does not have are 0, which requests
 * nothing. Returns 0, or an error of sn_sized_check, and then *to is not
 * changed. */
static inline int sn_sized_read(void *to, size_t size, const void *from,
				size_t first)
{
	const int err = sn_sized_check(from, size, first);
	size_t    given;

	if (err)
		return err;
	memcpy(&given, from, sizeof(given));
	memset(to, 0, size);
	memcpy(to, from, given < size ? given : size);
	memcpy(to, &size, sizeof(size));
	return 0;
}

/* Copy the library's struct at `from`, which has `size` bytes, to the caller's
 * at `to`: what both know. The caller's size stays, and members that this
 * library does not know become 0. Returns false, and does nothing, if the
 * caller's is smaller than `first`, the size in the first release. */
static inline bool sn_sized_write(void *to, const void *from, size_t size,
				  size_t first)
{
	size_t given;

	memcpy(&given, to, sizeof(given));
	if (given < first)
		return false;
	memset(to, 0, given);
	memcpy(to, from, given < size ? given : size);
	memcpy(to, &given, sizeof(given));
	return true;
}

#endif

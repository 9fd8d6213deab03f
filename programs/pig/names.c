/* SPDX-License-Identifier: Apache-2.0 */
/* names.c - adds and removes suffixes. */
#include "pig/names.h"

#include <stdio.h>
#include <string.h>

/* Report whether the path ends in the suffix, after a file name of at least one
 * byte. */
static bool ends_in(const char *path, const char *suffix)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	size_t      length = strlen(name), n = strlen(suffix);

	return length > n && !strcmp(name + length - n, suffix);
}

static char *join(const char *path, size_t less, const char *suffix)
{
	char *name;
	int   length = (int)(strlen(path) - less);

	return asprintf(&name, "%.*s%s", length, path, suffix) < 0 ? NULL
								   : name;
}

bool name_is_compressed(const char *path)
{
	return ends_in(path, ".gz") || ends_in(path, ".tgz");
}

char *name_compressed(const char *path)
{
	return join(path, 0, ".gz");
}

char *name_decompressed(const char *path)
{
	if (ends_in(path, ".gz"))
		return join(path, 3, "");
	return ends_in(path, ".tgz") ? join(path, 4, ".tar") : NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* replaced.c - a library that is loaded again from another file has the names
 * of that file. */
#include "../src/loaded_files.h"

#include "testing/test.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[] = "/tmp/sennit-replaced-XXXXXX";

/* Copy the file to the path, with another function instead of elf_version. */
static void put_library(const char *from, char letter)
{
	static char bytes[4 << 20];
	char new[sizeof(path) + 4];
	const int file = open(from, O_RDONLY | O_CLOEXEC);
	ssize_t   size = read(file, bytes, sizeof(bytes));
	int       to;

	assert_true(size > 0 && size < (ssize_t)sizeof(bytes));
	close(file);
	for (char *at = bytes;
	     (at = memmem(at, (size_t)(bytes + size - at), "elf_version", 12));)
		at[4] = letter;
	snprintf(new, sizeof(new), "%s.new", path);
	to = open(new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);
	assert_true(write(to, bytes, (size_t)size) == size);
	close(to);
	assert_true(!rename(new, path));
}

/* Load the library, and expect the function at this distance from elf_errno to
 * have the name. */
static void expect_name(ptrdiff_t distance, const char *name)
{
	void       *library = dlopen(path, RTLD_NOW);
	uintptr_t   offset;
	const char *found;

	assert_non_null(library);
	(void)sn_loaded_files_update();
	found = sn_loaded_files_function(
		(uintptr_t)dlsym(library, "elf_errno") + (uintptr_t)distance,
		&offset);
	assert_non_null(found);
	assert_string_equal(found, name);
	dlclose(library);
}

TEST(a_library_that_is_loaded_again_has_its_new_names)
{
	void     *whole = dlopen("libelf.so.1", RTLD_NOW);
	Dl_info   at;
	ptrdiff_t distance;

	if (!whole)
		skip();
	assert_true(dladdr(dlsym(whole, "elf_version"), &at));
	distance = (char *)dlsym(whole, "elf_version") -
		   (char *)dlsym(whole, "elf_errno");
	close(mkstemp(path));
	for (char letter = 'a'; letter < 'e'; letter++) {
		char name[] = "elf_version";

		name[4] = letter;
		put_library(at.dli_fname, letter);
		expect_name(distance, name);
		expect_name(distance, name);
	}
	unlink(path);
	dlclose(whole);
}

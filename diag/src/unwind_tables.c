/* SPDX-License-Identifier: Apache-2.0 */
/* unwind_tables.c - unwinds and names frames without libdw: by the unwind
 * tables and symbol tables of the loaded files. Lines are not known, and on a
 * processor whose tables callers.h does not read a stack is its first frame. */
#include "unwind.h"

#include "callers.h"
#include "last_words.h"
#include "loaded_files.h"

#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t tables_lock = PTHREAD_MUTEX_INITIALIZER;
static struct callers  known_callers; /* under the lock: of the loaded files */
static uint64_t        files_seen;    /* likewise: which files these are */

/* Take the lock, and forget what is known of files that have been unloaded. */
static void lock_tables(void)
{
	const uint64_t now = sn_loaded_files_update();

	pthread_mutex_lock(&tables_lock);
	if (now != files_seen)
		memset(&known_callers, 0, sizeof(known_callers));
	files_seen = now;
}

uint32_t sn_program_image_walk(const struct call_frame        *f,
			       const struct call_frame_memory *m,
			       const void **frames, uint32_t room, bool *whole)
{
	struct call_frame at = *f;
	uint32_t          count;

	if (sn_last_words_are_spoken())
		return sn_last_words_walk(f, m, frames, room, whole);
	lock_tables();
	count = sn_callers_walk(&known_callers, &at, m,
				(uintptr_t *)(void *)frames, room, whole);
	pthread_mutex_unlock(&tables_lock);
	return count;
}

bool sn_program_image_name(uintptr_t address, char *name, size_t size,
			   uintptr_t *offset)
{
	const char *found;

	(void)sn_loaded_files_update();
	found = sn_loaded_files_function(address, offset);
	if (found)
		snprintf(name, size, "%s", found);
	return found;
}

uint32_t sn_program_image_line(uintptr_t address, char *file, size_t size)
{
	(void)address;
	(void)file;
	(void)size;
	return 0;
}

void sn_program_image_open(char *why, size_t size)
{
	if (sn_last_words_are_spoken()) {
		if (why)
			why[0] = '\0';
		return;
	}
	(void)sn_loaded_files_update();
	if (why)
		sn_loaded_files_missing(why, size);
}

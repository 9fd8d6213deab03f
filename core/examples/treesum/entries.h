/* SPDX-License-Identifier: Apache-2.0 */
/* entries.h - one entry for each name that has a result or a message.
 *
 * A task adds all entries of a directory in one step. The list grows until all
 * tasks are done. Then it is sorted by path, byte by byte.
 */
#ifndef TREESUM_ENTRIES_H
#define TREESUM_ENTRIES_H

#include <sennit.h>

#include <stdbool.h>

#define DIGEST_SIZE 32

/* The result of the comparison with sha256sum. */
enum verdict { NOT_ASKED, SAME, DIFFERENT, NO_ANSWER };

struct entry {
	struct entry *next;
	const char   *note;    /* a note for the report, or NULL */
	int           error;   /* errno value of the failure, or 0 */
	bool          is_file; /* to be summed, here and by sha256sum */
	bool          is_summed;
	enum verdict  verdict;
	unsigned char digest[DIGEST_SIZE];
	char          path[];
};

struct entries {
	sennit_mutex    lock;
	struct entry   *first;
	size_t          count;
	struct entry  **sorted; /* by entries_sort */
	_Atomic(size_t) lost;   /* names for which there was no memory */
};

/* Return a new entry for directory/name, or for directory alone if name is
 * NULL. Returns NULL if there is no memory, and counts that. */
struct entry *entry_new(struct entries *all, const char *directory,
			const char *name);

/* Return directory/name in new memory, after `room` bytes, or NULL if there is
 * no memory. */
void *path_join(size_t room, const char *directory, const char *name);

/* Add the chain of entries that begins at first. */
void entries_add(struct entries *all, struct entry *first);

/* Fill sorted. Returns 0 or -ENOMEM. */
int  entries_sort(struct entries *all);
void entries_free(struct entries *all);

#endif

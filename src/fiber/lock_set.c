/* SPDX-License-Identifier: Apache-2.0 */
#include "fiber/lock_set.h"

void sn_lock_set_add(struct lock_set *l, sennit_word *word)
{
	size_t i = l->count;
	size_t last;

	while (i && (uintptr_t)l->words[i - 1] > (uintptr_t)word)
		i--;
	if (i && l->words[i - 1] == word)
		return;
	for (last = l->count++; last > i; last--)
		l->words[last] = l->words[last - 1];
	l->words[i] = word;
}

void sn_lock_set_take(const struct lock_set *l)
{
	size_t i;

	for (i = 0; i < l->count; i++)
		sn_wait_queue_lock(l->words[i]);
}

void sn_lock_set_drop(const struct lock_set *l)
{
	size_t i;

	for (i = 0; i < l->count; i++)
		sn_wait_queue_unlock(l->words[i], sn_lock_set_get(l->words[i]));
}

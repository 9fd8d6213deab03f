/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/locks.h"

void sn_locks_add(struct locks *l, sennit_word *word)
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

void sn_locks_take(const struct locks *l)
{
	size_t i;

	for (i = 0; i < l->count; i++)
		sn_queue_lock(l->words[i]);
}

void sn_locks_drop(const struct locks *l)
{
	size_t i;

	for (i = 0; i < l->count; i++)
		sn_queue_unlock(l->words[i], sn_locks_get(l->words[i]));
}

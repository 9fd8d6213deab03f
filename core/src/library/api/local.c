/* SPDX-License-Identifier: Apache-2.0 */
/* local.c - the calls of sennit/local.h. */
#include "base/compiler.h"
#include "local/locals.h"
#include "local/names.h"
#include "sennit/local.h"

#include <errno.h>

int sennit_local_key_create(sennit_local_key *key,
			    void (*destructor)(void *value))
{
	return sn_local_keys_add(key, destructor) ? 0 : -EAGAIN;
}

void sennit_local_key_destroy(sennit_local_key key)
{
	MISUSE(!sn_local_keys_remove(key), "sennit_local_key_destroy",
	       "there is no such key");
}

void *sennit_local_get(sennit_local_key key)
{
	const struct local *l = sn_task_local_find(*sn_task_local_mine(), key);

	return l && l->generation == key.generation_ ? l->value : NULL;
}

int sennit_local_set(sennit_local_key key, void *value)
{
	struct local *l = sn_task_local_find(*sn_task_local_mine(), key);

	MISUSE(!sn_local_keys_has(key), "sennit_local_set",
	       "there is no such key");
	if (!l && !value)
		return 0;
	if (!l)
		l = sn_task_local_make(key);
	if (!l)
		return -ENOMEM;
	l->value = value;
	l->generation = key.generation_;
	return 0;
}

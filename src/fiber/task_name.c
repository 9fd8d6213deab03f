/* SPDX-License-Identifier: Apache-2.0 */
#include "fiber/task_name.h"

#include "base/torture.h"

#include <string.h>

void sn_task_name_write(struct task_name *tag, const char *name)
{
	uint32_t version = a_load_rlx(&tag->version);
	char     text[SENNIT_NAME_SIZE] = { 0 };
	uint64_t words[TASK_NAME_WORDS];

	memcpy(text, name, strnlen(name, sizeof(text) - 1));
	memcpy(words, text, sizeof(text));
	a_store_rlx(&tag->version, version + 1); /* a reader that sees a new
						  * word sees this, too */
	TORTURE_POINT();
	for (int i = 0; i < TASK_NAME_WORDS; i++)
		/* -> task_name.read: the version is odd */
		a_store_rel(&tag->words[i], words[i]);
	TORTURE_POINT();
	/* -> task_name.read: all words */
	a_store_rel(&tag->version, version + 2);
}

bool sn_task_name_read(struct task_name *tag, char name[SENNIT_NAME_SIZE])
{
	uint32_t version = a_load_acq(&tag->version); /* <- task_name.read */
	uint64_t words[TASK_NAME_WORDS];

	for (int i = 0; i < TASK_NAME_WORDS; i++)
		words[i] = a_load_acq(&tag->words[i]); /* <- task_name.read */
	if (version % 2 || a_load_rlx(&tag->version) != version)
		return false;
	memcpy(name, words, sizeof(words));
	return name[0];
}

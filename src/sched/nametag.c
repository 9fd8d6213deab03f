/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/nametag.h"

#include "base/torture.h"

#include <string.h>

void sn_nametag_write(struct nametag *tag, const char *name)
{
	uint32_t version = a_load_rlx(&tag->version);
	char     text[SENNIT_NAME_SIZE] = { 0 };
	uint64_t words[NAMETAG_WORDS];

	memcpy(text, name, strnlen(name, sizeof(text) - 1));
	memcpy(words, text, sizeof(text));
	a_store_rlx(&tag->version, version + 1); /* shown by the first word */
	TORTURE_POINT();
	for (int i = 0; i < NAMETAG_WORDS; i++)
		/* -> nametag.read: the version is odd */
		a_store_rel(&tag->words[i], words[i]);
	TORTURE_POINT();
	/* -> nametag.read: all words */
	a_store_rel(&tag->version, version + 2);
}

bool sn_nametag_read(struct nametag *tag, char name[SENNIT_NAME_SIZE])
{
	uint32_t version = a_load_acq(&tag->version); /* <- nametag.read */
	uint64_t words[NAMETAG_WORDS];

	for (int i = 0; i < NAMETAG_WORDS; i++)
		words[i] = a_load_acq(&tag->words[i]); /* <- nametag.read */
	if (version % 2 || a_load_rlx(&tag->version) != version)
		return false;
	memcpy(name, words, sizeof(words));
	return name[0];
}

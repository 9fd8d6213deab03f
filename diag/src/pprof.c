/* SPDX-License-Identifier: Apache-2.0 */
#include "pprof.h"

#include "base/text.h"

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Field numbers of profile.proto. */
enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_MAPPING = 3,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING = 6,
	PROFILE_TIME = 9,
	PROFILE_DURATION = 10,
	PROFILE_PERIOD_TYPE = 11,
	PROFILE_PERIOD = 12,
	PROFILE_COMMENT = 13
};

/* The wire types that are used. */
enum { VARINT = 0, BYTES = 2 };

/* --- output --------------------------------------------------------------- */

static void flush_pprof(struct pprof *p)
{
	if (!p->error && p->used)
		p->error = p->about.write ? p->about.write(p->about.context,
							   p->text, p->used)
					  : sn_write_all(p->about.fd, p->text,
							 p->used);
	p->used = 0;
}

static void put(struct pprof *p, const char *bytes, size_t size)
{
	while (size) {
		size_t n = sizeof(p->text) - p->used;

		if (n > size)
			n = size;
		memcpy(p->text + p->used, bytes, n);
		p->used += n;
		bytes += n;
		size -= n;
		if (p->used == sizeof(p->text))
			flush_pprof(p);
	}
}

/* Write the number to `bytes` as a varint. Returns its length, at most 10. */
static size_t encode(char *bytes, uint64_t n)
{
	size_t used = 0;

	for (; n >= 0x80; n >>= 7)
		bytes[used++] = (char)(n | 0x80);
	bytes[used++] = (char)n;
	return used;
}

static size_t varint_length(uint64_t n)
{
	char bytes[10];

	return encode(bytes, n);
}

static void put_number(struct pprof *p, uint64_t n)
{
	char bytes[10];

	put(p, bytes, encode(bytes, n));
}

static void put_key(struct pprof *p, unsigned field, unsigned type)
{
	put_number(p, field << 3 | type);
}

static void put_bytes(struct pprof *p, unsigned field, const char *bytes,
		      size_t size)
{
	put_key(p, field, BYTES);
	put_number(p, size);
	put(p, bytes, size);
}

static void put_varint(struct pprof *p, unsigned field, uint64_t value)
{
	put_key(p, field, VARINT);
	put_number(p, value);
}

/* --- a message inside another --------------------------------------------- */

/* A nested message. It is built first because its length precedes it. All
 * messages except samples are small. */
struct message {
	size_t used;
	char   bytes[128];
};

static void add_varint(struct message *m, unsigned field, uint64_t value)
{
	if (!value) /* 0 is the default and is omitted */
		return;
	m->used += encode(m->bytes + m->used, field << 3 | VARINT);
	m->used += encode(m->bytes + m->used, value);
}

static void add_message(struct message *m, unsigned field,
			const struct message *inner)
{
	m->used += encode(m->bytes + m->used, field << 3 | BYTES);
	m->used += encode(m->bytes + m->used, inner->used);
	memcpy(m->bytes + m->used, inner->bytes, inner->used);
	m->used += inner->used;
}

static void put_message(struct pprof *p, unsigned field,
			const struct message *m)
{
	put_bytes(p, field, m->bytes, m->used);
}

/* --- strings -------------------------------------------------------------- */

static uint64_t scramble(uint64_t hash)
{
	hash *= UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 32;
}

static struct pprof_string *string_slot(struct pprof *p, const char *text)
{
	uint64_t hash = 0;

	for (; *text; text++)
		hash = scramble(hash ^ (unsigned char)*text);
	return &p->known_strings[hash % (sizeof(p->known_strings) /
					 sizeof(p->known_strings[0]))];
}

/* Return the number of the string. NULL is the empty string, which is 0. */
static uint64_t string(struct pprof *p, const char *text)
{
	const size_t         size = text ? strlen(text) : 0;
	struct pprof_string *slot;

	if (!size)
		return 0;
	slot = string_slot(p, text);
	if (slot->number && !strcmp(slot->text, text))
		return slot->number;
	put_bytes(p, PROFILE_STRING, text, size);
	p->strings++;
	if (size < sizeof(slot->text)) {
		memcpy(slot->text, text, size + 1);
		slot->number = p->strings;
	}
	return p->strings;
}

static struct message type(struct pprof *p, const struct pprof_type *t)
{
	struct message m = { .used = 0 };

	add_varint(&m, 1, string(p, t->type));
	add_varint(&m, 2, string(p, t->unit));
	return m;
}

/* --- places --------------------------------------------------------------- */

static struct pprof_known *find_known(struct pprof_known *table, size_t size,
				      uint64_t address)
{
	return &table[scramble(address) % size];
}
#define FIND(table, address) \
	find_known(table, sizeof(table) / sizeof((table)[0]), address)

static uint64_t image_of(const struct pprof *p, uint64_t address)
{
	for (uint32_t i = 0; i < p->image_count; i++)
		if (address >= p->images[i].start &&
		    address < p->images[i].limit)
			return i + 1;
	return 0;
}

static uint64_t function(struct pprof *p, const struct pprof_place *place)
{
	struct pprof_known *known = FIND(p->known_functions, place->begin);
	struct message      m = { .used = 0 };
	const uint64_t      name = string(p, place->function);
	const uint64_t      file = string(p, place->file);

	if (place->begin && known->number && known->address == place->begin)
		return known->number;
	add_varint(&m, 1, ++p->functions);
	add_varint(&m, 2, name);
	add_varint(&m, 3, name);
	add_varint(&m, 4, file);
	put_message(p, PROFILE_FUNCTION, &m);
	if (place->begin)
		*known = (struct pprof_known){ place->begin, p->functions };
	return p->functions;
}

static uint64_t location(struct pprof *p, uint64_t address)
{
	struct pprof_known *known = FIND(p->known_locations, address);
	struct pprof_place  place = { .function = NULL };
	struct message      m = { .used = 0 };
	struct message      line = { .used = 0 };

	if (known->number && known->address == address)
		return known->number;
	if (p->about.find)
		p->about.find(p->about.context, address, &place);
	add_varint(&m, 1, ++p->locations);
	add_varint(&m, 2, image_of(p, address));
	add_varint(&m, 3, address);
	if (place.function) {
		add_varint(&line, 1, function(p, &place));
		add_varint(&line, 2, place.line);
		add_message(&m, 4, &line);
	}
	put_message(p, PROFILE_LOCATION, &m);
	*known = (struct pprof_known){ address, p->locations };
	return p->locations;
}

/* --- samples -------------------------------------------------------------- */

static struct message label(struct pprof *p, const struct pprof_label *l)
{
	struct message m = { .used = 0 };

	add_varint(&m, 1, string(p, l->key));
	if (l->text) {
		add_varint(&m, 2, string(p, l->text));
		return m;
	}
	add_varint(&m, 3, (uint64_t)l->number);
	add_varint(&m, 4, string(p, l->unit));
	return m;
}

static size_t length_of_packed(const uint64_t *numbers, size_t count)
{
	size_t length = 0;

	for (size_t i = 0; i < count; i++)
		length += varint_length(numbers[i]);
	return length;
}

static void put_packed(struct pprof *p, unsigned field, const uint64_t *numbers,
		       size_t count)
{
	put_key(p, field, BYTES);
	put_number(p, length_of_packed(numbers, count));
	for (size_t i = 0; i < count; i++)
		put_number(p, numbers[i]);
}

/* Return the length of a field with `length` bytes, including its key of one
 * byte and its length. */
static size_t length_around(size_t length)
{
	return 1 + varint_length(length) + length;
}

/* Strings and locations of the sample are written before the sample. */
void sn_pprof_add_sample(struct pprof *p, const int64_t *values,
			 const uint64_t *frames, size_t frame_count,
			 const struct pprof_label *labels, size_t label_count)
{
	struct message said[PPROF_LABELS];
	uint64_t       counts[PPROF_VALUES];
	size_t         length;

	if (frame_count > PPROF_FRAMES)
		frame_count = PPROF_FRAMES;
	if (label_count > PPROF_LABELS)
		label_count = PPROF_LABELS;
	for (size_t i = 0; i < p->about.value_count; i++)
		counts[i] = (uint64_t)values[i];
	for (size_t i = 0; i < frame_count; i++)
		p->frames[i] = location(p, frames[i]);
	for (size_t i = 0; i < label_count; i++)
		said[i] = label(p, &labels[i]);

	length = length_around(length_of_packed(p->frames, frame_count)) +
		 length_around(length_of_packed(counts, p->about.value_count));
	for (size_t i = 0; i < label_count; i++)
		length += length_around(said[i].used);
	put_key(p, PROFILE_SAMPLE, BYTES);
	put_number(p, length);
	put_packed(p, 1, p->frames, frame_count);
	put_packed(p, 2, counts, p->about.value_count);
	for (size_t i = 0; i < label_count; i++)
		put_message(p, 3, &said[i]);
}

/* --- images --------------------------------------------------------------- */

void sn_pprof_add_image(struct pprof *p, const struct pprof_image *image)
{
	const bool     named = p->about.find;
	struct message m = { .used = 0 };

	if (p->image_count == PPROF_IMAGES)
		return;
	p->images[p->image_count].start = image->start;
	p->images[p->image_count].limit = image->limit;
	add_varint(&m, 1, ++p->image_count);
	add_varint(&m, 2, image->start);
	add_varint(&m, 3, image->limit);
	add_varint(&m, 4, image->offset);
	add_varint(&m, 5, string(p, image->file));
	add_varint(&m, 6, string(p, image->build_id));
	/* Tell pprof not to look up names itself. */
	add_varint(&m, 7, named);
	add_varint(&m, 8, named);
	add_varint(&m, 9, named);
	put_message(p, PROFILE_MAPPING, &m);
}

#define ID 64u /* the maximum number of bytes of a build id */

/* Write the build id in the notes, in hexadecimal; "": there is none. */
static void read_build_id(char text[2 * ID + 1], const char *notes, size_t size)
{
	ElfW(Nhdr) n;

	text[0] = '\0';
	for (size_t at = 0; at + sizeof(n) <= size;) {
		memcpy(&n, notes + at, sizeof(n));
		at += sizeof(n);
		if (n.n_namesz > size - at || n.n_descsz > size - at)
			return;
		const char *name = notes + at;
		const char *id = name + ((n.n_namesz + 3) & ~3u);

		at = (size_t)(id - notes) + ((n.n_descsz + 3) & ~3u);
		if (n.n_type != NT_GNU_BUILD_ID || n.n_namesz != 4 ||
		    memcmp(name, "GNU", 4) || n.n_descsz > ID || at > size)
			continue;
		for (size_t i = 0; i < n.n_descsz; i++)
			snprintf(text + 2 * i, 3, "%02x", (unsigned char)id[i]);
		return;
	}
}

static void find_build_id(char text[2 * ID + 1], const struct dl_phdr_info *o)
{
	text[0] = '\0';
	for (int i = 0; i < o->dlpi_phnum && !text[0]; i++) {
		const ElfW(Phdr) *h = &o->dlpi_phdr[i];

		if (h->p_type == PT_NOTE)
			read_build_id(text,
				      (const char *)(o->dlpi_addr + h->p_vaddr),
				      h->p_memsz);
	}
}

static int add_object(struct dl_phdr_info *o, size_t size, void *to)
{
	struct pprof *p = to;
	char          id[2 * ID + 1];
	char          own[4096];
	const char   *file = o->dlpi_name;

	(void)size;
	if (!file || !*file) { /* the program */
		ssize_t n = readlink("/proc/self/exe", own, sizeof(own) - 1);

		own[n > 0 ? n : 0] = '\0';
		file = own;
	}
	find_build_id(id, o);
	for (int i = 0; i < o->dlpi_phnum; i++) {
		const ElfW(Phdr) *h = &o->dlpi_phdr[i];

		if (h->p_type != PT_LOAD || !(h->p_flags & PF_X))
			continue;
		sn_pprof_add_image(
			p,
			&(struct pprof_image){
				.start = o->dlpi_addr + h->p_vaddr,
				.limit = o->dlpi_addr + h->p_vaddr + h->p_memsz,
				.offset = h->p_offset,
				.file = file,
				.build_id = id });
	}
	return p->image_count == PPROF_IMAGES;
}

void sn_pprof_add_own_images(struct pprof *p)
{
	dl_iterate_phdr(add_object, p);
}

/* --- the whole ------------------------------------------------------------ */

void sn_pprof_begin(struct pprof *p, const struct pprof_about *about)
{
	struct message m;

	memset(p, 0, sizeof(*p));
	p->about = *about;
	put_bytes(p, PROFILE_STRING, "", 0);
	for (uint32_t i = 0; i < about->value_count; i++) {
		m = type(p, &about->values[i]);
		put_message(p, PROFILE_SAMPLE_TYPE, &m);
	}
	put_varint(p, PROFILE_TIME, about->time_ns);
	put_varint(p, PROFILE_DURATION, about->duration_ns);
	if (about->period_type.type) {
		m = type(p, &about->period_type);
		put_message(p, PROFILE_PERIOD_TYPE, &m);
		put_varint(p, PROFILE_PERIOD, (uint64_t)about->period);
	}
	if (about->comment) {
		const uint64_t comment = string(p, about->comment);

		put_varint(p, PROFILE_COMMENT, comment);
	}
}

int sn_pprof_end(struct pprof *p)
{
	flush_pprof(p);
	return p->error;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* pprof.h - writes a profile that pprof, Perfetto and speedscope open: the
 * protocol buffer profile.proto of github.com/google/pprof, not compressed.
 *
 * The parts of a profile may stand in any order, so each is written as soon as
 * it is known: a string or a place of the code just before the first sample
 * that names it. What was written already is looked up in tables of a fixed
 * size. What has been driven out of a table is written again, with a number of
 * its own: readers add such twins up. So a writer needs no memory but its
 * struct, however large the profile is.
 *
 *	struct pprof p;
 *
 *	sn_pprof_begin(&p, &(struct pprof_about){ ... });
 *	sn_pprof_add_own_images(&p);
 *	sn_pprof_add_sample(&p, values, frames, count, labels, label_count);
 *	err = sn_pprof_end(&p);
 */
#ifndef SN_PPROF_H
#define SN_PPROF_H

#include <stddef.h>
#include <stdint.h>

#define PPROF_VALUES 4u   /* of a sample, at most */
#define PPROF_FRAMES 512u /* ...: the outer ones beyond are left out */
#define PPROF_LABELS 16u  /* ...: those beyond are left out */
#define PPROF_IMAGES 512u /* samples in images beyond have none */

/* What is counted, and in what: "fibers", "count"; "wait", "nanoseconds". */
struct pprof_type {
	const char *type, *unit;
};

/* Where an address is. */
struct pprof_place {
	const char *function; /* NULL: not known. All strings: UTF-8, valid
			       * until the next call */
	const char *file;     /* NULL: not known */
	uint32_t    line;     /* 0: not known */
	uint64_t    begin;    /* the function's first address; 0: not known */
};

struct pprof_about {
	/* Write all bytes. Returns 0 or a negative errno, after which it is
	 * not called again. NULL: sn_write_all to the descriptor `fd`. */
	int (*write)(void *context, const char *bytes, size_t size);
	/* Fill the place, which is zero. Is called once for most addresses.
	 * NULL: pprof finds the names, in the files of the images. */
	void (*find)(void *context, uint64_t address,
		     struct pprof_place *place);
	void             *context;
	int               fd;
	uint64_t          time_ns;     /* since 1970; 0: not known */
	uint64_t          duration_ns; /* 0: not a time */
	struct pprof_type period_type; /* NULL, NULL: none */
	int64_t           period;
	uint32_t          value_count; /* PPROF_VALUES at most */
	struct pprof_type values[PPROF_VALUES];
	const char       *comment; /* NULL: none */
};

/* A remark about a sample; pprof's -tagfocus and -tagroot choose by it. */
struct pprof_label {
	const char *key;
	const char *text; /* NULL: the number counts */
	int64_t     number;
	const char *unit; /* of the number; NULL: none */
};

/* An executable file in memory. */
struct pprof_image {
	uint64_t    start, limit, offset; /* memory, place in the file */
	const char *file;
	const char *build_id; /* hexadecimal; NULL: none */
};

/* A string that was written. A longer one is written each time. */
struct pprof_string {
	uint32_t number; /* 0: an empty slot */
	char     text[60];
};

struct pprof_known {
	uint64_t address;
	uint64_t number; /* 0: an empty slot */
};

struct pprof {
	struct pprof_about about;
	int                error; /* the first one; nothing is written after */
	uint32_t           strings, functions, locations; /* written so far */
	uint32_t           image_count;
	struct {
		uint64_t start, limit;
	} images[PPROF_IMAGES];
	struct pprof_string known_strings[512];
	struct pprof_known  known_functions[1024];
	struct pprof_known  known_locations[4096];
	uint64_t            frames[PPROF_FRAMES]; /* of the sample: numbers */
	size_t              used;
	char                text[8192];
};

void sn_pprof_begin(struct pprof *p, const struct pprof_about *about);

/* Images come before the samples in them. */
void sn_pprof_add_image(struct pprof *p, const struct pprof_image *image);

/* Add the executable files of this process. Takes the dynamic loader's lock;
 * allocates nothing. */
void sn_pprof_add_own_images(struct pprof *p);

/* Add a sample with a value for each type. Frames are innermost first; each is
 * an address in the instruction, so one in the call, not behind it. */
void sn_pprof_add_sample(struct pprof *p, const int64_t *values,
			 const uint64_t *frames, size_t frame_count,
			 const struct pprof_label *labels, size_t label_count);

/* Write what is left. Returns 0 or the first error of a write. */
int sn_pprof_end(struct pprof *p);

#endif

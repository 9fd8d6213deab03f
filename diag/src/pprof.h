/* SPDX-License-Identifier: Apache-2.0 */
/* pprof.h - writes a profile that pprof, Perfetto and speedscope open: the
 * protocol buffer profile.proto of github.com/google/pprof, not compressed.
 *
 * The parts of a profile may come in any order. So each part is written as soon
 * as it is known: a string or a location just before the first sample that uses
 * it. Tables of a fixed size contain what was already written. A part that was
 * evicted from a table is written again with a new number, and readers merge
 * such duplicates. So a writer needs no memory except its struct, however large
 * the profile is.
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

/* Of a sample, at most. Outer frames and labels beyond these are omitted. */
#define PPROF_VALUES 4u
#define PPROF_FRAMES 512u
#define PPROF_LABELS 16u

/* Of a profile, at most. Further images are omitted. */
#define PPROF_IMAGES 512u

/* A type of value and its unit: "fibers", "count"; "wait", "nanoseconds". */
struct pprof_type {
	const char *type, *unit;
};

/* The source location of an address. */
struct pprof_place {
	const char *function; /* NULL: not known. All strings: UTF-8, valid
			       * until the next call */
	const char *file;     /* NULL: not known */
	uint32_t    line;     /* 0: not known */
	uint64_t    begin;    /* address of the function's first byte; 0: not
			       * known */
};

struct pprof_about {
	/* Write all bytes. Returns 0 or a negative errno value, after which it
	 * is not called again. NULL: write to the descriptor `fd`. */
	int (*write)(void *context, const char *bytes, size_t size);
	/* Fill *place, which is zero. Called once for most addresses. NULL:
	 * pprof looks up the names in the files of the images. */
	void (*find)(void *context, uint64_t address,
		     struct pprof_place *place);
	void             *context;
	int               fd;
	uint64_t          time_ns;     /* since 1970; 0: not known */
	uint64_t          duration_ns; /* 0: not a period of time */
	struct pprof_type period_type; /* NULL, NULL: none */
	int64_t           period;
	uint32_t          value_count; /* at most PPROF_VALUES */
	struct pprof_type values[PPROF_VALUES];
	const char       *comment; /* NULL: none */
};

/* An annotation of a sample. pprof's -tagfocus and -tagroot select by it. */
struct pprof_label {
	const char *key;
	const char *text; /* NULL: use `number` */
	int64_t     number;
	const char *unit; /* of the number; NULL: none */
};

/* An executable file in memory. */
struct pprof_image {
	uint64_t    start, limit, offset; /* memory range, offset in the file */
	const char *file;
	const char *build_id; /* hexadecimal; NULL: none */
};

/* A string that was written. Longer strings are not cached. */
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
	int                error; /* the first error; nothing is written
				   * afterwards */
	uint32_t           strings, functions, locations; /* numbers used so
							   * far */
	uint32_t           image_count;
	struct {
		uint64_t start, limit;
	} images[PPROF_IMAGES];
	struct pprof_string known_strings[512];
	struct pprof_known  known_functions[1024];
	struct pprof_known  known_locations[4096];
	uint64_t            frames[PPROF_FRAMES]; /* numbers of the sample's
						   * locations */
	size_t              used;
	char                text[8192];
};

void sn_pprof_begin(struct pprof *p, const struct pprof_about *about);

/* Add an image. Images must precede the samples in them. */
void sn_pprof_add_image(struct pprof *p, const struct pprof_image *image);

/* Add the executable files of this process. Takes the dynamic loader's lock;
 * allocates nothing. */
void sn_pprof_add_own_images(struct pprof *p);

/* Add a sample with a value for each type. Frames are innermost first. Each is
 * an address within the instruction, so for a call it is within the call, not
 * the return address. */
void sn_pprof_add_sample(struct pprof *p, const int64_t *values,
			 const uint64_t *frames, size_t frame_count,
			 const struct pprof_label *labels, size_t label_count);

/* Write the rest. Returns 0 or the first error of a write. */
int sn_pprof_end(struct pprof *p);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* written.h - the text that is written to a descriptor, and the output of `go
 * tool pprof` for it. */
#ifndef SN_TEST_WRITTEN_H
#define SN_TEST_WRITTEN_H

#include "testing/test.h"

#include "sennit/stacks.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char written_text[16 << 20]; /* the last text */

static inline FILE *begin_written(void)
{
	FILE *file = tmpfile();

	assert_non_null(file);
	return file;
}

/* Zero bytes become spaces. */
static inline const char *read_written(FILE *file)
{
	size_t n = fread(written_text, 1, sizeof(written_text) - 1, file);

	assert_true(n > 0);
	for (size_t i = 0; i < n; i++)
		if (!written_text[i])
			written_text[i] = ' ';
	written_text[n] = '\0';
	return written_text;
}

/* Return what was written to the file, and close the file. */
static inline const char *end_written(FILE *file)
{
	const char *text;

	rewind(file);
	text = read_written(file);
	fclose(file);
	return text;
}

static inline const char *written_stacks(sennit_scheduler         *s,
					 enum sennit_stacks_format format)
{
	FILE *file = begin_written();

	assert_int_equal(sennit_stacks_print(s, fileno(file), format), 0);
	return end_written(file);
}

static inline unsigned occurrences(const char *said, const char *word)
{
	unsigned n = 0;

	for (; (said = strstr(said, word)); said++)
		n++;
	return n;
}

static inline bool has_pprof(void)
{
	return !system("go tool pprof -help >/dev/null 2>&1");
}

/* Return what pprof prints for the file, and close the file. */
static inline const char *end_by_pprof(FILE *file, const char *options)
{
	char        command[512];
	const char *text;
	FILE       *pprof;

	snprintf(command, sizeof(command),
		 "HOME=/tmp go tool pprof -symbolize=none -nodecount=0 "
		 "-nodefraction=0 -edgefraction=0 %s /proc/%d/fd/%d 2>&1",
		 options, (int)getpid(), fileno(file));
	pprof = popen(command, "r");
	assert_non_null(pprof);
	text = read_written(pprof);
	if (pclose(pprof))
		fail_msg("%s", text);
	fclose(file);
	return text;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* trace.c - record what happens, with a span and a counter of the program's,
 * and write it to a file for sennit-trace.
 */
#include "calls.h"

#include <sennit/trace.h>

static void serve(int64_t waiting)
{
	sennit_trace_value("waiting requests", waiting);
	sennit_trace_begin("request");
	sennit_sleep(SENNIT_MILLISECOND);
	sennit_trace_end();
}

static void show(sennit_scheduler *s)
{
	FILE *file = tmpfile(); /* or a file to keep */

	CHECK(file);
	CHECK(sennit_trace_start(s, NULL) == 0);
	for (int i = 0; i < 3; i++)
		serve(2 - i);
	sennit_trace_stop(s);
	CHECK(sennit_trace_write(s, fileno(file)) == 0);
	CHECK(fseek(file, 0, SEEK_END) == 0 && ftell(file) > 0);
	fclose(file);
}

int main(void)
{
	return run(show);
}

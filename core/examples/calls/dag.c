/* SPDX-License-Identifier: Apache-2.0 */
/* dag.c - a graph that is run from its beginning and from one of its nodes, in
 * memory of the caller.
 */
#include "calls.h"
#include "sennit/dag.h"

#include <string.h>

static int note(void *data, void *letter)
{
	strncat(data, letter, 1);
	return 0;
}

static void show(sennit_scheduler *s)
{
	sennit_dag_builder b;
	sennit_dag        *whole, *rest;
	uint32_t           parse, compile, link;
	char               said[8] = "", cycle[64];
	sennit_dag_options options = { .size = sizeof(options),
				       .scheduler = s };

	CHECK(sennit_dag_builder_init(&b, NULL) == 0);
	CHECK(sennit_dag_builder_add(&b, note, "p", "parse", &parse) == 0);
	CHECK(sennit_dag_builder_add(&b, note, "c", "compile", &compile) == 0);
	CHECK(sennit_dag_builder_add(&b, note, "l", "link", &link) == 0);
	CHECK(sennit_dag_builder_order(&b, parse, compile) == 0);
	CHECK(sennit_dag_builder_order(&b, compile, link) == 0);
	CHECK(sennit_dag_build(&whole, &b, cycle, sizeof(cycle)) == 0);
	CHECK(sennit_dag_build_from(&rest, &b, compile, cycle, sizeof(cycle)) ==
	      0);
	sennit_dag_builder_destroy(&b);

	CHECK(sennit_dag_run(whole, said, NULL, SENNIT_NEVER) == 0);
	CHECK(strcmp(said, "pcl") == 0);

	/* A run without any allocation. */
	options.memory = malloc(sennit_dag_run_size(rest));
	CHECK(options.memory);
	CHECK(sennit_dag_run(rest, said, &options, SENNIT_NEVER) == 0);
	CHECK(strcmp(said, "pclcl") == 0);
	free(options.memory);
	sennit_dag_destroy(rest);
	sennit_dag_destroy(whole);
}

int main(void)
{
	return run(show);
}
